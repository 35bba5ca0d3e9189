"""Where in the request a parameter goes, said in its annotation: ``status: Annotated[str, Query]``.

A parameter named in the path template needs no marker. ``Query``, ``Header`` and ``BodyField`` may be given the name
that the other side knows, where it is no Python name or another one: ``Annotated[date, Query("from")]``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Query:
    """A query parameter; a list is sent as one pair for each item."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class Header:
    """A request header; without a name, the parameter's own with ``-`` for ``_``."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class BodyField:
    """One field of the JSON object that is the body."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class Body:
    """The whole body: JSON, or bytes as they are."""


Marker = Query | Header | BodyField | Body
MARKERS = (Query, Header, BodyField, Body)
