"""Riskcore finds and repairs the mistakes of deep entity matchers."""

from riskcore.version import __version__

__all__ = ["__version__"]
