"""The rules of ``once`` (O1–O25), as a user meets them: a workflow that is delivered again finds what it has done."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from functools import partial

import pytest

from semel import App, each, once
from semel.errors import (
    DuplicateKey,
    InvalidScope,
    NotAllowedHere,
    NotCompiled,
    PathClaimedTwice,
    ResultNotRecordable,
)

done: list[str] = []
keys: list[str] = []
broken = {"yes": True}


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    done.clear()
    keys.clear()
    broken["yes"] = True
    return


def do(what: str, result: object = None) -> object:
    done.append(what)
    return result


def paths(run) -> list[str]:
    return [record.path for record in run.steps()]


def run_twice(app: App, workflow, *args):
    """Starts a run that faults while ``broken``; then mends it and delivers the same execution again."""
    run = app.start(workflow, *args)
    with app.worker():
        with pytest.raises(RuntimeError, match="broken"):
            run.result(timeout=10)
        broken["yes"] = False
        assert run.retry()
        return run, run.result(timeout=10)


def break_once() -> None:
    if broken["yes"]:
        raise RuntimeError("broken")


# ----------------------------------------------------------------------------------------------- once, and never again


def charge_then_break(amount: int) -> object:
    receipt = once("charge", lambda: do("charge", f"receipt-{amount}"))
    break_once()
    return receipt


@pytest.mark.rule("O1")
@pytest.mark.rule("O2")
@pytest.mark.rule("V4")
def test_a_step_runs_once_and_a_later_attempt_gets_its_record(app: App) -> None:
    app.workflow(charge_then_break)
    run, result = run_twice(app, charge_then_break, 20)
    assert result == "receipt-20"
    assert done == ["charge"]
    assert paths(run) == ["charge_then_break/start@1#charge"]


@pytest.mark.rule("O7")
def test_the_record_survives_the_rollback_of_the_body(app: App) -> None:
    app.workflow(charge_then_break)
    run = app.start(charge_then_break, 1)
    with app.worker(), pytest.raises(RuntimeError):
        run.result(timeout=10)
    assert run.status == "faulted"
    assert paths(run) == ["charge_then_break/start@1#charge"]


@pytest.mark.rule("O3")
@pytest.mark.rule("V1")
def test_another_run_is_new_work(app: App) -> None:
    app.workflow(charge_then_break)
    broken["yes"] = False
    with app.worker():
        assert app.start(charge_then_break, 1).result(timeout=10) == "receipt-1"
        assert app.start(charge_then_break, 2).result(timeout=10) == "receipt-2"
    assert done == ["charge", "charge"]


def notify_then_break() -> None:
    once("notify", lambda: do("notify"))
    break_once()


@pytest.mark.rule("O6")
def test_a_step_that_returned_none_is_not_run_again(app: App) -> None:
    app.workflow(notify_then_break)
    run_twice(app, notify_then_break)
    assert done == ["notify"]


# ------------------------------------------------------------------------------------------------------------ the forms


async def async_forms() -> list[object]:
    async def ask(what: str) -> str:
        await asyncio.sleep(0)
        do(what)
        return what

    results: list[object] = [
        await once("plain", lambda: ask("plain")),
        await once("keyed", lambda key: ask(f"keyed {len(key)}")),
        await once("scoped", "order-1", lambda key: ask(f"scoped {len(key)}")),
        await once("in a thread", lambda: asyncio.to_thread(do, "thread", "threaded")),
        once("sync", lambda: do("sync", 1)),
    ]
    break_once()
    return results


@pytest.mark.rule("O5")
def test_async_bodies_take_every_form(app: App) -> None:
    app.workflow(async_forms)
    _, result = run_twice(app, async_forms)
    assert result == ["plain", "keyed 40", "scoped 40", "threaded", 1]
    assert done == ["plain", "keyed 40", "scoped 40", "thread", "sync"]


def sync_forms() -> list[object]:
    results = [
        once("plain", lambda: do("plain", 1)),
        once("partial", partial(do, "partial", 2)),
        once("named", named_step),
        once("keyed", lambda key: do("keyed", len(key))),
        once("scoped", 7, lambda key: do("scoped", len(key))),
    ]
    break_once()
    return results


def named_step() -> object:
    return do("named", 3)


@pytest.mark.rule("O5")
def test_sync_bodies_take_every_form(app: App) -> None:
    app.workflow(sync_forms)
    _, result = run_twice(app, sync_forms)
    assert result == [1, 2, 3, 40, 40]
    assert done == ["plain", "partial", "named", "keyed", "scoped"]


# ------------------------------------------------------------------------------------------------------------- the keys


def two_lines() -> None:
    for _line in range(2):
        once("reserve", lambda key: keys.append(key))
    once("charge", lambda key: keys.append(key))
    break_once()


def failing_with_key() -> None:
    once("charge", lambda key: keys.append(key) or break_once())


@pytest.mark.rule("O9")
def test_each_attempt_presents_one_key_and_each_step_pass_and_run_another(app: App) -> None:
    app.workflow(failing_with_key)
    app.workflow(two_lines)
    run_twice(app, failing_with_key)
    assert len(keys) == 2
    assert keys[0] == keys[1]
    broken["yes"] = False
    with app.worker():
        app.start(two_lines).result(timeout=10)
        app.start(two_lines).result(timeout=10)
    assert len(set(keys)) == 1 + 3 + 3
    assert not any("charge" in key for key in keys)


def charge_order(order: str) -> None:
    once("charge", order, lambda key: keys.append(key))


def charge_order_elsewhere(order: str) -> None:
    for _ in range(1):
        once("charge", order, lambda key: keys.append(key))
    once("refund", order, lambda key: keys.append(key))


@pytest.mark.rule("O10")
@pytest.mark.rule("O11")
def test_a_scoped_key_depends_on_label_and_scope_only(app: App, new_app) -> None:
    app.workflow(charge_order)
    app.workflow(charge_order_elsewhere)
    with app.worker():
        first = app.start(charge_order, "A-1")
        first.result(timeout=10)
        second = app.start(charge_order_elsewhere, "A-1")
        second.result(timeout=10)
        app.start(charge_order, "A-2").result(timeout=10)
    one, moved, refund, other = keys
    assert one == moved == app.scoped_key("charge", "A-1")
    assert len({one, refund, other}) == 3
    assert len(first.steps()) == 1, "each run still runs the step once, and has a record of its own"
    assert len(second.steps()) == 2
    assert new_app("test-system").scoped_key("charge", "A-1") != one


@pytest.mark.rule("O10")
def test_a_namespace_can_be_configured_and_scopes_keep_their_types(new_app) -> None:
    one = new_app("one", key_namespace="the same in both systems")
    two = new_app("two", key_namespace="the same in both systems")
    assert one.scoped_key("charge", ("A", 1)) == two.scoped_key("charge", ("A", 1))
    assert one.scoped_key("charge", 1) != one.scoped_key("charge", "1")
    assert one.scoped_key("charge", uuid.UUID(int=1)) != one.scoped_key("charge", 1)
    for bad in (None, 1.5, b"x", ["A"], {"A": 1}, True, ("A", None)):
        with pytest.raises(InvalidScope, match="scope"):
            one.scoped_key("charge", bad)


@pytest.mark.rule("O21")
@pytest.mark.rule("A6")
def test_outside_a_run_once_calls_the_step(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "semel.workflow.once.namespaces", {app.name: app.namespace}
    )  # those of other tests are no matter
    broken["yes"] = False
    assert [charge_then_break(5), charge_then_break(6)] == ["receipt-5", "receipt-6"]
    failing_with_key()
    failing_with_key()
    charge_order("A-1")
    charge_order("A-1")
    assert done == ["charge", "charge"]
    assert keys[0] != keys[1]
    assert keys[2] == keys[3] == app.scoped_key("charge", "A-1")


@pytest.mark.rule("O21")
async def test_outside_a_run_an_async_step_is_awaited() -> None:
    async def ask() -> str:
        return "yes"

    assert await once("ask", lambda: ask()) == "yes"


# ----------------------------------------------------------------------------------------------------------- the places


class Shop:
    def __init__(self, name: str) -> None:
        self.name = once("name", lambda: do(f"name {name}", name))

    def notify(self, who: str) -> object:
        with self:
            try:
                return once("send", lambda: do(f"send {who}", who))
            finally:
                once("log", lambda: do(f"log {who}"))

    def __enter__(self) -> None:
        once("enter", lambda: do("enter"))

    def __exit__(self, *error: object) -> None:
        once("exit", lambda: do("exit"))


def everywhere(kind: str) -> list[object]:
    def local() -> object:
        return once("local", lambda: do("local", "local"))

    found: list[object] = [local(), Shop("corner").notify("ann")]
    found += [inner(number) for number in range(2)]
    match kind:
        case "a":
            found.append(once("matched", lambda: do("matched", "a")))
    count = 0
    while (count := count + 1) < 3:
        once("turn", lambda: do("turn"))
    found.append((lambda: inner(9))())
    break_once()
    return found


def inner(number: int) -> object:
    return once("inner", lambda: do(f"inner {number}", number))


@pytest.mark.rule("O15")
def test_a_step_may_stand_anywhere(app: App) -> None:
    app.workflow(everywhere)
    run, result = run_twice(app, everywhere, "a")
    assert result == ["local", "ann", 0, 1, "a", 9]
    assert len(done) == len(set(done)) + 1, "only the two turns of the while loop do the same thing twice"
    assert paths(run) == [
        f"everywhere/start@1{rest}"
        for rest in (
            "/everywhere.local#local",
            "/Shop.__init__#name",
            "/Shop.notify/Shop.__enter__#enter",
            "/Shop.notify#send",
            "/Shop.notify#log",
            "/Shop.notify/Shop.__exit__#exit",
            "[0]/inner#inner",
            "[1]/inner#inner",
            "#matched",
            "[0]#turn",
            "[1]#turn",
            "/everywhere.<lambda>/inner#inner",
        )
    ]


def break_in_pass(limit: int) -> int:
    total = 0
    for number in range(5):
        total += once("reserve", lambda: do(f"reserve {number}", number))
        if number == limit:
            break_once()
    return total


@pytest.mark.rule("O16")
def test_a_retry_repeats_none_of_the_passes_already_done(app: App) -> None:
    app.workflow(break_in_pass)
    _, result = run_twice(app, break_in_pass, 2)
    assert result == 10
    assert done == [f"reserve {number}" for number in range(5)]


stock = {"items": ["pear", "plum"]}


def reserve_each() -> list[str]:
    for item in each(stock["items"], key=lambda name: name):
        once("reserve", lambda: do(f"reserve {item}"))
    break_once()
    return list(stock["items"])


def reserve_set() -> None:
    for item in {*stock["items"]}:
        once("reserve", lambda: do(f"reserve {item}"))
    break_once()


@pytest.mark.rule("O16")
@pytest.mark.parametrize("workflow", [reserve_each, reserve_set])
def test_passes_named_by_item_do_not_move_when_items_do(app: App, workflow, monkeypatch) -> None:
    app.workflow(workflow)
    monkeypatch.setitem(stock, "items", ["pear", "plum"])
    run = app.start(workflow)
    with app.worker():
        with pytest.raises(RuntimeError):
            run.result(timeout=10)
        stock["items"] = ["apple", "plum", "pear"]
        broken["yes"] = False
        run.retry()
        run.result(timeout=10)
    assert sorted(done) == ["reserve apple", "reserve pear", "reserve plum"]
    assert f'{workflow.__name__}/start@1[="plum"]#reserve' in paths(run)


@pytest.mark.rule("O16")
def test_duplicate_keys_raise_before_anything_runs() -> None:
    with pytest.raises(DuplicateKey, match="items 0 and 2"):
        each(["a", "b", "a"])


# ------------------------------------------------------------------------------------------ what the checker cannot see


def through_a_variable() -> None:
    call = globals()["in" + "ner"]
    call(1)
    call(2)


@pytest.mark.rule("O19")
def test_a_second_claim_of_a_path_raises_before_it_runs(app: App) -> None:
    app.workflow(through_a_variable)
    run = app.start(through_a_variable)
    with app.worker(), pytest.raises(PathClaimedTwice, match=r"through_a_variable/start@1/inner#inner"):
        run.result(timeout=10)
    assert done == ["inner 1"]


def swallows_a_refusal() -> str:
    call = globals()["in" + "ner"]
    for _ in range(1):
        call(0)
    try:
        call(1)
        call(2)
    except Exception:
        pass
    return "swallowed"


def swallows_an_uncompiled_step() -> str:
    with suppress(Exception):
        reads_a_property()
    return "swallowed"


@pytest.mark.rule("O19")
@pytest.mark.parametrize(
    ("workflow", "error"), [(swallows_a_refusal, PathClaimedTwice), (swallows_an_uncompiled_step, NotCompiled)]
)
def test_a_step_that_was_refused_faults_the_run_though_the_body_handles_it(app: App, workflow, error) -> None:
    app.workflow(workflow)
    with app.worker(), pytest.raises(error):
        app.start(workflow).result(timeout=10)


def key_of(name: str) -> object:
    return once("length", lambda: do(f"length {name}", len(name)))


def called_back() -> list[str]:
    names = sorted(["ccc", "a", "bb"], key=key_of)
    names += [str(number) for number in map(inner, [1, 2])]
    break_once()
    return names


@pytest.mark.rule("O19")
def test_a_function_that_foreign_code_calls_back_is_one_pass_per_call(app: App) -> None:
    app.workflow(called_back)
    run, result = run_twice(app, called_back)
    assert result == ["a", "bb", "ccc", "1", "2"]
    assert len(done) == 5
    assert paths(run)[:2] == [
        "called_back/start@1/sorted[0]/key_of#length",
        "called_back/start@1/sorted[1]/key_of#length",
    ]


class Odd:
    @property
    def price(self) -> object:
        return once("price", lambda: do("price", 1))


def reads_a_property(odd: object = None) -> object:
    thing = [Odd()][0]
    return getattr(thing, "pri" + "ce")


@pytest.mark.rule("O19")
def test_a_step_where_no_path_leads_raises_before_it_runs(app: App) -> None:
    app.workflow(reads_a_property)
    run = app.start(reads_a_property)
    with app.worker(), pytest.raises(NotCompiled, match="price"):
        run.result(timeout=10)
    assert done == []


# ---------------------------------------------------------------------------------------------------------- concurrency


async def ask(number: int) -> object:
    async def slow() -> int:
        for _ in range(10 - number):
            await asyncio.sleep(0)
        do(f"ask {number}")
        return number * number

    return await once("ask", lambda: slow())


async def gathered() -> list[object]:
    found = await asyncio.gather(*[ask(number) for number in range(10)])
    break_once()
    return list(found)


def pooled() -> list[object]:
    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(inner, number) for number in range(10)]
        found = [future.result() for future in futures]
        found += list(pool.map(inner, range(20, 30)))
    break_once()
    return found


@pytest.mark.rule("O20")
def test_gathered_steps_keep_their_identities(app: App) -> None:
    app.workflow(gathered)
    run, result = run_twice(app, gathered)
    assert result == [number * number for number in range(10)]
    assert sorted(done) == sorted(f"ask {number}" for number in range(10))
    assert set(paths(run)) == {f"gathered/start@1[{number}]/ask#ask" for number in range(10)}


@pytest.mark.rule("O20")
def test_steps_in_a_thread_pool_keep_their_identities(app: App) -> None:
    app.workflow(pooled)
    _, result = run_twice(app, pooled)
    assert result == [*range(10), *range(20, 30)]
    assert len(done) == len(set(done)) == 20


async def sibling_fails() -> str:
    async def slow() -> str:
        for _ in range(20):
            await asyncio.sleep(0)
        do("slow ended")
        return "slow"

    async def failing() -> None:
        await asyncio.sleep(0)
        raise ValueError("sibling")

    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(once("slow", lambda: slow()))
            group.create_task(failing())
    except* ValueError:
        once("after", lambda: do("after"))
    break_once()
    return "went on"


@pytest.mark.rule("O20")
@pytest.mark.rule("O24")
def test_a_started_step_runs_to_its_end_though_a_sibling_fails(app: App) -> None:
    app.workflow(sibling_fails)
    run, result = run_twice(app, sibling_fails)
    assert result == "went on"
    assert sorted(done) == ["after", "slow ended"]
    kinds = {record.path.partition("#")[2]: record.kind for record in run.steps()}
    assert kinds == {"slow": "result", "slow!": "failure", "after": "result"}


async def times_out() -> str:
    async def slow() -> str:
        for _ in range(50):
            await asyncio.sleep(0)
        do("slow ended")
        return "slow"

    try:
        async with asyncio.timeout(0):
            await once("slow", lambda: slow())
    except TimeoutError:
        once("fallback", lambda: do("fallback"))
    break_once()
    return "late"


@pytest.mark.rule("O20")
@pytest.mark.rule("O24")
def test_a_timeout_that_the_body_goes_past_stays_so(app: App) -> None:
    app.workflow(times_out)
    _, result = run_twice(app, times_out)
    assert result == "late"
    assert done.count("fallback") == 1
    assert done.count("slow ended") == 1


kept: list[asyncio.Task[object]] = []


async def leaves_a_task_behind() -> None:
    gate = asyncio.Event()

    async def later() -> None:
        await gate.wait()
        await once("too late", lambda: asyncio.to_thread(do, "too late"))

    kept.append(asyncio.create_task(later()))
    kept.append(gate)  # type: ignore[arg-type]


@pytest.mark.rule("O20")
async def test_no_step_starts_after_the_body_has_ended(app: App) -> None:
    kept.clear()
    app.workflow(leaves_a_task_behind)
    async with app.worker():
        await (await app.start_async(leaves_a_task_behind)).result_async(timeout=10)
        kept[1].set()  # type: ignore[attr-defined]
        with pytest.raises(NotAllowedHere, match="after its body had ended"):
            await kept[0]
    assert done == []


# ------------------------------------------------------------------------------------------------- results and failures


def gives_back_types() -> tuple[object, ...]:
    first = once("mixed", lambda: ({1, 2}, (3, [4]), frozenset("a"), b"x", timedelta(days=1), 10**30, float("inf")))
    break_once()
    return (first, [type(part).__name__ for part in first])


@pytest.mark.rule("O22")
def test_a_result_comes_back_equal_and_of_the_same_type(app: App) -> None:
    app.workflow(gives_back_types)
    _, (first, names) = run_twice(app, gives_back_types)
    assert first == ({1, 2}, (3, [4]), frozenset("a"), b"x", timedelta(days=1), 10**30, float("inf"))
    assert names == ["set", "tuple", "frozenset", "bytes", "timedelta", "int", "float"]


shared: list[int] = [1]


def mutates_the_result() -> list[int]:
    mine = once("list", lambda: shared)
    mine.append(2)
    return shared


@pytest.mark.rule("O22")
def test_the_first_attempt_sees_a_copy_too(app: App) -> None:
    app.workflow(mutates_the_result)
    with app.worker():
        assert app.start(mutates_the_result).result(timeout=10) == [1]


def returns_a_socket() -> None:
    once("connect", lambda: do("connect", object()))


@pytest.mark.rule("O23")
def test_a_result_that_cannot_be_recorded_is_an_error_that_names_path_and_type(app: App) -> None:
    app.workflow(returns_a_socket)
    run = app.start(returns_a_socket)
    with app.worker():
        for _ in range(2):
            with pytest.raises(ResultNotRecordable, match=r"returns_a_socket/start@1#connect.*object") as raised:
                run.result(timeout=10)
            assert "run.record(" in str(raised.value)
            run.retry()
    assert done == ["connect"], "the record says that it ran, so no later attempt runs it again"


def returns_too_much() -> None:
    once("read", lambda: do("read", b"x" * (16 * 2**20 + 1)))


@pytest.mark.rule("O23")
def test_a_result_over_the_limit_is_an_error(app: App) -> None:
    app.workflow(returns_too_much)
    run = app.start(returns_too_much)
    with app.worker(), pytest.raises(ResultNotRecordable, match="16,777,216"):
        run.result(timeout=10)


class CardDeclined(Exception):
    def __init__(self, code: int, *, reason: str) -> None:
        super().__init__(code)
        self.reason = reason

    def __str__(self) -> str:
        return f"declined: {self.reason}"


def decline() -> None:
    do("charge")
    raise CardDeclined(51, reason="no funds")


def goes_past_a_failure() -> list[object]:
    seen: list[object] = []
    try:
        once("charge", lambda: decline())
    except CardDeclined as error:
        seen += [type(error).__name__, error.args, error.reason, str(error)]
    once("cancel", lambda: do("cancel"))
    break_once()
    return seen


@pytest.mark.rule("O24")
def test_a_failure_that_the_body_goes_past_is_a_fact(app: App) -> None:
    app.workflow(goes_past_a_failure)
    run, result = run_twice(app, goes_past_a_failure)
    assert result == ["CardDeclined", (51,), "no funds", "declined: no funds"]
    assert done == ["charge", "cancel"]
    assert [record.kind for record in run.steps()] == ["failure", "result"]


def ends_with_a_failure() -> object:
    return once("charge", lambda: (do("charge", 1) and break_once()) or "charged")


@pytest.mark.rule("O24")
@pytest.mark.rule("R11")
def test_a_failure_that_ends_the_body_is_not_recorded(app: App) -> None:
    app.workflow(ends_with_a_failure)
    _, result = run_twice(app, ends_with_a_failure)
    assert result == "charged"
    assert done == ["charge", "charge"]


async def failing_ask(number: int) -> object:
    async def fail() -> None:
        do(f"fail {number}")
        break_once()

    return await once("ask", lambda: fail())


async def ended_by_a_gathered_failure() -> str:
    await asyncio.gather(failing_ask(1))
    return "asked"


@pytest.mark.rule("O24")
def test_a_failure_in_a_task_that_ends_the_body_is_not_recorded(app: App) -> None:
    app.workflow(ended_by_a_gathered_failure)
    _, result = run_twice(app, ended_by_a_gathered_failure)
    assert result == "asked"
    assert done == ["fail 1", "fail 1"]


def ended_by_a_pooled_failure() -> str:
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(ends_with_a_failure)
        while not future.done():
            pass
        once("between", lambda: do("between"))
        future.result()
    return "done"


@pytest.mark.rule("O24")
def test_a_failure_recorded_for_another_flow_is_retracted_when_it_ends_the_body(app: App) -> None:
    app.workflow(ended_by_a_pooled_failure)
    _, result = run_twice(app, ended_by_a_pooled_failure)
    assert result == "done"
    assert done == ["charge", "between", "charge"]


# --------------------------------------------------------------------------------------------------------- the operator


def needs_help() -> object:
    value = once("ask", lambda: do("ask", "first"))
    break_once()
    return value


@pytest.mark.rule("O25")
def test_forget_makes_a_step_run_again_and_is_noted(app: App) -> None:
    app.workflow(needs_help)
    run = app.start(needs_help)
    with app.worker():
        with pytest.raises(RuntimeError):
            run.result(timeout=10)
        run.forget("needs_help/start@1#ask")
        broken["yes"] = False
        run.retry()
        run.result(timeout=10)
    assert done == ["ask", "ask"]
    assert [note.kind for note in run.notes()] == ["forgotten", "redelivered"]
    with pytest.raises(LookupError, match="needs_help/start@1#asked"):
        run.forget("needs_help/start@1#asked")


@pytest.mark.rule("O25")
def test_record_states_the_outcome_of_a_step_and_is_noted(app: App) -> None:
    app.workflow(needs_help)
    run = app.start(needs_help)
    run.record("needs_help/start@1#ask", "by hand")
    broken["yes"] = False
    with app.worker():
        assert run.result(timeout=10) == "by hand"
    assert done == []
    assert [note.kind for note in run.notes()] == ["recorded by hand"]


@pytest.mark.rule("O12")
def test_records_belong_to_the_run_and_go_with_it(app: App, new_app) -> None:
    app.workflow(needs_help)
    broken["yes"] = False
    with app.worker():
        run = app.start(needs_help, id="order-1")
        run.result(timeout=10)
    assert len(run.steps()) == 1
    app.now = lambda: 1e12
    assert app.purge(older_than=timedelta(days=1)) == 1
    assert app.store.records(run.uid) == []
    assert run.uid != "order-1"
