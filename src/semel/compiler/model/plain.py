"""What gives plain data: the standard library's functions and the answers of HTTP libraries, and methods of what they
give. Nothing that comes from there is user code, so a call of it leads nowhere.

``DATA`` stands for data of which no more is known: what ``json.loads`` gives, and all that is inside of it.
"""

from __future__ import annotations

import ast

from .values import NONE, ForeignInst, Many, Row, Values

#: No class of this name exists: a number, a text, a list of such, …
_DATA = "builtins.data"
DATA: Values = frozenset({ForeignInst(_DATA)})
_STR: Values = frozenset({ForeignInst("builtins.str")})
_BYTES: Values = frozenset({ForeignInst("builtins.bytes")})

#: Modules none of whose functions gives back what it was given: only data, or objects of the module's own.
_MODULES = frozenset(
    {
        "base64", "binascii", "calendar", "cmath", "csv", "datetime", "difflib", "fnmatch", "getpass", "glob",
        "hashlib", "hmac", "html", "json", "locale", "math", "mimetypes", "os", "platform", "re", "secrets", "shlex",
        "shutil", "statistics", "struct", "subprocess", "textwrap", "time", "tomllib", "unicodedata", "urllib", "uuid",
        "zlib",
    }
)  # fmt: skip
_FUNCTIONS = frozenset(
    {
        "builtins.len", "builtins.ord", "builtins.hash", "builtins.id", "builtins.isinstance", "builtins.callable",
        "random.random", "random.uniform", "random.randint", "random.randrange", "random.getrandbits", "random.gauss",
        "random.randbytes", "tempfile.mkdtemp", "tempfile.gettempdir", "socket.gethostname", "socket.getfqdn",
    }
)  # fmt: skip
#: Arguments by which a function of these modules gives what user code makes; None is a ``**``, which may hold them.
_HOOKS = frozenset({None, "cls", "object_hook", "object_pairs_hook", "parse_float", "parse_int", "parse_constant"})

_DATETIME, _DATE = "datetime.datetime", "datetime.date"
_GIVES: dict[str, Values] = {
    **{f"builtins.{name}": _STR for name in ("repr", "ascii", "format", "input", "chr", "hex", "oct", "bin")},
    **{
        f"{_DATETIME}.{name}": frozenset({ForeignInst(_DATETIME)})
        for name in (
            *("now", "utcnow", "today", "fromtimestamp", "utcfromtimestamp", "fromisoformat", "strptime"),
            *("combine", "fromordinal", "fromisocalendar"),
        )
    },
    **{
        f"{_DATE}.{name}": frozenset({ForeignInst(_DATE)})
        for name in ("today", "fromtimestamp", "fromisoformat", "fromordinal", "fromisocalendar")
    },
    "semel.now": frozenset({ForeignInst(_DATETIME)}),
    "semel.workflow.now.now": frozenset({ForeignInst(_DATETIME)}),
    **{f"uuid.{name}": frozenset({ForeignInst("uuid.UUID")}) for name in ("uuid1", "uuid3", "uuid4", "uuid5", "uuid7")},
    "os.urandom": _BYTES,
    **{f"secrets.{name}": _STR for name in ("token_hex", "token_urlsafe")},
    "secrets.token_bytes": _BYTES,
    "subprocess.run": frozenset({ForeignInst("subprocess.CompletedProcess")}),
    **{f"re.{name}": frozenset({ForeignInst("re.Match")}) for name in ("match", "search", "fullmatch")},
    "re.compile": frozenset({ForeignInst("re.Pattern")}),
    "pathlib.Path.cwd": frozenset({ForeignInst("pathlib.Path")}),
    "pathlib.Path.home": frozenset({ForeignInst("pathlib.Path")}),
}
#: Of these the model knows the result itself, or it is a process or a connection.
_NOT = frozenset({"secrets.choice", "subprocess.Popen", "os.fork"})

