"""What the README and the docs show is run here."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from docs_desk import desk
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
        self.send_response(402 if self.path.startswith("/declined") else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def outside() -> Iterator[ThreadingHTTPServer]:
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Outside)) as server:
        server.asked = []  # type: ignore[attr-defined]
        yield server


@contextlib.contextmanager
def serving(server: ThreadingHTTPServer) -> Iterator[ThreadingHTTPServer]:
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
    with desk(tmp_path) as reader:
        reader.follow(ROOT / "docs" / "tutorial.md")


def test_the_test_without_network_is_one_that_runs(tmp_path: Path) -> None:
    with desk(tmp_path) as reader:
        reader.follow(ROOT / "docs" / "how-to" / "typed-client.md")
        reader.follow(ROOT / "docs" / "how-to" / "test-without-network.md")
    assert not (tmp_path / "shop.db").exists(), "the developer's own database"


@pytest.mark.parametrize(
    "page", ["children", "django", "entities", "fastapi", "flask", "operate", "retry", "saga", "transaction", "wait"]
)
def test_a_how_to_is_what_happens(tmp_path: Path, page: str) -> None:
    with desk(tmp_path) as reader:
        reader.follow(ROOT / "docs" / "how-to" / f"{page}.md")


@pytest.mark.rule("A10")
@pytest.mark.parametrize(
    ("shown", "killed_in", "asked"),
    [("answer =", "cancel", 2), ("answer =", "mail_declined", 1), ("status =", "after", 1)],
)
def test_an_error_answer_is_a_fact_when_the_window_page_says_so(
    tmp_path: Path, outside: Any, shown: str, killed_in: str, asked: int
) -> None:
    (block,) = [block for block in blocks(ROOT / "docs" / "explanation" / "window.md", "python") if shown in block]
    program = """
import os, signal, sys
import httpx
from semel import App, once

app = App("shop")
BANK = os.environ["BANK"]

def charge(order, key): return httpx.post(f"{BANK}/charges", json=order, headers={"Idempotency-Key": key})
def cancel(order): die("cancel")
def mail_declined(order): die("mail_declined")

def die(here):
    if here in sys.argv:
        os.kill(os.getpid(), signal.SIGKILL)

@app.workflow
def fulfil(order):
BLOCK    die("after")

run = app.start(fulfil, {"order": "A-1"}, id="A-1")
with app.worker():
    run.result()
""".replace("BLOCK", "".join(f"    {line}\n" for line in block.splitlines()))
    (tmp_path / "shop.py").write_text(program)
    given = {"BANK": f"http://127.0.0.1:{outside.server_port}/declined", "NO_PROXY": "*"}
    with pytest.raises(AssertionError):
        python(tmp_path, "shop.py", killed_in, **given)
    python(tmp_path, "shop.py", **given)
    assert outside.asked == ["/declined/charges"] * asked


class Speaker(BaseHTTPRequestHandler):
    """A language model that says three words; where ``heard`` is set, each when the one before was shown."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for word in ("no", "thing", "!"):
            event = {"type": "response.output_text.delta", "delta": word, "item_id": "i", "logprobs": []}
            said = json.dumps(event | {"output_index": 0, "content_index": 0, "sequence_number": 0})
            self.server.log.append(f"said {word}")  # type: ignore[attr-defined]
            self.wfile.write(f"event: response.output_text.delta\ndata: {said}\n\n".encode())
            heard: queue.Queue[str] | None = self.server.heard  # type: ignore[attr-defined]
            if heard is not None:
                heard.get(timeout=30)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def speaker() -> Iterator[ThreadingHTTPServer]:
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Speaker)) as server:
        server.log, server.heard = [], None  # type: ignore[attr-defined]
        yield server


@pytest.mark.rule("A11")
def test_a_stream_comes_whole_in_a_body_and_word_by_word_in_a_step(
    tmp_path: Path, program: Any, speaker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{speaker.server_port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("NO_PROXY", "*")
    page = ROOT / "docs" / "explanation" / "what-leaves.md"
    (shown,) = [block for block in blocks(page, "python") if "def shown" in block]
    chat = program(f"""
from collections.abc import Iterable
from typing import Any
from openai import OpenAI
from semel import App, once

app = App("chat", database="sqlite:///{tmp_path}/chat.db")
llm = OpenAI()

def remember(chat, text): pass

{shown}
@app.workflow
def whole(chat, question):
    return shown(chat, llm.responses.create(model="gpt-5", input=question, stream=True))
""")

    def publish(to: str, word: str) -> None:
        speaker.log.append(f"shown {word}")
        if speaker.heard is not None:
            speaker.heard.put(word)

    chat.publish = publish
    with contextlib.closing(chat.app), contextlib.closing(chat.llm), chat.app.worker():
        assert chat.app.start(chat.whole, "c", "why?").result(timeout=60) == "nothing!"
        assert speaker.log == ["said no", "said thing", "said !", "shown no", "shown thing", "shown !"]
        speaker.log.clear()
        speaker.heard = queue.Queue()
        assert chat.app.start(chat.answer, "c", "why?").result(timeout=60) == "nothing!"
        assert speaker.log == ["said no", "shown no", "said thing", "shown thing", "said !", "shown !"]


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
            "registered",
            "failure",
            "failure_of",
            "namespace",
            "scoped_key",
            "store",
            "workflow_of",
        }
        owner = cls.__name__.lower()
        assert {name for name in public if f"{owner}.{name}" not in page} == set()
