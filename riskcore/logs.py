"""What a server says on stderr: one line for each event, as JSON with RISKCORE_LOG=json, else as text.

An event names who did what to which run and how it ended. It never has record text, notes, or secrets: errors are named
by their class, and tracebacks by their places. The engine itself says nothing; processes do (`set_up`).
"""

from __future__ import annotations

import json
import logging
import os
import sys
import traceback
from datetime import UTC, datetime
from typing import Any, TextIO

VARIABLE = "RISKCORE_LOG"
# What an event may have beside its name, in the order of the line; docs/operations.md says what each means.
FIELDS = ("action", "who", "role", "run", "outcome", "error", "seconds", "bytes", "count", "version", "pid")
_LOGGERS = ("riskcore", "pages")  # of this project; what libraries say stays as they say it
_MOST = 300  # characters of a text: an address or a name is shorter
_EVENT = "riskcore_event"
_log = logging.getLogger(__name__)
_log.addHandler(logging.NullHandler())  # or Python would print the names of warnings where nobody asked for events


def set_up(server: bool = False) -> None:
    """Let this process say what happens, once. A command that is no server says nothing as text: it prints already."""
    as_json = os.environ.get(VARIABLE, "").strip().lower() == "json"
    if not (as_json or server):
        return
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(one, _Stderr) for one in logger.handlers):
            handler = _Stderr()
            handler.setFormatter(_JsonLines() if as_json else _TextLines())
            logger.addHandler(handler)
            logger.setLevel(logging.INFO)


def stop() -> None:
    """Say nothing any more, as before `set_up`: for tests and programs that call this one."""
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers[:] = [one for one in logger.handlers if not isinstance(one, _Stderr)]
        logger.setLevel(logging.NOTSET)


def event(name: str, level: int = logging.INFO, **fields: Any) -> None:
    """Say that something happened. Fields that are None are left out; one that has no meaning here is a defect."""
    unknown = set(fields) - set(FIELDS)
    if unknown:
        raise ValueError(f"{', '.join(sorted(unknown))}: not a field of an event. There are: {', '.join(FIELDS)}.")
    found = {key: _short(fields[key]) for key in FIELDS if fields.get(key) is not None}
    _log.log(level, name, extra={_EVENT: {"event": name, **found}})


def error_name(error: BaseException) -> str:
    """The class of an error, and of the one behind it: its text may have words of a record."""
    cause = error.__cause__
    return type(error).__name__ if cause is None else f"{type(error).__name__} from {type(cause).__name__}"


class _Stderr(logging.StreamHandler[TextIO]):
    """Writes to what stderr is at the moment: tests and embedding programs replace it."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)

    @property
    def stream(self) -> TextIO:
        return sys.stderr

    @stream.setter
    def stream(self, _: TextIO) -> None:
        """The base class sets it once."""


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(_document(record), ensure_ascii=False, default=str)


class _TextLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        found = _document(record)
        time, level, name = found.pop("time"), found.pop("level"), found.pop("event")
        places = found.pop("places", [])
        said = " ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in found.items())
        return "\n    ".join([f"{time} {level} {name} {said}".rstrip(), *places])


def _document(record: logging.LogRecord) -> dict[str, Any]:
    """A record as a flat document; what was logged without `event` has the event `message`."""
    found = {
        "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname.lower(),
    }
    told = getattr(record, _EVENT, None)
    if told is not None:
        return {**found, **told}
    # The project's own messages name runs, settings and functions; their values may be errors, which stay out.
    arguments = record.args if isinstance(record.args, tuple) else ()
    safe = tuple(error_name(one) if isinstance(one, BaseException) else one for one in arguments)
    message = str(record.msg) % safe if safe else str(record.msg)
    document = {**found, "event": "message", "logger": record.name, "message": _short(message)}
    if record.exc_info and record.exc_info[1] is not None:
        document["error"] = error_name(record.exc_info[1])
        frames = traceback.extract_tb(record.exc_info[2])
        return {**document, "places": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]}
    return document


def _short(value: Any) -> Any:
    """A value as an event has it: texts in one line, not too long."""
    if not isinstance(value, str):
        return value
    text = " ".join(value.split())
    return text if len(text) <= _MOST else f"{text[:_MOST]}…"
