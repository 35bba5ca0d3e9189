"""Follows a page of the docs as a reader would: writes its files, runs its commands, compares what they print.

The blocks of a page that count, in order:

    python title="shop.py"            a file to write
    python title="in shop.py"         what to change in it: what gives these names
    sh                                a command; it may fail
    text                              what the latest command has printed
    sh title="the other terminal"     a server on the page's port, which goes on until the page ends
    text title="the other terminal"   what that has printed since the latest such block

Times are not compared. A date with fractions of a second, and a UUID, is the same one wherever the page shows the same.
"""

from __future__ import annotations

import ast
import contextlib
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PORT = "8100"  # of the server that a page starts

_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```', re.MULTILINE | re.DOTALL)
_NAMED_VALUE = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\S*")
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|\+?\d+(?:\.\d+)? ?(?:ms|s|min)\b")


class Desk:
    """A folder to work in, a terminal, and another one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._port = _free_port()
        self._printed = ""
        self._other = folder / "other-terminal.txt"
        self._read = 0
        self._servers: list[subprocess.Popen[bytes]] = []
        self._promised: dict[str, int] = {}
        self._happened: dict[str, int] = {}
        # Wide, so that no line is folded at another place when a time is shown in more digits.
        self._environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "NO_PROXY": "*", "COLUMNS": "160"}
        self._environment.pop("PYTEST_ADDOPTS", None)

    def follow(self, page: Path) -> None:
        for language, title, text in _BLOCK.findall(page.read_text().replace(PORT, str(self._port))):
            if language == "python" and title.startswith("in "):
                file = self.folder / title.removeprefix("in ")
                file.write_text(changed(file.read_text(), text))
            elif language == "python" and title:
                (self.folder / title).write_text(text)
            elif language == "sh" and title:
                self._serve(text)
            elif language == "sh":
                self._printed = self._run(text)
            elif language == "text":
                printed = self._printed_there() if title else self._printed
                happened, promised = _comparable(printed, self._happened), _comparable(text, self._promised)
                assert happened == promised, f"it printed:\n{happened}\nand the page says:\n{promised}"

    def _run(self, command: str) -> str:
        told = ["bash", "-c", _with_this_python(command)]
        done = subprocess.run(told, cwd=self.folder, env=self._environment, capture_output=True, text=True, check=False)
        return done.stdout

    def _serve(self, command: str) -> None:
        told = ["bash", "-c", f"exec {_with_this_python(command)}"]
        with self._other.open("wb") as terminal:
            server = subprocess.Popen(told, cwd=self.folder, env=self._environment, stdout=terminal)
        self._servers.append(server)
        while not _answers(self._port):
            assert server.poll() is None, "the server has ended"

    def _printed_there(self) -> str:
        text = self._other.read_text()
        new, self._read = text[self._read :], len(text)
        return new

    def leave(self) -> None:
        for server in self._servers:
            server.kill()
            server.wait()


@contextlib.contextmanager
def desk(folder: Path) -> Iterator[Desk]:
    """A desk in this folder; nothing that was started at it goes on after the ``with``."""
    made = Desk(folder)
    try:
        yield made
    finally:
        made.leave()


def changed(program: str, change: str) -> str:
    """The program with each statement of the change in place of the one that gives the same name; new ones go first."""
    for node in reversed(ast.parse(change).body):
        new = _text(change, node)
        old = [_text(program, other) for other in ast.parse(program).body if _given(other) == _given(node)]
        program = program.replace(old[0], new, 1) if old else f"{new}\n{program}"
    return program


def _text(program: str, node: ast.stmt) -> str:
    text = ast.get_source_segment(program, node)
    assert text is not None
    return text


def _given(node: ast.stmt) -> str | None:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.ImportFrom(module=module):
            return f"from {module}"
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return None


def _comparable(text: str, known: dict[str, int]) -> list[list[str]]:
    text = _NAMED_VALUE.sub(lambda found: f"<value {known.setdefault(found[0], len(known))}>", text)
    text = re.sub(r"─+", "─", _TIME.sub("<time>", text))
    return [line.split() for line in text.splitlines() if line.strip()]


def _with_this_python(command: str) -> str:
    return re.sub(r"\bsemel (?=[a-z])", "python3 -m semel ", command).replace("python3", sys.executable)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def _answers(port: int) -> bool:
    with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False
