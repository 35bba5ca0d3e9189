"""Fixtures of the command line's tests."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cli_project import Process, Project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    from semel.workflow.once import namespaces

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    known, modules = dict(namespaces), set(sys.modules)
    project = Project(tmp_path)
    yield project
    project.close()
    namespaces.clear()
    namespaces.update(known)
    for name in set(sys.modules) - modules:
        if name.partition(".")[0] == project.name:
            del sys.modules[name]


@pytest.fixture
def semel_process() -> Iterator[Callable[..., Process]]:
    """Starts ``semel …`` processes in the current folder, and lets none live on."""
    started: list[Process] = []

    def start(*arguments: str, **environment: str) -> Process:
        process = Process(arguments, environment)
        started.append(process)
        return process

    yield start
    for process in started:
        process.clean_up()
