"""`python -m riskcore.training.helper SOCKET PARENT`: a process that does the tasks it is sent, one after the other.

It ends with its parent: when the socket closes and, on Linux, by the system itself.
"""

from __future__ import annotations

import ctypes
import dataclasses
import importlib
import os
import pickle
import queue
import signal
import sys
import threading
import traceback
from multiprocessing.connection import Connection
from typing import Any

from riskcore.errors import RiskcoreError
from riskcore.training.processes import peak_rss_mb
from riskcore.training.shared_objects import SharedObjects

ORPHAN = 1  # exit code of a helper whose parent has gone
_PR_SET_PDEATHSIG = 1


@dataclasses.dataclass(frozen=True)
class Question:
    """A task, or (with a name) an object that tasks mention."""

    content: bytes
    name: str = ""


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a task gave, or the error that ended it."""

    result: Any
    error: BaseException | None
    peak_rss_mb: float


def main(descriptor: int, parent: int) -> None:
    """Work until the parent ends this process or itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, too, which decides
    _end_with(parent)
    talk, questions = Connection(descriptor), queue.SimpleQueue[Question]()
    threading.Thread(target=_listen, args=(talk, questions), name="listen", daemon=True).start()
    sys.path[:] = pickle.loads(questions.get().content)
    importlib.import_module("riskcore.training.experiment")  # takes seconds, while there is nothing to do yet
    shared = SharedObjects()
    while True:
        question = questions.get()
        if question.name:
            shared.add(question.name, shared.loads(question.content))
        else:
            talk.send_bytes(_packed(_answer(question.content, shared), shared))


def _end_with(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it has gone already
        os._exit(ORPHAN)


def _listen(talk: Connection, questions: queue.SimpleQueue[Question]) -> None:
    """Take in questions also while a task is being done: that the socket closes is seen at once."""
    try:
        while True:
            questions.put(pickle.loads(talk.recv_bytes()))
    except (EOFError, OSError):
        os._exit(ORPHAN)


def _answer(task: bytes, shared: SharedObjects) -> Answer:
    try:
        function, arguments = shared.loads(task)
        return Answer(function(*arguments), None, peak_rss_mb())
    except Exception as error:
        error.add_note(f"In a helper process:\n{traceback.format_exc()}")
        return Answer(None, error, peak_rss_mb())


def _packed(answer: Answer, shared: SharedObjects) -> bytes:
    """The answer as bytes; an error that cannot be sent as it is goes as one of the same words."""
    if answer.error is None:
        return shared.dumps(answer)
    try:
        packed = pickle.dumps(answer)
        pickle.loads(packed)  # some errors can be written and not read
    except Exception:
        kind = RiskcoreError if isinstance(answer.error, RiskcoreError) else RuntimeError
        error = kind(str(answer.error) if kind is RiskcoreError else f"{type(answer.error).__name__}: {answer.error}")
        for note in answer.error.__notes__:
            error.add_note(note)
        packed = pickle.dumps(dataclasses.replace(answer, error=error))
    return packed


if __name__ == "__main__":
    # By its importable name, so that the other process can read what is written here.
    importlib.import_module("riskcore.training.helper").main(int(sys.argv[1]), int(sys.argv[2]))
