"""Notes where a body begins a database transaction: the first flush of its session, or a ``with`` block of its own."""

from __future__ import annotations

import ast
from typing import Literal

from . import texts
from .data import Loop
from .effects import Transaction, TransactionKind
from .infer import Inference
from .paths import bindings_of
from .scopes import FunctionRecord, Scope
from .values import Foreign, ForeignInst

_SESSIONS = ("sqlalchemy.orm.Session", "sqlalchemy.orm.session.Session", "sqlalchemy.ext.asyncio.AsyncSession")
_MADE_BY = frozenset({"semel.App().session", "semel.App().async_session", "semel.app.App().session"})
_WRITES = frozenset({"add", "add_all", "delete", "merge"})
#: Methods before which SQLAlchemy flushes what was written.
_QUERIES = frozenset({"execute", "scalar", "scalars", "query", "stream", "stream_scalars", "refresh"})
_STATEMENTS = frozenset({"insert", "update", "delete"})
_VERBS = ("insert ", "update ", "delete ", "replace ")
_FLUSHES = frozenset({"flush", "begin_nested", "bulk_save_objects", "bulk_insert_mappings", "bulk_update_mappings"})
_BLOCKS = frozenset({"begin", "begin_nested", "atomic"})


class Transactions:
    def __init__(self, record: FunctionRecord, inference: Inference) -> None:
        self.module = record.module
        self.inference = inference
        self.found: list[Transaction] = []
        self._written: set[str] = set()
        self._autoflush = "no_autoflush" not in self.module.text

    def block(self, manager: ast.expr, body: list[ast.stmt], scope: Scope) -> int | None:
        """``with engine.begin() as connection:``; gives the last line of ``with Session(engine) as session:``.

        The session of a body refuses ``begin`` itself.
        """
        if not isinstance(manager, ast.Call):
            return None
        last = max(statement.end_lineno or statement.lineno for statement in body)
        if self._whose(manager, scope) is not None:
            return last
        func = manager.func
        if isinstance(func, ast.Attribute) and func.attr in _BLOCKS and self._whose(func.value, scope) is None:
            place, text = texts.place(self.module, manager), texts.text(self.module, manager)
            self.found.append(Transaction("block", -1, place, text, None, (), False, last))
        return None

    def call(
        self, node: ast.Call, scope: Scope, within: int | None, site: int, loops: list[Loop], last_line: int
    ) -> bool:
        """Notes a flush or a commit; says whether it was one. ``site`` is the number that it is to have."""
        func = node.func
        whose = self._whose(func.value, scope) if isinstance(func, ast.Attribute) else None
        if not isinstance(func, ast.Attribute) or whose is None:
            return False
        kind = self._kind(func, node, scope)
        if kind is not None:
            place, text = texts.place(self.module, node), texts.text(self.module, node)
            self.found.append(Transaction(kind, site, place, text, within, tuple(loops), whose == "body", last_line))
        return kind is not None

    def writes(self, node: ast.Call, scope: Scope) -> bool:
        """Whether the call gives a row, or a statement that writes, to a session."""
        func = node.func
        if not isinstance(func, ast.Attribute) or self._whose(func.value, scope) is None:
            return False
        return func.attr in _WRITES or (func.attr in _QUERIES and self._is_write(node, scope))

    def _kind(self, func: ast.Attribute, node: ast.Call, scope: Scope) -> TransactionKind | None:
        session = texts.text(self.module, func.value)
        if func.attr in _WRITES:
            self._written.add(session)
        elif func.attr in ("commit", "rollback"):
            self._written.discard(session)
            return "commit"
        elif func.attr in _FLUSHES or (func.attr in _QUERIES and self._is_write(node, scope)):
            return "flush"
        elif func.attr in _QUERIES and session in self._written and self._autoflush:
            return "autoflush"
        return None

    def _is_write(self, node: ast.Call, scope: Scope) -> bool:
        """``session.execute(update(Order)…)`` and SQL that begins with such a word."""
        if not node.args:
            return False
        for part in ast.walk(node.args[0]):
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Name | ast.Attribute):
                names = {v.name for v in self.inference.of(part.func, scope) if isinstance(v, Foreign)}
                if any(n.startswith("sqlalchemy.") and n.rpartition(".")[2] in _STATEMENTS for n in names):
                    return True
            written = part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else ""
            if written.lstrip().lower().startswith(_VERBS):
                return True
        return False

    def _whose(self, node: ast.expr, scope: Scope) -> Literal["body", "own"] | None:
        """Whose session it is: the body's (one that a function is given counts as that), or one made besides."""
        if isinstance(node, ast.Call) and self._makes_session(node, scope):
            return "body"
        bindings = bindings_of(node.id, scope) if isinstance(node, ast.Name) else []
        made = [b for b in bindings if b.kind in ("value", "enter") and isinstance(b.node, ast.Call)]
        if any(isinstance(b.node, ast.Call) and self._makes_session(b.node, b.scope) for b in made):
            return "body"
        if any(isinstance(v, ForeignInst) and v.name in _SESSIONS for v in self.inference.of(node, scope)):
            return "own" if made or isinstance(node, ast.Call) else "body"
        return None

    def _makes_session(self, node: ast.Call, scope: Scope) -> bool:
        return any(isinstance(v, Foreign) and v.name in _MADE_BY for v in self.inference.of(node.func, scope))
