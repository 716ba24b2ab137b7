"""Reading and writing files: atomic writes, locks, JSON, Parquet, arrays. Knows nothing about runs."""
