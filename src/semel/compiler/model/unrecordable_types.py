"""Types of the standard library and of common libraries that the codec cannot record, each with what to return instead.

``{}`` in an advice stands for the author's expression.
"""

from __future__ import annotations

_ITEMS = "list({})"
_PLAIN_DICT = "dict({})"

#: The advice, and the types that it is for, by module.
_ADVICE: tuple[tuple[str, dict[str, str]], ...] = (
    (
        _ITEMS,
        {
            "typing": "Iterator Generator AsyncIterator AsyncGenerator KeysView ValuesView ItemsView",
            "collections.abc": "Iterator Generator AsyncIterator AsyncGenerator KeysView ValuesView ItemsView",
            "types": "GeneratorType AsyncGeneratorType",
            "collections": "deque",
            "builtins": "range map filter zip enumerate reversed iter memoryview",
            "array": "array",
            "itertools": "chain count cycle islice groupby product starmap takewhile dropwhile accumulate batched",
        },
    ),
    ("bytes({})", {"builtins": "bytearray"}),
    ("str({})", {"builtins": "complex", "fractions": "Fraction", "ipaddress": "IPv4Address IPv6Address",
                 "zoneinfo": "ZoneInfo", "email.message": "EmailMessage Message"}),
    (_PLAIN_DICT, {"collections": "defaultdict Counter ChainMap", "typing": "DefaultDict Counter ChainMap"}),
    ("vars({})", {"types": "SimpleNamespace", "argparse": "Namespace"}),
    ("{}.stdout", {"subprocess": "CompletedProcess"}),
    ("{}.id", {"semel": "Run", "semel.run": "Run"}),
    ("{}.group()", {"re": "Match", "typing": "Match"}),
    ("{}.pattern", {"re": "Pattern", "typing": "Pattern"}),
    (
        "{}.read()",
        {
            "typing": "IO TextIO BinaryIO",
            "io": "IOBase RawIOBase BufferedIOBase TextIOBase TextIOWrapper BufferedReader BufferedWriter FileIO",
            "http.client": "HTTPResponse",
            "asyncio": "StreamReader",
            "builtins": "open",
            "aiohttp": "ClientResponse",
        },
    ),
    ("{}.getvalue()", {"io": "BytesIO StringIO"}),
    ("{}.name", {"tempfile": "NamedTemporaryFile TemporaryFile SpooledTemporaryFile TemporaryDirectory"}),
    ("{}.all()", {"sqlalchemy": "Result CursorResult ScalarResult", "sqlalchemy.orm": "Query",
                  "sqlalchemy.engine": "Result CursorResult ScalarResult"}),
    ("{}.result()", {"concurrent.futures": "Future"}),
    ("await {}", {"asyncio": "Future Task", "typing": "Coroutine Awaitable", "collections.abc": "Coroutine Awaitable"}),
)  # fmt: skip
#: What is made anew where it is needed, and never the result of a step.
_MADE_ANEW = {
    "socket": "socket",
    "ssl": "SSLSocket SSLContext",
    "asyncio": "Lock Event Condition Semaphore BoundedSemaphore Queue StreamWriter AbstractEventLoop TaskGroup",
    "threading": "Lock RLock Condition Event Semaphore BoundedSemaphore Barrier Thread Timer local",
    "multiprocessing": "Process Queue Lock Pool",
    "queue": "Queue SimpleQueue LifoQueue PriorityQueue",
    "concurrent.futures": "Executor ThreadPoolExecutor ProcessPoolExecutor",
    "subprocess": "Popen",
    "logging": "Logger",
    "random": "Random SystemRandom",
    "contextvars": "ContextVar Context Token",
    "contextlib": "AbstractContextManager AbstractAsyncContextManager ExitStack AsyncExitStack",
    "typing": "Callable ContextManager AsyncContextManager",
    "collections.abc": "Callable",
    "functools": "partial",
    "types": "FunctionType MethodType ModuleType TracebackType FrameType",
    "sqlite3": "Connection Cursor",
    "smtplib": "SMTP SMTP_SSL",
    "ftplib": "FTP FTP_TLS",
    "sqlalchemy": "Engine Connection",
    "sqlalchemy.engine": "Engine Connection",
    "sqlalchemy.orm": "Session sessionmaker scoped_session",
    "sqlalchemy.ext.asyncio": "AsyncSession AsyncEngine AsyncConnection async_sessionmaker",
    "requests": "Session",
    "httpx": "Client AsyncClient",
    "httpx2": "Client AsyncClient",
    "aiohttp": "ClientSession",
    "urllib3": "PoolManager HTTPConnectionPool",
    "psycopg": "Connection Cursor AsyncConnection AsyncCursor",
    "redis": "Redis",
    "xml.etree.ElementTree": "Element ElementTree",
}

#: Dotted name of a type to what to return instead; empty where nothing of it is a result.
UNRECORDABLE: dict[str, str] = {
    f"{module}.{name}": advice for advice, table in _ADVICE for module, names in table.items() for name in names.split()
} | {f"{module}.{name}": "" for module, names in _MADE_ANEW.items() for name in names.split()}

#: Callables that give such a value, though they are named differently from its type.
GIVES = {
    "subprocess.run": "subprocess.CompletedProcess",
    "socket.create_connection": "socket.socket",
    "logging.getLogger": "logging.Logger",
    "sqlite3.connect": "sqlite3.Connection",
    "re.match": "re.Match",
    "re.search": "re.Match",
    "re.fullmatch": "re.Match",
    "re.finditer": "typing.Iterator",
    "re.compile": "re.Pattern",
    "pathlib.Path().open": "typing.IO",
    "sqlalchemy.create_engine": "sqlalchemy.Engine",
    "urllib.request.urlopen": "http.client.HTTPResponse",
    "asyncio.create_task": "asyncio.Task",
    "semel.App().start": "semel.Run",
    "semel.App().start_async": "semel.Run",
    "semel.App().run": "semel.Run",
    "semel.App().session": "sqlalchemy.orm.Session",
    "semel.App().async_session": "sqlalchemy.ext.asyncio.AsyncSession",
}

#: Bases that add no fields: a class with no others is a plain class.
PLAIN_BASES = frozenset({"builtins.object", "typing.Generic", "abc.ABC"})
#: A class with one of these is a row, which belongs to its session.
ROW_BASES = frozenset(
    {
        "sqlalchemy.orm.DeclarativeBase", "sqlalchemy.orm.DeclarativeBaseNoMeta", "sqlalchemy.orm.declarative_base()",
        "django.db.models.Model",
    }
)  # fmt: skip
#: Bases of classes that are recorded field by field.
RECORD_BASES = frozenset({"typing.NamedTuple", "typing.TypedDict", "pydantic.BaseModel", "msgspec.Struct"})
