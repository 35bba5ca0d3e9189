"""Compiles one function's node on its own, as the same code object that its module would hold.

The node is placed in a function whose parameters are its free variables and the hidden names of the compiler, and in a
class of the right name where it stands in one (mangled names, ``__class__``). That function is never called: only the
code object is taken out of it, and given its own names again.
"""

from __future__ import annotations
import __future__

import ast
import copy
from collections.abc import Iterable
from types import CodeType
from typing import TypeVar

from .source import Found, FunctionNode, SourceFile

T = TypeVar("T", bound=ast.AST)

_FUTURE = 0
for _name in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _name).compiler_flag

_OUTER = ".outer"
_INNER = ".twin"
_OPTIMIZED = 0x0001


def compile_node(
    file: SourceFile, found: Found, node: FunctionNode, original: CodeType, hidden: Iterable[str] = ()
) -> CodeType:
    """The code of ``node``, which is ``found.node`` or a transformed copy of it."""
    inner = _stripped(node)
    body: list[ast.stmt] = [inner]
    if found.within_class is not None:
        holder = _at(ast.ClassDef(found.within_class, [], [], body, []), node)
        if "type_params" in holder._fields:
            holder.type_params = []  # type: ignore[attr-defined]
        body = [holder]
        if found.within_class not in original.co_freevars:
            # The class's name is not one of the function round it, so that a use of it is still a global's.
            body.insert(0, _at(ast.Global([found.within_class]), node))
    parameters = [ast.arg(name) for name in dict.fromkeys([*hidden, *original.co_freevars]) if name != "__class__"]
    if found.within_class is None and "__class__" in original.co_freevars:
        parameters.append(ast.arg("__class__"))
    outer = _function(_OUTER, ast.arguments([], parameters, None, [], [], None, []), body)
    of_module: list[ast.stmt]
    of_module = [_at(ast.Import([_at(ast.alias(_OUTER, name), node)]), node) for name in file.imported]
    if file.mentions_super:
        of_module.append(_at(ast.Expr(_at(ast.Name("super", ast.Load()), node)), node))
    module = ast.Module([*of_module, _at(outer, node)], [])
    for argument in parameters:
        _at(argument, node)
    flags = original.co_flags & _FUTURE
    compiled = compile(module, original.co_filename, "exec", flags=flags, dont_inherit=True)
    code = _find(compiled, "<lambda>" if isinstance(node, ast.Lambda) else _INNER)
    return _renamed(code, code.co_qualname, original.co_qualname).replace(co_name=original.co_name)


def _stripped(node: FunctionNode) -> ast.stmt:
    """The function without what its definition evaluates; that has no part in its code."""
    arguments = node.args
    bare = ast.arguments(
        posonlyargs=[_bare(arg) for arg in arguments.posonlyargs],
        args=[_bare(arg) for arg in arguments.args],
        vararg=_bare(arguments.vararg) if arguments.vararg else None,
        kwonlyargs=[_bare(arg) for arg in arguments.kwonlyargs],
        kw_defaults=[None] * len(arguments.kwonlyargs),
        kwarg=_bare(arguments.kwarg) if arguments.kwarg else None,
        defaults=[],
    )
    if isinstance(node, ast.Lambda):
        return _at(ast.Expr(_at(ast.Lambda(bare, node.body), node)), node)
    stripped = copy.copy(node)
    stripped.name = _INNER
    stripped.args = bare
    stripped.returns = None
    # A decorator decides the first line of the code.
    stripped.decorator_list = [_at(ast.Constant(None), first) for first in node.decorator_list[:1]]
    if "type_params" in stripped._fields:
        stripped.type_params = []  # type: ignore[union-attr]
    return stripped


def _bare(argument: ast.arg) -> ast.arg:
    return _at(ast.arg(argument.arg), argument)


def _function(name: str, arguments: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    function = ast.FunctionDef(name, arguments, body, [])
    if "type_params" in function._fields:
        function.type_params = []  # type: ignore[attr-defined]
    return function


def _at(new: T, old: ast.AST) -> T:
    return ast.copy_location(new, old)


def _find(code: CodeType, name: str) -> CodeType:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            return constant if constant.co_name == name else _find(constant, name)
    raise AssertionError(name)


def _renamed(code: CodeType, old: str, new: str) -> CodeType:
    """The code and all in it, with qualified names as in the user's module."""

    def mend(constant: object) -> object:
        if isinstance(constant, CodeType):
            return _renamed(constant, old, new)
        if isinstance(constant, str) and constant.startswith(old + "."):
            return new + constant[len(old) :]  # a local class's __qualname__
        return constant

    consts = tuple([mend(constant) for constant in code.co_consts])
    return code.replace(co_consts=consts, co_qualname=new + code.co_qualname[len(old) :])


def same_code(one: CodeType, other: CodeType) -> bool:
    """Whether two code objects do the same, line numbers aside."""
    return (
        one.co_code == other.co_code
        and one.co_names == other.co_names
        and one.co_varnames == other.co_varnames
        and one.co_freevars == other.co_freevars
        and one.co_cellvars == other.co_cellvars
        and one.co_argcount == other.co_argcount
        and one.co_posonlyargcount == other.co_posonlyargcount
        and one.co_kwonlyargcount == other.co_kwonlyargcount
        and one.co_exceptiontable == other.co_exceptiontable
        and len(one.co_consts) == len(other.co_consts)
        and all(_same_constant(a, b, one) for a, b in zip(one.co_consts, other.co_consts, strict=True))
    )


def _same_constant(one: object, other: object, holder: CodeType) -> bool:
    if isinstance(one, CodeType):
        return isinstance(other, CodeType) and same_code(one, other)
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple) and isinstance(other, tuple):
        if not holder.co_flags & _OPTIMIZED:
            # A class body's __static_attributes__ are in no fixed order.
            return sorted(map(repr, one)) == sorted(map(repr, other))
        return len(one) == len(other) and all(_same_constant(a, b, holder) for a, b in zip(one, other, strict=True))
    if isinstance(one, float | complex):
        return repr(one) == repr(other)
    return one == other
