"""Data sets on screen."""
