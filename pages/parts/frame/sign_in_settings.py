"""Whether a sign-in service is configured, and a refusal where it is but cannot be used.

Streamlit reports a secrets file that it cannot parse with a subclass of `FileNotFoundError`, and starts anyway.
If that were read as "there is no file", every screen would be open to everyone; so anything unclear is an error.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit import config
from streamlit.config_option import ConfigOption
from streamlit.errors import StreamlitSecretNotFoundError

from riskcore.errors import ConfigError

_SHARED = ("redirect_uri", "cookie_secret")
_PROVIDER = ("client_id", "client_secret", "server_metadata_url")
_ADDRESSES = ("redirect_uri", "server_metadata_url")
_absent: tuple[str, ...] | None = None  # the files that Streamlit looked for last, if it found no secrets at all


def sign_in_configured() -> bool:
    """True with a usable [auth] section, False without any; raises ConfigError in all other cases."""
    secrets = _read_secrets()
    if "auth" not in secrets:
        return False
    _check_section(secrets["auth"])
    _check_library()
    return True


def access_section() -> Any:
    """The section [access]; None without one."""
    return _read_secrets().get("access")


def _read_secrets() -> Mapping[str, Any]:
    """The secrets; empty if there is no file and no setting names one.

    Every part of a screen and every action asks, and Streamlit opens the files anew under a lock as long as there are
    none: with forty people, a third of the time of a click was spent waiting for it. So where it found nothing, it is
    asked again only once a file is there. What it has read once it keeps until the server is started again.
    """
    global _absent
    files = tuple(config.get_option("secrets.files"))
    if files == _absent and not _existing_files() and not _requested_files():
        return {}
    _absent = None
    try:
        secrets = st.secrets.to_dict()
    except StreamlitSecretNotFoundError as error:
        if error.error_id != "no-secrets-found" or _existing_files():
            raise ConfigError(_unreadable(error)) from error
        secrets, _absent = {}, files
    except Exception as error:  # no right to read it, not UTF-8, a folder of that name, ...
        raise ConfigError(_unreadable(error)) from error
    missing = [] if "auth" in secrets else [file for file in _requested_files() if not os.path.exists(file)]
    if missing:
        raise ConfigError(
            f"Streamlit's setting secrets.files names {', '.join(missing)}, and there is no such file. "
            "Put it there or remove the setting, then start the server again."
        )
    return secrets


def _unreadable(error: Exception) -> str:
    reason = error.__cause__ or getattr(error, "strerror", None) or error
    return (
        f"The secrets file {', '.join(_existing_files()) or 'secrets.toml'} cannot be read: {reason}. "
        "Correct or remove it, then start the server again."
    )


def _existing_files() -> list[str]:
    """The configured files that exist. A broken link counts too: someone meant a file to be there."""
    return [file for file in config.get_option("secrets.files") if os.path.lexists(file)]


def _requested_files() -> list[str]:
    """The files that a setting names; those in Streamlit's default folders may be absent."""
    if config.get_where_defined("secrets.files") == ConfigOption.DEFAULT_DEFINITION:
        return []
    return list(config.get_option("secrets.files"))


def _check_section(section: Any) -> None:
    """All keys that signing in needs are there, filled in, and addresses are complete."""
    found = section if isinstance(section, Mapping) else {}
    provider = found.get("default", found)
    values = {key: found.get(key) for key in _SHARED}
    values |= {key: provider.get(key) if isinstance(provider, Mapping) else None for key in _PROVIDER}
    problems = [f"{key} is missing" for key, value in values.items() if not isinstance(value, str) or not value.strip()]
    problems += [
        f"{key} does not begin with http:// or https://"
        for key in _ADDRESSES
        if f"{key} is missing" not in problems and not str(values[key]).startswith(("http://", "https://"))
    ]
    if problems:
        raise ConfigError(
            f"The section [auth] of {', '.join(_existing_files()) or 'secrets.toml'} cannot be used: "
            f"{', '.join(problems)}. Complete or remove the section, then start the server again."
        )


def _check_library() -> None:
    """Import what `st.login` needs, so that a missing package is reported at once."""
    try:
        import authlib.integrations.starlette_client  # noqa: F401
    except ImportError as error:
        raise ConfigError(
            f"{', '.join(_existing_files()) or 'secrets.toml'} asks for sign-in, which needs the package Authlib, and "
            f"it cannot be imported: {error}. Run pip install authlib httpx, then start the server again."
        ) from error
