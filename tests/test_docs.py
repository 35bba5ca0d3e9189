"""What the README and the docs show is run here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from semel import App, Run, errors

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^ *```{language}\n(.*?)^ *```", page.read_text(), re.MULTILINE | re.DOTALL)


def test_the_commands_of_the_readme_are_one_line_each() -> None:
    readme = (ROOT / "README.md").read_text()
    for heading in ("## Try it", "## Test it"):
        (block,) = re.findall(r"```sh\n(.*?)```", readme.partition(heading)[2].partition("\n## ")[0], re.DOTALL)
        assert len(block.strip().splitlines()) == 1


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_python_of_the_readme_runs(tmp_path: Path) -> None:
    program, use = blocks(ROOT / "README.md", "python")
    stand_ins = """
def charge(order, amount, key): return f"receipt of {order}"
def people_of(order): return ["ann", "bob"]
def mail(person, receipt): print("mail to", person)
"""
    (tmp_path / "shop.py").write_text(program + stand_ins)
    body = "".join(f"    {line}\n" for line in use.strip().splitlines())
    script = f"from shop import *\nwith app.worker():\n{body}    print(run.result())\n"
    (tmp_path / "main.py").write_text(script)
    done = python(tmp_path, "main.py")
    assert done.stdout.splitlines() == ["mail to ann", "mail to bob", "receipt of A-1"]


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_the_tutorial_is_what_happens(tmp_path: Path) -> None:
    """A ``python`` block with a title is written, an ``sh`` block run, and ``text`` must be what it printed."""
    page = (ROOT / "docs" / "tutorial.md").read_text()
    shown = re.findall(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    printed = ""
    bin_folder = Path(sys.executable).parent
    environment = {
        **os.environ,
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
    }
    for language, title, text in shown:
        if language == "python":
            (tmp_path / title).write_text(text)
        elif language == "sh":
            command = text.replace("python3", sys.executable).replace("semel ", f"{sys.executable} -m semel ")
            done = subprocess.run(
                ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
            )
            printed = done.stdout
        elif language == "text":
            assert [line.split() for line in printed.splitlines() if line.strip()] == [
                line.split() for line in text.splitlines() if line.strip()
            ]


def test_every_error_has_its_place_in_the_reference() -> None:
    page = (ROOT / "docs" / "reference" / "errors.md").read_text()
    classes = [cls for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, errors.SemelError)]
    codes = [cls.code for cls in classes]
    assert len(set(codes)) == len(codes), "a code is one error's"
    for cls in classes:
        assert cls is errors.SemelError or f"## {cls.code}\n\n`{cls.__name__}`." in page, cls


def test_every_public_name_has_its_place_in_the_reference() -> None:
    page = (ROOT / "docs" / "reference" / "api.md").read_text()
    for name in ("App", "Run", "each", "once"):
        assert f"`{name}" in page
    for cls in (App, Run):
        public = {name for name in vars(cls) if not name.startswith("_")} - {
            "engines",
            "namespace",
            "scoped_key",
            "store",
        }
        owner = cls.__name__.lower()
        assert {name for name in public if f"{owner}.{name}" not in page} == set()
