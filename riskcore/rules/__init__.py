"""One-sided rules: found on the labelled source, readable, fired as a sparse matrix."""
