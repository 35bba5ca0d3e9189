"""How a body leads to a function by calls that stand in no step: what such a function does, each attempt does again."""

from __future__ import annotations

from collections import deque

from .data import Call, Model

#: How sure a call must be to be followed. A method known by its name alone would lead anywhere.
_FOLLOWED = frozenset({"sure", "likely", "foreign"})


class Routes:
    """The shortest routes from the bodies of a program, found once."""

    def __init__(self, model: Model) -> None:
        self._routes: dict[str, tuple[Call, ...]] = dict.fromkeys(model.roots, ())
        waiting = deque(self._routes)
        while waiting:
            name = waiting.popleft()
            function = model.functions.get(name)
            for call in function.calls if function is not None else ():
                if call.within is not None or call.certainty not in _FOLLOWED:
                    continue
                for candidate in call.candidates:
                    if candidate.function not in self._routes:
                        self._routes[candidate.function] = (*self._routes[name], call)
                        waiting.append(candidate.function)

    def __contains__(self, function: str) -> bool:
        """Whether a body leads to the function outside of all steps."""
        return function in self._routes

    def to(self, function: str) -> tuple[Call, ...]:
        """The calls from a body to the function, empty for a body. Raises KeyError where no body leads to it."""
        return self._routes[function]
