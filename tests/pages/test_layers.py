"""What keeps the screens small and safe: how every page begins, and what the web process never imports."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

from streamlit.config import get_config_options

from pages.parts.frame.navigation import SCREENS

PROJECT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted((PROJECT / "pages").glob("*.py"))
PARTS = sorted((PROJECT / "pages" / "parts").rglob("*.py"))
TORCH_FREE = ("riskcore.data", "riskcore.rules", "riskcore.risk", "riskcore.runs", "riskcore.audit")
TORCH_FREE += ("riskcore.evaluation", "riskcore.metrics", "riskcore.config", "riskcore.errors", "riskcore.registry")
TORCH_FREE += ("riskcore.paths", "riskcore.storage", "riskcore.columns", "riskcore.training.costs", "riskcore.version")
TORCH_FREE += ("riskcore.logs", "riskcore.apply.jobs", "riskcore.apply.sheets", "riskcore.access", "riskcore.sandbox")
TORCH_FREE += ("riskcore.scale.queries", "riskcore.scale.reading", "riskcore.scale.known", "riskcore.scale.folder")
TORCH_FREE += ("riskcore.scale.explanations", "riskcore.scale.export_jobs")


def test_every_script_is_a_screen_and_every_screen_a_script():
    assert {script.stem for script in SCRIPTS} == set(SCREENS)


def test_every_page_does_its_work_inside_open_page():
    for script in SCRIPTS:
        tree = ast.parse(script.read_text(encoding="utf-8"))
        last = tree.body[-1]
        assert isinstance(last, ast.With), script.name
        call = last.items[0].context_expr
        assert isinstance(call, ast.Call), script.name
        assert call.func.id == "open_page", script.name
        assert call.args[0].value == script.stem, script.name
        quiet = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.Expr, ast.If)
        assert all(isinstance(node, quiet) for node in tree.body[:-1]), script.name


def test_pages_import_only_their_parts_and_torch_free_doors():
    for script in (*SCRIPTS, *PARTS):
        for name in _imports(script):
            if name.startswith("riskcore"):
                assert name.startswith(TORCH_FREE), f"{script.name} imports {name}"
            assert not name.startswith("torch"), script.name


def test_the_web_process_never_imports_torch():
    names = [".".join(path.relative_to(PROJECT).with_suffix("").parts) for path in PARTS if path.stem != "__init__"]
    assert len(names) > 20
    code = "import importlib, sys\n" + "".join(f"importlib.import_module({name!r})\n" for name in names)
    code += "import ast\n"
    for script in SCRIPTS:
        code += "".join(f"importlib.import_module({name!r})\n" for name in _imports(script))
    code += "assert 'torch' not in sys.modules and 'transformers' not in sys.modules\n"
    subprocess.run([sys.executable, "-c", code], cwd=PROJECT, check=True, timeout=120)


READERS = {
    "inspect_data", "open_data", "build_workload", "data_figures", "read_text_file", "read_csv", "read_parquet",
    "read_folder", "read_pair_file", "read_file", "read_brought", "unpacked", "unpack_tables", "unpack",
    "read_workbook", "sheet_names", "detect_csv", "arrange", "assemble", "recognise", "detect_columns", "scores_of",
    "coverage", "found_candidates", "has_found_candidates", "candidate_preview", "fitting", "read_label_file",
    "read_labels_text", "bring_verdicts", "read_verdicts", "pairs_in", "find_sample",
}  # fmt: skip
PARSERS = ("csv", "zipfile", "openpyxl", "xml", "pyarrow.csv", "pyarrow.dataset", "pyarrow.feather", "pickle")
OWN_FILES = "score_columns.py"  # reads what the worker wrote into the folder of a run


def test_the_web_process_reads_no_brought_file():
    """Reading goes through `riskcore.sandbox.calls`, whose processes have limits: a file must not end the server."""
    for script in (PROJECT / "app.py", *SCRIPTS, *PARTS):
        tree = ast.parse(script.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("riskcore."):
                if not str(node.module).startswith(("riskcore.sandbox", "riskcore.runs")):
                    assert not READERS & {one.name for one in node.names}, f"{script.name} imports a reader"
                assert node.module != "riskcore.sandbox.tasks", script.name
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and script.name != OWN_FILES:
                reads = node.attr.startswith(("read_", "Parquet", "Excel")) and node.value.id in ("pd", "pq", "pa")
                assert not reads, f"{script.name} reads with {node.value.id}.{node.attr}"
        assert not set(PARSERS) & set(_imports(script)), script.name


def test_the_list_of_readers_names_functions_that_exist():
    defined = {
        node.name
        for folder in ("data", "audit")
        for file in (PROJECT / "riskcore" / folder).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    }
    assert defined >= READERS


def test_a_click_does_not_wait_for_a_full_collection():
    """Streamlit walks every object of the process after each script run, unless told not to."""
    settings = tomllib.loads((PROJECT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert settings["runner"]["postScriptGC"] is False
    assert "runner.postScriptGC" in get_config_options()  # it is hidden: a release may take it away


def test_tables_offer_no_export_of_their_own():
    """Theirs writes cells as they are; ours escapes what a spreadsheet would compute."""
    settings = tomllib.loads((PROJECT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert "client.disableDataExport" in get_config_options()
    assert settings["client"]["disableDataExport"] is True


def test_record_text_never_goes_through_unsafe_markdown():
    for script in (*SCRIPTS, *PARTS):
        text = script.read_text(encoding="utf-8")
        assert "unsafe_allow_html" not in text, script.name
        assert "unsafe_allow_javascript" not in text, script.name


def _imports(script: Path) -> list[str]:
    tree = ast.parse(script.read_text(encoding="utf-8"))
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.module != "__future__":
            found.append(node.module)
    return found
