"""The standard library's callables that change something outside of the process, or only wait, by dotted name."""

from __future__ import annotations

from .effects import EffectKind

_FILE: dict[str, tuple[str, ...]] = {
    "os": (
        "remove", "unlink", "rename", "renames", "replace", "mkdir", "makedirs", "rmdir", "removedirs", "symlink",
        "link", "truncate", "chmod", "chown", "mkfifo", "mknod", "utime",
    ),
    "shutil": (
        "copy", "copy2", "copyfile", "copyfileobj", "copymode", "copystat", "copytree", "move", "rmtree",
        "make_archive", "unpack_archive", "chown",
    ),
    "pathlib.Path()": (
        "write_text", "write_bytes", "unlink", "mkdir", "rmdir", "rename", "replace", "touch", "symlink_to",
        "hardlink_to", "chmod",
    ),
    "zipfile.ZipFile()": ("extract", "extractall"),
    "tarfile.TarFile()": ("extract", "extractall"),
}  # fmt: skip
_PROCESS: dict[str, tuple[str, ...]] = {
    "subprocess": ("run", "call", "check_call", "check_output", "Popen", "getoutput", "getstatusoutput"),
    "os": (
        "system", "popen", "spawnl", "spawnle", "spawnlp", "spawnlpe", "spawnv", "spawnve", "spawnvp", "spawnvpe",
        "posix_spawn", "posix_spawnp", "startfile", "fork", "forkpty", "kill", "killpg",
    ),
    "asyncio": ("create_subprocess_exec", "create_subprocess_shell"),
    "asyncio.subprocess": ("create_subprocess_exec", "create_subprocess_shell"),
    "pty": ("spawn",),
    "webbrowser": ("open", "open_new", "open_new_tab"),
}  # fmt: skip
_CONNECTION: dict[str, tuple[str, ...]] = {
    "socket": ("create_connection",),
    "socket.socket()": ("connect", "connect_ex", "sendto"),
    "asyncio": ("open_connection", "open_unix_connection"),
    "websockets": ("connect",),
    "websockets.sync.client": ("connect",),
    "websockets.asyncio.client": ("connect",),
}
_SLEEP: dict[str, tuple[str, ...]] = {
    "time": ("sleep",),
    "asyncio": ("sleep",),
    "asyncio.tasks": ("sleep",),
    "anyio": ("sleep",),
    "trio": ("sleep",),
    "gevent": ("sleep",),
}
_TABLES: tuple[tuple[EffectKind, dict[str, tuple[str, ...]]], ...] = (
    ("file", _FILE),
    ("process", _PROCESS),
    ("connection", _CONNECTION),
    ("sleep", _SLEEP),
)

#: Callables that do it whatever they are given.
ALWAYS: dict[str, EffectKind] = {
    f"{module}.{name}": kind for kind, table in _TABLES for module, names in table.items() for name in names
}
#: Callables that write if their mode says so, and the position of the mode.
BY_MODE = {
    "builtins.open": 1,
    "io.open": 1,
    "codecs.open": 1,
    "os.fdopen": 1,
    "pathlib.Path().open": 0,
    "gzip.open": 1,
    "gzip.GzipFile": 1,
    "bz2.open": 1,
    "bz2.BZ2File": 1,
    "lzma.open": 1,
    "lzma.LZMAFile": 1,
    "zipfile.ZipFile": 1,
    "tarfile.open": 1,
    "tarfile.TarFile": 1,
    "aiofiles.open": 1,
}
#: Methods that only a path has: they are known by their name, whoever's they are.
OF_A_PATH = frozenset({"write_text", "write_bytes", "symlink_to", "hardlink_to"})
#: Methods of a path that change something and are too common to be known by their name.
PATH_METHODS = frozenset(_FILE["pathlib.Path()"])
#: Methods and attributes of a path that give another path.
PATH_TO_PATH = frozenset(
    {
        "absolute", "expanduser", "joinpath", "parent", "relative_to", "resolve", "with_name", "with_stem",
        "with_suffix", "with_segments",
    }
)  # fmt: skip
PATH_CLASSES = frozenset({"pathlib.Path", "pathlib.PosixPath", "pathlib.WindowsPath"})

#: Methods that change a list, dict, set or deque. ``setdefault`` is not among them: it is how a cache is filled.
CHANGING_METHODS = frozenset(
    {
        "append", "appendleft", "add", "clear", "difference_update", "discard", "extend", "extendleft", "insert",
        "intersection_update", "pop", "popitem", "popleft", "remove", "reverse", "rotate", "sort", "subtract",
        "symmetric_difference_update", "update",
    }
)  # fmt: skip
#: Callables that make what can be changed in place.
CONTAINERS = frozenset(
    {
        "builtins.list", "builtins.dict", "builtins.set", "builtins.bytearray", "collections.deque",
        "collections.defaultdict", "collections.OrderedDict", "collections.Counter",
    }
)  # fmt: skip
