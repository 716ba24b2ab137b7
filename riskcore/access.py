"""Who someone is and what they may do: identity, allow-list and roles, from the claims of a sign-in service.

Nothing here knows the web server. The rules are the section [access] of `secrets.toml`; roles come from a claim or
from a file, which is read anew for every question.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import re
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from riskcore.errors import ConfigError, RiskcoreError

_ADDRESS = re.compile(r"[^@\s\x00-\x1f,;<>\"]+@[^@\s\x00-\x1f,;<>\"]+")
_DOMAIN = re.compile(r"[^@\s\x00-\x1f,;<>\"*/]+\.[^@\s\x00-\x1f,;<>\"*/]+")
_LISTS = ("emails", "domains", "values")
_TEXTS = ("claim", "role_claim", "roles_file")
_HOURS = 12  # of a sign-in: Streamlit's own cookie lives thirty days, and its claims are not renewed meanwhile


class AccessError(RiskcoreError):
    """Somebody asked for something that they may not do."""


class SignInOverError(AccessError):
    """The sign-in has ended: whoever it was may sign in again."""


class Role(enum.IntEnum):
    """What a person may do; each role may do all that the ones before it may."""

    VIEWER = 1  # reads
    AUDITOR = 2  # judges, draws, assigns, keeps filters, downloads
    OPERATOR = 3  # brings data, starts and stops runs, decides about rules
    OWNER = 4  # deletes, signs off, sets guideline and masks for everyone

    @property
    def word(self) -> str:
        return self.name.lower()


ROLES = {role.word: role for role in Role}


@dataclasses.dataclass(frozen=True)
class Visitor:
    """Someone who may be here: the name that verdicts are signed with, and the role."""

    name: str
    role: Role


@dataclasses.dataclass(frozen=True)
class AccessRules:
    """The section [access]: who is let in, and where roles come from."""

    emails: frozenset[str] = frozenset()
    domains: frozenset[str] = frozenset()
    claim: str = ""
    values: frozenset[str] = frozenset()
    everyone: bool = False
    default_role: Role = Role.VIEWER
    role_claim: str = ""
    roles_file: str = ""
    hours: float = _HOURS


def parse_rules(section: Any) -> AccessRules:
    """The rules of a section; one ConfigError names everything that is wrong with it."""
    if not isinstance(section, Mapping):
        raise ConfigError(_unusable("it is missing. Say who is let in, by emails, domains, a claim, or everyone"))
    problems = [f"{key} is no setting" for key in section if key not in _FIELDS]
    problems += [f"{key} is not a list of texts" for key in _LISTS if not _is_texts(section.get(key, ["-"]))]
    problems += [f"{key} is not a text" for key in _TEXTS if not _is_text(section.get(key, "-"))]
    if not isinstance(section.get("everyone", True), bool):
        problems.append("everyone is neither true nor false")
    if section.get("default_role", "viewer") not in ROLES:
        problems.append(f"default_role is none of {', '.join(ROLES)}")
    hours = section.get("hours", _HOURS)
    if isinstance(hours, bool) or not isinstance(hours, int | float) or not 0 < hours <= 24 * 365:
        problems.append("hours is not a number above 0")
    problems += _content_problems(section) if not problems else []
    if problems:
        raise ConfigError(_unusable(", ".join(problems)))
    rules = AccessRules(
        emails=frozenset(one.strip().lower() for one in section.get("emails", ())),
        domains=frozenset(_domain(one) for one in section.get("domains", ())),
        claim=section.get("claim", "").strip(),
        values=frozenset(section.get("values", ())),
        everyone=section.get("everyone", False),
        default_role=ROLES[section.get("default_role", "viewer")],
        role_claim=section.get("role_claim", "").strip(),
        roles_file=section.get("roles_file", "").strip(),
        hours=float(hours),
    )
    if rules.roles_file:
        read_roles(rules.roles_file)
    return rules


_FIELDS = frozenset(field.name for field in dataclasses.fields(AccessRules))


def visitor(rules: AccessRules, claims: Mapping[str, Any], now: float | None = None) -> Visitor:
    """Who this is and which role they have now; AccessError for anyone who is not let in."""
    name, address = identity(claims)
    issued = claims.get("iat")
    age = (time.time() if now is None else now) - issued if isinstance(issued, int | float) else float("inf")
    if age > rules.hours * 3600:
        raise SignInOverError(f"Your sign-in is older than {rules.hours:g} hours. Reload the page and sign in again.")
    if not _is_let_in(rules, address, claims):
        raise AccessError(f"{name} is signed in, but is not allowed here. Ask an owner of this server to let you in.")
    return Visitor(name, _role(rules, name, address, claims))


def identity(claims: Mapping[str, Any]) -> tuple[str, str]:
    """The name, and the verified address ("" without one).

    Without a verified address, the name is what the sign-in service itself numbers the person by. A display name
    counts for nothing: everyone can change their own.
    """
    email, subject, issuer = (str(claims.get(key) or "").strip() for key in ("email", "sub", "iss"))
    if claims.get("email_verified") in (True, "true") and _ADDRESS.fullmatch(email):
        return email.lower(), email.lower()
    if subject and issuer:
        return f"{subject} at {issuer}", ""
    raise AccessError(
        "The sign-in service confirmed neither your e-mail address (email_verified) nor who you are (sub and iss). "
        "Ask whoever runs it to send these claims."
    )


def read_roles(path: str) -> Mapping[str, Role]:
    """The roles of a file: addresses, `@domain` or names, each with its highest role."""
    try:
        return _parse_roles(Path(path).read_bytes(), path)
    except OSError as error:
        raise ConfigError(f"The file of roles {path} cannot be read: {error.strerror}. Put it there.") from error


@functools.lru_cache(maxsize=4)
def _parse_roles(content: bytes, path: str) -> Mapping[str, Role]:
    """Kept by the content of the file, so a change counts at once."""
    try:
        held = tomllib.loads(content.decode("utf-8"))
    except ValueError as error:
        raise ConfigError(f"The file of roles {path} cannot be read: {error}. Correct it.") from error
    wrong = [word for word, people in held.items() if word not in ROLES or not _is_texts(people, may_be_empty=True)]
    if wrong:
        raise ConfigError(
            f"The file of roles {path} cannot be used: {', '.join(wrong)}. It has a list of people for each of the "
            f"words {', '.join(ROLES)}."
        )
    found: dict[str, Role] = {}
    for word in sorted(held, key=ROLES.__getitem__):
        for person in held[word]:
            text = person.strip()
            found[text.lower() if "@" in text and " " not in text else text] = ROLES[word]
    return found


def _role(rules: AccessRules, name: str, address: str, claims: Mapping[str, Any]) -> Role:
    """The highest role that the person has by the claim or by the file."""
    if rules.role_claim:
        found = [ROLES[one] for one in _texts_of(claims.get(rules.role_claim)) if one in ROLES]
    elif rules.roles_file:
        held = read_roles(rules.roles_file)
        asked = [name, f"@{address.rpartition('@')[2]}"] if address else [name]
        found = [held[one] for one in asked if one in held]
    else:
        found = []
    return max(found, default=rules.default_role)


def _is_let_in(rules: AccessRules, address: str, claims: Mapping[str, Any]) -> bool:
    return (
        rules.everyone
        or address in rules.emails
        or (bool(address) and address.rpartition("@")[2] in rules.domains)
        or (bool(rules.claim) and not rules.values.isdisjoint(_texts_of(claims.get(rules.claim))))
    )


def _content_problems(section: Mapping[str, Any]) -> list[str]:
    """What is wrong with a section whose values have the right types."""
    lists = [key for key in _LISTS if key in section]
    found = [f"{one} is no e-mail address" for one in section.get("emails", ()) if not _ADDRESS.fullmatch(one.strip())]
    found += [f"{one} is no domain" for one in section.get("domains", ()) if not _DOMAIN.fullmatch(_domain(one))]
    if ("claim" in section) != ("values" in section):
        found.append("claim and values belong together")
    if section.get("everyone", False) and lists:
        found.append(f"everyone is true, and {', '.join(lists)} would let in only some")
    if not section.get("everyone", False) and not lists:
        found.append("it lets nobody in. Name emails, domains, claim with values, or everyone")
    if "role_claim" in section and "roles_file" in section:
        found.append("role_claim and roles_file exclude each other")
    if "roles_file" in section and not Path(section["roles_file"].strip()).is_absolute():
        found.append("roles_file is not a path from the root")
    return found


def _domain(text: str) -> str:
    return text.strip().lower().removeprefix("@")


def _texts_of(value: Any) -> list[str]:
    """A claim is a text or a list of texts."""
    return [one for one in (value if isinstance(value, list | tuple) else [value]) if isinstance(one, str)]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_texts(value: Any, may_be_empty: bool = False) -> bool:
    return isinstance(value, list | tuple) and (may_be_empty or bool(value)) and all(_is_text(one) for one in value)


def _unusable(problems: str) -> str:
    return f"The section [access] of secrets.toml cannot be used: {problems}. Correct it, then start the server again."
