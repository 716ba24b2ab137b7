"""Messages over a socket: each with its length in front."""

from __future__ import annotations

import socket
import struct

_LENGTH = struct.Struct("!Q")
_CHUNK = 1 << 20


class TooLongError(Exception):
    """A message is longer than its reader accepts."""


def send(connection: socket.socket, content: bytes) -> None:
    connection.sendall(_LENGTH.pack(len(content)) + content)


def receive(connection: socket.socket, most: int) -> bytes | None:
    """The next message; None if there is none, or none that is whole."""
    head = _exactly(connection, _LENGTH.size)
    if head is None:
        return None
    (length,) = _LENGTH.unpack(head)
    if length > most:
        raise TooLongError(length)
    return _exactly(connection, length)


def _exactly(connection: socket.socket, length: int) -> bytes | None:
    parts, left = [], length
    while left:
        part = connection.recv(min(left, _CHUNK))
        if not part:
            return None
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
