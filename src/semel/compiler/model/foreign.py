"""What the model knows of code that is not the user's: the standard library's callables that matter to a path."""

from __future__ import annotations

import ast
from types import GeneratorType
from typing import TYPE_CHECKING

from . import intrinsics, plain
from .scopes import Scope
from .seams import DOUBLES
from .values import UNKNOWN, Cls, Fn, ForeignInst, Inst, Many, Row, Table, Values, union

if TYPE_CHECKING:
    from .infer import Inference

#: Callables that call a function given to them as if it were called where they are: no segment of their own.
TRANSPARENT = frozenset({"asyncio.to_thread", "anyio.to_thread.run_sync"})
#: Methods of pools and loops that do the same, whatever class they are of.
TRANSPARENT_METHODS = frozenset({"submit", "run_in_executor"})
#: Callables that take functions and do not call them.
INERT = frozenset(
    f"builtins.{name}"
    for name in (
        "isinstance", "issubclass", "getattr", "setattr", "hasattr", "delattr", "id", "type", "repr", "str", "print",
        "callable", "len", "hash", "bool", "property", "staticmethod", "classmethod", "super", "format", "vars", "dir",
        "list", "tuple", "dict", "set", "frozenset", "zip", "enumerate", "iter",
    )
) | {
    "functools.partial", "functools.partialmethod", "functools.wraps", "functools.update_wrapper", "typing.cast",
    "typing.get_type_hints", "asyncio.iscoroutinefunction", "dataclasses.field",
}  # fmt: skip
INERT_ROOTS = ("inspect.", "semel.", "builtins.list().", "builtins.dict().", "builtins.set().", "logging.")
LEAVING = frozenset(
    {
        "sys.exit", "os._exit", "os.abort", "builtins.exit", "builtins.quit", "typing.assert_never",
        "typing_extensions.assert_never", "os.execv", "os.execve", "os.execvp", "os.execvpe", "os.execl", "os.execlp",
        "pytest.fail", "pytest.skip", "pytest.exit",
    }
)  # fmt: skip
THREADS = frozenset(
    {
        "threading.Thread", "threading.Timer", "multiprocessing.Process", "multiprocessing.context.Process",
        "_thread.start_new_thread",
    }
)  # fmt: skip
CACHES = frozenset({"functools.lru_cache", "functools.cache", "functools.cached_property"})
#: Decorators of the language and of typing: the function is called as it is.
PLAIN_DECORATORS = frozenset(
    {
        "builtins.staticmethod", "builtins.classmethod", "builtins.property", "abc.abstractmethod", "typing.override",
        "typing.final", "typing.overload", "typing_extensions.override", "contextlib.contextmanager",
        "contextlib.asynccontextmanager", "typing.no_type_check", "typing_extensions.deprecated", "warnings.deprecated",
        "functools.wraps", "semel.App().workflow",
    }
)  # fmt: skip
CONTEXT_MANAGERS = frozenset({"contextlib.contextmanager", "contextlib.asynccontextmanager"})
#: Managers that let every exception through, and one that is there to catch.
NEVER_CATCH = frozenset(
    {
        "builtins.open", "threading.Lock", "threading.RLock", "threading.Condition", "threading.Semaphore",
        "threading.BoundedSemaphore", "asyncio.Lock", "asyncio.Semaphore", "asyncio.Condition", "contextlib.closing",
        "contextlib.nullcontext", "contextlib.redirect_stdout", "contextlib.redirect_stderr", "contextlib.chdir",
        "tempfile.TemporaryDirectory", "tempfile.NamedTemporaryFile", "concurrent.futures.ThreadPoolExecutor",
        "concurrent.futures.ProcessPoolExecutor", "semel.Saga", "semel.saga",
    }
)  # fmt: skip
CATCH = frozenset({"contextlib.suppress"})
#: Foreign callables with small names that make instances.
_LOWERCASE_CLASSES = frozenset(
    {
        "socket.socket", "builtins.open", "collections.deque", "collections.defaultdict", "datetime.datetime",
        "datetime.date", "datetime.time", "datetime.timedelta", "array.array", "logging.getLogger", "builtins.str",
        "builtins.int", "builtins.float", "builtins.bytes", "builtins.bytearray", "builtins.bool", "builtins.object",
        "contextlib.suppress", "contextlib.closing", "contextlib.nullcontext", "contextlib.redirect_stdout",
        "contextlib.redirect_stderr", "contextlib.chdir", "sqlite3.connect", "itertools.count",
    }
)  # fmt: skip
_SAME_ITEMS = frozenset({"list", "sorted", "reversed", "set", "frozenset", "iter", "aiter", "filter", "tuple"})
_ITEM = frozenset({"next", "anext", "min", "max"})
_FIRST_ARGUMENT = frozenset(
    {"copy.copy", "copy.deepcopy", "dataclasses.replace", "asyncio.create_task", "asyncio.ensure_future",
     "asyncio.wait_for", "asyncio.shield", "asyncio.run", "contextlib.closing", "typing.assert_type",
     "functools.partial"}
)  # fmt: skip
#: Methods so common outside of user code that their name alone says nothing about whose they are.
COMMON_METHODS = frozenset(
    name
    for kind in (str, bytes, list, dict, set, frozenset, tuple, int, float, bytearray, GeneratorType)
    for name in dir(kind)
    if name != "send"
) | frozenset(
    {
        "acquire", "add", "add_all", "appendleft", "begin", "cancel", "cancelled", "close", "commit", "connect",
        "debug", "delete", "done", "emit", "error", "exception", "execute", "executemany", "exists", "expire",
        "fetchall", "fetchmany", "fetchone", "fileno", "filter", "first", "flush", "get", "get_nowait", "group",
        "groups", "info", "is_set", "isatty", "isoformat", "log", "match", "merge", "mkdir", "notify_all", "one",
        "one_or_none", "open", "parse", "patch", "popleft", "post", "put", "put_nowait", "query", "read", "readable",
        "readline", "readlines", "refresh", "release", "replace", "request", "result", "rollback", "run", "scalar",
        "scalars", "search", "seek", "set", "setup", "shutdown", "sleep", "start", "stop", "stream", "strftime",
        "sub", "submit", "tell", "text", "total_seconds", "truncate", "unlink", "wait", "warning", "write",
        "writelines", "json", "load", "dump", "loads", "dumps", "recv", "sendall", "bind", "listen", "accept", "all",
        "any", "map", "apply", "call",
    }
)  # fmt: skip


