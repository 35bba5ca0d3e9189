"""A project in a folder of its own, and commands on it, in this process and in others."""

from __future__ import annotations

import itertools
import os
import queue
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

from click.testing import CliRunner, Result

import semel
from semel.cli import cli

_numbers = itertools.count()
_PATIENCE = 30.0  # seconds; only a failing test waits so long

SHOP = """
    from pathlib import Path

    from semel import App, once

    app = App("NAME", database="sqlite:///shop.db")

    def charge(order):
        if order == "broken":
            raise ValueError("no such card")
        return {"receipt": f"r-{order}", "lines": list(range(100))}

    @app.workflow
    def fulfil(order):
        receipt = once("charge", lambda: charge(order))
        once("mail", lambda: None)
        return receipt["receipt"]
"""


class Project:
    """A folder that is the current one, with an app in the module ``name``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = f"shop_{next(_numbers)}"
        self.target = f"{self.name}:app"
        self._apps: list[semel.App] = []

    def write(self, source: str = SHOP, file: str | None = None) -> Path:
        path = self.folder / (file or f"{self.name}.py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source).replace("NAME", self.name), "utf-8")
        return path

    def run(self, *arguments: str, input: str | None = None) -> Result:
        """A command in this process."""
        return CliRunner().invoke(cli, arguments, input=input, prog_name="semel")

    def with_app(self, *arguments: str, input: str | None = None) -> Result:
        return self.run(*arguments, "--app", self.target, input=input)

    def app(self) -> semel.App:
        """The app, imported as the command line does it."""
        from semel.cli.application import load_app

        app = load_app(self.target)
        self._apps.append(app)
        return app

    def close(self) -> None:
        for app in self._apps:
            app.close()

    def finished(self, *orders: str) -> semel.App:
        """The app, after a run of ``fulfil`` for each order has ended."""
        app = self.app()
        fulfil = app.workflows["fulfil"].function
        runs = [app.start(fulfil, order, id=order) for order in orders]
        with app.worker():
            for run in runs:
                try:
                    run.result(timeout=_PATIENCE)
                except ValueError:
                    assert run.status == "faulted"
        app.close()
        return app


class Process:
    """``semel …`` as a process of its own; its output is read line by line."""

    def __init__(self, arguments: tuple[str, ...], environment: dict[str, str]) -> None:
        source = os.path.dirname(os.path.dirname(os.path.abspath(semel.__file__)))
        path = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "semel", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1", **environment},
            text=True,
        )
        self.pid = self._process.pid
        self.lines: list[str] = []
        self._queue: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._queue.put(line)
        self._queue.put(None)

    def until(self, text: str) -> str:
        """Reads on to the next line that has this text in it."""
        while True:
            line = self._queue.get(timeout=_PATIENCE)
            assert line is not None, f"{text!r} did not come; there was:\n{''.join(self.lines)}"
            self.lines.append(line)
            if text in line:
                return line

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def ended(self) -> int:
        """Waits for the end; its exit code."""
        code = self._process.wait(_PATIENCE)
        self._reader.join(_PATIENCE)
        while (line := self._queue.get()) is not None:
            self.lines.append(line)
        return code

    @property
    def output(self) -> str:
        return "".join(self.lines)

    def clean_up(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._reader.join(_PATIENCE)
        assert self._process.stdout is not None
        self._process.stdout.close()
