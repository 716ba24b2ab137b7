"""Tomorrow's records: new records or pairs scored with exactly what a run answers with."""
