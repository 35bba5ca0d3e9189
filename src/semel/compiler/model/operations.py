"""Which calls leave the process (rule A3), and how their steps are named (rule A8).

A name is worked out as the runtime does it: the root package of the callee and its own qualified name, where it is
defined; what is defined in user code has no root. Libraries are looked into by their source and never imported.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

from . import aws, seams
from .data import Operation
from .libraries import is_installed, is_sdk
from .scopes import FunctionRecord
from .sdk import Sdk
from .values import NONE, UNKNOWN, Foreign, ForeignInst, Values

_VERBS = frozenset({"get", "post", "put", "patch", "delete", "head", "options", "request"})
#: Their classes are made when they run, so their source says nothing.
_MADE_WHEN_RUN = ("boto3", "botocore")
_EXTERNAL = frozenset({"semel.external", "semel.capture.external", "semel.capture.external.external"})


class Operations:
    """``external`` and ``passthrough`` are patterns of ``[tool.semel]``, matched against ``module.qualname``.

    Without ``libraries`` none is looked into: only the names that need no look are known.
    """

    def __init__(
        self, external: Iterable[str] = (), passthrough: Iterable[str] = (), *, libraries: bool = True
    ) -> None:
        self.libraries = libraries
        self.external = tuple(external)
        self.passthrough = (*passthrough, *seams.PASS_THROUGH)
        self._declared = frozenset(
            pattern.partition(".")[0] for pattern in self.external if not pattern.startswith("*")
        )
        self._sdk = Sdk(self._readable, lambda name: _matches(name, self.passthrough))
        self._known: dict[str, Operation | None] = {}
        self._given: dict[str, Values | None] = {}

    # ------------------------------------------------------------------------------------------------------ user code

    def of_function(
        self, record: FunctionRecord, decorators: frozenset[str], is_client: Callable[[], bool]
    ) -> Operation | None:
        """The operation that a function of user code is, if calling it is one step."""
        name = record.qualname.replace("<locals>.", "")
        if decorators & _EXTERNAL:
            return Operation(name, "external", "", sure=True)
        if record.owner is not None and any(_is_verb(decorator) for decorator in decorators) and is_client():
            return Operation(name, "client", "", sure=True)
        return None

    # ------------------------------------------------------------------------------------------------------ libraries

    def of_foreign(self, value: Foreign) -> Operation | None:
        """The operation that a callable of a library is."""
        if value.name not in self._known:
            operation = self._operation(value.name)
            passes = operation is not None and _matches(operation.name, self.passthrough)
            self._known[value.name] = None if passes else operation
        found = self._known[value.name]
        return Operation(found.name, found.source, found.library, sure=False) if found and not value.certain else found

    def _operation(self, dotted: str) -> Operation | None:
        plain = dotted.replace("()", "")
        root, *names = plain.split(".")
        if _matches(plain, self.passthrough):
            return None
        name = seams.name_of(root, names)
        if name is not None:
            return Operation(name, "library", root, sure=True)
        name = aws.operation(dotted)
        if name is not None:
            return Operation(name, "sdk", root, sure=True)
        if root in _MADE_WHEN_RUN or not self._readable(root):
            return Operation(plain, "pattern", root, sure=False) if _matches(plain, self.external) else None
        return self._from_source(dotted, plain, root)

    def _from_source(self, dotted: str, plain: str, root: str) -> Operation | None:
        for record in self._sdk.functions(dotted):
            own = record.qualname.replace("<locals>.", "")
            whole = f"{record.module.name}.{own}"
            if _matches(whole, self.passthrough):
                return None
            name = f"{record.module.name.partition('.')[0]}.{own}"
            if any(_matches(spelled, self.external) for spelled in (whole, plain, *self._sdk.by_class(dotted))):
                return Operation(name, "pattern", root, sure=True)
            leaves = self._sdk.leaves(record)
            if leaves != "no":
                return Operation(name, "sdk", root, sure=leaves == "always")
        return Operation(plain, "pattern", root, sure=False) if _matches(plain, self.external) else None

    def result(self, dotted: str, node: ast.Call) -> Values | None:
        """What calling something of a library gives; None if nothing is known."""
        made = aws.made_by(dotted, node) if self.libraries else None
        if made is not None:
            return frozenset({ForeignInst(made)})
        if dotted not in self._given:
            self._given[dotted] = self._result(dotted)
        return self._given[dotted]

    def _result(self, dotted: str) -> Values | None:
        root, *names = dotted.replace("()", "").split(".")
        gives = seams.gives(root, names)
        if gives is not None:
            return frozenset({ForeignInst(gives)})
        if root in (*seams.SEAMS, *_MADE_WHEN_RUN) or not self._readable(root) or self._sdk.is_class(dotted):
            return None
        found = self._sdk.result(dotted)
        return found if found not in (NONE, UNKNOWN) else None

    def entered(self, dotted: str) -> Values | None:
        """What ``with`` binds for an instance of a library's class; None if nothing is known."""
        root = dotted.partition(".")[0]
        if root in seams.SEAMS or root in _MADE_WHEN_RUN or not self._readable(root):
            return None
        return self._sdk.entered(dotted) or None

    def lost(self, dotted: str) -> str | None:
        """Why nothing is known of a callable of a library that might make a call; None if nothing is wrong."""
        root = dotted.partition(".")[0].removesuffix("()")
        if not self.libraries or root in seams.SEAMS or root in sys.stdlib_module_names or root == "semel":
            return None
        if not is_installed(root):
            return f"{root} is not installed here, so its source cannot be looked into"
        if not self._readable(root) or root in _MADE_WHEN_RUN:
            return None
        if self._sdk.functions(dotted) or self._sdk.is_class(dotted):
            return None
        return f"{root} is built on an HTTP client, and its source does not show what this is"

    def _readable(self, root: str) -> bool:
        return self.libraries and (root in self._declared or is_sdk(root))


def _is_verb(decorator: str) -> bool:
    root, _, name = decorator.rpartition(".")
    return name in _VERBS and (root == "semel" or root.startswith("semel."))


def _matches(dotted: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(dotted, pattern) for pattern in patterns)
