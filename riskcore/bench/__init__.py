"""Benchmarks: the paper's evaluation on any folder of data sets, cell by cell, resumable, with a report."""
