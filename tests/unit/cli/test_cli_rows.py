"""The command line shows what a run knows of the row that it follows."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parents[2] / "rules"))

from entity_programs import SHOP, kit_of, place

from semel.cli import cli


@pytest.fixture
def shop(program: Callable[[str], ModuleType]) -> Iterator[Any]:
    """A shop with a row whose reminder has faulted."""
    module: Any = program(SHOP)
    with kit_of(module) as kit:
        order = place(module)
        module.fails.append("mail")
        module.OrderFlow.note(order, "x")
        kit.clock.advance(module.timedelta(days=3))
        kit.settle()
        yield module


def test_show_tells_the_row_its_state_its_clocks_and_what_has_faulted(shop: Any) -> None:
    told = CliRunner().invoke(cli, ["show", "OrderFlow/1", "--app", f"{shop.__name__}:app"])
    assert told.exit_code == 0, told.output
    for part in ("Order 1", "PLACED, since", "PLACED.expire, at", "PLACED.remind_chase@1", "ConnectionError: mail"):
        assert part in told.output
    assert "!begun" not in told.output
    row = json.loads(CliRunner().invoke(cli, ["show", "OrderFlow/1", "--json", "--app", f"{shop.__name__}:app"]).output)
    assert row["row"]["state"] == "PLACED"
    assert row["row"]["faulted"] == ["PLACED.remind_chase@1"]


def test_retry_delivers_what_has_faulted_on_a_row_that_goes_on(shop: Any) -> None:
    told = CliRunner().invoke(cli, ["retry", "OrderFlow/1", "--app", f"{shop.__name__}:app"], input="y\n")
    assert told.exit_code == 0, told.output
    assert "What failed, and what comes after it, will be done." in told.output
