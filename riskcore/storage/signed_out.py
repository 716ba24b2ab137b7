"""Sign-ins that have ended by a sign-out: an empty file for each, named by a digest of it.

A sign-in is a signed cookie that the browser holds. A copy could be used on after the sign-out, so the server
remembers the sign-out for as long as the sign-in would have lasted. Several servers on one folder remember together.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# What tells one sign-in from the next: the service numbers the person, and the nonce is new every time.
_OF_A_SIGN_IN = ("iss", "sub", "aud", "iat", "nonce", "jti", "sid")


def end_sign_in(folder: Path, said: Mapping[str, Any], hours: float) -> None:
    """Remember that the sign-in with these claims has ended; forget those that are older than any sign-in lasts."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another server forgets at the same time
            if time.time() - old.stat().st_mtime > hours * 3600:
                old.unlink()
    (folder / _name(said)).touch()


def has_ended(folder: Path, said: Mapping[str, Any]) -> bool:
    """Whether the sign-in with these claims has ended by a sign-out."""
    return (folder / _name(said)).exists()


def _name(said: Mapping[str, Any]) -> str:
    text = json.dumps([said.get(key) for key in _OF_A_SIGN_IN], default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
