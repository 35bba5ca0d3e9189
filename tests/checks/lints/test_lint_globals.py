"""``workflow-global-changed``: nothing of a body outlives it in memory."""

from __future__ import annotations

import pytest
from lint_programs import assert_right, assert_told

RULE = "workflow-global-changed"


@pytest.mark.rule("E")
@pytest.mark.parametrize(
    "source",
    [
        """
        count = 0  #~
        @app.workflow
        def fulfil(order: str) -> None:
            global count
            count += 1  #!
        """,
        """
        last: str | None = None
        def note(order: str) -> None:
            global last
            last = order  #!
        @app.workflow
        def fulfil(order: str) -> None:
            note(order)
        """,
        """
        seen = []  #~
        @app.workflow
        def fulfil(order: str) -> None:
            seen.append(order)  #!
        """,
        """
        seen: set[str] = set()
        @app.workflow
        def fulfil(order: str) -> None:
            if order in seen:
                return
            seen.add(order)  #!
        """,
        """
        totals = collections.Counter()  #~
        @app.workflow
        def fulfil(order: str) -> None:
            totals[order] += 1  #!
            del totals["x"]  #!
        """,
        """
        state = {}
        @app.workflow
        def fulfil(order: str) -> None:
            if order not in state:
                state[order] = "seen"  #!
        """,
        """
        class Shop:
            orders = 0  #~
            names = []  #~
        @app.workflow
        def fulfil(order: str) -> None:
            Shop.orders += 1  #!
            Shop.names.append(order)  #!
        """,
        """
        class Shop:
            names = []
            def add(self, name: str) -> None:
                self.names.append(name)  #!
        @app.workflow
        def fulfil(order: str) -> None:
            Shop().add(order)
        """,
    ],
)
def test_a_change_of_what_outlives_the_body_is_told(source: str) -> None:
    assert_told(source, RULE)


def test_a_container_of_another_module_is_told() -> None:
    assert_told(
        """
        import state
        from state import seen
        @app.workflow
        def fulfil(order: str) -> None:
            seen.append(order)  #!
            state.names.add(order)  #!
            state.last = order  #!
        """,
        RULE,
        state="seen = []\nnames = set()\nlast = ''\n",
    )


@pytest.mark.parametrize(
    "source",
    [
        """
        _client: httpx.Client | None = None
        def client() -> httpx.Client:
            global _client
            if _client is None:
                _client = httpx.Client()
            return _client
        @app.workflow
        def fulfil(order: str) -> None:
            client().get("https://a.example")
        """,
        """
        _rates: dict[str, int] = {}
        def rate(name: str) -> int:
            if name not in _rates:
                _rates[name] = len(name)
            return _rates[name]
        @app.workflow
        def fulfil(order: str) -> int:
            return rate(order)
        """,
        """
        _rates: dict[str, int] = {}
        @app.workflow
        def fulfil(order: str) -> int:
            return _rates.setdefault(order, 1)
        """,
        """
        seen = []
        @app.workflow
        def fulfil(order: str) -> list[str]:
            seen = []
            seen.append(order)
            return seen
        """,
        """
        class Basket:
            def __init__(self) -> None:
                self.lines: list[str] = []
                self.total = 0
            def add(self, line: str) -> None:
                self.lines.append(line)
                self.total += 1
        @dataclass
        class Order:
            lines: list[str] = field(default_factory=list)
        @app.workflow
        def fulfil(order: str) -> int:
            basket, other = Basket(), Order()
            basket.add(order)
            other.lines.append(order)
            return basket.total
        """,
        """
        class Shop:
            _only = None
            @classmethod
            def get(cls) -> "Shop":
                if cls._only is None:
                    cls._only = cls()
                return cls._only
        @app.workflow
        def fulfil(order: str) -> None:
            Shop.get()
        """,
        """
        seen = []
        seen.append("start")
        count = 0
        count += 1
        @app.workflow
        def fulfil(order: str) -> int:
            return len(seen) + count
        """,
        """
        @app.workflow
        def fulfil(order: str) -> int:
            count = 0
            def add() -> None:
                nonlocal count
                count += 1
            add()
            os.environ["SHOP"] = order
            return count
        """,
    ],
)
def test_caches_and_what_belongs_to_the_body_are_not_told(source: str) -> None:
    assert_right(source)
