"""``@app.workflow`` above a class: it is known to the app, and its rows are heard of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semel.compiler import add_package
from semel.errors import RegistrationError
from semel.program import at_import
from semel.workflow.definition import EntityDefinition

from .listening import listen

if TYPE_CHECKING:
    from semel.app import App


def register(app: App, cls: Any, options: dict[str, Any]) -> None:
    """Registers the class.

    Raises:
        RegistrationError: it is no entity workflow, its name is taken, or options of a function were given.
        Refused: a step in its module can never be found again.
    """
    definition: EntityDefinition | None = getattr(cls, "__definition__", None)
    if definition is None:
        raise RegistrationError(
            f"@app.workflow takes a function or an entity workflow, and {cls.__qualname__!r} is a class that follows "
            f"nothing; write class {cls.__qualname__}(Workflow[Order], tracks=Order.stage, initial=…)"
        )
    given = [name for name, value in options.items() if value]
    if given:
        raise RegistrationError(
            f"@app.workflow({', '.join(f'{name}=…' for name in given)}) is for functions; {cls.__qualname__} says it "
            f"as "
            f"keywords of the class: class {cls.__qualname__}(Workflow[…], tracks=…, {given[0]}=…)"
        )
    taken = app.entities.get(definition.name)
    function = app.workflows.get(definition.name)
    if function is not None or (taken is not None and not _same(taken, definition)):
        place = function.place if function is not None else taken.place if taken is not None else ""
        raise RegistrationError(
            f"the workflow name {definition.name!r} is taken: {place} and {definition.place}. Give one of them another "
            f"name: class {cls.__qualname__}(…, name=…)"
        )
    add_package(cls.__module__.partition(".")[0])
    for module in {body.function.__module__: body.function for body in definition.bodies.values()}.values():
        at_import(module)
    cls.__app__ = app
    app.entities[definition.name] = definition
    if taken is None or taken.entity is not definition.entity:
        listen(app, definition)


def _same(one: EntityDefinition, other: EntityDefinition) -> bool:
    """Whether a module was executed again."""
    return one.place == other.place and one.cls.__qualname__ == other.cls.__qualname__
