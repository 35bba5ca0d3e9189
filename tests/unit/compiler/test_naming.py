"""The names of passes (rule O16)."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

import pytest

from semel.compiler import Key, Path, pass_name


class Size(enum.Enum):
    SMALL = 1


class Level(enum.IntEnum):
    LOW = 1


@dataclass(frozen=True)
class Place:
    shelf: str
    row: int


@dataclass
class Loose:
    shelf: str


class Spot(NamedTuple):
    x: int
    y: int


ALL = [
    (7, "=7"),
    (-7, "=-7"),
    ("A-1", '="A-1"'),
    ("7", '="7"'),
    (True, "=True"),
    ("True", '="True"'),
    (None, "=None"),
    (b"\x01", "=bytes(01)"),
    (UUID(int=1), "=UUID(00000000-0000-0000-0000-000000000001)"),
    (date(2026, 1, 2), "=date(2026-01-02)"),
    (datetime(2026, 1, 2, tzinfo=UTC), "=datetime(2026-01-02T00:00:00+00:00)"),
    (Decimal("1.50"), "=Decimal(1.50)"),
    (Size.SMALL, "=Size.SMALL"),
    (Level.LOW, "=Level.LOW"),
    ((1, "a"), '=(1,"a")'),
    ((1, ("a",)), '=(1,("a"))'),
    (Place("s", 1), '=Place(shelf="s",row=1)'),
    (Spot(1, 2), "=Spot(1,2)"),
    ('a"b', '="a\\"b"'),
    ("ü", '="ü"'),
    ("a/b#c[d]~e%f!g", '="a%2Fb%23c%5Bd%5D~e%25f%21g"'.replace("~", "%7E")),
]


@pytest.mark.rule("O16")
@pytest.mark.parametrize(("key", "name"), ALL, ids=repr)
def test_a_key_has_one_name(key: Any, name: str) -> None:
    assert pass_name(Key(key)) == name


def test_no_two_keys_share_a_name() -> None:
    names = [pass_name(Key(key)) for key, _ in ALL]
    assert len(set(names)) == len(names)


def test_a_number_is_itself() -> None:
    assert pass_name(3) == "3"


@pytest.mark.parametrize(
    "value", [1.5, object(), [1], {1}, {"a": 1}, (1, 1.5), Loose("s"), Place], ids=lambda v: type(v).__name__
)
def test_what_has_no_lasting_text_is_refused(value: Any) -> None:
    key = Key(value)
    with pytest.raises(TypeError, match=r"(float|object|list|set|dict|Loose|type) cannot name a pass"):
        pass_name(key)


def test_a_key_is_only_named_when_a_path_is_rendered() -> None:
    class Nothing:
        over = False

        def run_callback(self, call: object, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
            raise AssertionError

    path = Path(Path(None, (), "w/start@1", Nothing()), (0, Key(1.5)), "x", Nothing())
    with pytest.raises(TypeError, match="float"):
        path.step()
