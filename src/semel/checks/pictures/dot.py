"""State diagrams for Graphviz."""

from __future__ import annotations

from collections.abc import Sequence

from semel.compiler.model import EntityWorkflow

from .ways import drawing


def dot(workflows: Sequence[EntityWorkflow]) -> str:
    """One graph with a cluster for each workflow."""
    lines = ["digraph workflows {", '    node [shape=box, style=rounded, fontname="sans-serif"];']
    for number, of in enumerate(map(drawing, workflows)):
        lines += [f"    subgraph cluster_{number} {{", f"        label={_quoted(of.name)};"]
        name = {state: _quoted(f"{number}.{state}") for state in of.states}
        for state in of.states:
            stays = [way.what for way in of.ways if way.state == state and way.to is None]
            shape = ", peripheries=2" if state in of.ends else ""
            lines.append(f"        {name[state]} [label={_quoted(chr(10).join([state, *stays]))}{shape}];")
        if of.initial is not None:
            lines.append(f"        {_quoted(f'{number}.')} [label={_quoted('')}, shape=circle, width=0.2];")
            lines.append(f"        {_quoted(f'{number}.')} -> {name[of.initial]};")
        for way in of.ways:
            if way.to is not None:
                lines.append(f"        {name[way.state]} -> {name[way.to]} [label={_quoted(way.what)}];")
        lines.append("    }")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
