"""Attacks on Riskcore, with a bar for each: `python -m benchmarks.chaos`, or `make chaos`.

Bounded, on this machine alone, and seeded. Each module is one kind of attack; `__main__` runs them and writes the
table of docs/reliability.md.
"""
