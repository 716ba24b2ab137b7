"""The result of a run on screen: decisions, constraint, entities, downloads."""
