"""All programs that any kill at any instant must leave right."""

from __future__ import annotations

from . import app, asynchronous, synchronous

__all__ = ["app", "asynchronous", "synchronous"]
