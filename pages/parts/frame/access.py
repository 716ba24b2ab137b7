"""Who is visiting, and whether they may do something: asked anew for every screen, part of a screen and action.

Without a sign-in service the server is local, and whoever uses it may do everything. With one, Streamlit reads the
visitor's claims when a session begins; the allow-list and the roles are read when something is asked.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

import riskcore.logs as logs
from pages.parts.frame.sign_in_settings import access_section, sign_in_configured
from riskcore.access import AccessError, AccessRules, Role, SignInOverError, Visitor, identity, parse_rules, visitor
from riskcore.paths import runs_root
from riskcore.storage.signed_out import end_sign_in, has_ended

_log = logging.getLogger(__name__)
_LOCAL_NAME = "analyst"
_REFUSED = "why the sign-in was refused"


def rules() -> AccessRules | None:
    """The rules of access; None without a sign-in service. ConfigError where either cannot be used."""
    if not sign_in_configured():
        return None
    return _parsed(json.dumps(access_section(), default=str, sort_keys=True))


@functools.lru_cache(maxsize=4)
def _parsed(section: str) -> AccessRules:
    return parse_rules(json.loads(section))


def visiting() -> Visitor:
    """Who it is and what they may do now; AccessError for anyone who is not let in."""
    try:
        found = known_by(claims())
    except AccessError as error:
        _tell_refused(error)
        raise
    return dataclasses.replace(found, name=str(st.session_state.get("reviewer") or found.name)) if is_local() else found


def _tell_refused(error: AccessError) -> None:
    """Say in the server's log who was not let in, once for each reason in a session; nobody who has not signed in."""
    said = claims()
    if said.get("is_logged_in") is not True or st.session_state.get(_REFUSED) == str(error):
        return
    st.session_state[_REFUSED] = str(error)
    try:
        who = identity(said)[0]
    except AccessError:
        who = None
    logs.event("sign-in", logging.WARNING, who=who, outcome="refused", error=logs.error_name(error))


def known_by(said: Mapping[str, Any]) -> Visitor:
    """The visitor with these claims, by the rules as they are now."""
    found = rules()
    if found is None:
        return Visitor(_LOCAL_NAME, Role.OWNER)
    if said.get("is_logged_in") is not True:
        raise AccessError("You are not signed in. Reload the page to sign in.")
    known = visitor(found, said)
    if has_ended(signed_out_folder(), said):
        raise SignInOverError("You have signed out. Reload the page and sign in again.")
    return known


def end() -> None:
    """Note that this sign-in has ended, so that copies of its cookie end with it."""
    found = rules()
    if found is None:
        return
    try:
        end_sign_in(signed_out_folder(), claims(), found.hours)
    except OSError as error:
        _log.error(
            "A sign-out could not be noted in %s: %s. Make room or give the right to write", signed_out_folder(), error
        )


def signed_out_folder() -> Path:
    """Where sign-outs are noted: beside the runs, so that all servers of a store share them."""
    return runs_root() / "signed-out"


def claims() -> Mapping[str, Any]:
    """What the sign-in service said of the visitor when the session began; nothing without a sign-in."""
    said: Mapping[str, Any] = {} if is_local() else st.user.to_dict()
    return said


def is_local() -> bool:
    """Whether there is no sign-in service."""
    return not sign_in_configured()


def may(role: Role) -> bool:
    """Whether the visitor has this role or a higher one."""
    return visiting().role >= role


def require(role: Role, said: Mapping[str, Any] | None = None) -> None:
    """Raise AccessError unless the visitor, or who has these claims, has this role or a higher one now."""
    found = visiting() if said is None else known_by(said)
    if found.role < role:
        raise AccessError(
            f"This needs the role {role.word}, and {found.name} has the role {found.role.word}. Nothing was changed. "
            "Ask an owner of this server for the role."
        )
