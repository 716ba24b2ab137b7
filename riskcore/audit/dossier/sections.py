"""The sections of a dossier's page, each made from its content alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from riskcore.audit.dossier.examples import CHOICE
from riskcore.audit.dossier.figures import percent
from riskcore.audit.dossier.judging import verdicts_html
from riskcore.audit.dossier.measured import agreement_html, estimate_html
from riskcore.audit.dossier.parts import box, count, facts_list, lines, moment, signed_number, table
from riskcore.data.html_table import html_table, html_text

_SPANS = ("abbreviation", "typo", "moved", "cut")  # states that are told by a class alone
_MARKS = {
    "only_here": "<mark>marked</mark>: only on this side",
    "number": '<mark class="number">double line</mark>: another number',
    "abbreviation": '<span class="abbreviation">dotted</span>: abbreviated',
    "typo": '<span class="typo">wavy</span>: spelling',
    "moved": '<span class="moved">line</span>: at another place',
}
_SETTINGS = {  # of those that are always shown, as people say them
    "matcher.kind": "matcher",
    "tune.epochs": "epochs of training",
    "adapt.iterations": "iterations of adapting, at most",
    "rule.depth": "conditions of a rule, at most",
    "rule.min_support": "pairs that a rule needs, at least",
    "risk.confidence": "confidence of the risk model",
}
_PARTS = ("source", "validation", "training", "target", "unseen")


def done(content: Mapping[str, Any]) -> str:
    data, method = content["data"], content["method"]
    counts = data["counts"]
    answer = method["method"] + ("" if method["iteration"] is None else f", kept iteration {method['iteration']}")
    pairs = ", ".join(f"{counts[one]:,} {one}" for one in _PARTS if counts.get(one))
    facts = {
        "Source": data["source"] or "none",
        "Target": (data["target"] or "none") + (" (records of one table)" if data["one_table"] else ""),
        "Pairs": pairs,
        "Method": answer,
        "Seed": method["seed"],
        "Fingerprint of the data": data["fingerprint"],
        "Fingerprint of the truth": data["truth_fingerprint"] or "none",
        "Code": method["code"] or "not recorded",
        "Versions": ", ".join(f"{name} {version}" for name, version in method["versions"].items()),
    }
    attributes = [
        {"attribute": one["name"], "type": "list" if one["type"] == "set" else one["type"]}
        for one in data["attributes"]
    ]
    if content["masked"]["attributes"]:
        masked = ["masked" if one["masked"] else "shown" for one in data["attributes"]]
        attributes = [{**one, "values": told} for one, told in zip(attributes, masked, strict=True)]
    told = [{**one, "setting": _SETTINGS.get(one["setting"], one["setting"])} for one in method["settings"]]
    settings = pd.DataFrame(told, columns=["setting", "value", "usual"])
    notices = "".join(f"<li>{html_text(one)}</li>" for one in data["notices"])
    return (
        f"{facts_list(facts)}{table('Attributes that were compared', attributes)}"
        f"{html_table('Settings that matter, and those that differ from the usual ones', settings)}"
        f"{f'<h3>Notices</h3><ul>{notices}</ul>' if notices else ''}"
    )


def labels(content: Mapping[str, Any]) -> str:
    labels = content["labels"]
    rows = [{"pairs": name, "labels that training could use": f"{many:,}"} for name, many in labels["used"].items()]
    guideline = labels["guideline"]
    text = f'<p>{html_text(labels["sentence"])}</p><div class="figures">{table("", rows)}</div>'
    if guideline:
        by = f"By {guideline['who'] or 'nobody named'}, {moment(guideline['at'])}."
        text += f"<h3>What counts as a match</h3><blockquote>{lines(guideline['text'])}</blockquote>"
        text += f'<p class="faint">{html_text(by)}</p>'
    return text


def results(content: Mapping[str, Any]) -> str:
    decided, results = content["decisions"], content["results"]
    rows = [
        {"decided by": name, "match": f"{row['match']:,}", "non-match": f"{row['non-match']:,}"}
        for name, row in decided["by"].items()
    ]
    total = {"match": f"{decided['matches']:,}", "non-match": f"{decided['total'] - decided['matches']:,}"}
    rows.append({"decided by": "all", **total})
    text = f'<div class="figures">{table("Decisions on all candidate pairs of the target", rows)}</div>'
    text += "".join(f"<p>{html_text(one)}</p>" for one in decided["left_out"])
    if results is None:
        return text + (
            "<p>The truth about the target pairs is not known, so no precision, recall or F1 is measured. The next "
            "section has the estimate from verdicts, if one was made.</p>"
        )
    scores = [
        {
            "method": row["method"],
            "precision": percent(row["precision"]),
            "recall": percent(row["recall"]),
            "F1": percent(row["f1"]),
            "95 % interval of F1": " to ".join(map(percent, row["f1_interval"] or ())) or "none",
            "false positives": count(row["fp"]),
            "false negatives": count(row["fn"]),
        }
        for row in results["methods"]
    ]
    caption = f"Measured against the benchmark's truth, on {results['pairs']:,} target pairs whose truth is known"
    note = (
        f"These are the methods' own labels, before any verdict. This run answers with {content['method']['method']}."
    )
    return f'{text}<div class="figures">{table(caption, scores)}</div><p class="faint">{html_text(note)}</p>'


def estimate(content: Mapping[str, Any]) -> str:
    if content["estimate"] is None:
        return (
            "<p>No estimate was made. How good the labels are is not known from verdicts, and this document makes no "
            "claim about it.</p>"
        )
    intro = "<p>Estimated from people's verdicts on pairs that were drawn for it. The figures are about the method's "
    return f"{intro}labels, before verdicts replace any of them.</p>{estimate_html(content['estimate'])}"


def examples(content: Mapping[str, Any]) -> str:
    marks = " · ".join(_MARKS.values())
    shown = "".join(_example(place, one) for place, one in enumerate(content["examples"], start=1))
    return f'<p>{html_text(CHOICE)}</p><p class="faint">{marks}</p>{shown}'


def _example(place: int, one: Mapping[str, Any]) -> str:
    figures = [f"decided by: {one['decided_by']}"]
    figures += [] if one["probability"] is None else [f"probability of a match {one['probability']:.3f}"]
    figures += [] if one["risk"] is None else [f"risk {one['risk']:.3f}"]
    figures += [] if one["truth"] is None else [f"truth: {one['truth']}"]
    rows = "".join(
        f"<tr><td>{html_text(row['name'])}<small>{html_text(row['words'])}</small></td>"
        f'<td dir="auto">{_pieces(row["left"])}</td><td dir="auto">{_pieces(row["right"])}</td></tr>'
        for row in one["attributes"]
    )
    sides = [
        f"{side} record{'' if not known else f' {known}'}"
        for side, known in zip(("Left", "Right"), one["records"], strict=True)
    ]
    head = "".join(f'<th scope="col">{html_text(name)}</th>' for name in ("Attribute", *sides))
    name = f"Pair {one['pair'].removeprefix('pair ')}"
    evidence = one["evidence"]
    told = f"<p>Decided because: {html_text(one['because'])}.</p>" if one["because"] else ""
    if evidence:
        parts = [*evidence["parts"].items(), ("together", evidence["total"])]
        sheet = ", ".join(f"{name} {signed_number(part)}" for name, part in parts)
        told = f"<p><strong>The evidence says {evidence['says']}:</strong> {html_text(evidence['words'])}.</p>{told}"
        told += f'<p class="faint">Log-odds, above 0 towards a match: {html_text(sheet)}.</p>'
    return (
        f'<div class="example"><h3>{place}. {html_text(name)}: {html_text(one["decision"])}</h3>'
        f'<p class="faint">{html_text("; ".join(figures))}</p>'
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{told}</div>\n"
    )


def _pieces(pieces: Sequence[Sequence[str]]) -> str:
    if not pieces:
        return '<span class="none">no value</span>'
    return "".join(_piece(text, state) for text, state in pieces)


def _piece(text: str, state: str) -> str:
    if state == "only_here":
        return f"<mark>{html_text(text)}</mark>"
    if state == "number":
        return f'<mark class="number">{html_text(text)}</mark>'
    return f'<span class="{state}">{html_text(text)}</span>' if state in _SPANS else html_text(text)


def rules(content: Mapping[str, Any]) -> str:
    rules = content["rules"]
    if not rules["shown"]:
        return "<p>The answer of this run does not rest on rules.</p>"
    rows = [
        {
            "if": one["sentence"],
            "then probably": one["outcome"],
            "on validation pairs": one["record"],
            "target pairs": f"{one['target']:,}",
            "weight": f"{one['weight']:.3f}",
        }
        for one in rules["shown"]
    ]
    count = f"The run has {rules['total']:,} rules. "
    count += f"{rules['weighty']:,} of them have a weight in the risk model; " if rules["weighty"] else ""
    count += f"here are the {len(rows):,} with the largest weights. "
    note = "The percentage in brackets is the lower end of a 95 % interval of how often the rule is right."
    return f'<p>{html_text(count + note)}</p><div class="wide rules">{table("", rows)}</div>'


def agreement(content: Mapping[str, Any]) -> str:
    if content["agreement"] is None:
        return "<p>The agreement between reviewers was not measured.</p>"
    return agreement_html(content["agreement"])


def sign_off(content: Mapping[str, Any]) -> str:
    signed = content["sign_offs"]
    if not signed:
        return "<p>Nobody has signed off this result.</p>"
    latest = signed[-1]
    counts = ", ".join(f"{count:,} {word}" for word, count in latest["verdicts"].items()) or "none"
    people = ", ".join(f"{who or 'without a name'} {count:,}" for who, count in latest["people"].items()) or "nobody"
    answer = latest["method"] + ("" if latest["iteration"] is None else f", iteration {latest['iteration']}")
    facts = {
        "Signed by": latest["who"],
        "Signed on": moment(latest["at"]),
        "Run and method": f"{latest['run']}, {answer}",
        "Decisions covered": f"{latest['pairs']:,} pairs, {latest['matches']:,} of them matches",
        "Digest of decisions": latest["labels"],
        "Verdict log": f"{latest['entries']:,} entries",
        "Head of the log": latest["head"] or ("left out" if content["sign_offs_masked"] else "the log was empty"),
        "Judged pairs": counts,
        "Judged by": people,
        "Fingerprint of the data": latest["fingerprint"],
        "Estimate": _estimate_words(latest),
        "Digest of the sign-off": latest["digest"] or "left out",
    }
    voided = "".join(f"<li>{html_text(one)}</li>" for one in latest["voided_by"])
    holds = box("✗ It no longer holds", "", content["changes"], warn=True) if content["changes"] else ""
    text = f"<blockquote>{lines(latest['statement'])}</blockquote>{holds}{facts_list(facts)}"
    text += f"<h3>What makes it void</h3><ul>{voided}</ul>"
    if len(signed) > 1:
        rows = [
            {"no.": one["number"], "who": one["who"], "when": moment(one["at"]), "statement": one["statement"]}
            for one in signed[:-1]
        ]
        text += table("Earlier sign-offs", rows)
    return text


def _estimate_words(signed: Mapping[str, Any]) -> str:
    stated = signed["estimate"]
    words = stated.get("sentence") if isinstance(stated, Mapping) else None
    return f"{words} ({signed['estimate_note']})" if words else str(signed["estimate_note"])


def files(content: Mapping[str, Any]) -> str:
    rows = [{"file": name, "SHA-256": digest or "left out"} for name, digest in content["files"].items()]
    return f'<div class="wide files">{table("", rows)}</div>'


def check(content: Mapping[str, Any]) -> str:
    return (
        "<p>Riskcore checks this file without a network and without the run: <code>riskcore audit verify FILE</code>. "
        "It recomputes the digest below, the page from the data at the end of the file, the digests of the verdict "
        f"log, and those of the sign-off. {html_text(content['decisions']['withheld'])}</p>"
        "<p>The digest is SHA-256 over the whole file, with 64 zeros in place of the digest. Anyone can compute it. So "
        "compare it with the one that you were given by another way: it proves that the file is the same, not who made "
        "it.</p>"
    )


SECTIONS: dict[str, tuple[str, Callable[[Mapping[str, Any]], str]]] = {
    "done": ("What was done", done),
    "labels": ("Labels that were used", labels),
    "results": ("Results", results),
    "estimate": ("Estimated quality of the labels", estimate),
    "examples": ("Examples", examples),
    "rules": ("Rules", rules),
    "verdicts": ("Verdicts", verdicts_html),
    "agreement": ("Agreement between reviewers", agreement),
    "sign-off": ("Sign-off", sign_off),
    "files": ("Files of the run", files),
    "check": ("How to check this document", check),
}
