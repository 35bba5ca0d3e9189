"""``semel demo``: what it promises, judged by the server's own log."""

from __future__ import annotations

import json
import os
import re
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_project import Process

from semel.cli.demo.outside import Entry, Outside
from semel.cli.demo.story import Ending
from semel.cli.demo.telling import Telling
from semel.cli.output import console

Start = Callable[..., Process]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, and one for temporary files beside it."""
    (tmp_path / "here").mkdir()
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def left_behind(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.rule("A1")
@pytest.mark.rule("A2")
def test_each_call_is_made_once_in_spite_of_two_kills(here: Path, semel_process: Start) -> None:
    demo = semel_process("demo")
    assert demo.ended() == 0, demo.output
    assert len(re.findall(r"killed by SIGKILL", demo.output)) == 2
    assert len(re.findall(r"ran live", demo.output)) == 3
    assert len(re.findall(r"found again", demo.output)) == 3
    assert "3 calls, each exactly once" in demo.output
    assert "@app.workflow" in demo.output
    assert left_behind(here) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_demo_that_is_interrupted_leaves_no_file_and_no_process(
    here: Path, semel_process: Start, number: signal.Signals
) -> None:
    demo = semel_process("demo")
    worker = int(re.sub(r".*pid (\d+).*", r"\1", demo.until("worker 1 (pid")))
    demo.signal(number)
    assert demo.ended() != 0
    assert left_behind(here) == []
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def test_output_in_a_pipe_has_no_control_codes(here: Path, semel_process: Start) -> None:
    demo = semel_process("demo", "--no-crash")
    assert demo.ended() == 0, demo.output
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", demo.output)


def test_without_a_crash_nothing_is_killed_and_nothing_found_again(here: Path, semel_process: Start) -> None:
    demo = semel_process("demo", "--no-crash")
    assert demo.ended() == 0, demo.output
    assert "SIGKILL" not in demo.output
    assert "found again" not in demo.output
    assert "3 calls, each exactly once" in demo.output


def test_keep_leaves_the_program_the_database_and_the_servers_log(here: Path, semel_process: Start) -> None:
    demo = semel_process("demo", "--keep")
    assert demo.ended() == 0, demo.output
    (kept,) = (here / "temporary").iterdir()
    assert f"kept in {kept}" in demo.output.replace("\n", "")
    log = [json.loads(line) for line in (kept / "server.log").read_text().splitlines()]
    assert Counter(entry["path"] for entry in log) == {"/charges": 1, "/shipments": 1, "/mails": 1}
    assert list((here / "here").iterdir()) == []
    assert {"shop.py", "shop.db", "shop.steps.db"} <= {path.name for path in kept.iterdir()}


def test_the_program_is_shown_whole_on_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    source = (Path(Telling.__init__.__code__.co_filename).parent / "shop.py").read_text()
    Telling(console()).opens(source, killed=True)
    shown = capsys.readouterr().out.splitlines()
    assert [line for line in source.splitlines() if line not in shown] == []


def test_the_demo_answers_no_where_a_call_was_made_twice(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    twice = Entry(0.0, "/charges", "[]", "ch_102")
    failures = ("POST /charges arrived 2 times, and not once",)
    Telling(console()).ends(Ending("", (twice, twice), 2, 1.0, failures))
    output = capsys.readouterr().out
    assert "arrived 2 times" in output
    assert "exactly once" not in output


def test_the_server_does_what_it_is_asked_every_time(tmp_path: Path) -> None:
    with Outside(tmp_path / "server.log", lambda: 12.5) as outside:
        assert outside.serve("/charges", b'["A-1"]') == (201, {"id": "ch_101"})
        assert outside.serve("/charges", b'["A-1"]') == (201, {"id": "ch_102"})
        assert outside.serve("/nothing", b"")[0] == 404
        assert [entry.path for entry in outside.entries()] == ["/charges", "/charges", "/nothing"]
