"""Two records as HTML, side by side, with the words that only one of them has marked. Everything is escaped here.

Words are compared as the metrics compare them: without case and accents, so Müller and Muller are the same word.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from riskcore.data.problems import visible
from riskcore.data.values import fold, words

LONG_VALUE = 400  # characters of a value that are shown until "Show long values in full" is on
LONGEST_VALUE = 200_000  # characters that are sent to the browser at most

STYLE = """<style>
.rc-records{width:100%;border-collapse:collapse;table-layout:fixed;font-size:.95rem;line-height:1.5}
.rc-records th{text-align:left;font-weight:600;padding:.35rem .7rem;opacity:.72;font-size:.82rem;width:42.5%}
.rc-records th:first-child{width:15%}
.rc-records td{padding:.45rem .7rem;vertical-align:top;overflow-wrap:anywhere;unicode-bidi:isolate;
 border-top:1px solid color-mix(in srgb,currentColor 14%,transparent)}
.rc-records td:first-child{font-size:.85rem;opacity:.75;font-weight:600}
.rc-records mark{background:color-mix(in srgb,#d97706 26%,transparent);color:inherit;border-radius:3px;padding:0 .12em;
 text-decoration:underline;text-decoration-color:#d97706;text-underline-offset:3px}
.rc-missing{opacity:.55;font-style:italic}
.rc-same{opacity:.6;font-size:.8rem;font-weight:400;display:block}
</style>"""


def records_table(
    left: Mapping[str, str | None],
    right: Mapping[str, str | None],
    attributes: Sequence[str],
    titles: tuple[str, str] = ("Left record", "Right record"),
    whole: bool = False,
) -> str:
    """The table of both records; `whole` shows long values in full."""
    rows = "".join(_row(name, left.get(name), right.get(name), whole) for name in attributes)
    head = "".join(f"<th>{html.escape(title)}</th>" for title in ("", *titles))
    return f'{STYLE}<table class="rc-records"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def has_long_values(*records: Mapping[str, str | None]) -> bool:
    return any(value is not None and len(value) > LONG_VALUE for record in records for value in record.values())


def _row(name: str, left: str | None, right: str | None, whole: bool) -> str:
    limit = LONGEST_VALUE if whole else LONG_VALUE
    ours, theirs = (set(words(fold((value or "")[:LONGEST_VALUE]))) for value in (left, right))
    label = html.escape(visible(name[:80]))
    note = f'<span class="rc-same">{_relation(left, right, ours, theirs)}</span>'
    cells = "".join(
        f'<td dir="auto">{_value(value, other if left is not None and right is not None else None, limit)}</td>'
        for value, other in ((left, theirs), (right, ours))
    )
    return f"<tr><td>{label}{note}</td>{cells}</tr>"


def _relation(left: str | None, right: str | None, ours: set[str], theirs: set[str]) -> str:
    if left is None or right is None:
        return "missing" if left is None and right is None else "missing on one side"
    if left == right:
        return "identical"
    only = len(ours ^ theirs)
    return f"{only} words differ" if only > 1 else "1 word differs" if only else "same words"


def _value(value: str | None, other: set[str] | None, limit: int) -> str:
    if value is None:
        return '<span class="rc-missing">no value</span>'
    shown = "".join(_marked(value[:limit], other))
    rest = len(value) - limit
    return shown + (f' <span class="rc-missing">… {rest:,} more characters</span>' if rest > 0 else "")


def _marked(value: str, other: set[str] | None) -> Iterator[str]:
    """The value piece by piece, escaped; words that are not among the other value's words are marked."""
    for is_word, characters in groupby(value, _in_word):
        piece = "".join(characters)
        text = html.escape(visible(piece))
        differs = other is not None and is_word and not other.issuperset(words(fold(piece)))
        yield f"<mark>{text}</mark>" if differs else text


def _in_word(character: str) -> bool:
    """Letters, digits, and accents that are characters of their own."""
    return character.isalnum() or unicodedata.combining(character) != 0
