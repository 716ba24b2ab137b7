"""Runs on screen: form, list, live view, files."""
