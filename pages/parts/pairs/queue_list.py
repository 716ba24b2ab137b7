"""The queue as a list: each row says why, names the decisive difference and shows both records, nothing cut.

A row is opened by a click, or by Enter while it has the focus. Texts reach the browser as data and are put there as
text, never as markup.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from pages.parts.frame.palette import FLIPPED, MATCH, NON_MATCH, RISKY, VERDICTS, of_label, risk_word, text_tone
from pages.parts.frame.text import short
from pages.parts.pairs.headline import likely_words
from riskcore.runs.readers.pair_reasons import PairReason

VALUE_CHARS = 220  # of one value in a row; the card shows all of it
MASK = "▒▒▒▒"
_NAME = "riskcore_queue"

_CSS = f"""
.list{{display:flex;flex-direction:column;font-family:var(--st-font);color:var(--st-text-color);font-size:.92rem;
 line-height:1.42;border:1px solid var(--st-border-color);border-radius:var(--st-base-radius);overflow:hidden}}
.row{{display:grid;grid-template-columns:5.4rem 1fr;gap:.2rem 1rem;padding:.6rem .8rem;cursor:pointer;
 border-top:1px solid var(--st-border-color);text-align:start}}
.row.plain{{grid-template-columns:1fr}}
.row:first-child{{border-top:0}}
.row:hover,.row:focus-visible{{background:var(--st-secondary-background-color);outline:none}}
.row.open{{box-shadow:inset 4px 0 0 var(--st-primary-color);background:var(--st-secondary-background-color)}}
.side{{display:flex;flex-direction:column;gap:.15rem}}
.risk{{font-weight:650;font-variant-numeric:tabular-nums;color:{text_tone(RISKY.colour)}}}
.meter{{height:5px;border-radius:3px;background:color-mix(in srgb,currentColor 14%,transparent);overflow:hidden}}
.meter span{{display:block;height:100%;background:{RISKY.colour}}}
.small{{font-size:.82rem}}
.why{{font-weight:600;overflow-wrap:anywhere;unicode-bidi:isolate}}
.why.m{{color:{text_tone(MATCH.colour)}}} .why.n{{color:{text_tone(NON_MATCH.colour)}}}
.reason{{overflow-wrap:anywhere;unicode-bidi:isolate}}
.record{{overflow-wrap:anywhere;unicode-bidi:isolate;font-size:.88rem}}
.record b{{font-weight:600;margin-inline-end:.4rem}}
.flip{{color:{text_tone(FLIPPED.colour)}}}
"""

_JS = """
export default function(component) {
  const { data, parentElement, setTriggerValue } = component;
  const make = (name, kind, text) => {
    const node = document.createElement(name);
    if (kind) node.className = kind;
    if (text !== undefined && text !== null) node.textContent = text;
    return node;
  };
  let list = parentElement.querySelector('.list');
  if (!list) {
    list = make('div', 'list');
    list.setAttribute('role', 'list');
    parentElement.appendChild(list);
  }
  const line = (name, text) => {
    const node = make('div', 'record');
    node.dir = 'auto';
    node.append(make('b', '', name), document.createTextNode(text));
    return node;
  };
  list.setAttribute('aria-label', data.title);
  list.replaceChildren(...data.rows.map((one) => {
    const row = make('div', 'row' + (one.open ? ' open' : '') + (one.risk ? '' : ' plain'));
    row.tabIndex = 0;
    row.setAttribute('role', 'listitem');
    row.dataset.pair = one.id;
    if (one.open) row.setAttribute('aria-current', 'true');
    const side = make('div', 'side');
    if (one.risk) {
      const risk = make('div', 'risk', '▲ ' + one.risk);
      risk.title = 'risk: the probability that the label is wrong';
      const meter = make('div', 'meter'), fill = make('span');
      fill.style.width = one.share + '%';
      meter.append(fill);
      side.append(risk, meter, make('div', 'small', one.label));
    }
    if (one.flip) side.append(make('div', 'small flip', one.flip));
    if (one.verdict) side.append(make('div', 'small', one.verdict));
    const main = make('div');
    const why = make('div', 'why ' + one.tone, one.likely);
    const reason = make('div', 'reason', one.reason);
    reason.dir = 'auto';
    if (one.risk) main.append(why, reason);
    if (!data.narrow || !one.risk) main.append(line('left', one.left), line('right', one.right));
    if (one.risk || one.verdict) row.append(side);
    row.append(main);
    const open = () => setTriggerValue('opened', one.id);
    row.onclick = open;
    row.onkeydown = (event) => {
      if (event.key === 'Enter') { event.preventDefault(); open(); }
      const beside = { ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling }[event.key];
      if (beside) { event.preventDefault(); beside.focus(); }
    };
    return row;
  }));
  const current = list.querySelector('.open');
  if (data.narrow && current) current.scrollIntoView({ block: 'nearest' });
}
"""


@dataclasses.dataclass(frozen=True)
class QueueRow:
    """One row as the browser shows it; without a risk, only the records and the verdict."""

    id: str
    left: str
    right: str
    verdict: str = ""
    open: bool = False
    risk: str = ""
    share: float = 0.0  # width of the bar, in percent
    label: str = ""
    flip: str = ""
    likely: str = ""
    tone: str = ""  # m, n or nothing: what is likely
    reason: str = ""


def queue_rows(
    rows: pd.DataFrame,
    attributes: Sequence[str],
    reasons: Sequence[PairReason | None],
    flips: Sequence[str],
    opened: str | None = None,
    hidden: Collection[str] = (),
) -> list[QueueRow]:
    """A page of the queue in words, without the values of hidden attributes."""
    found = []
    for row, reason, flip in zip(rows.to_dict("records"), reasons, flips, strict=True):
        label, risk = int(row["label"]), float(row["risk"])
        likely, says = likely_words(label, risk)
        found.append(
            QueueRow(
                id=str(row["pair_id"]),
                risk=f"{risk:.2f}",
                share=round(100 * risk, 1),
                label=of_label(label).text,
                flip=flip,
                verdict=f"judged {VERDICTS[row['verdict']].text}" if row.get("verdict") in VERDICTS else "",
                likely=likely,
                tone={True: "m", False: "n"}.get(says, "") if says is not None else "",
                reason=f"risk is {risk_word(risk)}" if reason is None else sentence(reason.words),
                left=record_text(row, "left_", attributes, hidden),
                right=record_text(row, "right_", attributes, hidden),
                open=row["pair_id"] == opened,
            )
        )
    return found


def show_queue_list(rows: Sequence[QueueRow], key: str, on_open: Callable[[str], None], narrow: bool = False) -> None:
    """Draw the list; `on_open` is called with the pair of the row that was opened. `narrow`: beside a card."""

    def opened() -> None:
        pair = st.session_state[key].get("opened")
        if pair is not None:
            on_open(str(pair))

    data: dict[str, Any] = {
        "title": f"{len(rows)} pairs of the queue",
        "narrow": narrow,
        "rows": [dataclasses.asdict(row) for row in rows],
    }
    component()(data=data, key=key, on_opened_change=opened)


@st.cache_resource(show_spinner=False)
def component() -> Any:
    """The list as a component of the page, declared once."""
    return st.components.v2.component(_NAME, css=_CSS, js=_JS)


def sentence(words: str) -> str:
    """Words with a capital letter and a full stop."""
    text = words.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "…", "?")) else ".")


def record_text(row: dict[str, Any], side: str, attributes: Sequence[str], hidden: Collection[str] = ()) -> str:
    """The values of one record, one after the other; those of hidden attributes are left out."""
    return " · ".join(MASK if name in hidden else _shown(row.get(side + name)) for name in attributes)


def _shown(value: Any) -> str:
    return "–" if pd.isna(value) else short(str(value), VALUE_CHARS)
