"""State diagrams as SVG, drawn without any other program: states in columns, by how far they are from the first one."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from semel.compiler.model import EntityWorkflow

from .ways import Drawing, drawing

_WIDTH, _GAP, _ROW, _LINE = 240, 170, 40, 15  # pixels
_MARGIN = 30
_COLOURS = {"success": "#2e7d32", "error": "#c62828", "cancel": "#6d6d6d"}
_HEAD = (
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
    'orient="auto-start-reverse"><path d="M0,0 L8,4 L0,8 z" fill="#555"/></marker></defs>'
)


def svg(workflows: Sequence[EntityWorkflow]) -> str:
    """One document, the workflows below each other."""
    top, width = _MARGIN, 400
    parts: list[str] = []
    for of in map(drawing, workflows):
        drawn, right, bottom = _drawn(of, top)
        parts += drawn
        top, width = bottom + _MARGIN, max(width, right)
    style = 'font-family="sans-serif" font-size="12"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + _MARGIN}" height="{top}" {style}>'
    return "\n".join([head, _HEAD, *parts, "</svg>"]) + "\n"


def _columns(of: Drawing) -> list[list[str]]:
    """The states by the number of ways from the first one; those that no way leads to come last."""
    columns: list[list[str]] = [[of.initial]] if of.initial is not None else []
    seen = set(*columns)
    while columns:
        following = [way.to for state in columns[-1] for way in of.ways if way.state == state and way.to is not None]
        fresh = [state for state in dict.fromkeys(following) if state not in seen]
        if not fresh:
            break
        seen.update(fresh)
        columns.append(fresh)
    rest = [state for state in of.states if state not in seen]
    return [*columns, rest] if rest else columns


def _drawn(of: Drawing, top: int) -> tuple[list[str], int, int]:
    parts = [f'<text x="{_MARGIN}" y="{top}" font-size="15" font-weight="bold">{escape(of.name)}</text>']
    boxes: dict[str, tuple[int, int, int]] = {}  # left, top, height
    right = bottom = top
    for number, column in enumerate(_columns(of)):
        y = top + _MARGIN
        for state in column:
            stays = [way.what for way in of.ways if way.state == state and way.to is None]
            height = _ROW + _LINE * len(stays)
            x = _MARGIN + number * (_WIDTH + _GAP)
            boxes[state] = (x, y, height)
            parts += _box(state, stays, x, y, height, of.ends.get(state))
            y += height + _ROW
            right, bottom = max(right, x + _WIDTH), max(bottom, y)
    return [*parts, *_arrows(of, boxes)], right, bottom


def _box(state: str, stays: Sequence[str], x: int, y: int, height: int, end: str | None) -> list[str]:
    colour = _COLOURS.get(end or "", "#1565c0")
    place = f'x="{x}" y="{y}" width="{_WIDTH}" height="{height}" rx="8"'
    parts = [
        f'<rect {place} fill="#fff" stroke="{colour}" stroke-width="{3 if end else 1.5}"/>',
        f'<text x="{x + _WIDTH // 2}" y="{y + 24}" text-anchor="middle" font-weight="bold">{escape(state)}</text>',
    ]
    for number, what in enumerate(stays):
        at = y + _ROW + _LINE * number
        parts.append(f'<text x="{x + _WIDTH // 2}" y="{at}" text-anchor="middle" fill="#555">{escape(what)}</text>')
    return parts


def _arrows(of: Drawing, boxes: dict[str, tuple[int, int, int]]) -> list[str]:
    parts: list[str] = []
    between: dict[tuple[str, str], list[str]] = {}
    for way in of.ways:
        if way.to is not None:
            between.setdefault((way.state, way.to), []).append(way.what)
    for (source, target), labels in between.items():
        x, y, height = boxes[source]
        to_x, to_y, to_height = boxes[target]
        text = escape(", ".join(labels))
        if source == target:
            path = f"M{x + 40},{y} C{x + 40},{y - 26} {x + 100},{y - 26} {x + 100},{y}"
            at = (x + 70, y - 22)
        elif to_x == x:
            down = to_y > y
            start, end = (y + height, to_y) if down else (y, to_y + to_height)
            path = f"M{x + 60},{start} L{x + 60},{end}"
            at = (x + 70, (start + end) // 2)
        else:
            forward = to_x > x
            start, end = (x + _WIDTH, to_x) if forward else (x, to_x + _WIDTH)
            lower = 0 if forward else 12
            path = f"M{start},{y + 20 + lower} L{end},{to_y + 20 + lower}"
            at = ((start + end) // 2, (y + to_y) // 2 + 14 + lower)
        parts.append(f'<path d="{path}" fill="none" stroke="#555" marker-end="url(#arrow)"/>')
        parts.append(f'<text x="{at[0]}" y="{at[1]}" text-anchor="middle" fill="#333">{text}</text>')
    return parts
