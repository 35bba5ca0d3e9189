"""The process that ``harness`` runs: imports a program, and drives one run of one of its workflows to its end."""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from pathlib import Path


def main() -> None:
    program, workflow, args = sys.argv[1:]
    module = importlib.import_module(program)
    app = module.app
    run = app.start(getattr(module, workflow), *json.loads(args), id="the-run")
    ended: dict[str, object]
    with app.worker():
        try:
            ended = {"result": run.result(timeout=100), "fault": None}
        except Exception:
            ended = {"result": None, "fault": traceback.format_exc()}
    Path(os.environ["ENDED"]).write_text(json.dumps(ended, default=repr))
    app.close()


if __name__ == "__main__":
    main()
