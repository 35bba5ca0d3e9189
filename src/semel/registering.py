"""What ``@app.workflow`` does: it looks at a function, or at the bodies of a class, and puts it under its name."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .compiler import add_package
from .errors import RegistrationError
from .program import at_import
from .workflow.definition import EntityDefinition
from .workflow.entity import Workflow
from .workflow.function import FunctionWorkflow, function_workflow, same_function

if TYPE_CHECKING:
    from .app import App


def register(app: App, given: Any, options: Mapping[str, Any]) -> None:
    """Registers a function, or a class that is a ``Workflow``; ``options`` are those of ``App.workflow``.

    Raises:
        RegistrationError: the name is taken, or it cannot be a workflow.
        Refused: a step in the module can never be found again.
    """
    if inspect.isclass(given) and issubclass(given, Workflow):
        _register_class(app, given, options)
    else:
        _register_function(app, given, options)


def _register_function(app: App, function: Any, options: Mapping[str, Any]) -> None:
    made = function_workflow(function, **options)
    taken = app.workflows.get(made.name)
    if taken is None or not same_function(taken.function, function):
        _refuse_taken(app, made)
    _look_at(function)
    app.workflows[made.name] = made


def _register_class(app: App, cls: type[Workflow[Any]], options: Mapping[str, Any]) -> None:
    definition = vars(cls).get("__definition__")
    if definition is None:
        raise RegistrationError(
            f"{cls.__qualname__} ({_place_of(cls)}) says not what it tracks, so it is a base for workflows and none "
            f"itself: write class {cls.__name__}(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED)"
        )
    for name, value in options.items():
        if value not in (None, False, 0):
            fix = (
                "a state's clock ends it in time: @expire(Stage.PLACED, after=…)"
                if name == "timeout"
                else f"write it at the class: class {cls.__name__}(…, {name}={value!r})"
            )
            raise RegistrationError(
                f"{definition.place}: {cls.__qualname__}: @app.workflow({name}=…) is for functions; {fix}"
            )
    taken = app.entities.get(definition.name)
    if taken is None or not _same_class(taken, definition):
        _refuse_taken(app, definition)
    column = (definition.entity, definition.attribute)
    for other in app.entities.values():
        if other.name != definition.name and (other.entity, other.attribute) == column:
            raise RegistrationError(
                f"{definition.place}: {cls.__qualname__} and {other.name} ({other.place}) both track "
                f"{definition.entity.__qualname__}.{definition.attribute}, and each would find the state changed by "
                f"the other one: give one of them a column of its own"
            )
    add_package(cls.__module__.partition(".")[0])
    for body in definition.bodies.values():
        _look_at(body.function)
    app.entities[definition.name] = definition
    cls.__app__ = app
    if taken is None or taken.entity is not definition.entity:
        from .entities.listening import listen  # needs SQLAlchemy, which whoever tracks a column has

        listen(app, definition)


def _look_at(function: Any) -> None:
    add_package(function.__globals__["__name__"].partition(".")[0])
    at_import(function)


def _refuse_taken(app: App, made: FunctionWorkflow | EntityDefinition) -> None:
    taken = app.workflows.get(made.name) or app.entities.get(made.name)
    if taken is not None:
        fix = '@app.workflow(name="…")' if isinstance(made, FunctionWorkflow) else 'class …(Workflow[…], name="…")'
        raise RegistrationError(
            f"the workflow name {made.name!r} is taken: {taken.place} and {made.place}. Give one of them another "
            f"name: {fix}"
        )


def _same_class(one: EntityDefinition, other: EntityDefinition) -> bool:
    """Whether a module was executed again (a reload, ``python -m`` after an import)."""
    return one.cls.__qualname__ == other.cls.__qualname__ and _real(one.place) == _real(other.place)


def _real(place: str) -> tuple[str, str]:
    file, _, line = place.rpartition(":")
    return os.path.realpath(file), line


def _place_of(cls: type) -> str:
    try:
        return f"{inspect.getsourcefile(cls)}:{inspect.getsourcelines(cls)[1]}"
    except (OSError, TypeError):
        return cls.__module__
