"""Keeping a server: backups and restoring them, retention, and whether everything is as it should be."""
