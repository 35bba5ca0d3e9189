"""Twenty runs at once over one client, which a handler outside of any run uses too: ``python httpx_many.py KIND URL``.

With ``DIE`` set the process kills itself when all twenty bodies stand before their end.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from semel import App

app = App("capture", database=os.environ["DATABASE"])
httpx: Any = importlib.import_module(os.environ["HTTPX_FLOWS"])

RUNS = 20
shared = httpx.Client(timeout=30)
shared_async = httpx.AsyncClient(timeout=30)


def die() -> None:
    """Called when all stand at their end, before any of them goes on."""
    if "DIE" in os.environ:
        os.kill(os.getpid(), signal.SIGKILL)


together = threading.Barrier(RUNS)
together_at_the_end = threading.Barrier(RUNS, action=die)
together_async = asyncio.Barrier(RUNS)


@app.workflow
def sync(url: str, number: int) -> list[str]:
    together.wait()
    said = [shared.post(f"{url}/echo", content=f"{number} {n}").text for n in range(3)]
    together_at_the_end.wait()
    return said


@app.workflow
async def coroutines(url: str, number: int) -> list[str]:
    await together_async.wait()
    answers = await asyncio.gather(*[shared_async.post(f"{url}/echo", content=f"{number} {n}") for n in range(3)])
    if await together_async.wait() == RUNS - 1:  # the last to come, and the first to go on
        die()
    return [answer.text for answer in answers]


def main() -> None:
    kind, url = sys.argv[1:]
    runs = [app.start(globals()[kind], url, number, id=str(number)) for number in range(RUNS)]
    with app.worker(threads=RUNS):
        if "DIE" in os.environ:
            assert shared.get(f"{url}/plain").text.startswith("number")  # a handler, in no run
        results = [run.result(timeout=60) for run in runs]
    Path(os.environ["SHOWN"]).write_text(json.dumps([results, [len(run.steps()) for run in runs]]))
    app.close()


if __name__ == "__main__":
    main()
