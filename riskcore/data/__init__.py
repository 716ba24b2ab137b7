"""Data sets and workloads: reading, checking, typing, splitting."""
