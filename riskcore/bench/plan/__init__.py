"""Which cells a benchmark has."""
