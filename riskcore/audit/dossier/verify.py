"""Checking a dossier without its run and without a network: every figure in it that can be recomputed from it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from riskcore.audit.chain import chain_problems
from riskcore.audit.decisions import MATCH
from riskcore.audit.dossier.content import KIND, LAYOUT
from riskcore.audit.dossier.page import CONTENT_PLACE, DIGEST_PLACE, digest_of, render
from riskcore.audit.sign_off import SignOff, altered, answer_changes, labels_changes, labels_digest, log_changes
from riskcore.audit.verify import Verification
from riskcore.errors import StorageError

_UNREADABLE = "The data at the end of the file cannot be read, so nothing else in it can be checked."


def verify_dossier(path: Path) -> Verification:
    """Check a dossier's digest, its page against its data, its verdict log, and what its sign-off covers."""
    try:
        file = path.read_bytes()
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror or error}.") from error
    return verify_file(file)


def verify_file(file: bytes) -> Verification:
    """The same for the bytes of a dossier."""
    places = DIGEST_PLACE.findall(file)
    if len(places) != 1:
        return Verification((), ("The file is not a dossier, or the place of its digest was altered.",))
    digest = places[0].decode()
    checked, problems = [f"The file states the digest {digest}."], []
    if digest_of(file) != digest:
        problems.append("The file was altered after it was made: its digest is not the one that it states.")
    content = _content(file)
    if content is None:
        return Verification(tuple(checked), (*problems, _UNREADABLE))
    try:
        _check_content(file, content, checked, problems)
    except Exception:  # whoever forges a document can make it fail anywhere
        problems.append("The data at the end of the file are not those of a dossier.")
    return Verification(tuple(checked), tuple(dict.fromkeys(problems)))


def _content(file: bytes) -> dict[str, Any] | None:
    found = CONTENT_PLACE.findall(file)
    try:
        content = json.loads(found[0]) if len(found) == 1 else None
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _check_content(file: bytes, content: Mapping[str, Any], checked: list[str], problems: list[str]) -> None:
    if content["kind"] != KIND:
        problems.append("The data at the end of the file are not those of a dossier.")
        return
    if content["layout"] != LAYOUT:
        made_by = content["riskcore"]
        checked.append(f"The page was not compared with its data: it was made by another version, {made_by}.")
    elif render(content) != file:
        problems.append("The page does not show what the data at the end of the file say.")
    else:
        checked.append("The page shows what the data at the end of the file say.")
    _check_log(content, checked, problems)
    if not content["sign_offs"]:
        checked.append("The dossier has no sign-off.")
    elif content["sign_offs_masked"]:
        checked.append("Digests of the sign-off are left out, since it covers masked text. Check them with the run.")
        problems += _void(content)
    else:
        _check_sign_off(content, checked, problems)


def _check_log(content: Mapping[str, Any], checked: list[str], problems: list[str]) -> None:
    entries, masked_from = content["verdicts"], content["verdicts_masked_from"]
    open_entries = entries if masked_from is None else entries[: masked_from - 1]
    problems += chain_problems(open_entries)
    checked.append(
        f"The digests of {len(open_entries):,} of {len(entries):,} entries of the verdict log were recomputed."
    )
    if masked_from is not None:
        checked.append(
            f"From entry {masked_from:,} on they are left out, since text is masked. Check them with the run."
        )


def _check_sign_off(content: Mapping[str, Any], checked: list[str], problems: list[str]) -> None:
    signed = [SignOff.from_json(one) for one in content["sign_offs"]]
    latest = signed[-1]
    problems += altered(signed)
    problems += _void(content)
    if content["changes"]:
        return  # the dossier says itself that its content is not what was signed
    found = [] if latest.run == content["run"]["id"] else ["The sign-off is about another run."]
    if content["verdicts_masked_from"] is None:
        found += log_changes(latest, content["verdicts"])
    method, data, decided = content["method"], content["data"], content["decisions"]
    found += answer_changes(latest, method["method"], method["iteration"])
    facts = (data["fingerprint"], data["truth_fingerprint"], method["code"], method["versions"])
    if facts != (latest.fingerprint, latest.truth_fingerprint, latest.code, latest.versions):
        found.append("The sign-off is about other data, code or versions than the dossier.")
    if decided["pairs"] is not None:
        pairs = [(pair, word) for word, ids in decided["pairs"].items() for pair in ids]
        found += labels_changes(latest, labels_digest(pairs), len(pairs), len(decided["pairs"][MATCH]))
        checked.append(f"The digest of {len(pairs):,} signed decisions was recomputed.")
    else:
        checked.append(decided["withheld"])
    if any(content["files"].get(name) != digest for name, digest in latest.files.items()):
        found.append("The files that were signed are not those that the dossier lists.")
    checked.append(f"Sign-off {latest.number} is by {latest.who}, {latest.at}.")
    problems += found


def _void(content: Mapping[str, Any]) -> list[str]:
    return [f"When the dossier was made, the sign-off no longer held. {one}" for one in content["changes"]]
