"""``workflow-call-not-resolved``: only where there is evidence that it leads to steps."""

from __future__ import annotations

import pytest
from lint_programs import assert_right, assert_told

RULE = "workflow-call-not-resolved"


@pytest.mark.rule("O19")
@pytest.mark.parametrize(
    "source",
    [
        """
        def charge(order: str) -> None:  #~
            once("pay", lambda: pay(1))
        handlers: dict[str, Callable[[str], None]] = {"charge": charge}
        @app.workflow
        def fulfil(order: str) -> None:
            handlers[order](order)  #!
        """,
        """
        handlers = {}
        def handles(name: str) -> Callable[[Any], Any]:
            def decorator(function: Any) -> Any:
                handlers[name] = function
                return function
            return decorator
        @handles("charge")
        def charge(order: str) -> None:
            once("pay", lambda: pay(1))
        @app.workflow
        def fulfil(order: str) -> None:
            handlers[order](order)  #!
        """,
        """
        class Shop:
            def on_paid(self) -> None:
                once("pay", lambda: pay(1))
            def run(self, name: str) -> None:
                getattr(self, f"on_{name}")()  #!
        @app.workflow
        def fulfil(order: str) -> None:
            Shop().run(order)
        """,
        """
        def send(order: str) -> None:
            httpx.post("https://a.example")
        steps: list[Callable[[str], None]] = [send]
        @app.workflow
        def fulfil(order: str) -> None:
            for step in steps:
                step(order)  #!
        """,
        """
        class A:
            def charge_it(self) -> None: once("a", lambda: pay(1))
        class B:
            def charge_it(self) -> None: once("a", lambda: pay(1))
        class C:
            def charge_it(self) -> None: once("a", lambda: pay(1))
        class D:
            def charge_it(self) -> None: once("a", lambda: pay(1))
        @app.workflow
        def fulfil(order: str, shop) -> None:
            shop.charge_it()  #!
        """,
    ],
)
def test_a_call_by_which_steps_could_be_reached_is_told(source: str) -> None:
    assert_told(source, RULE)


@pytest.mark.parametrize(
    "source",
    [
        """
        def charge(order: str) -> None:
            once("pay", lambda: pay(1))
        handlers = {"charge": charge}
        @app.workflow
        def fulfil(order: str) -> None:
            handlers[order](order)
        """,
        """
        def twice(action: Callable[[], None]) -> None:
            action()
        def charge() -> None:
            once("pay", lambda: pay(1))
        @app.workflow
        def fulfil(order: str) -> None:
            twice(charge)
        """,
        """
        @app.workflow
        def fulfil(order, shop) -> None:
            order.total().round()
            shop.prices[order](1)
            getattr(order, "name")()
            once("pay", lambda: pay(1))
        """,
        """
        import flask
        web = flask.Flask("shop")
        @web.get("/")
        def index() -> str:
            return httpx.get("https://a.example").text
        def unused() -> None:
            once("pay", lambda: pay(1))
        @app.workflow
        def fulfil(order) -> None:
            order.save()
            order.handlers[0]()
        """,
    ],
)
def test_a_call_that_leads_nowhere_that_matters_is_not_told(source: str) -> None:
    assert_right(source)
