"""The page on testing workflows does what it says."""

from __future__ import annotations

from pathlib import Path

from docs_desk import ROOT, desk
from semel import testing
from semel.testing.crashing import KIT_POINTS


def test_the_tests_of_the_page_pass(tmp_path: Path) -> None:
    with desk(tmp_path) as reader:
        reader.follow(ROOT / "docs" / "how-to" / "test-a-workflow.md")
    assert not (tmp_path / "shop.db").exists(), "the developer's own database"


def test_every_name_and_every_point_has_its_place_in_the_reference() -> None:
    page = (ROOT / "docs" / "reference" / "testing.md").read_text()
    told_with_others = {"Script", "Sent", "Crash"}
    for name in testing.__all__:
        assert name in told_with_others or f"`{name}" in page, name
        assert getattr(testing, name) is not None
    public = {name for name in vars(testing.Kit) if not name.startswith("_")} - {"hit"}
    assert {name for name in public if f"kit.{name}" not in page and f"`{name}`" not in page} == set()
    assert {point for point in KIT_POINTS if f"`{point}`" not in page} == set()