def result_of_foreign(inference: Inference, dotted: str, node: ast.Call, scope: Scope) -> Values:
    """What a call of a foreign callable gives."""
    root, _, name = dotted.rpartition(".")
    first = inference.of(node.args[0], scope) if node.args else UNKNOWN
    if dotted in ("typing.cast", "typing_extensions.cast") and node.args:
        return inference.annotations.read(node.args[0], scope)
    if dotted in _FIRST_ARGUMENT:
        return first
    if dotted in TRANSPARENT:
        return inference.results(first, node, scope)
    if dotted == "asyncio.gather" and not any(isinstance(argument, ast.Starred) for argument in node.args):
        return frozenset({Row(tuple(inference.of(argument, scope) for argument in node.args))})
    if name == "submit" and root.endswith("PoolExecutor()"):
        return frozenset({ForeignInst("concurrent.futures.Future")})
    if root == "builtins":
        if name in _SAME_ITEMS:
            return frozenset({Many(inference.iterate(first if name != "filter" else _last(inference, node, scope)))})
        if name in _ITEM:
            return inference.iterate(first)
        if name == "enumerate":
            return frozenset({Many(frozenset({Row((frozenset(), inference.iterate(first)))}))})
        if name == "zip":
            parts = tuple(inference.iterate(inference.of(argument, scope)) for argument in node.args)
            return frozenset({Many(frozenset({Row(parts)}))})
        if name == "map":
            return frozenset({Many(union([inference.result(v.record) for v in first if isinstance(v, Fn)]) or UNKNOWN)})
        if name == "type" and len(node.args) == 1:
            return frozenset(Cls(v.record) for v in first if isinstance(v, Inst)) or UNKNOWN
        if name == "dict":
            return frozenset({Table(UNKNOWN)})
    if dotted in ("semel.each", "semel.workflow.each.each"):
        return frozenset({Many(inference.iterate(first))})
    made = intrinsics.made_by(dotted)
    if made is not None:
        return frozenset({ForeignInst(made)})
    data = plain.result(dotted, node)
    if data is not None:
        return data
    given = inference.operations.result(dotted, node) if inference.operations is not None else None
    if given is not None:
        return given
    if dotted in _LOWERCASE_CLASSES or name[:1].isupper():
        return frozenset({ForeignInst(dotted, not _has_double(node))})
    return UNKNOWN


def _has_double(node: ast.Call) -> bool:
    """Whether a client is made with a transport of its own, which may be one that answers from a test."""
    return any(k.arg in DOUBLES and not isinstance(k.value, ast.Constant) for k in node.keywords)


def _last(inference: Inference, node: ast.Call, scope: Scope) -> Values:
    return inference.of(node.args[-1], scope) if node.args else UNKNOWN


def is_app(dotted: str) -> bool:
    return dotted in ("semel.App", "semel.app.App")


def is_client(dotted: str) -> bool:
    return dotted == "semel.Client" or (dotted.startswith("semel.") and dotted.endswith(".Client"))
