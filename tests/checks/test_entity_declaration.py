"""What an entity workflow declares and could never happen is refused without importing it (rule W2)."""

from __future__ import annotations

import pytest
from check_programs import model_of
from entity_texts import HEAD, changed, inside

from semel.checks import Problem, refusals

RULE = "entity-declaration"
CLASS = "class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED, autostart=True):"
SENT = "        return Stage.SHIPPED\n"


def refused(text: str) -> tuple[Problem, str, list[str]]:
    """The one problem of the program, with the text at its place and at its other places."""
    (problem,) = refusals(model_of(text))
    lines = text.split("\n")
    assert problem.rule == RULE
    assert problem.fix
    return (
        problem,
        lines[problem.place.line - 1][problem.place.column - 1 :],
        [lines[place.line - 1][place.column - 1 :] for place in problem.others],
    )


@pytest.mark.rule("W2")
@pytest.mark.parametrize(
    ("changes", "place", "other", "said"),
    [
        ([("@on(pay, Stage.PLACED)", "@on(pay, Stage.PAYED)")], "Stage.PAYED)", "", "is no state of OrderFlow"),
        ([("@on(pay, Stage.PLACED)", "@on(pay, Other.PLACED)")], "Other.PLACED)", "", "holds Stage (PLACED, CHARGED"),
        ([("@enter(Stage.CHARGED)", "@enter(Other.BURNED)")], "Other.BURNED)", "", "never be in that"),
        ([("since=Stage.CHARGED", "since=Other.BURNED")], "Other.BURNED, within", "", "is no state"),
        ([inside('sent = success(Stage.SENT, "sent")')], "Stage.SENT", "", "is no state"),
        ([("initial=Stage.PLACED", "initial=Other.PLACED")], "Other.PLACED", "", "is no state"),
        ([(SENT, "        ...\n")], "class OrderFlow", "SHIPPED = ", "Stage.SHIPPED (line 14) cannot be reached"),
        ([("    ship = Event()", "    ship = Event()\n    lose = Event[int]()")], "Event[int]()", "", "takes lose"),
        (
            [inside("@on(pay, Stage.CHARGED, Stage.PLACED)\ndef more(self, payment): ...")],
            "def more",
            "def paid",
            "runs when pay comes in Stage.PLACED already",
        ),
        ([inside("@on(cancel_it)\ndef more(self): ...")], "def more", "def cancelled", "comes in any state already"),
        ([inside("@enter(Stage.CHARGED)\ndef more(self): ...")], "def more", "def charged", "is entered already"),
        ([inside("@expire(Stage.PLACED, after=WEEK)\ndef more(self): ...")], "def more", "def too_late", "expires"),
        ([inside("@shipped.finished\ndef more(self): ...")], "def more", "def told", "shipped is finished already"),
        ([(CLASS, CLASS.replace(", initial=Stage.PLACED", ""))], "class OrderFlow", "", "has no initial state"),
        ([("initial=Stage.PLACED", "initial=None")], "class OrderFlow", "", "has no initial state"),
        ([("initial=Stage.PLACED", "initial=Stage.LAPSED"), ("return Stage.LAPSED", "return Stage.PLACED")],
         "Stage.LAPSED, autostart", "error(", "would end where they start"),
        ([inside("@on(pay, Stage.LAPSED)\ndef more(self, payment): ...")], "Stage.LAPSED)", "error(", "more would"),
        ([inside("@enter(Stage.GONE)\ndef more(self): ...")], "Stage.GONE)", "cancel(", "terminal by revoked"),
        ([inside("@remind(Stage.LAPSED, after=WEEK)\ndef more(self): ...")], "Stage.LAPSED, a", "error(", "ends"),
        ([inside('gone = error(Stage.GONE, "x")')], "cancel(", "error(Stage.GONE", "terminal by gone already"),
        ([("def told", "async def told")], "async def told", "def paid", "is a def and told an async"),
    ],
    ids=lambda value: value[0][1].strip().split("\n")[0] if isinstance(value, list) else "",
)  # fmt: skip
def test_what_could_never_happen_is_refused(changes: list[tuple[str, str]], place: str, other: str, said: str) -> None:
    problem, at, others = refused(changed(*changes))
    assert said in problem.message
    assert at.startswith(place)
    assert [text.startswith(other) for text in others] == [True] * bool(other)


@pytest.mark.parametrize(
    ("change", "fix"),
    [
        (("@on(pay, Stage.PLACED)", "@on(pay, Stage.PLACD)"), "Stage.PLACED"),
        (
            ("    ship = Event()", "    ship = Event()\n    lose = Event[int]()"),
            "@on(lose)\ndef lose_came(self, payload: int):",
        ),
        ((CLASS, CLASS.replace(", initial=Stage.PLACED", "")), "tracks=Order.stage, initial=Stage.PLACED"),
        (("def told", "async def told"), "def told(self, …):"),
    ],
)  # fmt: skip
def test_the_corrected_line_is_shown(change: tuple[str, str], fix: str) -> None:
    assert refused(changed(change))[0].fix.startswith(fix)


