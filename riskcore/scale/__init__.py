"""Scoring at size: any number of pairs through everything a run answers with, in bounded memory, part by part."""
