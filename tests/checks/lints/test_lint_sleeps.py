"""``workflow-sleep-outside-a-step``."""

from __future__ import annotations

import pytest
from lint_programs import assert_right, assert_told

RULE = "workflow-sleep-outside-a-step"


@pytest.mark.rule("E")
@pytest.mark.parametrize(
    "source",
    [
        "time.sleep(5)  #!",
        "await asyncio.sleep(5)  #!",
        "from time import sleep as rest\nrest(5)  #!",
        'for x in xs:\n    once("ask", lambda: ask(x))\n    time.sleep(1)  #!',
        "await asyncio.gather(asyncio.sleep(5), aask())  #!",
        "await asyncio.to_thread(time.sleep, 5)  #!",
    ],
)
def test_a_sleep_in_a_body_is_told(source: str) -> None:
    assert_told(source, RULE)


def test_a_sleep_in_a_helper_is_told() -> None:
    assert_told(
        """
        def rest() -> None:
            time.sleep(5)  #!
        @app.workflow
        def fulfil(order: str) -> None:
            rest()  #~
        """,
        RULE,
    )


def test_the_corrected_line_has_a_label_that_is_free() -> None:
    told = assert_told("time.sleep(5)  #!", RULE)
    assert told.fix == "sleep(timedelta(seconds=5))    # from semel import sleep"
    taken = assert_told('once("wait", lambda: pay(1))\nsleep(5)\nawait asyncio.sleep(0.5)  #!', RULE)
    assert taken.fix.startswith('await sleep_async(timedelta(seconds=0.5), label="wait-2")')
    handed_on = assert_told("await asyncio.to_thread(time.sleep, 5)  #!", RULE)
    assert handed_on.fix.startswith("await sleep_async(timedelta(seconds=5))")


@pytest.mark.parametrize(
    "source",
    [
        'once("wait", lambda: time.sleep(5))',
        'await once("wait", lambda: asyncio.sleep(5))',
        "await asyncio.sleep(0)",
        "def poll() -> None:\n    time.sleep(1)\nonce('poll', poll)",
        "time.monotonic()",
        "sleep(5)",
        "await sleep_async(5)",
    ],
)
def test_a_sleep_in_a_step_is_not_told(source: str) -> None:
    assert_right(source)
