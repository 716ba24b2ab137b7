"""Training of matchers: on labels, and on risk."""
