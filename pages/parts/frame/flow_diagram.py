"""The one picture of the Overview: from labelled source to audited target, in boxes that follow the theme."""

from pages.parts.frame.palette import FLIPPED, INK, MATCH, RISKY

_STYLE = """<style>
.rc-flow{display:flex;flex-wrap:wrap;gap:.5rem;align-items:stretch;margin:.4rem 0 .2rem;line-height:1.4}
.rc-stage{flex:1 1 8.5rem;border-radius:10px;padding:.7rem .85rem;position:relative;
 background:color-mix(in srgb,var(--tone) 9%,transparent);
 border:1px solid color-mix(in srgb,var(--tone) 45%,transparent)}
.rc-stage b{display:block;margin-bottom:.2rem}
.rc-stage span{font-size:.85rem;opacity:.8}
.rc-arrow{align-self:center;opacity:.55;font-size:1.15rem}
.rc-loop{text-align:center;font-size:.82rem;opacity:.7;margin:.1rem 0 .6rem}
</style>"""
_STAGES = (
    (INK, "1 · Learn", "train a matcher on the labelled source"),
    (MATCH.colour, "2 · Find rules", "“year differs → non-match”: right on the source"),
    (RISKY.colour, "3 · Measure risk", "rules against matcher, on the unlabelled target"),
    (FLIPPED.colour, "4 · Repair", "fine-tune by risk; wrong labels flip ⇄"),
    (INK, "5 · Audit", "riskiest pairs first, each with its reasons"),
)


def _stage(tone: str, title: str, words: str) -> str:
    return f'<div class="rc-stage" style="--tone:{tone}"><b>{title}</b><span>{words}</span></div>'


PICTURE = (
    f'{_STYLE}<div class="rc-flow" role="img" aria-label="Learn, find rules, measure risk, repair, audit">'
    + '<span class="rc-arrow">→</span>'.join(_stage(*stage) for stage in _STAGES)
    + '</div><div class="rc-loop">↺ steps 3 and 4 repeat, iteration by iteration</div>'
)
