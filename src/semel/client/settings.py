"""What a client is told besides its operations: base URL, timeout, credentials, headers."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from semel.errors import ConfigurationError

from .auth import Auth, Bearer, Credentials, Env, resolved

#: Seconds, where the author says nothing: for the connection, and for each wait for the other side to read or write.
TIMEOUT = 10.0


@dataclass(frozen=True, slots=True)
class Settings:
    """``base_url`` is a URL or where one is; ``timeout`` is in seconds."""

    base_url: str | Env | None = None
    timeout: float = TIMEOUT
    auth: Auth | None = field(default=None, repr=False)
    headers: Mapping[str, str | Env] = field(default_factory=dict, repr=False)
    decisions: frozenset[int] = frozenset()

    def changed(
        self,
        *,
        base_url: str | None = None,
        base_url_env: str | None = None,
        timeout: float | None = None,
        auth: Auth | None = None,
        headers: Mapping[str, str | Env] | None = None,
        decisions: Collection[int] | None = None,
    ) -> Settings:
        """These settings with some of them given anew; headers are added.

        Raises:
            ValueError: one of them cannot be; the text says which and shows the fix.
        """
        if base_url is not None and base_url_env is not None:
            raise ValueError("base_url and base_url_env are both given: take one of them away")
        new = self
        if base_url is not None:
            new = replace(new, base_url=_checked_url(base_url))
        if base_url_env is not None:
            if not isinstance(base_url_env, str) or not base_url_env:
                raise ValueError('base_url_env is the name of a variable: write base_url_env="PAYMENTS_URL"')
            new = replace(new, base_url=Env(base_url_env))
        if timeout is not None:
            new = replace(new, timeout=_checked_timeout(timeout))
        if auth is not None:
            new = replace(new, auth=_checked_auth(auth))
        if headers:
            new = replace(new, headers={**new.headers, **_checked_headers(headers)})
        if decisions is not None:
            new = replace(new, decisions=_checked_statuses(decisions))
        return new


class Ready:
    """Settings with what the environment says, for one client's pools.

    Raises:
        ConfigurationError: a variable is not set, or holds no base URL; names the variable.
    """

    __slots__ = ("auth", "base_url", "headers", "secrets", "timeout")

    def __init__(self, settings: Settings, client: str) -> None:
        assert settings.base_url is not None
        self.base_url = _read_url(settings.base_url, client)
        self.timeout = settings.timeout
        credentials = Credentials(settings.auth, client)
        self.auth = credentials.auth
        self.headers = {name: resolved(value, client) for name, value in settings.headers.items()}
        from_environment = [self.headers[name] for name, value in settings.headers.items() if isinstance(value, Env)]
        self.headers.update(credentials.headers)
        self.secrets = (*credentials.secrets, *from_environment)


def _read_url(base_url: str | Env, client: str) -> str:
    if isinstance(base_url, str):
        return base_url
    try:
        return _checked_url(resolved(base_url, client))
    except ValueError as error:
        raise ConfigurationError(f"the environment variable {base_url.variable} of {client}: {error}") from None


def _checked_url(base_url: Any) -> str:
    if not isinstance(base_url, str):
        raise ValueError(f"base_url must be a str, not a {type(base_url).__name__}")
    if any(char.isspace() or not char.isprintable() for char in base_url):
        raise ValueError("base_url holds a space or a character that cannot be seen")
    try:
        parts = urlsplit(base_url)
        parts.port  # noqa: B018 - raises if it is no number
    except ValueError as error:
        raise ValueError(f"base_url is no URL: {error}") from None
    if parts.username is not None or parts.password is not None:
        raise ValueError(
            'base_url holds a user or password, which logs would show: write auth=("user", Env("PASSWORD"))'
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(
            f'base_url must be absolute: write "https://{base_url.split("://")[-1].lstrip("/") or "host"}"'
        )
    if parts.query or parts.fragment:
        raise ValueError("base_url holds a query: make it a parameter of the operations")
    return base_url.rstrip("/")


def _checked_timeout(timeout: Any) -> float:
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
        raise ValueError(f"timeout is a number of seconds above 0, not {timeout!r}: write timeout={TIMEOUT:g}")
    return float(timeout)


def _checked_auth(auth: Any) -> Auth:
    """Of an object of httpx, httpx itself is asked; it need not be installed for the others."""
    if isinstance(auth, Bearer) or any(base.__module__.startswith("httpx") for base in type(auth).__mro__):
        return auth  # type: ignore[no-any-return]
    if isinstance(auth, tuple) and len(auth) == 2 and all(isinstance(each, str | Env) for each in auth):
        return auth
    raise ValueError('auth is Bearer(Env("PAYMENTS_TOKEN")), a (user, password), or an auth of httpx')


def _checked_headers(headers: Any) -> Mapping[str, str | Env]:
    if not isinstance(headers, Mapping):
        raise ValueError('headers are a dict: write headers={"X-Api-Key": Env("API_KEY")}')
    for name, value in headers.items():
        if not isinstance(name, str) or not isinstance(value, str | Env):
            raise ValueError(f"the header {name!r} must be a str, or Env(…)")
    return headers


def _checked_statuses(decisions: Any) -> frozenset[int]:
    if isinstance(decisions, str | bytes | Mapping) or not isinstance(decisions, Collection):
        raise ValueError(f"decisions are statuses, not {decisions!r}: write decisions=(404, 409)")
    for status in decisions:
        if not isinstance(status, int) or isinstance(status, bool) or not (300 <= status <= 599):
            raise ValueError(
                f"{status!r} among the decisions is no status that an operation raises over: write decisions=(404, 409)"
            )
    return frozenset(decisions)
