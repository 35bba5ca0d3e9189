"""What leaves the process and cannot be recorded: whether it may, here and now, and the error that says what to do.

Nothing is asked outside of a run. In a run the stack is walked up to the user's own code: a step, a database driver,
telemetry, or a library whose exchanges the recorder sees lets it pass.
"""

from __future__ import annotations

import ast
import functools
import linecache
import sys
import weakref
from asyncio import base_events, events, runners
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from semel.compiler import Path, current, is_step_begun, operation_name, place
from semel.compiler.hidden import PATH
from semel.compiler.packages import is_user_module
from semel.compiler.twins import is_twin_code
from semel.compiler.where import Place, is_carrier
from semel.errors import CallNotRecordable

from .passthrough import (
    is_logging_module,
    is_lookup_module,
    is_passthrough_host,
    is_passthrough_module,
    is_passthrough_operation,
)

Address = tuple[str, int | None]

#: The libraries whose exchanges the recorder sees, by its file for each: what else they send opens and closes
#: connections.
_RECORDED = {
    "httpx": ("httpx", "httpcore"),
    "httpx2": ("httpx2", "httpcore2"),
    "urllib3": ("urllib3",),
    "http_client": ("http.client",),
    "aiohttp": ("aiohttp", "aiohappyeyeballs"),
    "smtplib": ("smtplib",),
    "aiosmtplib": ("aiosmtplib",),
}

#: Where the stack goes on into an event loop, which runs the callbacks and tasks of many.
_LOOPS = frozenset(
    id(function.__code__)  # hashing the code itself would be slow
    for function in (events.Handle._run, base_events.BaseEventLoop.run_forever, runners.Runner.run, runners.run)
)

#: The function in which asyncio ends a TLS connection: it says so to the other side, and nothing else.
_FAREWELL = "_do_shutdown"

#: Where asyncio sends what a transport was given before: whether it may leave was asked when it was given.
_FLUSHING = frozenset({"_write_ready", "_write_send", "_write_sendmsg", "_sendto_ready"})

#: Sockets that a driver, telemetry or the like has connected in a run: what it sends on them later comes from callbacks
#: of the loop, where nothing of it is on the stack.
_admitted: weakref.WeakSet[Any] = weakref.WeakSet()


def admit(sock: Any) -> None:
    """Remembers a socket that is being connected, if what connects it passes through."""
    path = current.get()
    if path is not None and not path.in_step and passes_through():
        _admitted.add(sock)


def is_admitted(sock: Any) -> bool:
    """Whether a driver or the like has connected this socket, or that of this transport."""
    return getattr(sock, "_sock", sock) in _admitted or sock in _admitted


@dataclass(frozen=True, slots=True)
class Leaving:
    """What leaves. ``address`` is asked where it goes; ``starts`` says that it starts a process.

    ``label`` names the step in the fix where the operation's name, which is then not shown in it, means nothing to the
    user; ``advice`` is added to the fix.
    """

    what: str
    address: Callable[[], Address | None] = lambda: None
    starts: bool = False
    label: str | None = None
    advice: str = ""


def leaving(it: Leaving) -> None:
    """Refuses it in the body of a run, outside a step.

    Raises:
        CallNotRecordable: it must not be done here. The run faults, whatever is done with the error.
    """
    path = current.get()
    if path is None or path.execution.over or _may_leave(path, sys._getframe(1), it.starts):
        return
    there = it.address()
    if there is not None and is_passthrough_host(*there):
        return
    operation = _operation(path)
    if operation is not None and is_passthrough_operation(operation):
        return
    error = CallNotRecordable(_message(path, place(compiled=True), operation, it, there))
    raise path.execution.condemned(error)  # type: ignore[attr-defined]


def _may_leave(path: Path, innermost: FrameType | None, starts: bool) -> bool:
    """Whether what is on the stack, up to compiled code, may leave the process; ``path`` is the last site's."""
    frame = innermost
    in_step = path.in_step
    while frame is not None:
        code = frame.f_code
        if is_twin_code(code):
            own: Any = frame.f_locals.get(PATH)
            in_step = own.in_step if isinstance(own, Path) else in_step
            break
        if is_step_begun(code) or (code.co_name == _FAREWELL and frame.f_globals.get("__name__") == "asyncio.sslproto"):
            return True
        if code.co_name in _FLUSHING and frame.f_globals.get("__name__") == "asyncio.selector_events":
            return True
        if id(code) in _LOOPS or is_carrier(code):
            break
        frame = frame.f_back
    return in_step or _is_let_through(innermost, frame, _may_start if starts else _may_send)


def passes_through() -> bool:
    """Whether what is done now is logging, telemetry, a credential exchange or a driver's: no step, and not refused."""
    frame: FrameType | None = sys._getframe(1)
    end = frame
    while end is not None and not is_twin_code(end.f_code):
        end = end.f_back
    return _is_let_through(frame, end, is_passthrough_module)


