"""The dossier of a run: one HTML file that says what was done, judged and signed, and that can be checked alone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from riskcore.audit.dossier.content import dossier_content
from riskcore.audit.dossier.page import digest_of, render
from riskcore.audit.dossier.verify import verify_dossier
from riskcore.audit.export import ExportError
from riskcore.runs.folder import RunFolder
from riskcore.runs.store.run_store import RunStore
from riskcore.storage.files import write_bytes

__all__ = ["dossier_content", "render", "verify_dossier", "write_dossier"]


def write_dossier(
    folder: RunFolder,
    store: RunStore,
    path: Path | str,
    *,
    mask: Iterable[str] = (),
    mask_ids: bool = False,
    estimate: Any = None,
    agreement: Any = None,
) -> str:
    """Write the dossier of a finished run, whole or not at all, and return its digest.

    `mask` names attributes whose values the file must not contain; `mask_ids` leaves out ids of records and pairs too.
    """
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise ExportError(f"{path.name} is no name for a dossier. Use one that ends in .html.")
    if not path.parent.is_dir():
        raise ExportError(f"The folder {path.parent} does not exist. Create it first.")
    file = render(dossier_content(folder, store, mask, mask_ids, estimate, agreement))
    write_bytes(path, file)
    return digest_of(file)
