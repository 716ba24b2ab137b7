"""Measurements that take too long for the tests. Each module is a command and says what it measures."""
