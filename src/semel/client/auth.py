"""Credentials: read from the environment at first use, and shown nowhere."""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING, Any, TypeAlias

from semel.errors import ConfigurationError

if TYPE_CHECKING:
    import httpx


class Env:
    """What an environment variable holds when the client makes its first call: ``Bearer(Env("PAYMENTS_TOKEN"))``."""

    __slots__ = ("variable",)

    def __init__(self, variable: str) -> None:
        if not isinstance(variable, str) or not variable:
            raise ConfigurationError(f"Env takes the name of an environment variable, not {type(variable).__name__}")
        self.variable = variable

    def __repr__(self) -> str:
        return f"Env({self.variable!r})"


class Bearer:
    """The header ``Authorization: Bearer …``. The token is a str, or ``Env("NAME")``."""

    __slots__ = ("token",)

    def __init__(self, token: str | Env) -> None:
        if not isinstance(token, str | Env) or not token:
            raise ConfigurationError('Bearer takes a token, or where it is: Bearer(Env("PAYMENTS_TOKEN"))')
        self.token = token

    def __repr__(self) -> str:
        return f"Bearer({self.token!r})" if isinstance(self.token, Env) else "Bearer(…)"


#: A token, a user and password, or an auth of httpx.
Auth: TypeAlias = "Bearer | tuple[str | Env, str | Env] | httpx.Auth"


def resolved(value: str | Env, client: str) -> str:
    """The text of a setting.

    Raises:
        ConfigurationError: its variable is not set; names the variable.
    """
    if isinstance(value, str):
        return value
    found = os.environ.get(value.variable, "")
    if not found:
        raise ConfigurationError(
            f"{client} needs the environment variable {value.variable}, which is not set; set it before the first call"
        )
    return found


class Credentials:
    """An auth ready for httpx: headers, or an object of httpx's own; and the texts that no message may show."""

    __slots__ = ("auth", "headers", "secrets")

    def __init__(self, auth: Auth | None, client: str) -> None:
        self.auth: Any = None
        self.headers: dict[str, str] = {}
        self.secrets: tuple[str, ...] = ()
        if isinstance(auth, Bearer):
            token = resolved(auth.token, client)
            self.headers["Authorization"] = f"Bearer {token}"
            self.secrets = (token,)
        elif isinstance(auth, tuple):
            user, password = auth
            self.auth = (resolved(user, client), resolved(password, client))
            basic = base64.b64encode(":".join(self.auth).encode()).decode()
            self.secrets = tuple([secret for secret in (self.auth[1], basic) if secret])
        else:
            self.auth = auth
