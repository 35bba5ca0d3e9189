"""Fixtures of all tests: apps on a database of their own, and a log of what really happened."""

from __future__ import annotations

import importlib
import itertools
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from semel import App
from semel.compiler import packages

_numbers = itertools.count()

#: How the names of modules begin that tests make.
_MADE = ("program_", "generated_")

_MEMORY = "/dev/shm"
_ROOM = 4 << 30  # bytes


def pytest_configure() -> None:
    """Databases of tests lie in memory where there is room: what a killed process has committed is there as on a disk,
    and each commit is a hundred times as quick.
    """
    if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", _MEMORY)


#: Modules that stand for other people's code lie in a folder of their own: what lies beside a program is the program's.
sys.path.insert(0, str(Path(__file__).parent / "foreign"))


def _forget(names: set[str]) -> None:
    packages._packages.difference_update(names)
    for beside in packages._homes.values():
        beside.difference_update(names)


@pytest.fixture(autouse=True)
def programs_of_the_test() -> Iterator[None]:
    """A program that a test makes is none for the tests after it: each start of theirs would check it, too."""
    before = set(packages._packages)
    yield
    made = {name for name in packages._packages - before if name.startswith(_MADE)}
    _forget(made)
    for name in made:
        sys.modules.pop(name, None)


@pytest.fixture(autouse=True, scope="module")
def programs_of_the_module(request: pytest.FixtureRequest) -> Iterator[None]:
    """And what a file of tests makes user code of, itself and what lies beside it, is none for the files after it."""
    before = set(packages._packages)
    yield
    _forget((packages._packages - before) | {request.module.__name__})


@pytest.fixture
def new_app(tmp_path: Path) -> Iterator[Callable[..., App]]:
    """Makes apps on databases in the test's own folder, and closes them."""
    made: list[App] = []

    def make(name: str = "shop", **options: object) -> App:
        options.setdefault("database", f"sqlite:///{tmp_path / name}.db")
        app = App(name, **options)  # type: ignore[arg-type]
        made.append(app)
        return app

    yield make
    from semel.workflow.once import namespaces

    for app in made:
        app.close()
        namespaces.pop(app.name, None)


@pytest.fixture
def app(new_app: Callable[..., App]) -> App:
    """An app on a new database."""
    return new_app()


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Writes a module and imports it, under a name of its own; ``module.rewrite(text)`` deploys a new version."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))

    def load(source: str, name: str | None = None) -> ModuleType:
        name = name or f"program_{next(_numbers)}"
        (folder / f"{name}.py").write_text(textwrap.dedent(source))
        importlib.invalidate_caches()
        sys.modules.pop(name, None)
        return importlib.import_module(name)

    return load
