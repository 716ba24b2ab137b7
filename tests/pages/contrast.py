"""Contrast of text and ground, as WCAG 2 defines it, with colours that are partly transparent or mixed."""

from __future__ import annotations

ENOUGH = 4.5  # for text of an ordinary size
Colour = tuple[float, float, float]  # red, green and blue, 0 to 1


def colour(text: str) -> Colour:
    """A colour written as #rrggbb."""
    red, green, blue = (int(text[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def mixed(first: Colour, second: Colour, share: float) -> Colour:
    """`share` of the first colour over the second: also what a text of that opacity looks like on a ground."""
    red, green, blue = (share * a + (1 - share) * b for a, b in zip(first, second, strict=True))
    return red, green, blue


def contrast(first: Colour, second: Colour) -> float:
    """From 1, the same brightness, to 21, black on white."""
    brighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def _luminance(one: Colour) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in one]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
