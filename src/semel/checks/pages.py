"""The page of each rule, as text: installed with the package, or in the docs of a checkout."""

from __future__ import annotations

from pathlib import Path

_INSTALLED = Path(__file__).parent / "pages"
_CHECKOUT = Path(__file__).parents[3] / "docs" / "rules"


def page(rule: str) -> str:
    """The page of a rule, in Markdown.

    Raises:
        LookupError: there is no rule of this id.
    """
    for folder in (_INSTALLED, _CHECKOUT):
        file = folder / f"{rule}.md"
        if rule.replace("-", "").isalnum() and file.is_file():
            return file.read_text("utf-8")
    raise LookupError(f"there is no rule {rule!r}")
