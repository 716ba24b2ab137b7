"""Bringing any files."""
