"""A client that obeys nothing: it says to the server of the screens whatever a browser could say, and more.

It signs in at the tests' OpenID Connect provider over plain HTTP, opens the websocket with any cookie, header or
session number, and sends any state of any widget, drawn or not. What screens draw is noted, to be replayed elsewhere.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import httpx
import websockets
from joserfc import jwt
from joserfc.jwk import OctKey
from streamlit.components.v2.bidi_component.constants import EVENT_DELIM
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME
from websockets.asyncio.client import ClientConnection

from tests.oidc_provider import COOKIE_SECRET

PATIENCE = 20.0  # seconds until an answer counts as none
BRIEF = 0.5  # the same where none is expected: the server keeps silent about parts of a screen that it has not drawn
TEXT = "replayed"
_BUTTONS = ("button", "download_button")
_FIELDS = ("text_input", "text_area", "checkbox", "number_input", "selectbox", "multiselect", "button_group")
_COMPONENT = "bidi_component"


@dataclasses.dataclass(frozen=True)
class Control:
    """A widget as a screen drew it, and where."""

    page: str  # the hash of the screen
    query: str
    fragment: str
    id: str
    kind: str
    label: str
    disabled: bool = False
    file: str = ""  # the number of a file that is made when it is asked for

    def state(self) -> WidgetState:
        """What a browser sends once somebody has used it."""
        if self.kind in _BUTTONS:
            return WidgetState(id=self.id, trigger_value=True)
        if self.kind == "checkbox":
            return WidgetState(id=self.id, bool_value=True)
        if self.kind == "number_input":
            return WidgetState(id=self.id, double_value=20.0)
        state = WidgetState(id=self.id)
        if self.kind in ("multiselect", "button_group"):
            state.string_array_value.data.append(self.label)
        elif self.kind == _COMPONENT:
            return _told(self.id, "opened", TEXT)
        else:
            state.string_value = TEXT
        return state


def _told(component: str, event: str, value: str) -> WidgetState:
    """What a component's code says to the server, under the number that Streamlit gives to its events."""
    return WidgetState(
        id=f"{STREAMLIT_INTERNAL_KEY_PREFIX}_{component}{EVENT_DELIM}events",
        json_trigger_value=json.dumps([{"event": event, "value": value}]),
    )


def sign_in(site: str, name: str) -> dict[str, str]:
    """The cookies of a person after the sign-in, by the requests that a browser makes."""
    key = OctKey.import_key(COOKIE_SECRET)
    token = jwt.encode({"alg": "HS256"}, {"provider": "default", "exp": int(time.time()) + 60}, key)
    cookies: dict[str, str] = {}
    address = f"{site}/auth/login?provider={token}"
    with httpx.Client(trust_env=False) as client:
        for _ in range(5):
            ours = address.startswith(site)
            headers = {"Cookie": cookie_header(cookies)} if ours and cookies else {}
            answer = client.get(address, headers=headers)
            if ours:
                cookies |= dict(answer.cookies)
            if answer.status_code != 302:
                raise RuntimeError(f"The sign-in ended with {answer.status_code} at {address}")
            address = str(answer.next_request.url) if answer.next_request else ""
            if urlsplit(address).path == "/authorize":
                address += f"&as={name}"
            if urlsplit(address).path == "/":
                return {one: value.strip('"') for one, value in cookies.items() if one.startswith("_streamlit_user")}
    raise RuntimeError("The sign-in did not come back.")


def cookie_header(cookies: Mapping[str, str]) -> str:
    return "; ".join(f"{name}={value}" for name, value in cookies.items())


