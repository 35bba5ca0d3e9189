"""What leaves the process and passes through: telemetry and credential exchanges (rule A3), and what the user adds.

They happen only sometimes, so a later attempt could not match them, and no record of a run is to hold what they carry.
The lists name endpoints that take telemetry or give credentials and nothing else: where a vendor serves both from one
host, the paths are named, and a call of the vendor's own API is never passed by. docs/explanation/what-leaves.md shows
these lists.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from semel.errors import ConfigurationError

#: Hosts that give credentials.
CREDENTIAL_HOSTS = frozenset(
    {
        *("169.254.169.254", "169.254.170.2", "169.254.170.23", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254"),
        *("metadata.google.internal", "metadata", "metadata.azure.internal", "100.100.100.200"),
        *("sts.amazonaws.com", "oauth2.googleapis.com", "sts.googleapis.com", "iamcredentials.googleapis.com"),
        *("auth.openai.com", "mtls.auth.openai.com"),
        *("accounts.google.com", "login.microsoftonline.com", "login.microsoftonline.us", "login.chinacloudapi.cn"),
        *("login.partner.microsoftonline.cn", "login.windows.net", "login.microsoft.com", "sts.windows.net"),
    }
)

#: Hosts under these names whose first label is one of AWS's token services.
CREDENTIAL_REGIONS = (".amazonaws.com", ".amazonaws.com.cn")
CREDENTIAL_SERVICES = frozenset({"sts", "sts-fips", "oidc", "portal.sso"})

#: Hosts that take telemetry and do nothing else.
TELEMETRY_HOSTS = frozenset(
    {
        *("trace.agent.datadoghq.com", "trace.agent.datadoghq.eu", "instrumentation-telemetry-intake.datadoghq.com"),
        *("http-intake.logs.datadoghq.com", "http-intake.logs.datadoghq.eu", "http-intake.logs.us3.datadoghq.com"),
        *("http-intake.logs.us5.datadoghq.com", "http-intake.logs.ap1.datadoghq.com", "http-intake.logs.ddog-gov.com"),
        *(
            "metric-api.newrelic.com",
            "metric-api.eu.newrelic.com",
            "trace-api.newrelic.com",
            "trace-api.eu.newrelic.com",
        ),
        *("log-api.newrelic.com", "log-api.eu.newrelic.com", "otlp.nr-data.net", "otlp.eu01.nr-data.net"),
        *("collector.newrelic.com", "collector.eu.newrelic.com", "collector.eu01.nr-data.net"),
        *("insights-collector.newrelic.com", "insights-collector.eu01.nr-data.net"),
        *("api.segment.io", "events.eu1.segmentapis.com", "api2.amplitude.com", "notify.bugsnag.com"),
        *("sessions.bugsnag.com", "dc.services.visualstudio.com", "logfire-api.pydantic.dev"),
        *("logfire-us.pydantic.dev", "logfire-eu.pydantic.dev"),
    }
)

#: Every host under one of these names takes telemetry.
TELEMETRY_SUFFIXES = (
    *(".ingest.sentry.io", ".ingest.us.sentry.io", ".ingest.de.sentry.io"),
    *(".in.applicationinsights.azure.com", ".livediagnostics.monitor.azure.com"),
)

#: Where one host serves more than telemetry or credentials: the paths that do only that.
PATHS: dict[str, tuple[str, ...]] = {
    "us.i.posthog.com": ("/batch/", "/capture/", "/i/v0/e/", "/i/v0/ai/batch/"),
    "eu.i.posthog.com": ("/batch/", "/capture/", "/i/v0/e/", "/i/v0/ai/batch/"),
    "app.posthog.com": ("/batch/", "/capture/"),
    "api.mixpanel.com": ("/track", "/engage", "/groups", "/import"),
    "api-eu.mixpanel.com": ("/track", "/engage", "/groups", "/import"),
    "api.honeycomb.io": ("/1/events/", "/1/batch/", "/v1/traces", "/v1/metrics", "/v1/logs"),
    "api.eu1.honeycomb.io": ("/1/events/", "/1/batch/", "/v1/traces", "/v1/metrics", "/v1/logs"),
    "api.smith.langchain.com": ("/runs/batch", "/runs/multipart", "/otel/v1/traces"),
    "eu.api.smith.langchain.com": ("/runs/batch", "/runs/multipart", "/otel/v1/traces"),
    "cloud.langfuse.com": ("/api/public/ingestion", "/api/public/otel/v1/traces"),
    "us.cloud.langfuse.com": ("/api/public/ingestion", "/api/public/otel/v1/traces"),
    "api.rollbar.com": ("/api/1/item/",),
    "api.honeybadger.io": ("/v1/notices", "/v1/events"),
    "api.anthropic.com": ("/v1/oauth/token",),
    "www.googleapis.com": ("/oauth2/v4/token", "/oauth2/v1/certs"),
}

#: Ports of OpenTelemetry collectors, on any host; and those of agents that listen on the machine itself.
COLLECTOR_PORTS = frozenset({4317, 4318})
AGENT_PORTS = frozenset({8125, 8126, 6831, 6832, 9411, 24224, 514})
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

#: Modules that write logs: what they call to write one may be the user's own handler.
LOGGING = frozenset({"logging", "loguru._handler"})

#: Modules that send telemetry, or talk to a debugger. Not those that measure calls: they are on the stack of each call.
TELEMETRY_MODULES = frozenset(
    {
        *("opentelemetry.exporter", "opentelemetry.sdk.trace.export", "opentelemetry.sdk.metrics.export"),
        *("sentry_sdk.transport", "sentry_sdk.sessions", "raven.transport", "rollbar", "bugsnag.delivery"),
        *("honeybadger.connection", "libhoney.transmission", "elasticapm.transport", "logfire._internal.exporters"),
        *("newrelic.core.agent_protocol", "newrelic.common.agent_http", "scout_apm.core.agent"),
        *("ddtrace.internal.writer", "ddtrace.internal.agent", "ddtrace.internal.telemetry"),
        *(
            "datadog.dogstatsd.base",
            "ddtrace.vendor.dogstatsd",
            "statsd.client.udp",
            "statsd.client.stream",
            "aiostatsd",
        ),
        *(
            "jaeger_client.reporter",
            "jaeger_client.local_agent_net",
            "py_zipkin.transport",
            "aws_xray_sdk.core.emitters",
        ),
        *("prometheus_client.exposition", "prometheus_client.bridge", "fluent.sender", "fluent.asyncsender"),
        *("posthog.consumer", "segment.analytics.consumer", "analytics.consumer"),
        *("_pydevd_bundle", "remote_pdb", "rpdb", "web_pdb"),
    }
)

#: Modules that get credentials, and do not make the calls that those are for.
CREDENTIAL_MODULES = frozenset(
    {
        *("google.oauth2", "google.auth.compute_engine", "google.auth.pluggable", "google.auth.aws"),
        *("google.auth._default", "google.auth._cloud_sdk", "google.auth.identity_pool"),
        *("azure.identity", "msal", "botocore.credentials", "botocore.tokens", "kubernetes.config"),
    }
)

#: Drivers of SQL databases: the app's own database is no step (rule A4). Of SQLAlchemy and Django what calls a driver,
#: and not what calls listeners.
DRIVERS = frozenset(
    {
        *("asyncpg", "psycopg", "psycopg_pool", "psycopg2", "pymysql", "aiomysql", "MySQLdb", "asyncmy", "mysql"),
        *("mariadb", "pg8000", "scramp", "oracledb", "cx_Oracle", "pymssql", "pyodbc", "aioodbc", "pytds"),
        *("sqlite3", "aiosqlite", "sqlalchemy.engine.default", "sqlalchemy.engine.create", "sqlalchemy.dialects"),
        *("sqlalchemy.connectors", "django.db.backends"),
    }
)

#: Modules that start processes only to look something up on this machine.
LOOKUPS = frozenset(
    {
        *("platform", "uuid", "ctypes.util", "locale", "sysconfig", "distro", "tzlocal", "cpuinfo", "psutil"),
        *("multiprocessing.resource_tracker", "joblib.externals.loky.backend.context", "loky.backend.context"),
        *("matplotlib.font_manager", "pkg_resources", "setuptools", "numba", "triton", "torch._inductor"),
    }
)

_KNOWN = TELEMETRY_MODULES | CREDENTIAL_MODULES | DRIVERS
_patterns: tuple[str, ...] = ()


def configure(patterns: Iterable[str]) -> None:
    """Sets what ``[tool.semel] passthrough`` adds: hosts (``telemetry.example.com``, ``*.example.com``,
    ``localhost:8125``), and modules or operations (``redis.*``, ``redis.Redis.publish``).

    Raises:
        ConfigurationError: a pattern would let everything pass, or is none.
    """
    global _patterns
    made = []
    for pattern in patterns:
        if not pattern.strip("*. ") or (any(char in pattern for char in "/ ?[") and not pattern.startswith("[")):
            raise ConfigurationError(
                f'[tool.semel] passthrough: {pattern!r} is neither a host ("telemetry.example.com", "*.example.com") '
                f'nor a module or operation ("redis.*", "redis.Redis.publish")'
            )
        made.append(pattern)
    _patterns = tuple(made)


def is_passthrough_host(host: str, port: int | None = None) -> bool:
    """Whether what goes to this host passes: whole names or listed suffixes, whatever their case."""
    host = host.lower().rstrip(".").strip("[]")
    if host in CREDENTIAL_HOSTS or host in TELEMETRY_HOSTS or host.endswith(TELEMETRY_SUFFIXES):
        return True
    if port is not None and (port in COLLECTOR_PORTS or (port in AGENT_PORTS and host in LOOPBACK)):
        return True
    return _is_regional(host) or any(_names_host(pattern, host, port) for pattern in _patterns)


def is_passthrough_url(url: str) -> bool:
    """Whether a request to this URL passes: its host does, or the path is listed for it."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    if is_passthrough_host(host, parts.port):
        return True
    return any(_begins(parts.path, path) for path in PATHS.get(host, ()))


