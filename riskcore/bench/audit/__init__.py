"""Simulated audits of finished runs with known truth: do the intervals cover, and how many verdicts do they take?"""
