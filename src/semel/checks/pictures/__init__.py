"""Pictures of entity workflows, drawn from the program model: for Mermaid, for Graphviz, and as SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from semel.compiler.model import EntityWorkflow

from .dot import dot
from .mermaid import mermaid
from .svg import svg

Picture = Callable[[Sequence[EntityWorkflow]], str]

#: By the name that ``semel model --format`` takes.
PICTURES: dict[str, Picture] = {"dot": dot, "mermaid": mermaid, "svg": svg}

__all__ = ["PICTURES", "Picture"]
