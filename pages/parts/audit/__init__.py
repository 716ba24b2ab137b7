"""Verdicts on screen."""