class Forger:
    """One connection."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._pages: dict[str, str] = {}
        self._query = self._page = ""
        self.controls: dict[str, Control] = {}
        self.session = self.words = self.redirect = ""

    @classmethod
    async def open(
        cls, site: str, cookies: Mapping[str, str], session: str = "", headers: Mapping[str, str] | None = None
    ) -> Forger:
        """With these cookies; `session` asks for a session that is already there."""
        token = generate_xsrf_token_string()
        said = {"Cookie": cookie_header({**cookies, XSRF_COOKIE_NAME: token}), **(headers or {})}
        connection = await websockets.connect(
            site.replace("http", "ws") + "/_stcore/stream",
            max_size=None,
            origin=site,  # type: ignore[arg-type]
            additional_headers=said,
            subprotocols=["streamlit", token, *([session] if session else [])],  # type: ignore[list-item]
        )
        return cls(connection)

    async def close(self) -> None:
        await self._connection.close()

    async def visit(self, page: str, query: str) -> None:
        """Open a screen by its address; afterwards `controls` are those that it has drawn."""
        self._query, self.controls, self.words = query, {}, ""
        message = BackMsg()
        message.rerun_script.query_string = query
        message.rerun_script.page_name = page
        await self._run(message)

    async def say(self, control: Control, states: Sequence[WidgetState], *, with_fragment: bool = True) -> bool:
        """Send these states as if they came from where the control was drawn; whether the server answered."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_script_hash = control.query, control.page
        state.fragment_id = control.fragment if with_fragment else ""
        state.widget_states.widgets.extend(states)
        drawn = {"", *(one.fragment for one in self.controls.values())}
        return await self._run(message, PATIENCE if state.fragment_id in drawn else BRIEF)

    async def trigger(self, component: str, event: str, value: str) -> bool:
        """What a component of the screen says to the server."""
        (found,) = [one for one in self.controls.values() if component in one.label]
        return await self.say(found, [_told(found.id, event, value)])

    async def ask_for_file(self, file: str) -> str:
        """The address of a file that is made when it is asked for; "" if the server refuses."""
        message = BackMsg()
        message.backend_operation_request.request_id = "1"
        message.backend_operation_request.session_id = self.session
        message.backend_operation_request.deferred_file.file_id = file
        await self._connection.send(message.SerializeToString())
        while True:
            answer = await self._next()
            if answer is None:
                return ""
            if answer.WhichOneof("type") == "backend_operation_response":
                return str(answer.backend_operation_response.deferred_file.url)

    async def _run(self, message: BackMsg, patience: float = PATIENCE) -> bool:
        await self._connection.send(message.SerializeToString())
        while (answer := await self._next(patience)) is not None:
            self._take(answer)
            over = answer.WhichOneof("type") == "script_finished"
            if over and answer.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                return True
        return False

    async def _next(self, patience: float = PATIENCE) -> ForwardMsg | None:
        try:
            received = await asyncio.wait_for(self._connection.recv(), patience)
        except TimeoutError:
            return None
        answer = ForwardMsg()
        answer.ParseFromString(received)
        return answer

    def _take(self, answer: ForwardMsg) -> None:
        kind = answer.WhichOneof("type")
        if kind == "new_session":
            self._page = answer.new_session.page_script_hash or self._page
            self.session = answer.new_session.initialize.session_id or self.session
        elif kind == "navigation":
            self._page = answer.navigation.page_script_hash or self._page
        elif kind == "auth_redirect":
            self.redirect = answer.auth_redirect.url
        elif kind == "page_info_changed":
            self._query = answer.page_info_changed.query_string
        elif kind == "delta" and answer.delta.WhichOneof("type") == "new_element":
            self._note(answer.delta.new_element, answer.delta.fragment_id)

    def _note(self, element: Any, fragment: str) -> None:
        kind = element.WhichOneof("type")
        if kind in (*_BUTTONS, *_FIELDS, _COMPONENT):
            widget = getattr(element, kind)
            label = str(getattr(widget, "label", "") or getattr(widget, "component_name", kind))
            file = str(getattr(widget, "deferred_file_id", ""))
            disabled = bool(getattr(widget, "disabled", False))
            self.controls[widget.id] = Control(
                self._page, self._query, fragment, widget.id, kind, label, disabled, file
            )
        elif kind in ("markdown", "alert", "heading", "text"):
            self.words += str(getattr(getattr(element, kind), "body", "")) + "\n"


def filled(control: Control, around: Sequence[Control]) -> list[WidgetState]:
    """The state of a button with all fields beside it filled in, as a browser sends them together."""
    return [one.state() for one in around if one.kind in ("text_area", "checkbox")] + [control.state()]