_ANSWERS = frozenset(
    {
        "httpx.Response", "httpx2.Response", "requests.Response", "aiohttp.ClientResponse", "urllib3.BaseHTTPResponse",
        "urllib3.HTTPResponse", "urllib.addinfourl", "http.HTTPResponse", "http.client.HTTPResponse",
    }
)  # fmt: skip
_PATHS = frozenset({"pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "pathlib.PurePosixPath"})
#: Classes whose methods give only data, or objects of these classes.
_CLASSES = (
    frozenset(
        {
            "builtins.str", "builtins.bytes", "builtins.bytearray", "builtins.int", "builtins.float", "builtins.bool",
            "builtins.open", "datetime.time", "datetime.timedelta", "datetime.timezone", "decimal.Decimal",
            "fractions.Fraction", "re.Match", "re.Pattern", "subprocess.CompletedProcess", "uuid.UUID",
            "csv.DictReader", _DATETIME, _DATE, _DATA,
        }
    )
    | _PATHS
    | _ANSWERS
)  # fmt: skip

_TEXT_METHODS = frozenset(
    {
        "capitalize", "casefold", "center", "expandtabs", "format", "format_map", "join", "ljust", "lower", "lstrip",
        "removeprefix", "removesuffix", "replace", "rjust", "rstrip", "strip", "swapcase", "title", "translate",
        "upper", "zfill",
    }
)  # fmt: skip
_PATH_METHODS = frozenset(
    {
        "absolute", "expanduser", "joinpath", "readlink", "relative_to", "rename", "replace", "resolve", "with_name",
        "with_segments", "with_stem", "with_suffix",
    }
)  # fmt: skip
_TEXTS_OF_TIME = frozenset({"isoformat", "strftime", "ctime"})


def result(dotted: str, node: ast.Call) -> Values | None:
    """What calling something of this name gives, if that is plain data; None if it may be anything."""
    exact = _GIVES.get(dotted)
    if exact is not None:
        return exact
    owner, instance, _ = dotted.partition("()")
    if instance:
        return _of_method(owner, dotted.rpartition(".")[2]) if owner in _CLASSES else None
    root, _, name = dotted.rpartition(".")
    if dotted in _FUNCTIONS:
        return DATA
    if root.partition(".")[0] not in _MODULES or dotted in _NOT or root.startswith("urllib.request"):
        return None
    if name[:1].isupper() or root in _CLASSES or any(keyword.arg in _HOOKS for keyword in node.keywords):
        return None
    return DATA


def _of_method(owner: str, name: str) -> Values:
    if owner == "builtins.str" and name in _TEXT_METHODS:
        return _STR
    if owner in ("builtins.str", "builtins.bytes"):
        return _of_text(frozenset({ForeignInst(owner)}), name)
    if owner in (_DATETIME, _DATE, "datetime.time"):
        return _of_time(owner, name)
    if owner in _PATHS:
        return _of_path(owner, name)
    if owner in _ANSWERS:
        return _of_answer(owner, name)
    if owner == "re.Pattern" and name in ("match", "search", "fullmatch"):
        return frozenset({ForeignInst("re.Match")})
    return DATA


def _of_text(own: Values, name: str) -> Values:
    if name in ("split", "rsplit", "splitlines"):
        return frozenset({Many(own)})
    if name in ("partition", "rpartition"):
        return frozenset({Row((own, own, own))})
    return _BYTES if name == "encode" else _STR if name in ("decode", "hex") else DATA


def _of_time(owner: str, name: str) -> Values:
    if name in _TEXTS_OF_TIME:
        return _STR
    if name in ("replace", "astimezone"):
        return frozenset({ForeignInst(owner)})
    if owner == _DATETIME and name in ("date", "time", "timetz"):
        return frozenset({ForeignInst(_DATE if name == "date" else "datetime.time")})
    return DATA


def _of_path(owner: str, name: str) -> Values:
    own: Values = frozenset({ForeignInst(owner)})
    if name in _PATH_METHODS:
        return own
    if name in ("iterdir", "glob", "rglob"):
        return frozenset({Many(own)})
    if name == "open":
        return frozenset({ForeignInst("builtins.open")})
    return _STR if name in ("read_text", "as_posix", "as_uri") else _BYTES if name == "read_bytes" else DATA


def _of_answer(owner: str, name: str) -> Values:
    if name == "raise_for_status":
        return frozenset({ForeignInst(owner)}) if owner.startswith("httpx") else NONE
    return _BYTES if name == "read" else _STR if name == "text" else DATA


def items(dotted: str) -> Values | None:
    """What is inside of such data: an item of it, or what iterating over it gives; None if it is no data."""
    if dotted in ("builtins.str", "builtins.open"):
        return _STR
    return DATA if dotted in _CLASSES else None


def combined(left: Values, operator: ast.operator, right: Values) -> Values | None:
    """What ``left + right`` and the like give, where neither is user code; None if one may be."""
    names = [
        frozenset(v.name for v in side if isinstance(v, ForeignInst) and v.name in _CLASSES) for side in (left, right)
    ]
    one, other = names
    if one and one <= _PATHS and isinstance(operator, ast.Div) and len(one) == len(left):
        return left
    if not one or not other or len(one) != len(left) or len(other) != len(right):
        return None
    if one == other and one <= {"builtins.str", "builtins.bytes"}:
        return left
    if "datetime.timedelta" in other and one <= {_DATETIME, _DATE}:
        return left
    if one == frozenset({"builtins.str"}) and isinstance(operator, ast.Mod):
        return left
    return DATA
