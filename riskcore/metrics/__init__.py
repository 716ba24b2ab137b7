"""Basic metrics: how alike and how unlike the two records of a pair are, attribute by attribute."""
