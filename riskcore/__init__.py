"""Riskcore finds and repairs the mistakes of deep entity matchers."""

__version__ = "0.1.0"
