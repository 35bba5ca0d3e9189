"""What a call's value is given to, by the place of the call in the code: the variable, keyword, attribute or key.

``order_id = uuid4()`` is known as ``order_id``, ``order = Order(id=uuid4())`` as ``order.Order.id``. A call whose value
is given to nothing is known by the text of its statement. Names, not lines: moving code does not change them. The
syntax tree that a twin was made from is searched once for each call in it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from itertools import islice
from types import CodeType, FrameType
from typing import Literal

from .calls import call_position
from .path import Origin
from .source import FunctionNode

Place = tuple[int | None, int | None, int | None, int | None]  # as of ``co_positions``: lines, then columns

#: ``sleeping``: a ``while`` that compares the call's value and sleeps; ``while``: any other.
Loop = Literal["sleeping", "while"]

#: What only changes the form of a value: it does not matter whether an id is kept as it is or as its text.
_TRANSPARENT = frozenset(
    {"str", "int", "float", "bytes", "repr", "round", "abs", "bool", "list", "tuple", "set", "sorted"}
)

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)

#: By the id of a twin's code, or of a comprehension in it, which lives as long as the twin: the code, and the node.
_nodes: dict[int, tuple[CodeType, FunctionNode]] = {}
_indexes: dict[int, _Index] = {}
_targets: dict[tuple[int, int], str] = {}


def note(code: CodeType, node: FunctionNode) -> None:
    """The code of a twin was made from this node."""
    _nodes[id(code)] = (code, node)
    for part in code.co_consts:
        if isinstance(part, CodeType):
            note(part, node)


def here(depth: int = 1) -> Origin | None:
    """The call that the innermost frame of a twin is at; None if there is none on the stack."""
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None:
        if id(frame.f_code) in _nodes:
            return (frame.f_code, frame.f_lasti)
        frame = frame.f_back
    return None


def target(origin: Origin | None) -> str:
    """What the value of this call is given to; "" where nothing tells."""
    if origin is None:
        return ""
    code, offset = origin
    name = _targets.get((id(code), offset))
    if name is None:
        name = _targets[id(code), offset] = _index_of(code).target(_place_of(code, offset))
    return name


def loop_round(origin: Origin) -> Loop | None:
    """The kind of loop that the call stands in: one that may wait for what the call gives to change, or any."""
    return _index_of(origin[0]).loop(_place_of(*origin))


def _index_of(code: CodeType) -> _Index:
    node = _nodes[id(code)][1]
    index = _indexes.get(id(node))
    if index is None:
        index = _indexes[id(node)] = _Index(node)
    return index


def _place_of(code: CodeType, offset: int) -> Place:
    return next(islice(code.co_positions(), offset // 2, None))


class _Index:
    """The expressions of one function by their places, and what encloses each."""

    def __init__(self, node: FunctionNode) -> None:
        self._parents: dict[ast.AST, ast.AST] = {}
        self._at: dict[Place, ast.expr] = {}
        self._on: dict[int, ast.expr] = {}  # the first call on a line, for an interpreter that keeps no columns
        for parent, child in _walk(node):
            self._parents[child] = parent
            if isinstance(child, ast.expr):
                self._at.setdefault(_place(child), child)
                if isinstance(child, ast.Call):
                    moved = call_position(child)
                    self._at[_place(moved)] = child
                    self._on.setdefault(moved.lineno, child)

    def _node(self, place: Place) -> ast.expr | None:
        start, end, left, right = place
        found = self._at.get((start, end, left, right))
        if found is None and left is None and start is not None:
            return self._on.get(start)
        return found

    def target(self, place: Place) -> str:
        node = self._node(place)
        return "" if node is None else ".".join(reversed(list(self._names(node))))

    def loop(self, place: Place) -> Loop | None:
        node: ast.AST | None = self._node(place)
        compared = False
        while node is not None and not isinstance(node, ast.While):
            compared = compared or isinstance(node, ast.Compare)
            node = self._parents.get(node)
        if node is None:
            return None
        return "sleeping" if compared and any(_is_sleep(child) for child in ast.walk(node)) else "while"

    def _names(self, node: ast.expr) -> Iterator[str]:
        """From the inside to the outside."""
        child: ast.AST = node
        whole = node  # as far as the expression goes
        while (parent := self._parents.get(child)) is not None:
            match parent:
                case ast.NamedExpr(target=ast.Name(id=name)):
                    yield name
                    return
                case ast.keyword(arg=str(name)):
                    yield name
                case ast.Call(func=function) if function is not child:
                    name = _last_name(function)
                    if name and name not in _TRANSPARENT:
                        yield name
                case ast.Dict(keys=keys, values=values):
                    key = next((key for key, value in zip(keys, values, strict=True) if value is child), None)
                    if key is not None:
                        yield f"[{ast.unparse(key)}]"
                case ast.withitem(optional_vars=ast.expr() as variables):
                    yield f"with {ast.unparse(variables)}"
                    return
                case ast.stmt():
                    yield _given_to(parent, whole, node, self._parents)
                    return
            if isinstance(parent, ast.expr):
                whole = parent
            child = parent


def _walk(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Each node in this function with what encloses it; functions in it are others, but what defines them is of it."""
    left: list[ast.AST] = [node]
    while left:
        parent = left.pop()
        for name, value in ast.iter_fields(parent):
            if isinstance(parent, _FUNCTIONS) and parent is not node and name == "body":
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not isinstance(child, ast.expr_context):
                    yield parent, child
                    left.append(child)


def _is_sleep(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and _last_name(node.func) in ("sleep", "wait")


def _place(node: ast.expr) -> Place:
    return (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)


def _last_name(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _given_to(statement: ast.stmt, whole: ast.expr, node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str:
    """What a statement does with the value of ``whole``, the expression in it that ``node`` is a part of."""
    match statement:
        case ast.Assign(targets=[target, *_], value=value) if value is whole:
            return ast.unparse(_unpacked(target, value, node, parents))
        case ast.AnnAssign(target=target, value=value) | ast.AugAssign(target=target, value=value) if value is whole:
            return ast.unparse(target)
        case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value) if value is whole:
            return f"for {ast.unparse(target)}"
        case ast.Return():
            return "return"
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return f"def {name}"
        case ast.Expr():
            return ast.unparse(whole)
    return f"{type(statement).__name__.lower()} {ast.unparse(whole)}"


def _unpacked(target: ast.expr, value: ast.expr, node: ast.AST, parents: dict[ast.AST, ast.AST]) -> ast.expr:
    """In ``a, b = uuid4(), uuid4()`` the name that is given just this value."""
    if not (isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List)):
        return target
    if len(target.elts) != len(value.elts) or any(isinstance(e, ast.Starred) for e in (*target.elts, *value.elts)):
        return target
    element = node
    while element is not value and parents[element] is not value:
        element = parents[element]
    for given, part in zip(target.elts, value.elts, strict=True):
        if part is element:
            return _unpacked(given, part, node, parents)
    return target
