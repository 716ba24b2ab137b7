"""The process that works on a run: its heartbeat, and the files that it writes."""
