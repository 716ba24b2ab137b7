"""The parts of the Help screen."""
