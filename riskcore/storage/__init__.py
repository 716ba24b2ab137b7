"""Files that are whole or absent: atomic writes, locks, JSON values, Parquet reads. Knows nothing of runs."""
