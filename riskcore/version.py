"""The version of Riskcore."""

__version__ = "0.1.0"
