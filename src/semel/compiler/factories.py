"""Default factories that read what is unrepeatable: ``id: UUID = field(default_factory=uuid4)`` (rule A5).

The code that calls the factory is not compiled: a dataclass's ``__init__`` has no source, msgspec's and pydantic's is
not Python. So a dataclass or Struct that is made in a body is given the value that its factory would give. A pydantic
model validates what it is given but not its defaults, so its field is set afterwards, where no validator could have
seen it. (The ``__init__`` of an attrs class has source, and runs as a twin.)
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import msgspec

from .chain import known_as, latest_call, passed
from .path import Origin, Path
from .site import Framed, Site
from .targets import target
from .twins import segment, template_of
from .unrepeatable import reader_of

Resolve = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Fields:
    """The parameters of a class in order, and the factories among their defaults that are answered here."""

    order: tuple[str, ...]
    factories: dict[str, Any]
    afterwards: bool


_none = Fields((), {}, False)
_classes: dict[type, Fields] = {}


def filling(path: Path, cls: Any, passes: tuple[object, ...], resolve: Resolve) -> Callable[[Any], Any] | None:
    """Makes of what would be called for ``cls`` what fills its fields; None for a class without such factories."""
    fields = _classes.get(cls)
    if fields is None:
        fields = _fields_of(cls)
        if "<locals>" not in cls.__qualname__:
            _classes[cls] = fields
    if not fields.factories:
        return None
    origin = latest_call(path)

    def value(name: str) -> Any:
        return resolve(_at(path, passes, cls, origin, name), fields.factories[name], ())()

    return lambda make: _filled(make, fields, value)


def _filled(make: Any, fields: Fields, value: Callable[[str], Any]) -> Callable[..., Any]:
    make = Framed(make) if type(make) is Site else make

    def construct(*args: Any, **kwargs: Any) -> Any:
        missing = [name for name in fields.factories if name not in kwargs and name not in fields.order[: len(args)]]
        if not fields.afterwards:
            return make(*args, **kwargs, **{name: value(name) for name in missing})
        made = make(*args, **kwargs)
        for name in fields.factories:
            if name not in made.__pydantic_fields_set__:
                made.__dict__[name] = value(name)
        return made

    return construct


def _at(path: Path, passes: tuple[object, ...], cls: type, origin: Origin | None, name: str) -> Path:
    """Where a factory is called: at the path of the caller, under the name of the field."""
    made = Path(path, passes, "", path.execution, path.wrapped)
    made.known_as = f"{known_as(path)}{passed(passes)}/{segment(cls.__qualname__)}({target(origin)}).{name}"
    return made


def _fields_of(cls: Any) -> Fields:
    if isinstance(cls, type(msgspec.Struct)):
        return _fields_of_struct(cls)
    init = cls.__init__
    if type(init) is not FunctionType:
        return _none
    if init.__module__ == "pydantic.main":
        return _fields_of_model(cls)
    owner = next((base for base in cls.__mro__ if "__init__" in vars(base)), cls)
    parameters = vars(owner).get("__dataclass_params__")
    if parameters is None or not parameters.init or init.__code__.co_filename != "<string>":
        return _none
    fields = [field for field in dataclasses.fields(owner) if field.init]
    order = tuple(field.name for field in fields if not field.kw_only)
    return Fields(order, dict(_read((field.name, field.default_factory) for field in fields)), False)


def _fields_of_struct(cls: Any) -> Fields:
    fields = msgspec.structs.fields(cls)
    order = tuple(field.name for field in fields)
    return Fields(order, dict(_read((field.name, field.default_factory) for field in fields)), False)


def _fields_of_model(cls: Any) -> Fields:
    """Of a model whose validators and hooks cannot have seen the value that is replaced."""
    main = sys.modules["pydantic.main"].BaseModel
    decorators = cls.__pydantic_decorators__
    if cls.__init__ is not main.__init__ or cls.model_post_init is not main.model_post_init:
        return _none
    validators = (decorators.model_validators, decorators.field_validators, decorators.root_validators)
    if any(validators) or decorators.validators or cls.model_config.get("validate_default"):
        return _none
    factories = {
        name: field.default_factory
        for name, field in cls.model_fields.items()
        if field.default_factory is not None and not field.validate_default and reader_of(field.default_factory)
    }
    return Fields((), factories, True)


def _read(defaults: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Those whose factory is a known reader or a function of the user's, which may call one."""
    for name, factory in defaults:
        if factory is dataclasses.MISSING or factory is msgspec.NODEFAULT:
            continue
        template = template_of(factory) if type(factory) is FunctionType else None
        if (template is not None and template.code is not None) or reader_of(factory) is not None:
            yield name, factory
