"""The one picture of the Overview: from labelled source to audited target. Drawn in the text's own colour."""

from pages.parts.palette import FLIPPED, INK, MATCH, RISKY

_BOX = (
    '<rect x="{x}" y="18" width="170" height="92" rx="10" fill="{tone}" fill-opacity="0.09" stroke="{tone}" '
    'stroke-opacity="0.55" stroke-width="1.5"/>'
    '<text x="{mid}" y="47" text-anchor="middle" font-size="15" font-weight="650" fill="currentColor">{title}</text>'
    '<text x="{mid}" y="71" text-anchor="middle" font-size="12.5" fill="currentColor" opacity="0.78">{one}</text>'
    '<text x="{mid}" y="90" text-anchor="middle" font-size="12.5" fill="currentColor" opacity="0.78">{two}</text>'
)
_ARROW = (
    '<path d="M {a} 64 H {b}" stroke="currentColor" stroke-opacity="0.5" stroke-width="1.6" fill="none"/>'
    '<path d="M {b} 64 l -7 -4 v 8 z" fill="currentColor" fill-opacity="0.6"/>'
)
_STAGES = (
    (INK, "1 · Learn", "train a matcher", "on labelled source"),
    (MATCH.colour, "2 · Find rules", "year differs → unmatch", "right on the source"),
    (RISKY.colour, "3 · Measure risk", "rules against matcher", "on the unlabelled target"),
    (FLIPPED.colour, "4 · Repair", "fine-tune by risk,", "labels flip ⇄"),
    (INK, "5 · Audit", "riskiest pairs first,", "each with its reasons"),
)


def _drawing() -> str:
    parts = []
    for place, (tone, title, one, two) in enumerate(_STAGES):
        x = 8 + place * 202
        parts.append(_BOX.format(x=x, mid=x + 85, tone=tone, title=title, one=one, two=two))
        if place:
            parts.append(_ARROW.format(a=x - 30, b=x - 3))
    loop = (
        '<path d="M 699 112 C 699 146, 497 146, 497 114" stroke="currentColor" stroke-opacity="0.5" '
        'stroke-width="1.6" fill="none" stroke-dasharray="4 4"/>'
        '<path d="M 497 112 l -4 8 h 8 z" fill="currentColor" fill-opacity="0.6"/>'
        '<text x="598" y="156" text-anchor="middle" font-size="12" fill="currentColor" opacity="0.7">iterate</text>'
    )
    return "".join(parts) + loop


PICTURE = (
    '<svg viewBox="0 0 1000 162" width="100%" style="max-width:1080px;display:block" role="img" '
    'aria-label="Learn on the source, find rules, measure risk on the target, repair, audit">' + _drawing() + "</svg>"
)
