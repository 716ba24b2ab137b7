"""All errors meant for people: what happened, where, and what to do.

One root, so that the command line and the screens catch one class and show its text;
anything that is not a `RiskcoreError` is a defect of this project.
"""

from __future__ import annotations


class RiskcoreError(Exception):
    """Base class of all errors raised on purpose. The text can be shown to a user."""


class ConfigError(RiskcoreError):
    """A setting has a value that it cannot have."""


class DownloadError(RiskcoreError):
    """A public data set could not be fetched or unpacked."""


class MatcherError(RiskcoreError):
    """A matcher was asked for something it cannot do, or its files cannot be used."""


class CheckpointError(RiskcoreError):
    """A checkpoint does not belong to this training, or cannot be read."""


class CancelledError(RiskcoreError):
    """Someone asked to stop. The progress made so far is in the last checkpoint."""


class StorageError(RiskcoreError):
    """A file or the store cannot be written or read."""


class DamagedFileError(StorageError):
    """A file does not hold what was written into it."""


class BusyError(RiskcoreError):
    """Another process holds the requested lock."""
