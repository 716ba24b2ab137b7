"""What the web server asks outside of the screens: files go only to those who may have them, and come only from them.

Streamlit serves `/media/` to whoever knows an address, makes a file for whoever knows its number, and takes uploads
from strangers. Here both ask for the sign-in, as it is in the cookie, and for the role as it is now. Without a sign-in
service the server is local, and nothing is asked.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import cli_util, config
from streamlit.auth_util import get_cookie_with_chunks
from streamlit.url_util import make_url_path
from streamlit.web.server import server_util
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from pages.parts.frame.access import known_by
from riskcore.access import AccessError, Role
from riskcore.errors import RiskcoreError

_log = logging.getLogger(__name__)
_SHOWN, _UPLOADS = "media", "_stcore/upload_file"


class FileGuard:
    """Refuses files to those who lack the role: what is shown needs a viewer, downloads and uploads an auditor."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        uploads = _lies_below(_UPLOADS, scope)
        if scope["type"] != "http" or not (uploads or _lies_below(_SHOWN, scope)):
            await self._app(scope, receive, send)
            return
        said = cookie_claims(Request(scope))
        wanted = Role.AUDITOR if uploads and scope["method"] != "OPTIONS" else Role.VIEWER
        if _has(wanted, said):
            await self._app(scope, receive, send if _has(Role.AUDITOR, said) else _Displayed(scope, receive, send))
        else:
            await _refusal()(scope, receive, send)


class _Displayed:
    """Sends on what a screen shows, and refuses what the browser would save."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope, self._receive, self._send, self._refused = scope, receive, send, False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = {name.lower(): value for name, value in message["headers"]}
            self._refused = headers.get(b"content-disposition", b"").strip().lower().startswith(b"attachment")
            if self._refused:
                await _refusal()(self._scope, self._receive, self._send)
        if not self._refused:
            await self._send(message)


def _lies_below(route: str, scope: Scope) -> bool:
    """Whether the request is for something below this route, whose address may begin with `server.baseUrlPath`."""
    return str(scope.get("path", "")).startswith(f"{make_url_path(config.get_option('server.baseUrlPath'), route)}/")


def cookie_claims(request: Request) -> Mapping[str, Any]:
    """What the sign-in service said of whoever sends the request, by Streamlit's signed cookie; nothing without one."""
    secret = server_util.get_cookie_secret()

    def one(name: str) -> bytes | None:
        value = request.cookies.get(name)
        return None if value is None else decode_signed_value(secret, name, value.encode("latin-1"))

    try:
        found = json.loads(get_cookie_with_chunks(one, USER_COOKIE_NAME) or b"{}")
    except (ValueError, UnicodeError):
        return {}
    return found if isinstance(found, dict) else {}


def _has(role: Role, said: Mapping[str, Any]) -> bool:
    try:
        return known_by(said).role >= role
    except AccessError:
        return False
    except RiskcoreError as error:  # settings that cannot be used
        _log.error("No file is served or taken: %s", error)
        return False


def _refusal() -> PlainTextResponse:
    return PlainTextResponse("Sign in with a role that may have this file.", status_code=403)


@asynccontextmanager
async def opened(_: Any) -> AsyncIterator[None]:
    """Open the browser once the server listens, as Streamlit does for a script; not on machines without a screen."""
    if not config.get_option("server.headless"):
        asyncio.get_running_loop().call_later(1, cli_util.open_browser, server_util.get_url(_own_address()))
    yield


def _own_address() -> str:
    if config.is_manually_set("browser.serverAddress"):
        return str(config.get_option("browser.serverAddress"))
    return str(server_util.get_display_address(config.get_option("server.address") or "localhost"))


GUARDS = [Middleware(FileGuard)]
