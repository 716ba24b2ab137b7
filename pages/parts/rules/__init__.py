"""Rules on screen, and what changes when one is muted or pinned."""
