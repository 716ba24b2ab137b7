"""The queue and the pair card."""
