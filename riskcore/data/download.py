"""Downloads of public benchmark sets by name, from the experiment archives of DeepMatcher's authors.

Their publishers give no checksums. So the archive's own CRCs are checked, the SHA-256 of the download is kept beside
the data in `source.json`, and a caller who knows the right one can require it.
"""

from __future__ import annotations

import dataclasses
import datetime
import difflib
import hashlib
import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from riskcore.config import Config, setting
from riskcore.data.archive import unpack
from riskcore.errors import DownloadError
from riskcore.storage.files import folder_in_place, write_json
from riskcore.version import __version__

BASE_URL = "https://pages.cs.wisc.edu/~anhai/data1/deepmatcher_data/"
BASE_URL_VARIABLE = "RISKCORE_DOWNLOAD_URL"
_CHUNK = 1 << 16
_ARCHIVES = {
    "Abt-Buy": "Textual/Abt-Buy/abt_buy_exp_data.zip",
    "Amazon-Google": "Structured/Amazon-Google/amazon_google_exp_data.zip",
    "Beer": "Structured/Beer/beer_exp_data.zip",
    "DBLP-ACM": "Structured/DBLP-ACM/dblp_acm_exp_data.zip",
    "DBLP-GoogleScholar": "Structured/DBLP-GoogleScholar/dblp_scholar_exp_data.zip",
    "Fodors-Zagats": "Structured/Fodors-Zagats/fodors_zagat_exp_data.zip",
    "Walmart-Amazon": "Structured/Walmart-Amazon/walmart_amazon_exp_data.zip",
    "iTunes-Amazon": "Structured/iTunes-Amazon/itunes_amazon_exp_data.zip",
    "Dirty-DBLP-ACM": "Dirty/DBLP-ACM/dirty_dblp_acm_exp_data.zip",
    "Dirty-DBLP-GoogleScholar": "Dirty/DBLP-GoogleScholar/dirty_dblp_scholar_exp_data.zip",
    "Dirty-Walmart-Amazon": "Dirty/Walmart-Amazon/dirty_walmart_amazon_exp_data.zip",
    "Dirty-iTunes-Amazon": "Dirty/iTunes-Amazon/dirty_itunes_amazon_exp_data.zip",
}
NAMES = tuple(_ARCHIVES)

OnBytes = Callable[[int, int | None], None]  # bytes so far, bytes in all if the server says


@dataclasses.dataclass(frozen=True)
class DownloadConfig(Config):
    """What is accepted from the network."""

    timeout_seconds: float = setting(30.0, "seconds without an answer after which the download is abandoned", 0.1)
    max_download_bytes: int = setting(500_000_000, "far more than any of the public archives has", 1)
    max_unpacked_bytes: int = setting(2_000_000_000, "protects against filling the disk", 1)
    max_archive_files: int = setting(100, "the archives hold five data files and a few others", 1)
    max_compression: float = setting(200.0, "text compresses about tenfold; far more suggests a zip bomb", 1)


def download(
    name: str,
    to: Path,
    *,
    base_url: str | None = None,
    sha256: str | None = None,
    config: DownloadConfig | None = None,
    progress: OnBytes | None = None,
) -> Path:
    """Fetch a public data set into the folder `to / name` and return it. Nothing is left behind on failure."""
    name, config = known_name(name), config or DownloadConfig()
    folder = to / name
    if folder.exists():
        raise DownloadError(f"{folder} already exists. Delete it, or choose another folder with --to.")
    url = (base_url or os.environ.get(BASE_URL_VARIABLE) or BASE_URL).rstrip("/") + "/" + _ARCHIVES[name]
    try:
        with folder_in_place(folder) as beside:
            archive = beside / "archive.zip"
            digest = _fetch(url, archive, config, progress)
            _check_digest(digest, sha256)
            unpack(archive, beside, config.max_unpacked_bytes, config.max_archive_files, config.max_compression)
            archive.unlink()
            _write_source(beside / "source.json", name, url, digest)
    except OSError as error:
        raise DownloadError(f"{folder} cannot be written: {error.strerror or error}.") from error
    return folder


def known_name(name: str) -> str:
    """The data set's name in its usual spelling, whatever case it was given in."""
    by_case = {known.lower(): known for known in NAMES}
    if name.lower() in by_case:
        return by_case[name.lower()]
    close = difflib.get_close_matches(name.lower(), by_case, n=1)
    hint = f" Did you mean {by_case[close[0]]}?" if close else ""
    raise DownloadError(f"There is no public data set called {name!r}.{hint} Known: {', '.join(NAMES)}.")


def _fetch(url: str, path: Path, config: DownloadConfig, progress: OnBytes | None) -> str:
    """Write what the server sends to the path and return its SHA-256."""
    if not url.lower().startswith(("http://", "https://")):
        raise DownloadError(f"{url} is not a web address. Give a base URL that begins with https://.")
    request = urllib.request.Request(url, headers={"User-Agent": f"riskcore/{__version__}"})
    try:
        with urllib.request.urlopen(request, timeout=config.timeout_seconds) as response:
            return _copy(response, path, config, progress)
    except urllib.error.HTTPError as error:
        raise DownloadError(f"The server answered {error.code} ({error.reason}) for {url}. Try again later.") from error
    except urllib.error.URLError as error:
        raise DownloadError(f"No connection to {url}: {error.reason}. Check the network.") from error
    except (TimeoutError, ConnectionError, http.client.HTTPException) as error:
        raise DownloadError(f"The connection to {url} was lost: {error}. Try again.") from error


def _copy(response: http.client.HTTPResponse, path: Path, config: DownloadConfig, progress: OnBytes | None) -> str:
    header = response.headers.get("Content-Length") or ""
    total = int(header) if header.isdigit() else None
    digest, done = hashlib.sha256(), 0
    with path.open("xb") as archive:
        while chunk := response.read(_CHUNK):
            done += len(chunk)
            if max(done, total or 0) > config.max_download_bytes:
                raise DownloadError(f"The archive has more than {config.max_download_bytes:,} bytes; it is refused.")
            digest.update(chunk)
            archive.write(chunk)
            if progress:
                progress(done, total)
    if total is not None and done < total:
        raise DownloadError(f"Only {done:,} of {total:,} bytes arrived. Try again.")
    return digest.hexdigest()


def _check_digest(digest: str, wanted: str | None) -> None:
    if wanted is not None and digest != wanted.strip().lower():
        raise DownloadError(f"The archive has the SHA-256 {digest}, not {wanted}. Nothing was unpacked.")


def _write_source(path: Path, name: str, url: str, digest: str) -> None:
    fetched = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    entry = {"name": name, "url": url, "sha256": digest, "fetched": fetched}
    write_json(path, entry)
