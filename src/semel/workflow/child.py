"""Child runs: ``run_child`` starts one, and its result is waited for durably (rules W5, V3)."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Generic, LiteralString, NoReturn, ParamSpec, TypeVar, overload

from semel.compiler import Path, intrinsic
from semel.engine.labels import segment_of_label
from semel.errors import NotAllowedHere

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Child(Generic[R_co]):
    """A child run, as its parent's body has it. ``id`` is the id of the run: ``order-1/start@1#check``."""

    __slots__ = ("_execution", "_live", "_new", "id")

    def __init__(self, execution: Any, live: Any, new: Any) -> None:
        self._execution = execution
        self._live = live
        self._new = new
        self.id: str = new.id

    def __repr__(self) -> str:
        return f"<Child {self.id!r}>"

    def result(self) -> R_co:
        """Waits until the child has ended, and gives its result; what it ended with is raised.

        Nothing is held in memory meanwhile: the body runs again from its top, its steps found.

        Raises:
            RunCancelled: the child was cancelled. Whatever else is the child's own failure.
            NotAllowedHere: in a step with a retry, or after the body's end.
        """
        self._refuse("result")

    async def result_async(self) -> R_co:
        """``result`` in an async body; other tasks of the body go on meanwhile, until all of them wait."""
        self._refuse("result_async")

    def _refuse(self, name: str) -> NoReturn:
        raise NotAllowedHere(
            f"{self.id}: {name}() waits in the body that started the child, and was reached through code that semel "
            f"does "
            f'not compile. Elsewhere, ask the run itself: app.run("{self.id}").result()'
        )


@overload
def run_child(
    label: LiteralString, workflow: Callable[P, Coroutine[Any, Any, R]], /, *args: P.args, **kwargs: P.kwargs
) -> Child[R]: ...
@overload
def run_child(label: LiteralString, workflow: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Child[R]: ...
def run_child(label: str, workflow: Any, /, *args: Any, **kwargs: Any) -> Child[Any]:
    """Starts a run of another workflow as a child of this one, once per visit.

    It starts with the body's next commit: when the body waits, or ends. Cancelling the parent cancels it.

    Args:
        label: a string literal that names the child; the only one of that name in its function.
        workflow: a function registered with the app of this run.
        args, kwargs: its arguments; they are recorded.

    Raises:
        WorkflowUnknown, TypeError: it cannot be started like that.
        NotAllowedHere: outside of a run, in a step with a retry, or more than a hundred generations deep.
    """
    raise NotAllowedHere(
        f"run_child({label!r}, …) starts a child of a run, and this is none, or is reached through code that semel "
        f"does not compile; outside of a run use app.start(…)"
    )


def wait_all(children: Sequence[Child[R]]) -> list[R]:
    """Waits until all of these children have ended, and gives their results, in this order.

    The first failure among them, in this order, is raised; the others go on being what they are.
    """
    raise _outside("wait_all")


async def wait_all_async(children: Sequence[Child[R]]) -> list[R]:
    """``wait_all`` in an async body."""
    raise _outside("wait_all_async")


def wait_first(children: Sequence[Child[R]], *, label: LiteralString | None = None) -> Child[R]:
    """Waits until one of these children has ended, and gives that one; which it was stays so.

    Args:
        label: a string literal that names the wait, where there are two in a function.
    """
    raise _outside("wait_first")


async def wait_first_async(children: Sequence[Child[R]], *, label: LiteralString | None = None) -> Child[R]:
    """``wait_first`` in an async body."""
    raise _outside("wait_first_async")


def _outside(name: str) -> NotAllowedHere:
    return NotAllowedHere(
        f"{name}(…) waits in the body of a run, and this is none, or is reached through code that semel does not "
        f"compile"
    )


def _start_at(path: Path, passes: tuple[object, ...], awaited: bool) -> Callable[..., Any]:
    execution: Any = path.execution

    def start(label: str, workflow: Any, /, *args: Any, **kwargs: Any) -> Child[Any]:
        live, new = execution.waits.child(path, passes, label, workflow, args, kwargs)
        return Child(execution, live, new)

    return start


def _result_at(is_async: bool, path: Path, passes: tuple[object, ...], awaited: bool, child: Any) -> Callable[..., Any]:
    return lambda: _execution_of(path, [child]).waits.results(is_async, [(child._live, child._new)], one=True)


def _all_at(is_async: bool, path: Path, passes: tuple[object, ...], awaited: bool) -> Callable[..., Any]:
    def call(children: Sequence[Any]) -> Any:
        given = list(children)
        execution = _execution_of(path, given)
        return execution.waits.results(is_async, [(child._live, child._new) for child in given], one=False)

    return call


def _first_at(is_async: bool, path: Path, passes: tuple[object, ...], awaited: bool) -> Callable[..., Any]:
    def call(children: Sequence[Any], *, label: str | None = None) -> Any:
        given = list(children)
        if not given:
            raise ValueError("wait_first of no children would wait for ever")
        name = "wait_first" if label is None else segment_of_label(label)
        execution = _execution_of(path, given)
        first = execution.waits.first(path, passes, is_async, name, [child._new for child in given])
        by_uid = {child._new.uid: child for child in given}
        return _later(first, by_uid) if is_async else by_uid[first]

    return call


async def _later(first: Any, by_uid: dict[str, Any]) -> Any:
    return by_uid[await first]


def _execution_of(path: Path, children: list[Any]) -> Any:
    for child in children:
        if not isinstance(child, Child):
            raise TypeError(f"a Child is waited for, what run_child gives, not a {type(child).__qualname__}")
        if child._execution is not path.execution:
            raise NotAllowedHere(f"{child!r} was started by another execution of a body; only that one can wait for it")
    return path.execution


intrinsic(run_child, _start_at)
intrinsic(Child.result, lambda *at: _result_at(False, *at))
intrinsic(Child.result_async, lambda *at: _result_at(True, *at))
intrinsic(wait_all, lambda *at: _all_at(False, *at))
intrinsic(wait_all_async, lambda *at: _all_at(True, *at))
intrinsic(wait_first, lambda *at: _first_at(False, *at))
intrinsic(wait_first_async, lambda *at: _first_at(True, *at))
