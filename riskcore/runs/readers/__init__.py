"""What screens, commands and notebooks read of a run. Nothing here writes."""
