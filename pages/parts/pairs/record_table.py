"""Two records as HTML, side by side, with their differences marked as a domain expert sees them. Everything is escaped
here.

What differs is found by `riskcore.metrics.differences`: words are compared as the metrics compare them, abbreviations
and spellings are told apart from words that only one side has. Each kind of difference has a line of its own form, so
that none depends on colour.
"""

from __future__ import annotations

import html
from collections.abc import Collection, Mapping, Sequence

from riskcore.data.problems import visible
from riskcore.data.schema import AttributeType, type_of
from riskcore.metrics.differences import Piece, PieceState, ValueComparison, compare_values

HIDDEN = "▒▒▒▒ hidden"
LONG_VALUE = 400  # characters of a value that are shown until "Show long values in full" is on
LONGEST_VALUE = 200_000  # characters that are sent to the browser at most
_TYPED_BY = 2_000  # characters of a value that its type is guessed from
_PARTNER_CHARS = 80  # of the word on the other side, in a tooltip
_LABEL_CHARS = 80

# Fainter text has a contrast of at least 4.5:1 in both themes. Nested opacities multiply: no element that contains
# another of these has one.
STYLE = """<style>
.rc-records{width:100%;border-collapse:collapse;table-layout:fixed;font-size:.95rem;line-height:1.5}
.rc-records th{text-align:left;font-weight:600;padding:.35rem .7rem;opacity:.85;font-size:.82rem;width:42.5%}
.rc-records th:first-child{width:15%}
@media (max-width:640px){.rc-records th{width:37%}.rc-records th:first-child{width:26%}}
.rc-records td{padding:.45rem .7rem;vertical-align:top;overflow-wrap:anywhere;unicode-bidi:isolate;
 border-top:1px solid color-mix(in srgb,currentColor 14%,transparent)}
.rc-records td:first-child{font-size:.85rem;font-weight:600}
.rc-records mark{background:color-mix(in srgb,#d97706 26%,transparent);color:inherit;border-radius:3px;padding:0 .12em;
 text-decoration:underline;text-decoration-color:#d97706;text-underline-offset:3px}
.rc-records mark.rc-number{text-decoration-style:double}
.rc-abbreviation,.rc-typo,.rc-moved{text-decoration:underline;text-decoration-color:currentColor;
 text-underline-offset:3px;text-decoration-thickness:1.5px}
.rc-abbreviation{text-decoration-style:dotted}
.rc-typo{text-decoration-style:wavy;text-decoration-thickness:1px}
.rc-moved{text-decoration-thickness:1px;text-decoration-color:color-mix(in srgb,currentColor 55%,transparent)}
.rc-missing{opacity:.8;font-style:italic}
.rc-same{opacity:.85;font-size:.8rem;font-weight:400;display:block}
.rc-legend{opacity:.85;font-size:.8rem;padding:.35rem .7rem}
</style>"""

_LEGEND = {
    PieceState.ONLY_HERE: "marked: only on this side",
    PieceState.NUMBER: "double line: another number",
    PieceState.ABBREVIATION: '<span class="rc-abbreviation">dotted</span>: abbreviated',
    PieceState.TYPO: '<span class="rc-typo">wavy</span>: spelling',
    PieceState.MOVED: '<span class="rc-moved">thin line</span>: at another place',
}


def records_table(
    left: Mapping[str, str | None],
    right: Mapping[str, str | None],
    attributes: Sequence[str],
    titles: tuple[str, str] = ("Left record", "Right record"),
    whole: bool = False,
    types: Mapping[str, str] | None = None,
    hidden: Collection[str] = (),
) -> str:
    """The table of both records; `whole` shows long values in full. `types` says what the values of an attribute are;
    without it, they are guessed from the two values. Nothing is said of the values of `hidden` attributes."""
    found = {
        name: _compare(name, left.get(name), right.get(name), (types or {}).get(name))
        for name in dict.fromkeys(attributes)
        if name not in hidden
    }
    limit = LONGEST_VALUE if whole else LONG_VALUE
    rows = "".join(
        _row(name, left.get(name), right.get(name), found[name], limit) if name in found else _hidden_row(name)
        for name in attributes
    )
    head = "".join(f"<th>{html.escape(title)}</th>" for title in ("", *titles))
    table = f'<table class="rc-records"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    return f"{STYLE}{table}{_legend(list(found.values()), limit)}"


