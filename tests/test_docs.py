"""What the README and the docs show is run here."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", re.sub(r"`[^`]*`", "", text)):
        if "://" not in target:
            assert (page.parent / target).exists(), target


class Outside(BaseHTTPRequestHandler):
    """A bank, and a language model that speaks the API of the README's SDK."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        content = [{"type": "output_text", "text": f"<{asked.get('input')}>", "annotations": []}]
        message = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": content}
        said = {"id": "r", "object": "response", "output": [message]}
        answer = {"receipt": "R-7"} if self.path == "/charges" else said
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def outside() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Outside)
    server.asked = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.rule("A11")
def test_the_python_of_the_readme_runs_and_asks_each_thing_once(tmp_path: Path, outside: ThreadingHTTPServer) -> None:
    program, use = blocks(ROOT / "README.md", "python")
    stand_ins = """
import os
BANK = os.environ["BANK"]
def people_of(order): return ["ann", "bob"]
def mail(person, letter): print(letter)
"""
    (tmp_path / "shop.py").write_text(program + stand_ins)
    body = "".join(f"    {line}\n" for line in use.strip().splitlines())
    script = f"from shop import *\nwith app.worker():\n{body}    print(run.result())\n"
    (tmp_path / "main.py").write_text(script)
    url = f"http://127.0.0.1:{outside.server_port}"
    given = {"BANK": url, "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "none", "NO_PROXY": "*"}
    with pytest.raises(AssertionError):  # killed when the letter to ann is recorded
        python(tmp_path, "main.py", SEMEL_CRASH_AT="step.recorded:2", **given)
    done = python(tmp_path, "main.py", **given)
    assert done.stdout.splitlines() == ["<Thank ann for R-7.>", "<Thank bob for R-7.>", "R-7"]
    assert outside.asked == ["/charges", "/v1/responses", "/v1/responses"]  # type: ignore[attr-defined]


def python(folder: Path, *arguments: str, **given: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        **given,
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
