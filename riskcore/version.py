"""The version of Riskcore."""

__version__ = "0.2.0"
