"""Where things are: the screens and the sample that came with the code, and the folders that runs and data go to.

There are two layouts. In a checkout the screens and the sample lie beside this package, and runs and data go to
`runs` and `data` in the working folder. In an installed wheel they lie inside the package, in `_app`, and runs and
data go where the platform keeps a user's data. RISKCORE_RUNS and RISKCORE_DATA set the two folders in both.
RISKCORE_SEAL sets the folder that proves the verdict logs: it belongs to another place than the runs.
RISKCORE_OPEN_PATHS names the folders whose data sets the screens may open by path; unless it is set, none.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

RUNS_VARIABLE, DATA_VARIABLE, SEAL_VARIABLE = "RISKCORE_RUNS", "RISKCORE_DATA", "RISKCORE_SEAL"
OPEN_VARIABLE = "RISKCORE_OPEN_PATHS"
_PACKAGE = Path(__file__).resolve().parent
_PACKED = "_app"  # the wheel's folder of what lies beside the package in a checkout: pyproject.toml puts it there


def installed(package: Path = _PACKAGE) -> bool:
    """Whether this code runs from a wheel, not from a checkout."""
    return (package / _PACKED).is_dir()


def app_folder(package: Path = _PACKAGE) -> Path:
    """The folder with `app.py`, `pages`, `.streamlit` and `sample_data`."""
    return package / _PACKED if installed(package) else package.parent


def default_runs(package: Path = _PACKAGE) -> Path:
    """The folder of runs where nothing else was asked for."""
    return _user_folder("runs") if installed(package) else Path("runs")


def default_data(package: Path = _PACKAGE) -> Path:
    """The folder of data sets where nothing else was asked for."""
    return _user_folder("data") if installed(package) else Path("data")


def runs_root() -> Path:
    """The folder of runs: RISKCORE_RUNS, or the default."""
    return Path(os.environ.get(RUNS_VARIABLE) or default_runs()).absolute()


def data_root() -> Path:
    """The folder of uploaded, registered and downloaded data sets: RISKCORE_DATA, or the default."""
    return Path(os.environ.get(DATA_VARIABLE) or default_data()).absolute()


def seal_folder() -> Path:
    """The folder of the key that seals verdict logs: RISKCORE_SEAL, or where the platform keeps a user's settings."""
    if named := os.environ.get(SEAL_VARIABLE):
        return Path(named).absolute()
    from platformdirs import user_config_path

    return user_config_path("riskcore", appauthor=False) / "seal"


def open_folders() -> tuple[Path, ...]:
    """The folders whose data sets may be opened by path: RISKCORE_OPEN_PATHS; none unless it is set."""
    named = os.environ.get(OPEN_VARIABLE, "").split(os.pathsep)
    return tuple(Path(one.strip()).expanduser().absolute() for one in named if one.strip())


def lies_in(path: Path, folders: Iterable[Path]) -> bool:
    """Whether a file, or a folder and every file in it, lies in one of the folders once all links are followed."""
    try:
        real = path.resolve(strict=True)
        files = list(real.iterdir()) if real.is_dir() else []
        return any(
            all(one.resolve(strict=True).is_relative_to(folder.resolve()) for one in (real, *files))
            for folder in folders
        )
    except (OSError, RuntimeError, ValueError):  # no such file, no right to look, links in a circle, a null character
        return False


def child_environment() -> dict[str, str]:
    """The environment for a process that imports riskcore: a checkout is not installed, so its folder is named."""
    if installed():
        return dict(os.environ)
    paths = [str(_PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _user_folder(name: str) -> Path:
    from platformdirs import user_data_path

    return user_data_path("riskcore", appauthor=False) / name
