"""Running the cells of a benchmark, and the tables of their results."""
