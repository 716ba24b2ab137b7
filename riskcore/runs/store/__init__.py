"""The transactional store: runs, their events and their verdicts."""
