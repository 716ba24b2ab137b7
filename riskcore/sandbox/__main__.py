"""`python -m riskcore.sandbox FD`: waits beside the web process, and forks a limited process for each task.

It has imported all readers already, so that a fork costs milliseconds. It reads nothing itself: each file is met by a
fresh process. The socket FD brings two more for each task: one for question and answer, and one on which the way in
which the process ended is told. When the socket closes, the web process is gone, and this one ends too.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import traceback
from pathlib import Path
from typing import Any, NoReturn

from riskcore.data.problems import DataFormatError
from riskcore.errors import RiskcoreError
from riskcore.sandbox import frames
from riskcore.sandbox.limits import Limits, limit_this_process
from riskcore.sandbox.tasks import TASKS
from riskcore.sandbox.wire import decoded, encoded

QUESTION_BYTES = 64_000_000


def serve(door: socket.socket) -> None:
    """Fork for each task that comes through the door, until it closes."""
    wake, bell = os.pipe()
    os.set_blocking(bell, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(bell, warn_on_full_buffer=False)
    going_on: dict[int, socket.socket] = {}
    while True:
        ready, _, _ = select.select([door.fileno(), wake], [], [])
        if wake in ready:
            os.read(wake, 4096)
            _reap(going_on)
        if door.fileno() in ready:
            word, descriptors, _, _ = socket.recv_fds(door, 1, 2)
            if not word:
                return
            talk, ending = (socket.socket(fileno=one) for one in descriptors)
            child = os.fork()
            if child == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for other in (door, ending, *going_on.values()):
                    other.close()
                work(talk)
            talk.close()
            going_on[child] = ending


def _reap(going_on: dict[int, socket.socket]) -> None:
    """Tell how each process that is over has ended."""
    for child in list(going_on):
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            with going_on.pop(child) as ending, contextlib.suppress(OSError):  # nobody may wait for it any more
                frames.send(ending, encoded(os.waitstatus_to_exitcode(status)))


def work(talk: socket.socket) -> NoReturn:
    """Do one task and end this process."""
    code = 1
    try:
        question = frames.receive(talk, QUESTION_BYTES)
        if question is not None:
            _answer(talk, decoded(question))
        code = 0
    except OSError:
        pass  # the web process has gone
    finally:
        sys.stderr.flush()
        os._exit(code)


def _answer(talk: socket.socket, question: dict[str, Any]) -> None:
    limits = Limits(**question["limits"])
    os.environ.update(question["environment"])
    os.chdir(question["folder"])
    limit_this_process(limits)

    def tell(path: Path) -> None:
        frames.send(talk, encoded({"at": path}))

    try:
        answer = {"answer": TASKS[question["task"]](tell, *question["arguments"])}
    except DataFormatError as error:
        answer = {"error": "DataFormatError", "problems": list(error.problems)}
    except RiskcoreError as error:
        answer = {"error": type(error).__name__, "words": str(error)}
    except MemoryError:
        answer = {"memory": True}
    except Exception as error:
        traceback.print_exc()
        answer = {"unexpected": type(error).__name__}
    content = _encoded(answer)
    if len(content) > limits.answer_bytes:
        content = encoded({"too long": len(content)})
    frames.send(talk, content)


def _encoded(answer: dict[str, Any]) -> bytes:
    try:
        return encoded(answer)
    except MemoryError:
        return encoded({"memory": True})


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the web process decides when to end
    with socket.socket(fileno=int(sys.argv[1])) as inherited:
        serve(inherited)
