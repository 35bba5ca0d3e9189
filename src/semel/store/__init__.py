"""Stores: the interface, and which one a database URL means."""

from __future__ import annotations

from typing import Any

from semel.errors import ConfigurationError

from .interface import Store


def open_store(database: Any) -> Store:
    """The store of a URL or a SQLAlchemy engine; it is not opened yet.

    Raises:
        ConfigurationError: no store keeps its data there.
    """
    url = database if isinstance(database, str) else str(getattr(database, "url", database))
    scheme = url.partition(":")[0].partition("+")[0]
    if scheme == "sqlite":
        from .sqlite import Sqlite

        return Sqlite("sqlite:" + url.partition(":")[2])
    raise ConfigurationError(
        f"{url.partition('@')[2] or url!r} names no database that semel can use; write for example sqlite:///shop.db"
    )
