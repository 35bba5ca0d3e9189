"""Path templates: ``/charges/{reference}``, and paths made of them.

A value becomes part of one segment: everything but letters, digits and ``-._~`` is percent-encoded. What would still
lead elsewhere (an empty segment, ``.``, ``..``) is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import quote, unquote

_PARAMETER = re.compile(r"\{([^{}]*)\}")
_DOTS = frozenset({".", ".."})


class Template:
    """A path template, taken apart. ``names`` are its parameters, in order.

    Raises:
        ValueError: it is none; the text says why and shows the fix.
    """

    __slots__ = ("_parts", "names", "text")

    def __init__(self, text: str) -> None:
        if not text.startswith("/"):
            raise ValueError(f'the path must start with "/": write "/{text}"')
        self.text = text
        #: Literal, name, literal, name, …, literal.
        self._parts = _PARAMETER.split(text)
        self.names = tuple(self._parts[1::2])
        for literal in self._parts[::2]:
            _check_literal(literal)
        for name in self.names:
            if not name.isidentifier():
                raise ValueError(f"{{{name}}} is not the name of a parameter: write {{reference}}")
        if len(set(self.names)) < len(self.names):
            raise ValueError("it names one parameter twice")
        if not _DOTS.isdisjoint(unquote(text).split("/")):
            raise ValueError('it has a segment "." or "..", which leads to another path: write the path it leads to')

    def path(self, values: Mapping[str, str], refuse: Callable[[str, str], Exception]) -> str:
        """The path with the values in it; ``refuse(name, why)`` makes the error to raise for one of them."""
        parts = list(self._parts)
        for index in range(1, len(parts), 2):
            name = parts[index]
            value = values[name]
            if not value:
                raise refuse(name, "it is empty, so the path would be another operation's")
            try:
                parts[index] = quote(value, safe="")
            except UnicodeEncodeError:
                raise refuse(name, "it holds half of a surrogate pair, which has no UTF-8") from None
        path = "".join(parts)
        for segment in path.split("/"):
            if unquote(segment) in _DOTS:
                raise refuse(self.names[0], f'it makes a segment "{unquote(segment)}", which leads to another path')
        return path


def _check_literal(literal: str) -> None:
    if "{" in literal or "}" in literal:
        raise ValueError('it has a brace without its other half: write "/charges/{reference}"')
    if "?" in literal or "#" in literal:
        raise ValueError(
            'it has a query: make it a parameter with a default, such as kind: Annotated[str, Query] = "card"'
        )
    if quote(literal, safe="/-._~!$&'()*+,;=:@%") != literal:
        raise ValueError(f"it holds characters that no URL has: write {quote(literal, safe='/%')!r}")
