"""The page of a dossier: one HTML file without scripts or links to elsewhere, made from its content alone.

Every text in it is escaped. The file ends with a digest over the whole file, whose own place counts as zeros, and with
the content as JSON.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from riskcore.audit.dossier.figures import percent
from riskcore.audit.dossier.masking import BLOCK
from riskcore.audit.dossier.parts import box, moment
from riskcore.audit.dossier.sections import SECTIONS
from riskcore.audit.dossier.style import STYLE
from riskcore.audit.log_entries import pairs_by_verdict
from riskcore.data.html_table import html_text

NO_DIGEST = "0" * 64
DIGEST_PLACE = re.compile(rb'<code id="digest">([0-9a-f]{64})</code>')
CONTENT_PLACE = re.compile(rb'<script type="application/json" id="content">([^<]*)</script>')
_NEW_PAGE = ("examples", "rules", "verdicts", "sign-off")  # sections that begin a page on paper


def render(content: Mapping[str, Any]) -> bytes:
    """The file, with its digest in its place."""
    text = _document(content).encode("utf-8", "backslashreplace")
    return DIGEST_PLACE.sub(f'<code id="digest">{digest_of(text)}</code>'.encode(), text)


def digest_of(file: bytes) -> str:
    """SHA-256 of the file with zeros in place of its digest."""
    return hashlib.sha256(DIGEST_PLACE.sub(f'<code id="digest">{NO_DIGEST}</code>'.encode(), file)).hexdigest()


def embedded(content: Mapping[str, Any]) -> str:
    """The content as JSON that cannot end the element it stands in: no `<`, `>` or `&`, and nothing but ASCII."""
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _document(content: Mapping[str, Any]) -> str:
    style = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'"
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">'
        f"<title>Audit dossier: {html_text(content['run']['name'])}</title><style>{STYLE}</style>"
    )
    parts = [_title(content), _status(content), _tiles(content), _contents()]
    for number, (key, (title, make)) in enumerate(SECTIONS.items(), start=1):
        page = ' class="new-page"' if key in _NEW_PAGE else ""
        parts.append(f'<section id="{key}"{page}><h2>{number}. {title}</h2>\n{make(content)}</section>')
    parts.append(f'<footer>Digest of this file: <code id="digest">{NO_DIGEST}</code></footer>')
    data = f'<script type="application/json" id="content">{embedded(content)}</script>'
    body = "\n".join(parts)
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n{data}\n</body></html>\n'


def _title(content: Mapping[str, Any]) -> str:
    run = content["run"]
    made = f"Made on {moment(content['made'])} by Riskcore {html_text(content['riskcore'])}"
    return (
        f'<header><p class="kind">Audit dossier</p><h1>{html_text(run["name"])}</h1>'
        f'<p class="under">Run {html_text(run["id"])}, of {moment(run["created"])}. {made}.</p></header>'
    )


def _status(content: Mapping[str, Any]) -> str:
    masked, signed = content["masked"], content["sign_offs"]
    boxes = []
    if not signed:
        boxes.append(box("Not signed off", "Nobody has signed off this result.", warn=True))
    elif content["changes"]:
        text = f"{_signed(signed[-1])} Since then, something has changed:"
        boxes.append(box("✗ Signed off, but the sign-off no longer holds", text, content["changes"], warn=True))
    else:
        said = f"“{signed[-1]['statement']}”"
        text = f"{_signed(signed[-1])} {said} Nothing that it covers had changed when this document was made."
        boxes.append(box("✓ Signed off", text))
    if masked["attributes"] or masked["ids"]:
        hidden = [f"values of {', '.join(masked['attributes'])}"] if masked["attributes"] else []
        hidden += ["ids of records and pairs"] if masked["ids"] else []
        text = f"This document does not contain {' and '.join(hidden)}. Blocks ({BLOCK * 3}) stand in their place; "
        boxes.append(box("Masked", text + "their number tells only whether a value is short or long."))
    return "".join(boxes)


def _signed(signoff: Mapping[str, Any]) -> str:
    return f"By {signoff['who']} on {moment(signoff['at'])}."


def _tiles(content: Mapping[str, Any]) -> str:
    decided, estimate = content["decisions"], content["estimate"]
    judged = sum(pairs_by_verdict(content["verdicts"]).values())
    share = percent(decided["matches"] / decided["total"]) if decided["total"] else "none"
    f1 = estimate.get("f1") if isinstance(estimate, Mapping) else None
    if isinstance(f1, Mapping) and {"value", "low", "high"} <= set(f1):
        told = (percent(f1["value"]), f"estimated F1, {percent(f1['low'])} to {percent(f1['high'])}")
    else:
        told = ("stated" if estimate is not None else "none", "estimate of F1")
    outside = estimate.get("with_missed") if isinstance(estimate, Mapping) else None
    if isinstance(outside, Mapping):
        told = (told[0], f"{told[1]}; {percent(outside['f1']['value'])} with what blocking missed")
    tiles = [
        (f"{decided['total']:,}", "candidate pairs decided"),
        (f"{decided['matches']:,}", f"of them matches ({share})"),
        (f"{judged:,}", "pairs judged by people"),
        told,
    ]
    shown = "".join(f"<div><b>{html_text(figure)}</b><span>{html_text(of)}</span></div>" for figure, of in tiles)
    return f'<div class="tiles">{shown}</div>'


def _contents() -> str:
    links = "".join(
        f'<a href="#{key}">{place}. {title}</a>' for place, (key, (title, _)) in enumerate(SECTIONS.items(), 1)
    )
    return f'<nav aria-label="Contents">{links}</nav>'
