"""The store in two SQLite files."""

from .store import Sqlite

__all__ = ["Sqlite"]
