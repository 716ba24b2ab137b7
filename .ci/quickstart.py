"""Run the code cells of a notebook one after the other in this process: `quickstart.py FILE`. No kernel is needed."""

import json
import sys
from pathlib import Path

notebook = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
names: dict[str, object] = {"__name__": "__main__"}
for number, cell in enumerate(notebook["cells"], start=1):
    if cell["cell_type"] == "code":
        exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