@pytest.mark.parametrize(
    "changes",
    [
        # a state that a body may return although its source does not show it
        [(SENT, "        return self.next()\n"), inside("def next(self): return make(Stage)")],
        [(SENT, "        return self.item.next_stage\n")],
        [(SENT, "        return Stage['SHIPPED']\n")],
        [(SENT, "        after = Stage.CHARGED\n        if x: after = Stage('shipped')\n        return after\n")],
        [(SENT, "        self.item.stage = make(Stage)\n")],
        [(SENT, "        choose(self.item, Stage.SHIPPED)\n")],
        [(SENT, "        return SENT\n"), ("@dataclass", "SENT = Stage.SHIPPED\n@dataclass")],
        [(SENT, "        return Stage.SHIPPED if self.item.id else None\n")],
        [(SENT, "        ...\n"), ("@on(ship, Stage.CHARGED)", "@traced\n    @on(ship, Stage.CHARGED)")],
        # an enum whose members are not all seen
        [('    GONE = "revoked"', '    GONE = "revoked"\n    for name in NAMES: locals()[name] = name'),
         ("@on(pay, Stage.PLACED)", "@on(pay, Stage.PAYED)")],
        [("class Stage(Enum)", "class Stage(unseen.Choices)"), ("@on(pay, Stage.PLACED)", "@on(pay, Stage.PAYED)")],
        [("stage: Mapped[Stage]", "stage: Mapped[unseen.Stage]"), ("@on(pay, Stage.PLACED)", "@on(pay, Other.BURNED)")],
        [("@dataclass", "START = Stage.PLACED\n@dataclass"), ("initial=Stage.PLACED", "initial=START")],
        [("@dataclass", "from unseen import Stage\n@dataclass"), ("@on(pay, Stage.PLACED)", "@on(pay, Stage.PAYED)")],
        [("cancel(Stage.REVOKED", "cancel(Stage.GONE")],
        # an enum with methods and another name for a member
        [('    GONE = "revoked"', '    GONE = "revoked"\n    @property\n    def title(self): return "x"')],
        [("class Stage(Enum)", "class Stage(str, Enum)"), ('"placed"', "enum.auto()")],
        [("@on(cancel_it)", "@on(cancel_it, Stage.PLACED, Stage.CHARGED)")],
        # a base, a decorator or a statement that may declare more
        [("Workflow[Order], tracks", "unseen.Shared, Workflow[Order], tracks"), inside("lose = Event()")],
        [inside("lose = Event()\n@takes(lose)\ndef lost(self): ...")],
        [inside("lose = Event()\nlost = arm(lose)")],
        [inside("lose = Event()\nfor state in Stage: vars()[state.name] = on(lose, state)(arm)")],
        [inside("lose = Event()\n@on(EVENTS['lose'])\ndef lost(self): ...")],
        [("tracks=Order.stage, initial=Stage.PLACED", "**settings")],
        # an event that is taken in some states by one arm, and in the others by another
        [inside("@on(cancel_it, Stage.CHARGED)\ndef late_cancel(self): ...")],
        [("@on(pay, Stage.PLACED)", "@on(pay, *ALL)"), inside("@on(pay, Stage.PLACED)\ndef more(self, payment): ...")],
        [("def told", "@unseen.sync\n    async def told")],
        # plain attributes, methods and nested classes
        [inside('limit = 3\nnames: list[str] = ["a"]\nclass Inner: ...\n"""text"""')],
        [inside("limit = timedelta(days=1)\ndef help(self): ...\nasync def more(self): ...")],
    ],
)  # fmt: skip
def test_what_the_source_does_not_show_is_never_refused(changes: list[tuple[str, str]]) -> None:
    assert refusals(model_of(changed(*changes))) == []


def test_a_base_of_several_workflows_is_not_looked_at_by_itself() -> None:
    assert refusals(model_of(HEAD + "class Shared(Workflow[Order]):\n    pay = Event()\n")) == []


def test_a_class_that_is_not_registered_is_refused_too() -> None:
    text = changed(("@app.workflow\n", ""), ("@on(pay, Stage.PLACED)", "@on(pay, Stage.PAYED)"))
    assert refused(text)[1].startswith("Stage.PAYED")


def test_where_the_column_is_not_seen_the_initial_state_tells_the_enum() -> None:
    text = changed(
        ("tracks=Order.stage", "tracks=unseen.Order.stage"), ("@on(pay, Stage.PLACED)", "@on(pay, Stage.PAYED)")
    )
    assert "is no state of OrderFlow" in refused(text)[0].message
