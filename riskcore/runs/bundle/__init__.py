"""What a run answers with, as files of its own: the worker writes them, `riskcore apply` reads them. No pickle."""
