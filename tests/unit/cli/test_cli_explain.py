"""``semel explain``."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from semel.checks import RULES
from semel.cli.group import cli


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_has_a_page(rule: str) -> None:
    done = CliRunner().invoke(cli, ["explain", rule])
    assert done.exit_code == 0
    assert done.output.startswith(f"# {rule}")


@pytest.mark.parametrize("wrong", ["no-such-rule", "../../README", ""])
def test_a_rule_that_is_none_is_answered_with_those_that_are(wrong: str) -> None:
    done = CliRunner().invoke(cli, ["explain", wrong])
    assert done.exit_code == 1
    assert "helper-called-twice" in done.output
