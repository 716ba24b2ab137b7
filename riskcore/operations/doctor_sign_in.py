"""What `riskcore doctor` looks at of the sign-in: whether its settings can be used, and who can read the secrets.

Streamlit reads `secrets.toml` from the account's `.streamlit`, from the working folder's, and from where its setting
`secrets.files` says. A command sees those of its own account and working folder.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from riskcore.access import parse_rules
from riskcore.errors import ConfigError
from riskcore.operations.finding import Finding, error, ok, warning

FILES_VARIABLE = "STREAMLIT_SECRETS_FILES"
ADDRESS_VARIABLE = "STREAMLIT_SERVER_ADDRESS"
_LOCAL = ("", "localhost", "127.0.0.1", "::1")
_SHARED = ("redirect_uri", "cookie_secret")
_PROVIDER = ("client_id", "client_secret", "server_metadata_url")


def check_sign_in() -> Iterator[Finding]:
    """The sections [auth] and [access], and the permissions of the files."""
    files = secret_files()
    secrets: dict[str, Any] = {}
    for file in files:
        try:
            secrets |= tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as problem:
            reason = getattr(problem, "strerror", None) or type(problem).__name__  # its text may quote a secret
            yield error("sign-in", f"{file} cannot be read: {reason}", "Correct it: until then no screen is shown.")
            return
    yield _rules(secrets)
    readable = [str(file) for file in files if file.stat().st_mode & 0o077]
    if readable:
        yield warning("secrets", f"Others on this machine can read {', '.join(readable)}", "chmod 600.")
    else:
        yield ok("secrets", f"Only the owner can read {', '.join(map(str, files))}" if files else "There is no file")


def secret_files() -> list[Path]:
    """The files that Streamlit would read here, those that are there."""
    named = os.environ.get(FILES_VARIABLE, "").strip()
    if named:
        found = [Path(one.strip(" '\"")) for one in named.strip("[]").split(",")]
    else:
        found = [folder / ".streamlit" / "secrets.toml" for folder in (Path.home(), Path.cwd())]
    return [file for file in dict.fromkeys(found) if os.path.lexists(file)]


def _rules(secrets: Mapping[str, Any]) -> Finding:
    if "auth" not in secrets:
        address = os.environ.get(ADDRESS_VARIABLE, "")
        if address in _LOCAL:
            return ok("sign-in", "None: whoever reaches this machine's port may do everything")
        cure = "Add [auth] and [access] to secrets.toml: see docs/deploy.md."
        return error("sign-in", f"None, and the server listens on {address}: everyone there may do everything", cure)
    auth = secrets["auth"] if isinstance(secrets["auth"], Mapping) else {}
    provider = auth.get("default", auth)
    values = {key: auth.get(key) for key in _SHARED} | {key: provider.get(key) for key in _PROVIDER}
    missing = [key for key, value in values.items() if not isinstance(value, str) or not value.strip()]
    if missing:
        return error("sign-in", f"[auth] lacks {', '.join(missing)}", "Complete it: until then no screen is shown.")
    try:
        rules = parse_rules(secrets.get("access"))
    except ConfigError as problem:
        return error("sign-in", str(problem), "Until then no screen is shown.")
    if rules.everyone:
        cure = "Name emails, domains or a claim, unless that is meant."
        return warning("sign-in", "Everyone whom the sign-in service knows is let in", cure)
    return ok("sign-in", "[auth] and [access] can be used")