def is_passthrough_module(name: str) -> bool:
    """Whether what this module does passes: it, or a package that it is in, is listed or added by the settings."""
    return _is_in(name, _KNOWN) or is_logging_module(name) or any(_names_code(pattern, name) for pattern in _patterns)


def is_logging_module(name: str) -> bool:
    """Whether this module writes logs, and so whatever it calls."""
    return _is_in(name, LOGGING)


def is_passthrough_operation(operation: str) -> bool:
    """Whether the user lets this operation pass (``redis.Redis.publish``)."""
    return any(_names_code(pattern, operation) for pattern in _patterns)


def is_lookup_module(name: str) -> bool:
    """Whether a process that this module starts only looks something up."""
    return _is_in(name, LOOKUPS)


def _is_in(name: str, listed: frozenset[str]) -> bool:
    """Whether a module, or a package that it is in, is listed."""
    while name:
        if name in listed:
            return True
        name = name.rpartition(".")[0]
    return False


def _is_regional(host: str) -> bool:
    """``sts.eu-west-1.amazonaws.com``, ``portal.sso.us-east-1.amazonaws.com``."""
    for suffix in CREDENTIAL_REGIONS:
        if host.endswith(suffix):
            service, _, region = host.removesuffix(suffix).rpartition(".")
            return service in CREDENTIAL_SERVICES and region.count("-") >= 2
    return False


def _begins(path: str, listed: str) -> bool:
    """Whether ``path`` is the listed one or below it: ``/runs/batch``, not ``/runs/batches``."""
    return path == listed or path.startswith(listed if listed.endswith("/") else listed + "/")


def _names_host(pattern: str, host: str, port: int | None) -> bool:
    pattern = pattern.lower()
    name, colon, number = pattern.rpartition(":")
    if colon and number.isdecimal() and (":" not in name or name.startswith("[")):
        if port != int(number):
            return False
        pattern = name
    pattern = pattern.strip("[]")
    if pattern.startswith("*."):
        return host.endswith(pattern[1:])
    return host == pattern


def _names_code(pattern: str, name: str) -> bool:
    """``redis.*`` is the package itself, too."""
    if pattern.startswith("*"):
        return False  # a host
    return name == pattern or name == pattern.removesuffix(".*") or fnmatchcase(name, pattern)
