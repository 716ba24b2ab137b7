"""The report of a benchmark: tables, figures, and how they were made."""
