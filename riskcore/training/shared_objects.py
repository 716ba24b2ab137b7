"""Objects that two processes both have: what goes between them mentions these by name."""

from __future__ import annotations

import io
import pickle
from typing import Any


class SharedObjects:
    """What this process has in common with another."""

    def __init__(self) -> None:
        self._objects: dict[str, Any] = {}
        self._names: dict[int, str] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._objects

    def add(self, name: str, one: Any) -> None:
        """From now on the object goes by its name. It stays alive, so that its address means nothing else."""
        self._objects[name] = one
        self._names[id(one)] = name

    def dumps(self, one: Any) -> bytes:
        """The object as bytes."""
        stream = io.BytesIO()
        _Pickler(stream, self._names).dump(one)
        return stream.getvalue()

    def loads(self, content: bytes) -> Any:
        """The object that gave these bytes, there or here."""
        return _Unpickler(content, self._objects).load()


class _Pickler(pickle.Pickler):
    def __init__(self, stream: io.BytesIO, names: dict[int, str]) -> None:
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self._names = names

    def persistent_id(self, one: Any) -> str | None:
        return self._names.get(id(one))


class _Unpickler(pickle.Unpickler):
    def __init__(self, content: bytes, objects: dict[str, Any]) -> None:
        super().__init__(io.BytesIO(content))
        self._objects = objects

    def persistent_load(self, name: Any) -> Any:
        return self._objects[name]