def has_long_values(*records: Mapping[str, str | None]) -> bool:
    return any(value is not None and len(value) > LONG_VALUE for record in records for value in record.values())


def _compare(name: str, left: str | None, right: str | None, kind: str | None) -> ValueComparison:
    return compare_values(left, right, AttributeType(kind) if kind else _guess(left, right), name)


def _guess(*values: str | None) -> AttributeType:
    return type_of([value[:_TYPED_BY] for value in values if value is not None])


def _row(name: str, left: str | None, right: str | None, found: ValueComparison, limit: int) -> str:
    label = html.escape(visible(name[:_LABEL_CHARS]))
    note = f'<span class="rc-same">{html.escape(visible(found.words))}</span>'
    cells = "".join(
        f'<td dir="auto">{_value(value, pieces, limit)}</td>'
        for value, pieces in ((left, found.left), (right, found.right))
    )
    return f"<tr><td>{label}{note}</td>{cells}</tr>"


def _hidden_row(name: str) -> str:
    cell = f'<td><span class="rc-missing">{HIDDEN}</span></td>'
    label = html.escape(visible(name[:_LABEL_CHARS]))
    return f'<tr><td>{label}<span class="rc-same">masked</span></td>{cell}{cell}</tr>'


def _value(value: str | None, pieces: Sequence[Piece], limit: int) -> str:
    if not value:
        return '<span class="rc-missing">no value</span>'
    shown = "".join(map(_marked, _shown(pieces, limit)))
    rest = len(value) - limit
    return shown + (f' <span class="rc-missing">… {rest:,} more characters</span>' if rest > 0 else "")


def _shown(pieces: Sequence[Piece], limit: int) -> list[Piece]:
    """The pieces up to this many characters; the last one may be cut."""
    found: list[Piece] = []
    for piece in pieces:
        if limit <= 0:
            break
        found.append(Piece(piece.text[:limit], piece.state, piece.partner))
        limit -= len(piece.text)
    return found


def _marked(piece: Piece) -> str:
    """A piece, escaped, with the mark of its state."""
    text = html.escape(visible(piece.text))
    if piece.state is PieceState.SAME:
        return text
    if piece.state is PieceState.ONLY_HERE:
        return f"<mark>{text}</mark>"
    title = html.escape(visible(_title(piece)))
    if piece.state is PieceState.NUMBER:
        return f'<mark class="rc-number" title="{title}">{text}</mark>'
    return f'<span class="rc-{piece.state.value}" title="{title}">{text}</span>'


def _title(piece: Piece) -> str:
    """What the other side has instead."""
    partner = (piece.partner or "")[:_PARTNER_CHARS]
    if piece.state is PieceState.ABBREVIATION:
        if not partner:
            return "left out on the other side"
        return f"short for {partner}" if len(partner) > len(piece.text) else f"on the other side: {partner}"
    if piece.state is PieceState.MOVED:
        return "at another place on the other side"
    return f"≈ {partner}" if piece.state is PieceState.TYPO else f"against {partner}"


def _legend(found: Sequence[ValueComparison], limit: int) -> str:
    """What the marks mean, for those that are shown."""
    shown = {
        piece.state for values in found for pieces in (values.left, values.right) for piece in _shown(pieces, limit)
    }
    texts = [text for state, text in _LEGEND.items() if state in shown]
    return f'<div class="rc-legend">{" · ".join(texts)}</div>' if texts else ""
