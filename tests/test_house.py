"""The house rules, as far as a machine can see them: lint, format, types, the direction of imports, and the docs."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src" / "semel").rglob("*.py"))

#: Which rooms a room may import from, besides itself and the files at the top (errors, config).
ALLOWED = {
    "codec": set(),
    "compiler": set(),
    "checks": {"compiler"},
    "capture": {"codec", "compiler"},
    "client": set(),
    "engine": {"codec", "compiler", "store.interface"},
    "workflow": {"codec", "compiler", "engine"},
    "store": {"engine.points"},
    "worker": {"codec", "compiler", "engine", "store", "workflow", "app"},
}

#: Time, ids and randomness are given from outside; where the default is chosen, it is chosen here.
CLOCKS = {"time.time", "time.sleep", "datetime.now", "random.random", "random.randint"}
MAY_ASK_THE_CLOCK = {
    "app.py",
    "engine/writes.py",  # pauses before a record is offered to the store again
    "worker/lease.py",
    "worker/worker.py",
    "workflow/now.py",
    "workflow/sleep.py",  # outside of a run it is what it says
    "store/sqlite/schema.py",
    "store/sqlite/writer.py",
}


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        ("mypy",),
        ("pyright", "--pythonpath", sys.executable),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_the_code_is_clean(command: tuple[str, ...]) -> None:
    done = run(*command)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(ROOT / "src" / "semel")))
def test_every_file_is_small_says_what_it_is_for_and_imports_downwards(file: Path) -> None:
    text = file.read_text()
    tree = ast.parse(text)
    place = str(file.relative_to(ROOT / "src" / "semel"))
    assert text.count("\n") <= 420, "a reader should find the place"
    if file.name not in ("_version.py",) and text.strip():
        assert ast.get_docstring(tree), "a module opens with what it is for"
    room = place.partition("/")[0] if "/" in place else ""
    for module in imports_of(tree, place):
        top = module.partition(".")[0]
        if room in ALLOWED and top in ALLOWED and top != room:
            assert any(module == name or module.startswith(f"{name}.") for name in ALLOWED[room]), f"imports {module}"
    if place not in MAY_ASK_THE_CLOCK and room not in ("cli", "testing"):
        called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        assert called.isdisjoint(CLOCKS)


def imports_of(tree: ast.Module, place: str) -> list[str]:
    """The modules of semel that a file imports at run time, without the leading ``semel.``."""
    package = place.split("/")[:-1]
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            module = ".".join([*base, *(node.module or "").split(".")]).strip(".")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("semel."):
            module = (node.module or "").removeprefix("semel.")
        else:
            continue
        found += [f"{module}.{alias.name}" for alias in node.names]
    return found


def test_every_rule_named_in_the_tests_is_shown_by_one_that_runs() -> None:
    marked = set()
    for file in (ROOT / "tests").rglob("test_*.py"):
        marked |= set(re.findall(r"rule\(\"([A-Z]\d+)\"\)", file.read_text()))
    promised = {f"O{number}" for number in range(1, 26)}
    promised |= {f"A{number}" for number in range(1, 12)}
    promised |= {f"R{number}" for number in range(1, 12)}
    promised |= {"V3", "W5", "W6", "W7", "W8", "W9", "W11", "W13"}
    promised |= {"V1", "V4", "V5", "V6", "W1", "W12", "A4", "A6", "D1", "D4"}
    promised |= {"V2", "V7", "W2", "W3", "W4", "W10"}
    assert promised <= marked, f"no test shows {sorted(promised - marked)}"


def test_the_project_speaks_of_itself_alone() -> None:
    words = re.compile(r"/work/|/root/|pypi\.org|npmjs", re.IGNORECASE)
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    for name in listed:
        file = ROOT / name
        if file.suffix in {".py", ".md", ".toml", ".sql", ".yml", ".txt"} and name != "tests/test_house.py":
            assert not words.search(file.read_text()), name
