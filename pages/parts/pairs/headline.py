"""What a pair probably is, in one line, and the decisive difference below it."""

from __future__ import annotations

import html

from pages.parts.frame.palette import (
    FLIPPED,
    FLIPPED_BACK,
    MATCH,
    MEDIUM_RISK,
    NON_MATCH,
    RISKY,
    of_label,
    risk_word,
    text_tone,
)
from riskcore.runs import PairDetail
from riskcore.runs.readers.pair_reasons import PairReason

UNDECIDED = (0.35, 0.65)  # risks between which either label may be right

STYLE = f"""<style>
.rc-likely{{font-size:1.35rem;font-weight:650;line-height:1.3;margin:.1rem 0 .15rem}}
.rc-decisive{{font-size:1.06rem;line-height:1.45;overflow-wrap:anywhere;unicode-bidi:isolate;margin:0 0 .15rem}}
.rc-because{{overflow-wrap:anywhere;unicode-bidi:isolate;margin:0 0 .5rem}}
.rc-badge{{display:inline-block;padding:.14rem .65rem;border-radius:999px;font-weight:600;font-size:.88rem;
 margin:0 .4rem .3rem 0;white-space:nowrap;background:color-mix(in srgb,var(--tone) 13%,transparent);
 border:1px solid color-mix(in srgb,var(--tone) 45%,transparent);color:color-mix(in srgb,var(--tone) 55%,currentColor)}}
.rc-m{{color:{text_tone(MATCH.colour)}}} .rc-n{{color:{text_tone(NON_MATCH.colour)}}}
</style>"""


def likely_words(label: int, risk: float) -> tuple[str, bool | None]:
    """What a pair with this label and risk probably is, in words, and whether that is a match; None: undecided."""
    low, high = UNDECIDED
    word, other = of_label(label).word, of_label(1 - label).word
    if risk >= high:
        return f"Probably a {other}, labelled {word}", not label
    if risk > low:
        return f"Could go either way, labelled {word}", None
    return f"Probably a {word}", bool(label)


def headline(
    detail: PairDetail, reason: PairReason | None, proposed: bool = False, flip: str = "", at_most: bool = False
) -> str:
    """What the pair probably is, the decisive difference, why, and label, risk and flip as signs and words.

    `proposed`: no label shows that the flip is right. `at_most`: the risk is the largest that the label can have.
    """
    label, risk = int(detail.scores["label"]), float(detail.scores["risk"])
    words, says = likely_words(label, risk)
    question = ": accept?" if says is not None and bool(label) == says else "."
    tone = "" if says is None else " rc-m" if says else " rc-n"
    parts = [f'<div class="rc-likely{tone}" role="heading" aria-level="2">{html.escape(words + question)}</div>']
    if reason is not None:
        if reason.difference:
            parts.append(f'<p class="rc-decisive"><b>{html.escape(reason.difference)}</b></p>')
        parts.append(f'<p class="rc-because" dir="auto">{html.escape(because(reason))}</p>')
    return STYLE + "".join(parts) + _badges(detail, proposed, flip, at_most)


def because(reason: PairReason) -> str:
    """Why, in one sentence."""
    word = MATCH.word if reason.says_match else NON_MATCH.word
    if reason.steady and reason.because and reason.because == reason.difference:  # the line above has said it
        return f"The evidence says {word}{f', although {reason.although}' if reason.although else ''}."
    return f"The evidence says {word}: {reason.words}."


def _badges(detail: PairDetail, proposed: bool, flip: str, at_most: bool) -> str:
    scores = detail.scores
    label, risk = of_label(int(scores["label"])), float(scores["risk"])
    nearest = "" if not at_most else "at least " if label is MATCH else "at most "
    known = f"{RISKY.sign} risk {'at most ' if at_most else ''}{risk:.2f} · {risk_word(risk)}"
    badges = [
        (label.colour, f"{label.sign} labelled {label.word} · probability {nearest}{scores['probability']:.2f}"),
        (RISKY.colour if risk >= MEDIUM_RISK else label.colour, known),
    ]
    if scores["flipped"]:
        before = of_label(1 - int(scores["label"]))
        what = f"a flip from {before.word} is proposed, not applied" if proposed else f"flipped from {before.word}"
        badges.append((FLIPPED.colour, f"{FLIPPED.sign} {what}{flip}"))
    elif int(scores["flips"]):
        badges.append((FLIPPED.colour, f"{FLIPPED_BACK.sign} flipped on the way, back to its first label"))
    return "".join(f'<span class="rc-badge" style="--tone:{tone}">{html.escape(text)}</span>' for tone, text in badges)
