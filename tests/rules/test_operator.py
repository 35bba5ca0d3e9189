"""Rule O25 for calls: an operator states the answer of one, or lets a step run again with all that ran in it."""

from __future__ import annotations

import smtplib

import pytest
from automatic_scene import BrokenOff, Server, break_off, client, log, server

import semel
from semel import Answer, App, SemelError, once
from semel.engine.nested import forgotten_with
from semel.errors import NotAllowedHere, OutcomeRefused, RecordUnreadable, StepNotFound
from semel.store.interface import Record

__all__ = ["server"]


def fetch(url: str) -> int:
    return int(client.get(f"{url}/one").json()["count"])


def in_a_step(url: str) -> int:
    count = once("fetch", lambda: fetch(url))
    break_off()
    return count


def in_the_body(url: str) -> int:
    answer = client.get(f"{url}/to/one", follow_redirects=True)
    break_off()
    return int(answer.json()["count"])


def broken_off(app: App, workflow: object, url: str) -> semel.Run[object]:
    app.workflow(workflow)  # type: ignore[type-var]
    run = app.start(workflow, url)  # type: ignore[arg-type]
    with app.worker(), pytest.raises(BrokenOff):
        run.result(timeout=10)
    log.append("/go")
    return run


def delivered(app: App, run: semel.Run[object]) -> object:
    run.retry()
    with app.worker():
        return run.result(timeout=10)


# ---- forgetting


@pytest.mark.rule("O25")
def test_a_forgotten_step_asks_again_though_a_helper_made_the_call(app: App, server: Server) -> None:
    run = broken_off(app, in_a_step, server.url)
    run.forget("in_a_step/start@1#fetch")
    assert run.steps() == []
    assert [note.path.partition("@1")[2] for note in run.notes()] == ["/fetch/fetch#auto:httpx.Client.get", "#fetch"]
    assert delivered(app, run) == 2
    assert server.asked == ["GET /one", "GET /one"]


@pytest.mark.rule("O25")
def test_a_forgotten_call_makes_all_its_exchanges_again(app: App, server: Server) -> None:
    run = broken_off(app, in_the_body, server.url)
    run.forget("in_the_body/start@1#auto:httpx.Client.get")
    assert run.steps() == []
    assert delivered(app, run) == 4
    assert server.asked == ["GET /to/one", "GET /one"] * 2


def record(path: str, started: float = 1, finished: float = 2) -> Record:
    return Record("run", "start@1", path, "result", b"", False, started, finished, 1)


def test_what_is_inside_a_step_goes_first_and_what_only_looks_like_it_stays() -> None:
    inside = ["s@1/pay#x", "s@1/pay/f[0]#x", "s@1/pay[2]#y", "s@1/pay/f#auto:a.b~1", "s@1/pay/f#auto:a.b"]
    beside = ["s@1/payment#x", "s@1/q/pay#x", "s@1#payment", "s@1[0]/pay#x", "s@1#auto:a.b"]
    records = [record(path) for path in (*inside, *beside)]
    later = record("s@1/pay/g#x", started=10, finished=11)
    step = record("s@1#pay", 0, 9)
    assert forgotten_with("s@1#pay", [*records, later, step]) == [*inside, "s@1#pay"]
    assert forgotten_with("s@1#nothing", records) == []
    assert forgotten_with("s@1/pay", records) == []


def test_parts_go_from_the_last_and_one_that_is_named_goes_alone() -> None:
    records = [record(f"s@1#auto:a.b{part}") for part in ("", "~1", "~2", "~2!", "c")]
    assert forgotten_with("s@1#auto:a.b", records) == [f"s@1#auto:a.b{part}" for part in ("~2!", "~2", "~1", "")]
    assert forgotten_with("s@1#auto:a.b~2", records) == ["s@1#auto:a.b~2!", "s@1#auto:a.b~2"]


def test_that_a_step_was_cancelled_is_forgotten_with_it() -> None:
    assert forgotten_with("s@1#x", [record("s@1#x"), record("s@1#x!")]) == ["s@1#x!", "s@1#x"]


def test_a_deletion_that_is_refused_says_so_and_what_was_deleted(
    app: App, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = broken_off(app, in_a_step, server.url)
    inside, step = [one.path for one in run.steps()]
    forget = app.store.forget

    def claimed_in_between(uid: str, path: str, note: object) -> object:
        if path == step:
            assert app.store.redeliver(uid, 1.0).wait()
            app.store.register("owner", 2.0**40).wait()
            assert app.store.claim("owner", ["in_a_step"], 1, 1.0).wait()
        return forget(uid, path, note)  # type: ignore[arg-type]

    monkeypatch.setattr(app.store, "forget", claimed_in_between)
    with pytest.raises(NotAllowedHere) as error:
        run.forget(step)
    assert f"the record of {step} stays as it is" in str(error.value)
    assert f"Deleted before that: {inside}" in str(error.value)
    assert [one.path for one in run.steps()] == [step]


def test_a_path_that_is_no_steps_is_an_error_of_semel(app: App, server: Server) -> None:
    run = broken_off(app, in_a_step, server.url)
    for wrong in (lambda: run.forget("nope"), lambda: run.record("nope", 1)):
        with pytest.raises(StepNotFound, match="nope") as error:
            wrong()
        assert isinstance(error.value, SemelError)
        assert isinstance(error.value, LookupError)
        assert error.value.code == "SEMEL-STEP-NOT-FOUND"


# ---- stating


@pytest.mark.rule("O25")
def test_the_outcome_of_a_call_over_http_is_an_answer(app: App, server: Server) -> None:
    run = broken_off(app, in_the_body, server.url)
    path = run.steps()[-1].path
    with pytest.raises(OutcomeRefused, match=r"over HTTP.*not a dict.*Answer\.of") as error:
        run.record(path, {"count": 7})
    assert isinstance(error.value, TypeError)
    run.record(path, Answer.of(json={"count": 7}))
    run.record(path, Answer.of(json={"count": 8}))
    assert delivered(app, run) == 8


@pytest.mark.rule("O25")
def test_a_value_stated_before_the_call_was_made_faults_and_says_what_to_state(app: App, server: Server) -> None:
    app.workflow(in_the_body)
    run = app.start(in_the_body, server.url)
    path = "in_the_body/start@1#auto:httpx.Client.get"
    run.record(path, {"count": 7})
    with app.worker(), pytest.raises(RecordUnreadable) as error:
        run.result(timeout=10)
    assert f'run.record("{path}", Answer.of(json=…))' in str(error.value)
    assert server.asked == []
    log.append("/go")
    run.record(path, Answer.of(json={"count": 7}))
    assert delivered(app, run) == 7


def mail() -> dict[str, object]:
    with smtplib.SMTP("mail.example", 25) as server:
        return server.sendmail("a@example.org", ["b@example.org"], "Subject: hello\n\nhello")


@pytest.mark.rule("O25")
def test_the_outcome_of_a_mail_is_what_its_library_gives(app: App) -> None:
    app.workflow(mail)
    run = app.start(mail)
    path = "mail/start@1#auto:smtplib.SMTP.sendmail"
    run.record(path, Answer.of())
    with app.worker(), pytest.raises(RecordUnreadable, match="sends mail"):
        run.result(timeout=10)
    run.record(path, {})
    assert delivered(app, run) == {}
