"""User classes: an instance is made as ``type`` makes it, with the twins of ``__new__`` and ``__init__``."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from .bind import bound
from .path import Path
from .twins import Template, template_of

Resolve = Callable[[Path, Any, tuple[object, ...]], Any]


def constructor(path: Path, cls: Any, passes: tuple[object, ...], resolve: Resolve) -> Callable[..., Any] | None:
    """Makes instances of a class whose ``__new__`` or ``__init__`` is user code that could reach a step."""
    new, init = cls.__new__, cls.__init__
    new_template, init_template = _template(new), _template(init)
    if new_template is None and init_template is None:
        return None
    if new_template is not None:
        new = bound(path, new, passes, new_template)
    if init_template is not None:
        init = bound(path, init, passes, init_template)

    def construct(*args: Any, **kwargs: Any) -> Any:
        made = new(cls, *args, **kwargs)
        kind = type(made)
        if kind is cls:
            result = init(made, *args, **kwargs)
        elif cls in kind.__mro__:
            result = resolve(path, kind.__init__, passes)(made, *args, **kwargs)
        else:
            return made
        if result is not None:
            raise TypeError(f"__init__() should return None, not {type(result).__name__!r}")
        return made

    return construct


def _template(function: Any) -> Template | None:
    if type(function) is not FunctionType:
        return None
    template = template_of(function)
    return template if template is not None and template.code is not None else None
