"""Figures as files: HTML for browsers, and PNG for pages, drawn by an installed Chromium."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from riskcore.errors import RiskcoreError
from riskcore.storage.files import writing

if TYPE_CHECKING:
    import plotly.graph_objects as go

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_STAMP = "figure"  # name of the text in a PNG file that identifies its figure
_PATIENCE = 120  # seconds for a browser on a busy machine
_COLOURS = 255  # enough for a chart; the palette makes the file a quarter as large


class NoBrowserError(RiskcoreError):
    """No browser can draw an image."""


def write_html(figure: go.Figure, file: Path) -> None:
    """A page that works offline; all pages of a folder share one copy of plotly's script."""
    with writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        page = figure.to_html(include_plotlyjs="directory", config={"displayModeBar": False})
        file.write_text(page.replace("<body>", '<body style="margin:0">'), encoding="utf-8")
        script = file.with_name("plotly.min.js")
        if not script.exists():
            from plotly.offline import get_plotlyjs

            script.write_text(get_plotlyjs(), encoding="utf-8")


def find_browser() -> str:
    """A Chromium on the path."""
    for name in BROWSERS:
        found = shutil.which(name)
        if found:
            return found
    raise NoBrowserError("No Chromium is installed, so no images were drawn. The HTML figures are written.")


def write_png(figure: go.Figure, page: Path, file: Path) -> None:
    """A screenshot of the page, of the figure's own size."""
    size = f"{int(figure.layout.width)},{int(figure.layout.height)}"
    with tempfile.TemporaryDirectory() as folder:
        shot = Path(folder) / "shot.png"
        command = [
            find_browser(), "--headless=new", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1",
            f"--user-data-dir={folder}/profile", f"--window-size={size}", "--virtual-time-budget=10000",
            f"--screenshot={shot}", *_sandbox(), page.resolve().as_uri(),
        ]  # fmt: skip
        try:
            subprocess.run(command, capture_output=True, timeout=_PATIENCE, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NoBrowserError(f"The browser {command[0]} drew no image: {error}.") from None
        if not shot.exists():
            raise NoBrowserError(f"The browser {command[0]} drew no image of {page}. Open that page instead.")
        content = _smaller(shot, _stamp(figure))
    with writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def _sandbox() -> list[str]:
    """Chromium has no sandbox for the superuser, as whom containers run; the page is our own."""
    return ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []


def shows(file: Path, figure: go.Figure) -> bool:
    """Whether the image was drawn from this figure, by the stamp in its file."""
    from PIL import Image

    try:
        with Image.open(file) as image:
            return bool(image.info.get(_STAMP) == _stamp(figure))
    except OSError:  # missing, or not an image
        return False


def _stamp(figure: go.Figure) -> str:
    return hashlib.sha256(str(figure.to_json()).encode()).hexdigest()[:32]


def _smaller(shot: Path, stamp: str) -> bytes:
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    packed, texts = io.BytesIO(), PngInfo()
    texts.add_text(_STAMP, stamp)
    with Image.open(shot) as image:
        # A rare colour may be that of a single mark: an octree keeps it, a median cut would merge it away.
        few = image.convert("RGB").quantize(_COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        few.save(packed, "PNG", optimize=True, pnginfo=texts)
    return packed.getvalue()
