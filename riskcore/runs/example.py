"""The finished example that ships with the product: a run of the bundled sample, packed without its model.

`pack_example` makes the file (`make example`), `install_example` unpacks it into a folder of runs, so that a tour of it
begins in seconds. Paths inside stand for the bundled samples by name; they become real ones when it is installed.
"""

from __future__ import annotations

import dataclasses
import io
import json
import zipfile
from pathlib import Path
from typing import Any

from riskcore.config import AdaptConfig, MatcherConfig, RunConfig, TuneConfig
from riskcore.data.samples import SAMPLE_FOLDER, find_sample
from riskcore.errors import StorageError
from riskcore.runs.folder import RunFolder
from riskcore.runs.store.run_record import RunNotFoundError, RunRecord
from riskcore.runs.store.run_store import RunStore
from riskcore.storage.checksums import LIST, vouch_for
from riskcore.storage.files import folder_in_place, private_folder, write_bytes, write_json

FILE = SAMPLE_FOLDER / "example.zip"
RUN = "example"
NAME = "example: curated to scraped bibliography"
SOURCE, TARGET = "bibliography_clean", "bibliography_scraped"
MOST_BYTES = 3_000_000
_SAMPLE = "sample:"  # before the name of a bundled data set, in place of its path
_LEFT_OUT = ("bundle", "matcher", "checkpoint", "worker.log", "worker.lock", "applied", "draws", LIST)
_STORED = "stored.json"  # what the store knows of the run
_MOMENT = (2026, 1, 1, 0, 0, 0)  # of every file in the archive: the same run gives the same bytes


def sample_config() -> RunConfig:
    """The bundled bibliographies, with settings that take under a minute."""
    return RunConfig(
        source=str(find_sample(SOURCE).path),
        target=str(find_sample(TARGET).path),
        matcher=MatcherConfig(kind="attention"),
        tune=TuneConfig(epochs=4),
        adapt=AdaptConfig(iterations=4, stacking_iterations=2),
        methods=("tradition", "risk", "risk+", "forest"),
    )


def pack_example(store: RunStore, run: str, file: Path = FILE) -> None:
    """Write a finished run as the example."""
    record = store.get(run)
    folder = RunFolder(record.folder)
    events = [{"kind": one.kind, "record": one.record} for one in store.events(run)]
    stored = {"config": _portable(dataclasses.asdict(record.config)), "seconds": record.seconds, "events": events}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, _STORED, json.dumps(stored, default=str).encode())
        for path in sorted(path for path in folder.path.rglob("*") if path.is_file()):
            name = path.relative_to(folder.path)
            if name.parts[0] not in _LEFT_OUT:
                _add(archive, name.as_posix(), _content(folder, path, run))
    data = packed.getvalue()
    if len(data) > MOST_BYTES:
        raise StorageError(f"The example has {len(data):,} bytes, more than {MOST_BYTES:,}. Make the run smaller.")
    write_bytes(file, data)


def install_example(store: RunStore, file: Path = FILE) -> RunRecord:
    """The example among the store's runs; unpacked where it is not there yet."""
    try:
        return store.get(RUN)
    except RunNotFoundError:
        pass
    if not file.is_file():
        raise StorageError(f"{file} is missing: install Riskcore again, or run the sample yourself.")
    private_folder(store.root)
    with zipfile.ZipFile(file) as archive:
        stored: dict[str, Any] = json.loads(archive.read(_STORED))
        with folder_in_place(store.root / RUN, replace=True) as place:
            archive.extractall(place)
            (place / _STORED).unlink()
            description = json.loads((place / "run.json").read_text(encoding="utf-8"))
            write_json(place / "run.json", {**description, "config": _local(description["config"])})
            vouch_for(place)
    config = RunConfig.from_stored(_local(stored["config"]))
    return store.adopt(RUN, config, NAME, stored["seconds"], stored["events"])


def _content(folder: RunFolder, path: Path, run: str) -> bytes:
    """A file as it is packed: the example has its own id, and nothing says where it was made."""
    if path == folder.run_file:
        found = json.loads(path.read_text(encoding="utf-8"))
        known = {"run": RUN, "name": NAME, "config": _portable(found["config"]), "platform": ""}
        return json.dumps({**found, **known}).encode()
    if path == folder.results_file:
        return json.dumps({**json.loads(path.read_text(encoding="utf-8")), "run": RUN}).encode()
    return path.read_bytes()


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _MOMENT)
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, content)


def _portable(config: dict[str, Any]) -> dict[str, Any]:
    return {**config, "source": f"{_SAMPLE}{SOURCE}", "target": f"{_SAMPLE}{TARGET}"}


def _local(config: dict[str, Any]) -> dict[str, Any]:
    paths = {key: str(find_sample(config[key].removeprefix(_SAMPLE)).path) for key in ("source", "target")}
    return {**config, **paths}
