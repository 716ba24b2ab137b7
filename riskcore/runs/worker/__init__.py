"""What works on a run: the process, its heartbeat, and the files it writes."""
