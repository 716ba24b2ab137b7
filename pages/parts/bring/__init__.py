"""The wizard that turns brought files into a data set, and the door for scores of another matcher."""
