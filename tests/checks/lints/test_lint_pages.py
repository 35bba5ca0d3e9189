"""The page of each lint: its example is told, and mended as it says."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from semel.checks import RULES, refusals
from semel.checks.ignores import OF_IGNORES, ignores, without_ignored
from semel.checks.lints import LINTS, lints
from semel.compiler.model import Source, build

PAGES = Path(__file__).parents[3] / "docs" / "rules"
ALL = (*LINTS, *OF_IGNORES)


def told(block: str) -> list[str]:
    model = build([Source("example", "example.py", block)])
    assert refusals(model) == []
    return [problem.rule for problem in without_ignored(lints(model), ignores(model), ALL)]


@pytest.mark.rule("E")
@pytest.mark.parametrize("rule", ALL)
def test_the_code_on_the_page_is_told_and_mended_as_it_says(rule: str) -> None:
    text = (PAGES / f"{rule}.md").read_text()
    assert text.startswith(f"# {rule}\n\n> ")
    for heading in ("## Why", "## The mistake", "## The fix"):
        assert heading in text
    mistake, *fixes = [block.split("```")[0] for block in text.split("```python\n")[1:]]
    ast.parse(mistake)
    assert told(mistake) == [rule]
    assert fixes
    for fix in fixes:
        ast.parse(fix)
        assert told(fix) == []


@pytest.mark.parametrize("rule", ALL)
def test_the_index_repeats_what_the_page_says_first(rule: str) -> None:
    row = next(
        line for line in (PAGES / "index.md").read_text().split("\n") if line.startswith(f"| [{rule}]({rule}.md)")
    )
    said = " ".join(line[2:] for line in (PAGES / f"{rule}.md").read_text().split("\n") if line.startswith("> "))
    assert row.split("|")[2].split("(rule")[0].strip(" .") == said.split(" (lint")[0]


def test_ids_are_one_rules_only() -> None:
    every = (*RULES, *ALL)
    assert len(every) == len(set(every))
