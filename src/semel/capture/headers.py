"""The headers of an answer that are recorded: those that libraries, SDKs and people read. All others are left out.

The first attempt sees the same ones, so that a body cannot come to depend on a header that a later attempt lacks.
"""

from __future__ import annotations

from collections.abc import Iterable

from semel.codec.exchange import Headers

#: Recorded by name. Cookies are: the client's jar must be the same at each attempt.
ALLOWED = frozenset(
    {
        *("accept-ranges", "age", "allow", "alt-svc", "cache-control", "cf-ray", "connection", "content-disposition"),
        *("content-encoding", "content-language", "content-length", "content-location", "content-md5"),
        *("content-range", "content-type", "date", "deprecation", "digest", "etag", "expires", "idempotency-key"),
        *("idempotent-replayed", "keep-alive", "last-modified", "link", "location", "mime-version", "original-request"),
        *("pragma", "proxy-authenticate", "refresh", "request-id", "retry-after", "retry-after-ms", "server"),
        *("set-cookie", "set-cookie2", "stripe-version", "sunset", "trailer", "transfer-encoding", "upgrade", "vary"),
        *("via", "warning", "www-authenticate", "x-request-id", "x-correlation-id", "x-should-retry"),
        *("x-content-type-options", "x-next-page", "x-page", "x-per-page", "x-prev-page", "x-total", "x-total-count"),
        *("x-total-pages", "x-api-version", "x-powered-by"),
    }
)
#: Recorded by how the name begins.
ALLOWED_STARTS = (
    *("x-amz-", "x-amzn-", "x-goog-", "x-ms-", "x-github-", "x-ratelimit-", "ratelimit-", "x-rate-limit-"),
    *("anthropic-", "openai-", "stripe-", "x-stripe-", "x-retry-", "x-oauth-"),
)
#: Never recorded, whatever the settings say: credentials of the caller that a server may send back.
NEVER = frozenset({"authorization", "x-api-key", "x-amz-security-token", "proxy-authorization"})

_added: set[str] = set()


def allow(names: Iterable[str]) -> None:
    """Adds the names of ``[tool.semel] response-headers``."""
    _added.update(name.lower() for name in names)


def recorded(headers: Headers) -> Headers:
    """The headers that are recorded, in their order."""
    return tuple([(name, value) for name, value in headers if _is_recorded(name.lower())])


def _is_recorded(name: str) -> bool:
    if name in NEVER:
        return False
    return name in ALLOWED or name in _added or name.startswith(ALLOWED_STARTS)
