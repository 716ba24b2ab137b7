"""An object whose arrays lie in a file that processes map: they share the memory, and the object opens in no time."""

from __future__ import annotations

import dataclasses
import mmap
import pickle
from pathlib import Path
from typing import Any

_ALIGNED = 64  # bytes, as Arrow wants its buffers


@dataclasses.dataclass(frozen=True)
class Mapped:
    """The object without its arrays, and where in the file these are. It goes from process to process by a pipe, never
    to disk, where somebody could write another one."""

    file: Path
    content: bytes
    places: tuple[slice, ...]

    @classmethod
    def write(cls, one: Any, file: Path) -> Mapped:
        """Write the arrays of an object."""
        places: list[slice] = []
        with file.open("wb") as stream:

            def store(buffer: pickle.PickleBuffer) -> None:
                stream.write(b"\0" * (-stream.tell() % _ALIGNED))
                with buffer.raw() as content:
                    places.append(slice(stream.tell(), stream.tell() + len(content)))
                    stream.write(content)

            content = pickle.dumps(one, pickle.HIGHEST_PROTOCOL, buffer_callback=store)
            stream.write(b"\0")  # a file without a byte cannot be mapped
        return cls(file, content, tuple(places))

    def open(self) -> Any:
        """The object. What is written into its arrays stays in this process."""
        with self.file.open("rb") as stream:
            whole = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_COPY))
        return pickle.loads(self.content, buffers=[whole[place] for place in self.places])
