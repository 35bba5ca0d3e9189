"""The libraries whose calls leave the process (rule A3), and which of their functions and methods do.

A name is the one that the runtime gives: the root package and the callee's own qualified name, where it is defined.
What these libraries have besides (constructors, answers, ``close``) does not leave.
"""

from __future__ import annotations

from dataclasses import dataclass

_VERBS = ("get", "options", "head", "post", "put", "patch", "delete", "request")


@dataclass(frozen=True, slots=True)
class Library:
    """``classes`` gives for each class its leaving methods, each with the class that defines it."""

    functions: frozenset[str]
    classes: dict[str, dict[str, str]]
    #: What a function or method gives, where it matters: ``Session`` of ``session()``.
    gives: dict[str, str]


def _own(cls: str, *methods: str) -> dict[str, str]:
    return dict.fromkeys(methods, cls)


def _httpx() -> Library:
    verbs = (*_VERBS, "send", "stream")
    gives = dict.fromkeys((*_VERBS, "stream"), "Response")
    gives |= {f"{cls}.{name}": "Response" for cls in ("Client", "AsyncClient") for name in verbs}
    classes = {cls: _own(cls, *verbs) for cls in ("Client", "AsyncClient")}
    return Library(frozenset({*_VERBS, "stream"}), classes, gives)


_REQUESTS = Library(
    frozenset(_VERBS),
    {
        "Session": _own("Session", *_VERBS, "send"),
        "HTTPAdapter": _own("HTTPAdapter", "send"),
    },
    {"session": "Session", **dict.fromkeys(_VERBS, "Response")}
    | {f"Session.{name}": "Response" for name in (*_VERBS, "send")},
)

_OF_URLLIB3 = _own("RequestMethods", "request", "request_encode_url", "request_encode_body")
_URLLIB3 = Library(
    frozenset({"request"}),
    {
        "PoolManager": {**_OF_URLLIB3, **_own("PoolManager", "urlopen")},
        "ProxyManager": {**_OF_URLLIB3, **_own("ProxyManager", "urlopen")},
        "HTTPConnectionPool": {**_OF_URLLIB3, **_own("HTTPConnectionPool", "urlopen")},
        "HTTPSConnectionPool": {**_OF_URLLIB3, **_own("HTTPConnectionPool", "urlopen")},
    },
    {
        "request": "BaseHTTPResponse",
        "connection_from_url": "HTTPConnectionPool",
        "proxy_from_url": "ProxyManager",
        **{
            f"{cls}.{name}": "BaseHTTPResponse"
            for cls in ("PoolManager", "ProxyManager", "HTTPConnectionPool", "HTTPSConnectionPool")
            for name in ("request", "urlopen", "request_encode_url", "request_encode_body")
        },
    },
)

_URLLIB = Library(
    frozenset({"urlopen", "urlretrieve"}),
    {"OpenerDirector": _own("OpenerDirector", "open"), "URLopener": _own("URLopener", "open", "retrieve")},
    {"build_opener": "OpenerDirector", "urlopen": "addinfourl", "OpenerDirector.open": "addinfourl"},
)

_HTTP = Library(
    frozenset(),
    # The exchange is made as soon as the request is complete; `getresponse` reads what has come.
    {cls: _own("HTTPConnection", "request", "endheaders") for cls in ("HTTPConnection", "HTTPSConnection")},
    {f"{cls}.getresponse": "HTTPResponse" for cls in ("HTTPConnection", "HTTPSConnection")},
)

_AIOHTTP = Library(
    frozenset({"request"}),
    {"ClientSession": _own("ClientSession", *_VERBS)},
    {"request": "ClientResponse", **{f"ClientSession.{name}": "ClientResponse" for name in _VERBS}},
)

_MAIL = ("sendmail", "send_message")
_SMTPLIB = Library(frozenset(), {cls: _own("SMTP", *_MAIL) for cls in ("SMTP", "SMTP_SSL", "LMTP")}, {})
_AIOSMTPLIB = Library(frozenset({"send"}), {"SMTP": _own("SMTP", *_MAIL)}, {})

#: By root package.
SEAMS: dict[str, Library] = {
    "httpx": _httpx(),
    "httpx2": _httpx(),
    "requests": _REQUESTS,
    "urllib3": _URLLIB3,
    "urllib": _URLLIB,
    "http": _HTTP,
    "aiohttp": _AIOHTTP,
    "smtplib": _SMTPLIB,
    "aiosmtplib": _AIOSMTPLIB,
}

#: What an SDK is built on, by the name of the distribution.
HTTP_DISTRIBUTIONS = frozenset(
    {"httpx", "httpx2", "requests", "urllib3", "aiohttp", "botocore", "boto3", "aiosmtplib", "aiobotocore"}
)

#: Telemetry and credentials: their calls pass through and are never steps.
PASS_THROUGH = (
    "sentry_sdk.*", "opentelemetry.*", "ddtrace.*", "datadog.*", "newrelic.*", "rollbar.*", "bugsnag.*",
    "honeybadger.*", "posthog.*", "segment.*", "analytics.*", "mixpanel.*", "statsd.*", "prometheus_client.*",
    "logfire.*", "elasticapm.*", "google.auth.*", "google.oauth2.*", "azure.identity.*", "msal.*",
    "requests_oauthlib.*", "oauthlib.*", "langsmith.*", "langfuse.*",
)  # fmt: skip

#: Arguments of a client's constructor that may put a double in the network's place.
DOUBLES = frozenset({"transport", "mounts", "app", "http_client", "connector"})


#: Words of a module that puts a double in the network's place, as tests do.
DOUBLE_NAMES = (
    "MockTransport", "ASGITransport", "WSGITransport", "respx", "requests_mock", "aioresponses", "import responses",
    "import vcr", "import moto", "from moto", "Stubber", "pytest_httpx", "httpretty",
)  # fmt: skip

#: Modules of these libraries that hold the functions.
_MODULES = frozenset({"api", "_api", "request", "client"})


def name_of(root: str, names: list[str]) -> str | None:
    """The operation that a dotted name of a library means: ``["post"]``, ``["Client", "post"]``; None if it stays."""
    library = SEAMS.get(root)
    if library is None or not names:
        return None
    if len(names) >= 2 and names[-2] in library.classes:
        owner = library.classes[names[-2]].get(names[-1])
        return f"{root}.{owner}.{names[-1]}" if owner is not None else None
    return f"{root}.{names[-1]}" if names[-1] in library.functions and _MODULES.issuperset(names[:-1]) else None


def gives(root: str, names: list[str]) -> str | None:
    """The class of what calling it gives, as a dotted name."""
    library = SEAMS.get(root)
    if library is None or not names:
        return None
    whole = ".".join(names[-2:]) if len(names) >= 2 and names[-2] in library.classes else names[-1]
    found = library.gives.get(whole)
    return f"{root}.{found}" if found is not None else None
