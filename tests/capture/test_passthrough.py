"""What passes through: endpoints of telemetry and credentials, by whole names, and what the settings add."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from semel.capture import passthrough
from semel.capture.passthrough import (
    configure,
    is_lookup_module,
    is_passthrough_host,
    is_passthrough_module,
    is_passthrough_operation,
    is_passthrough_url,
)
from semel.errors import ConfigurationError

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "what-leaves.md"


@pytest.fixture(autouse=True)
def _nothing_added() -> Iterator[None]:
    configure(())
    yield
    configure(())


@pytest.mark.parametrize(
    "host",
    [
        *(
            "169.254.169.254",
            "fd00:ec2::254",
            "[fd00:ec2::254]",
            "metadata.google.internal",
            "METADATA.google.internal.",
        ),
        *("sts.amazonaws.com", "sts.eu-west-1.amazonaws.com", "sts.us-gov-west-1.amazonaws.com"),
        *("sts.cn-north-1.amazonaws.com.cn", "portal.sso.us-east-1.amazonaws.com", "oidc.us-east-1.amazonaws.com"),
        *("oauth2.googleapis.com", "login.microsoftonline.com", "o1.ingest.sentry.io", "o1.ingest.de.sentry.io"),
        *("trace.agent.datadoghq.com", "api.segment.io"),
    ],
)
def test_hosts_of_credentials_and_telemetry_pass(host: str) -> None:
    assert is_passthrough_host(host)


@pytest.mark.parametrize(
    "host",
    [
        *(
            "s3.eu-west-1.amazonaws.com",
            "sts.amazonaws.com.evil.example",
            "sts.evil.amazonaws.com",
            "mysts.amazonaws.com",
        ),
        *("ses.sts.amazonaws.com", "sts.example.com", "sentry.io", "ingest.sentry.io.example.com", "xingest.sentry.io"),
        *("api.datadoghq.com", "app.datadoghq.com", "api.newrelic.com", "us.i.posthog.com", "api.mixpanel.com"),
        *(
            "api.honeycomb.io",
            "api.smith.langchain.com",
            "storage.googleapis.com",
            "graph.microsoft.com",
            "",
            "localhost",
        ),
        *("api.segmentapis.com", "www.googleapis.com", "cognito-idp.us-east-1.amazonaws.com"),
    ],
)
def test_a_vendors_own_api_and_look_alikes_do_not_pass(host: str) -> None:
    assert not is_passthrough_host(host)


@pytest.mark.parametrize(
    ("url", "passes"),
    [
        ("https://us.i.posthog.com/batch/", True),
        ("https://us.i.posthog.com/flags/?v=2", False),
        ("https://api.mixpanel.com/track", True),
        ("https://api.mixpanel.com/tracked", False),
        ("https://API.smith.langchain.com/runs/batch", True),
        ("https://api.smith.langchain.com/runs/query", False),
        ("https://www.googleapis.com/oauth2/v4/token", True),
        ("https://www.googleapis.com/calendar/v3/calendars", False),
        ("https://o1.ingest.sentry.io/api/1/envelope/", True),
        ("http://169.254.169.254/latest/meta-data/", True),
        ("http://collector.example.com:4318/v1/traces", True),
        ("https://collector.example.com/v1/traces", False),
    ],
)
def test_where_a_host_serves_more_only_the_listed_paths_pass(url: str, passes: bool) -> None:
    assert is_passthrough_url(url) is passes


def test_the_ports_of_agents_pass_on_this_machine_and_those_of_collectors_everywhere() -> None:
    assert is_passthrough_host("127.0.0.1", 8125)
    assert not is_passthrough_host("10.0.0.1", 8125)
    assert is_passthrough_host("10.0.0.1", 4317)
    assert not is_passthrough_host("127.0.0.1", 6379)


@pytest.mark.parametrize(
    ("module", "passes"),
    [
        ("logging", True),
        ("logging.handlers", True),
        ("loggings", False),
        ("asyncpg.connection", True),
        ("sqlalchemy.dialects.mysql.asyncmy", True),
        ("sqlalchemy.orm.session", False),
        ("redis.client", False),
        ("pymongo.pool", False),
        ("sentry_sdk.transport", True),
        ("opentelemetry.exporter.otlp.proto.grpc.exporter", True),
        ("google.oauth2.credentials", True),
        ("google.auth.transport.requests", False),
        ("botocore.credentials", True),
        ("botocore.client", False),
        ("_pydevd_bundle.pydevd_comm", True),
    ],
)
def test_modules_pass_with_all_that_is_below_them(module: str, passes: bool) -> None:
    assert is_passthrough_module(module) is passes


def test_an_instrumented_call_is_no_telemetry() -> None:
    # What wraps each call of a library to measure it is on the stack of that call.
    for module in (
        *("opentelemetry.instrumentation.redis", "opentelemetry.trace", "opentelemetry.sdk.trace"),
        *("sentry_sdk.integrations.redis", "sentry_sdk.utils", "ddtrace.contrib.redis", "newrelic.api.external_trace"),
        *("elasticapm.instrumentation.packages.redis", "statsd.client.timer", "prometheus_client.context_managers"),
    ):
        assert not is_passthrough_module(module)


def test_only_look_ups_may_start_a_process() -> None:
    assert is_lookup_module("platform")
    assert is_lookup_module("ctypes.util")
    assert not is_lookup_module("subprocess")


def test_the_settings_add_hosts_modules_and_operations() -> None:
    configure(["telemetry.example.com", "*.metrics.example.com", "redis.*", "pika.Channel.basic_publish", "box:8125"])
    assert is_passthrough_host("Telemetry.Example.com")
    assert is_passthrough_host("a.metrics.example.com")
    assert not is_passthrough_host("metrics.example.com")
    assert not is_passthrough_host("other.example.com")
    assert is_passthrough_host("box", 8125)
    assert not is_passthrough_host("box", 80)
    assert is_passthrough_module("redis")
    assert is_passthrough_module("redis.client")
    assert not is_passthrough_module("redis_lock")
    assert is_passthrough_operation("pika.Channel.basic_publish")
    assert not is_passthrough_operation("pika.Channel.basic_get")


@pytest.mark.parametrize("pattern", ["", "*", "*.*", ".", "https://example.com/", "a b"])
def test_a_pattern_that_lets_everything_pass_or_is_none_is_refused(pattern: str) -> None:
    with pytest.raises(ConfigurationError, match="is neither a host"):
        configure([pattern])


def test_the_page_names_all_that_passes() -> None:
    page = PAGE.read_text()
    listed = (
        *passthrough.CREDENTIAL_HOSTS,
        *passthrough.TELEMETRY_HOSTS,
        *[f"*{suffix}" for suffix in passthrough.TELEMETRY_SUFFIXES],
        *[f"{service}.REGION.amazonaws.com" for service in passthrough.CREDENTIAL_SERVICES],
        *passthrough.PATHS,
        *[path for paths in passthrough.PATHS.values() for path in paths],
        *[str(port) for port in passthrough.COLLECTOR_PORTS | passthrough.AGENT_PORTS],
        *passthrough.LOGGING,
        *passthrough.TELEMETRY_MODULES,
        *passthrough.CREDENTIAL_MODULES,
        *passthrough.DRIVERS,
        *passthrough.LOOKUPS,
    )
    assert [name for name in listed if f"`{name}`" not in page] == []
