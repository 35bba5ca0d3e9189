"""The cells of a library: each function of a module of flows, run live, and again when the server is gone.

All flows of a module run in one body, in the order of the module, so that a library needs three processes and not
three for each cell. The first is outside of any run, where nothing is recorded: what a run's first attempt sees must be
what a program without semel sees.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from harness import HERE, Case, case

NOBODY = "http://127.0.0.1:9/"  # the discard port, where nothing listens


class Server(Protocol):
    asked: list[str]

    @property
    def url(self) -> str: ...

    def forget(self) -> None: ...

    def stop(self) -> None: ...


@dataclass(frozen=True)
class Cells:
    """What each flow has shown outside of a run, in a run's first process and in its second."""

    outside: dict[str, Any]
    live: dict[str, Any]
    again: dict[str, Any]
    asked_outside: list[str]
    asked: list[str]
    steps: list[str]
    names: list[str]

    def without_connection(self, flow: str) -> Any:
        """What the flow has shown outside, without the connection that a response has among its extensions there."""
        return _without_connection(self.outside[flow])

    def operations(self, flow: str) -> list[str]:
        """The operations of the flow's automatic steps, with their parts, in the order of their records."""
        start = f"/start@1[{self.names.index(flow)}]/{flow}"
        return [path.partition("#auto:")[2] for path in self.steps if start in path]

    def paths(self, flow: str) -> list[str]:
        """The paths of the flow's steps below the flow's own."""
        start = f"start@1[{self.names.index(flow)}]/"
        return [path.partition(start)[2] for path in self.steps if start in path]


def flows(program: str, *, coroutines: bool, leaving_out: frozenset[str] = frozenset()) -> list[str]:
    """The names of the functions of the module that are given an address, in order."""
    tree = ast.parse(Path(__file__).with_name(f"{program}.py").read_text())
    kind = ast.AsyncFunctionDef if coroutines else ast.FunctionDef
    found = [node for node in tree.body if isinstance(node, kind) and [arg.arg for arg in node.args.args] == ["url"]]
    return [node.name for node in found if node.name not in leaving_out]


def cells(program: str, names: list[str], server: Server, folder: Path, *, coroutines: bool, **env: str) -> Cells:
    """Runs these flows of a module outside of a run, in a body, and in the same body when the server is gone."""
    workflow = "async_flows" if coroutines else "sync_flows"
    made = case(program, workflow, server.url, names, folder=folder, NOBODY=NOBODY, **env)
    outside = _outside(made)
    asked_outside = list(server.asked)
    server.forget()
    live = made.live().shown
    asked = list(server.asked)
    server.stop()
    again = made.replayed().shown
    return Cells(_by_name(outside), _by_name(live), _by_name(again), asked_outside, asked, made.steps(), names)


_CALL = """
import asyncio, importlib, inspect, json, sys
called = getattr(importlib.import_module(sys.argv[1]), sys.argv[2])(*json.loads(sys.argv[3]))
if inspect.iscoroutine(called):
    asyncio.run(called)
"""


def _outside(made: Case) -> list[Any]:
    """Calls the workflow's function as any other, in a process that has an app and no run (rule A6)."""
    shown = made.folder / "shown_outside.json"
    environment = {
        **os.environ,
        **made.env,
        "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parent.parent / "src")]),
        "DATABASE": f"sqlite:///{made.folder / 'outside.db'}",
        "SHOWN": str(shown),
        "NO_PROXY": "*",
    }
    command = [sys.executable, "-c", _CALL, made.program, made.workflow, json.dumps(made.args)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(shown.read_text())
    return found


def _without_connection(dump: Any) -> Any:
    if isinstance(dump, dict):
        return {key: _without_connection(value) for key, value in dump.items()}
    if isinstance(dump, list):
        kept = [item for item in dump if not isinstance(item, list) or item[:1] != ["network_stream"]]
        return [_without_connection(item) for item in kept]
    return dump


def _by_name(shown: list[Any]) -> dict[str, Any]:
    return {entry["items"][0]: entry["items"][1] for entry in shown}
