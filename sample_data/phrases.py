"""How word lists are written in this folder."""


def phrases(text: str) -> tuple[str, ...]:
    """Phrases separated by `|` or line ends: a page of words stays readable as a page of words."""
    return tuple(phrase.strip() for line in text.strip().splitlines() for phrase in line.split("|") if phrase.strip())
