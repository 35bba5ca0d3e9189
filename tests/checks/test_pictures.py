"""Pictures of entity workflows, drawn from the source (``semel model --format``)."""

from __future__ import annotations

import textwrap
from xml.etree import ElementTree as ET

import pytest

from semel.checks.pictures import PICTURES
from semel.compiler.model import Source, build

PROGRAM = """
from enum import Enum
from semel import App, Event, Workflow, cancel, enter, error, expire, milestone, on, once, remind, success
app = App("shop")
class Stage(Enum): ...
@app.workflow
class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED):
    pay = Event()
    note = Event()
    revoke = Event()
    soon = milestone(Stage.CHARGED)
    @on(pay, Stage.PLACED)
    def paid(self):
        if self.item.free:
            return Stage.SHIPPED
        return Stage.CHARGED if self.item.due else Stage.PLACED
    @on(note, Stage.PLACED, Stage.CHARGED)
    def noted(self) -> None:
        self.item.note = "<&>"
    @on(revoke)
    def revoked(self): return Stage.REVOKED
    @on(revoke, Stage.CHARGED)
    def revoked_late(self): return None
    @enter(Stage.CHARGED)
    def thank(self): ...
    @remind(Stage.PLACED, after=timedelta(days=3), then_every=timedelta(days=2))
    def chase(self): ...
    @expire(Stage.PLACED, after=lambda item: item.a_time < item.another_time_that_is_long)
    def late(self): return Stage.LAPSED
    @soon.finished
    def told(self): ...
    shipped = success(Stage.SHIPPED, "sent")
    lapsed = error(Stage.LAPSED, "never paid")
    gone = cancel(Stage.REVOKED, "revoked")
"""


def drawn(format: str) -> str:
    return PICTURES[format](build([Source("shop", "shop.py", textwrap.dedent(PROGRAM))]).entities)


@pytest.mark.rule("W2")
def test_mermaid_draws_states_events_clocks_and_ends() -> None:
    assert drawn("mermaid") == textwrap.dedent("""\
        ---
        title: OrderFlow
        ---
        stateDiagram-v2
            [*] --> PLACED
            PLACED --> SHIPPED: pay
            PLACED --> CHARGED: pay
            PLACED --> PLACED: pay
            PLACED --> REVOKED: revoke
            PLACED --> LAPSED: late after a time of the row's
            PLACED: PLACED
            PLACED: note
            PLACED: chase after 3 days, then every 2 days
            CHARGED: CHARGED
            CHARGED: note
            CHARGED: revoke
            CHARGED: enter
            SHIPPED --> [*]: success
            LAPSED --> [*]: error
            REVOKED --> [*]: cancel
        """)


def test_dot_is_one_graph_with_all_of_it() -> None:
    text = drawn("dot")
    assert text.startswith("digraph workflows {\n")
    assert '"0.PLACED" -> "0.CHARGED" [label="pay"];' in text
    assert '"0.PLACED" [label="PLACED\\nnote\\nchase after 3 days, then every 2 days"];' in text
    assert '"0.LAPSED" [label="LAPSED", peripheries=2];' in text
    assert text.count("{") == text.count("}")


def test_svg_is_a_document_in_which_every_state_and_event_is_written() -> None:
    root = ET.fromstring(drawn("svg"))
    written = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    for text in ("OrderFlow", "PLACED", "CHARGED", "SHIPPED", "LAPSED", "REVOKED", "note", "revoke", "pay"):
        assert text in written
    boxes = [(int(r.get("x", 0)), int(r.get("y", 0))) for r in root.iter("{http://www.w3.org/2000/svg}rect")]
    assert len(set(boxes)) == 5
    assert max(x for x, _ in boxes) < int(root.get("width", 0))


def test_a_picture_is_the_same_each_time() -> None:
    assert all(drawn(format) == drawn(format) for format in PICTURES)