def _is_let_through(frame: FrameType | None, end: FrameType | None, passes: Callable[[str], bool]) -> bool:
    """Whether a module below the frame ``end`` is one that ``passes``.

    What the user's own functions do, that a driver or the like calls back, is not what the driver does.
    """
    called_user = False
    while frame is not end and frame is not None:
        name = frame.f_globals.get("__name__")
        if isinstance(name, str) and (is_logging_module(name) if called_user else passes(name)):
            return True
        called_user = called_user or is_user_module(name)
        frame = frame.f_back
    return False


def _may_send(module: str) -> bool:
    return is_passthrough_module(module) or _is_recorded(module) or module.startswith(("semel.store.", "semel.worker."))


def _may_start(module: str) -> bool:
    return _may_send(module) or is_lookup_module(module)


def _is_recorded(module: str) -> bool:
    library = _library_of(module)
    return library is not None and f"semel.capture.{library}" in sys.modules


@functools.lru_cache(maxsize=4096)
def _library_of(module: str) -> str | None:
    for library, roots in _RECORDED.items():
        if any(module == root or module.startswith(f"{root}.") for root in roots):
            return library
    return None


def _operation(path: Path) -> str | None:
    """The operation that the user's code calls, if the path says it."""
    callee, owner = getattr(path, "callee", (None, ()))
    return None if callee is None else operation_name(callee, *owner)


# ------------------------------------------------------------------------------------------------------------- messages


def _message(path: Path, here: Place | None, operation: str | None, it: Leaving, there: Address | None) -> str:
    where = str(here) if here is not None else path.text()
    name = f"{operation} " if operation is not None else ""
    to = "" if there is None else f" ({there[0]})" if there[1] is None else f" ({there[0]}:{there[1]})"
    text = (
        f"{where}: {name}leaves the process, outside of a once: {it.what}{to}. That cannot be recorded by itself, so a "
        f"later attempt of the run would do it again. It was not done. "
        f"{_fix(here, operation, it.label or _label(operation))}{it.advice}"
    )
    return text + _declaration(operation) if operation is not None and it.label is None else text


def _declaration(operation: str) -> str:
    """How the operation is declared, where that makes sense: it is of a package, and not of Python's own."""
    root, dot, _ = operation.partition(".")
    if not dot or root in sys.stdlib_module_names or operation.rpartition(".")[2] in _OPENING:
        return ""
    text = f'\nOr make each call of it a step, in pyproject.toml: [tool.semel] external = ["{operation}"]'
    if _is_recorded(root):
        return text
    return f'{text}; or, if it does no harm to do it again at each attempt: passthrough = ["{root}.*"]'


def _fix(here: Place | None, operation: str | None, label: str) -> str:
    opens = operation is not None and operation.rpartition(".")[2] in _OPENING
    part = None if opens or here is None else _whole(here)
    step = None if here is None or part is None else _step(part, label, operation, alone=part == here.part)
    if here is None or part is None or step is None:
        advice = "Open the connection, use it and close it in one step" if opens else "Make it a step"
        line = f":\n    {here.text}" if here is not None else ""
        return (
            f"{advice}: put it into a function that returns what the body needs of it, and write "
            f'once("{label}", that_function) in its place{line}'
        )
    line = here.text.replace(part, step, 1) if part in here.text else step
    return f"Make it a step:\n    {line}"


#: What these return is a connection or a running process, which is no value that could be recorded.
_OPENING = frozenset(
    {
        *("connect", "connect_ex", "connect_async", "ws_connect", "create_connection", "open_connection"),
        *("socket", "wrap_socket", "create_datagram_endpoint"),
        *("Popen", "popen", "create_subprocess_exec", "create_subprocess_shell"),
    }
)


def _whole(here: Place) -> str | None:
    """The call with what is taken of its result on the same line (``.stdout.strip()``); None if that goes on below.

    The step returns what the body needs of the result, which may be no value that could be recorded.
    """
    if here.part not in here.text:
        return here.part
    rest = here.text.partition(here.part)[2]
    ends = [end for end in range(len(rest) + 1) if _is_chain(here.part, rest[:end])]
    taken = ends[-1] if ends else 0
    goes_on = rest[taken:].lstrip().startswith((".", "(", "["))
    below = linecache.getline(here.file, here.line + 1).lstrip().startswith(".") and not rest[taken:].strip()
    return None if goes_on or below else here.part + rest[:taken]


def _is_chain(part: str, after: str) -> bool:
    """Whether ``after`` is attributes, calls and items of the expression before it, and nothing more."""
    text = part + after
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return False
    end = len(part.encode())
    if node.end_col_offset != len(text.encode()):
        return False
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript) and node.end_col_offset != end:
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.end_col_offset == end


def _step(part: str, label: str, operation: str | None, *, alone: bool) -> str | None:
    """The expression as a step; None if it is no expression on one line. ``alone``: nothing is taken of its result."""
    awaited = part.startswith("await ")
    inner = part.removeprefix("await ").strip()
    try:
        ast.parse(inner, mode="eval")
    except SyntaxError:
        return None
    if operation == "subprocess.run" and alone:
        inner += ".returncode"  # the finished process itself cannot be recorded
    step = f'once("{label}", lambda: {inner})'
    return f"await {step}" if awaited else step


def _label(operation: str | None) -> str:
    name = (operation or "").rpartition(".")[2].strip("_").lower()
    return name if name.isidentifier() else "send"
