"""A visitor of the screens without a browser: speaks Streamlit's own protocol over a websocket.

It knows the buttons and fields that the server drew last, and an action takes as long as the server's script runs: from
sending the click to the message that the script is at rest. Drawing in a browser comes on top of that.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection

PATIENCE = 120.0  # seconds until an answer counts as lost
_WIDGETS = ("button", "text_input", "pagination")


class ScreenError(Exception):
    """The screen shows an error, or what was to be clicked is not there."""


class ScreenSession:
    """One open tab."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._query = self._page = ""
        self._pages: dict[str, str] = {}  # the hash of each page by its address
        self._widgets: dict[str, tuple[str, str]] = {}  # id and fragment by label
        self.pages_of_queue = 0

    @classmethod
    async def open(cls, port: int) -> ScreenSession:
        address = f"ws://localhost:{port}/_stcore/stream"
        connection = await websockets.connect(address, max_size=None, subprotocols=["streamlit"])  # type: ignore[list-item]
        return cls(connection)

    async def close(self) -> None:
        await self._connection.close()

    def shows(self, label: str) -> bool:
        return label in self._widgets

    async def visit(self, page: str, query: str) -> float:
        """Open a screen by its address."""
        self._query, self._widgets = query, {}
        message = BackMsg()
        message.rerun_script.query_string = query
        if page in self._pages:
            message.rerun_script.page_script_hash = self._pages[page]
        else:
            message.rerun_script.page_name = page
        return await self._run(message)

    async def click(self, label: str) -> float:
        return await self._set(label, trigger_value=True)

    async def write(self, label: str, text: str) -> float:
        return await self._set(label, string_value=text)

    async def turn_to(self, page: int) -> float:
        return await self._set("pagination", int_value=page)

    async def _set(self, label: str, **value: Any) -> float:
        if label not in self._widgets:
            raise ScreenError(f"there is no {label!r}")
        widget, fragment = self._widgets[label]
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_script_hash, state.fragment_id = self._query, self._page, fragment
        state.widget_states.widgets.append(WidgetState(id=widget, **value))
        if fragment:
            self._widgets = {name: one for name, one in self._widgets.items() if one[1] != fragment}
        else:
            self._widgets = {}
        return await self._run(message)

    async def _run(self, message: BackMsg) -> float:
        started = time.perf_counter()
        await self._connection.send(message.SerializeToString())
        problem = ""
        while True:
            answer = ForwardMsg()
            answer.ParseFromString(await self._receive(started))
            problem = self._take(answer) or problem
            if answer.WhichOneof("type") == "script_finished":
                if answer.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    continue
                if problem:
                    raise ScreenError(problem)
                return time.perf_counter() - started

    async def _receive(self, started: float) -> bytes:
        if time.perf_counter() - started > PATIENCE:
            raise ScreenError(f"no answer within {PATIENCE:.0f} s")
        received = await asyncio.wait_for(self._connection.recv(), PATIENCE)
        assert isinstance(received, bytes)
        return received

    def _take(self, answer: ForwardMsg) -> str:
        """Note what the screen shows now; the text of an error, if it shows one."""
        kind = answer.WhichOneof("type")
        if kind == "new_session":
            self._page = answer.new_session.page_script_hash or self._page
            self._pages |= {one.url_pathname: one.page_script_hash for one in answer.new_session.app_pages}
        elif kind == "navigation":
            self._pages |= {one.url_pathname: one.page_script_hash for one in answer.navigation.app_pages}
            self._page = answer.navigation.page_script_hash or self._page
        elif kind == "page_info_changed":
            self._query = answer.page_info_changed.query_string
        elif kind == "delta" and answer.delta.WhichOneof("type") == "new_element":
            return self._take_element(answer.delta.new_element, answer.delta.fragment_id)
        return ""

    def _take_element(self, element: Any, fragment: str) -> str:
        kind = element.WhichOneof("type")
        if kind in _WIDGETS:
            widget = getattr(element, kind)
            if kind == "pagination":
                self.pages_of_queue = widget.num_pages
            self._widgets[getattr(widget, "label", kind)] = (widget.id, fragment)
        if kind == "exception":
            return str(element.exception.message)
        return str(element.alert.body) if kind == "alert" and element.alert.format == element.alert.ERROR else ""
