"""Where a data set came from, as a run's settings name it: a path, or frames that only a Python session had."""

from __future__ import annotations

FRAMES = "frames:"  # before the data set's name, in place of a path


def frames_origin(name: str, fingerprint: str) -> str:
    """What stands for frames where a path would stand; other content has another name, as other folders have."""
    return f"{FRAMES}{name}-{fingerprint[:8]}"


def is_from_frames(origin: str | None) -> bool:
    """Whether the data came from frames, which are not stored: no other process can read them."""
    return origin is not None and origin.startswith(FRAMES)
