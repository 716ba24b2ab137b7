"""The screen of scored sets: choosing one, its queue, charts, a pair's card, and its export."""
