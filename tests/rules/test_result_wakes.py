"""Who waits for a result while its run parks: nothing spins, and the loop goes on (rule W6)."""

from __future__ import annotations

import asyncio

import pytest

from semel import App, wait_for, wait_for_async
from semel.errors import ResultTimeout


def waits() -> object:
    return wait_for("go")


async def waits_async() -> object:
    return await wait_for_async("go")


@pytest.mark.rule("W6")
async def test_a_coroutine_that_awaits_a_result_leaves_the_loop_to_others_while_the_run_is_parked(app: App) -> None:
    app.workflow(waits_async)
    async with app.worker():
        run = await app.start_async(waits_async)
        result = asyncio.ensure_future(run.result_async(timeout=10))
        while run.status != "parked":
            await asyncio.sleep(0)
        await run.send_async("go", 7)
        assert await result == 7


@pytest.mark.rule("W6")
def test_who_waits_for_the_result_of_a_parked_run_asks_for_it_seldom(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    app.workflow(waits)
    asked = []
    get = app.store.get
    monkeypatch.setattr(app.store, "get", lambda id: (asked.append(id), get(id))[1])
    with app.worker():
        run = app.start(waits)
        with pytest.raises(ResultTimeout):
            run.result(timeout=0.5)
    assert len(asked) < 50
