"""State diagrams for Mermaid, which many viewers of Markdown draw."""

from __future__ import annotations

from collections.abc import Sequence

from semel.compiler.model import EntityWorkflow

from .ways import Drawing, drawing


def mermaid(workflows: Sequence[EntityWorkflow]) -> str:
    """One diagram for each workflow."""
    return "\n".join(_diagram(drawing(each)) for each in workflows)


def _diagram(of: Drawing) -> str:
    lines = ["---", f"title: {of.name}", "---", "stateDiagram-v2"]
    if of.initial is not None:
        lines.append(f"    [*] --> {of.initial}")
    lines += [f"    {way.state} --> {way.to}: {_text(way.what)}" for way in of.ways if way.to is not None]
    for state in of.states:
        stays = [_text(way.what) for way in of.ways if way.state == state and way.to is None]
        if stays:
            lines += [f"    {state}: {state}", *(f"    {state}: {each}" for each in stays)]
    for state, how in of.ends.items():
        lines.append(f"    {state} --> [*]: {how}")
    return "\n".join(lines) + "\n"


def _text(given: str) -> str:
    """Without what Mermaid takes for its own."""
    return given.replace(":", " ").replace(";", " ").replace("\n", " ")
