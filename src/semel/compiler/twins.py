"""Twins: made once per code object, and given the closure, defaults and names of the function that is called.

Templates are kept by the id of the code, which they hold alive: hashing a code object costs a microsecond.
"""

from __future__ import annotations

import threading
from types import BuiltinFunctionType, CellType, CodeType, FunctionType
from typing import Any

from semel.errors import CannotCompile

from . import hidden
from .build import compile_node, same_code
from .packages import is_user_class, is_user_function
from .source import Found, SourceFile, keep, versions_of
from .targets import note
from .transform import transform

#: The hidden variables of every twin, filled by the modules that define what they hold.
cells: dict[str, CellType] = {name: CellType() for name in hidden.HELPERS}

#: Handlers of functions that are called in another way in a twin.
intrinsics: dict[object, Any] = {}


class NoSource(Exception):
    """There is no source for this code."""


class Template:
    """What a code object's twins have in common. ``code`` is None for a leaf, whose twin is the function itself."""

    __slots__ = ("_helpers", "_own", "code", "original")

    def __init__(self, original: CodeType, code: CodeType | None) -> None:
        self.original = original
        self.code = code
        self._helpers: tuple[CellType, ...] = ()
        self._own: tuple[int, ...] | None = None
        if code is not None:
            # Free variables are in order of their names, and hidden names come first.
            free = code.co_freevars
            self._helpers = tuple([cells[name] for name in free if name in cells])
            own = tuple([original.co_freevars.index(name) for name in free if name not in cells])
            self._own = None if own == tuple(range(len(original.co_freevars))) else own
            assert free[: len(self._helpers)] == tuple([name for name in free if name in cells])

    def twin(self, function: FunctionType) -> FunctionType:
        """The twin of one function of this code."""
        code = self.code
        assert code is not None
        closure: Any = function.__closure__
        if closure is None:
            closure = self._helpers
        elif self._own is None:
            closure = self._helpers + closure
        else:
            closure = self._helpers + tuple([closure[index] for index in self._own])
        twin = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
        if function.__kwdefaults__ is not None:
            twin.__kwdefaults__ = function.__kwdefaults__
        if function.__qualname__ != code.co_qualname:
            twin.__qualname__ = function.__qualname__
        return twin


#: Templates by the id of the code, which they keep alive.
templates: dict[int, Template] = {}
_without_source: dict[int, CodeType] = {}
_twin_codes: dict[int, CodeType] = {}
_names: dict[str, str] = {}
_COMPREHENSIONS = frozenset({"<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>"})
_lock = threading.RLock()


def segment(qualname: str) -> str:
    """The segment of a function: its qualified name without ``<locals>``."""
    name = _names.get(qualname)
    if name is None:
        name = qualname.replace("<locals>.", "")
        for char in "%/#[]~!":
            if char in name:
                name = name.replace(char, f"%{ord(char):02X}")
        if len(_names) < 100_000:
            _names[qualname] = name
    return name


def template_of(function: FunctionType) -> Template | None:
    """The template of a user function; None for foreign code and for user code that has no source.

    Raises:
        CannotCompile: the source changed under the process.
    """
    code = function.__code__
    known = templates.get(id(code))
    if known is not None:
        return known
    if id(code) in _without_source or not is_user_function(function) or function in intrinsics:
        return None
    try:
        return _build(function)
    except NoSource:
        _without_source[id(code)] = code
        return None


def demand_template(function: FunctionType) -> Template:
    """The template of a function that must have one.

    Raises:
        CannotCompile: it has none.
    """
    code = function.__code__
    known = templates.get(id(code))
    if known is not None:
        return known
    try:
        return _build(function)
    except NoSource:
        raise CannotCompile(
            f"{_place(function)} cannot be made durable, because its source is not there: it was made by exec, or only "
            f"its .pyc is installed. Put the function into a module, and install the module's .py file"
        ) from None


def is_twin_code(code: CodeType) -> bool:
    """Whether a running code object is a twin's."""
    return id(code) in _twin_codes


def has_no_source(code: CodeType) -> bool:
    """Whether a user function of this code was met that has no source."""
    return id(code) in _without_source


def _build(function: FunctionType) -> Template:
    code = function.__code__
    with _lock:
        known = templates.get(id(code))
        if known is not None:
            return known
        file, found = _find(function)
        keep(code, file)
        node = transform(found.node, function.__globals__, code.co_freevars, _is_user)
        compiled = compile_node(file, found, node, code, hidden.HELPERS) if node is not None else None
        template = Template(code, compiled)
        if compiled is not None:
            _note_twin(compiled)
            note(compiled, found.node)
        templates[id(code)] = template
        return template


def _note_twin(code: CodeType) -> None:
    """Keeps the code of a twin, and of the comprehensions in it, which may be functions of their own."""
    _twin_codes[id(code)] = code
    for part in code.co_consts:
        if isinstance(part, CodeType) and part.co_name in _COMPREHENSIONS:
            _note_twin(part)


def _find(function: FunctionType) -> tuple[SourceFile, Found]:
    code = function.__code__
    read = False
    for file in versions_of(code, function.__globals__):
        read = True
        found = _choose(code, file)
        if found is not None:
            return file, found
    if not read or code.co_filename.startswith("<"):
        raise NoSource
    raise CannotCompile(
        f"{_place(function)} cannot be made durable: the file changed while the process runs, and the function there "
        f"is no longer the one that is loaded. Restart the process"
    )


def _choose(code: CodeType, file: SourceFile) -> Found | None:
    """The node whose code is the running code; of several (lambdas on one line), the one at its very place."""
    candidates = file.functions.get((code.co_name, code.co_firstlineno), [])
    if not file.exact:
        return candidates[0] if candidates else None
    fitting: list[tuple[Found, CodeType]] = []
    for found in candidates:
        compiled = compile_node(file, found, found.node, code)
        if same_code(compiled, code):
            fitting.append((found, compiled))
    if len(fitting) > 1:
        place = list(code.co_positions())
        fitting.sort(key=lambda fit: list(fit[1].co_positions()) != place)
    if fitting:
        return fitting[0][0]
    # A loader of another kind may rewrite the modules that it loads: what it made cannot be compared.
    return candidates[0] if candidates and file.rewritten else None


def _is_user(value: object) -> bool:
    if isinstance(value, FunctionType):
        return is_user_function(value) or value in intrinsics
    return isinstance(value, type) and is_user_class(value)


def _place(function: FunctionType | BuiltinFunctionType) -> str:
    code = getattr(function, "__code__", None)
    where = f" ({code.co_filename}:{code.co_firstlineno})" if code is not None else ""
    return f"{function.__qualname__}{where}"
