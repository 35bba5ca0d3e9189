"""``Client``: the base class of typed HTTP clients."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from types import FrameType, FunctionType, TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from semel.errors import ClientDeclarationError, ConfigurationError

from .auth import Auth, Env
from .connection import Connection
from .declaration import operation_of
from .function import is_async, operation_function
from .operation import Operation
from .settings import Settings
from .verbs import Declared, refused

if TYPE_CHECKING:
    import httpx


class Client:
    """An HTTP API: a class whose methods are the API's operations::

        class Payments(Client, base_url="https://api.payments.example", auth=Bearer(Env("PAYMENTS_TOKEN"))):
            @post("/charges")
            def charge(self, reference: str, amount: Decimal) -> Receipt: ...

            @get("/charges/{reference}")
            async def charge_of(self, reference: str) -> Receipt: ...

        payments = Payments()
        receipt = payments.charge("A-1", Decimal("19.50"))

    An object keeps connections open and is made once, for all threads and event loops; ``with``, ``close`` and
    ``aclose`` let them go. It keeps no cookies and follows no redirects.

    In a run an operation is a step (rule A3) that is named after it, ``#auto:Payments.charge``.

    Args:
        base_url: what the paths are added to; else the class's.
        base_url_env: the environment variable that holds it, read at the first call.
        timeout: seconds that connecting, and each wait for the other side, may take; 10 where nothing is said.
        auth: ``Bearer(token)``, a user and password, or an auth of httpx. ``Env("NAME")`` stands for a secret.
        headers: sent with every request; added to the class's.
        decisions: statuses such as 404 and 409 that are an answer of the other side and not an accident: a step that
            gets one is not retried (rule R6). None by default; else the class's.
        transport: a transport of httpx, in place of the network.

    Raises of the class: ClientDeclarationError, with the place and the fix.

    Raises of an operation:
        RequestNotSent: an argument cannot stand in the request.
        ErrorStatus: the answer's status is not a 2xx (rule A10); DecidedStatus if it is one of ``decisions``.
        UnexpectedBody: the answer's body does not fit the result type.
        ConfigurationError: httpx is not installed, or a variable is not set.
        httpx.TransportError: no answer came.
    """

    _semel_settings: ClassVar[Settings] = Settings()

    def __init_subclass__(
        cls,
        *,
        base_url: str | None = None,
        base_url_env: str | None = None,
        timeout: float | None = None,
        auth: Auth | None = None,
        headers: Mapping[str, str | Env] | None = None,
        decisions: Collection[int] | None = None,
    ) -> None:
        super().__init_subclass__()
        maker = _maker(sys._getframe(1))
        try:
            cls._semel_settings = cls._semel_settings.changed(
                base_url=base_url,
                base_url_env=base_url_env,
                timeout=timeout,
                auth=auth,
                headers=headers,
                decisions=decisions,
            )
        except (ValueError, ConfigurationError) as error:
            place = f"{maker.f_code.co_filename}:{maker.f_lineno}"
            raise ClientDeclarationError(f"{place}: {cls.__qualname__}: {error}") from None
        names = {} if maker.f_locals is maker.f_globals else maker.f_locals
        for name, value in list(vars(cls).items()):
            if isinstance(value, Declared):
                if hasattr(Client, name):
                    raise refused(value.function, f"{name} is a Client's own: name the operation otherwise")
                setattr(cls, name, _made(value, names))

    def __init__(
        self,
        *,
        base_url: str | None = None,
        base_url_env: str | None = None,
        timeout: float | None = None,
        auth: Auth | None = None,
        headers: Mapping[str, str | Env] | None = None,
        decisions: Collection[int] | None = None,
        transport: httpx.BaseTransport | httpx.AsyncBaseTransport | None = None,
    ) -> None:
        name = type(self).__qualname__
        try:
            settings = self._semel_settings.changed(
                base_url=base_url,
                base_url_env=base_url_env,
                timeout=timeout,
                auth=auth,
                headers=headers,
                decisions=decisions,
            )
        except ValueError as error:
            raise ConfigurationError(f"{name}(…): {error}") from None
        if settings.base_url is None:
            raise ConfigurationError(
                f'{name} has no base URL: write class {name}(Client, base_url="https://…"), or {name}(base_url="https://…")'
            )
        self._semel_connection = Connection(name, settings, transport)

    def close(self) -> None:
        """Closes the connections of sync operations. A later call opens new ones."""
        _connection(self).close()

    async def aclose(self) -> None:
        """Closes the connections of sync operations, and those of async ones in the running event loop."""
        await _connection(self).aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<{type(self).__qualname__} {_connection(self).shown_url}>"


def _made(declared: Declared, names: Mapping[str, Any]) -> FunctionType:
    operation, signature = operation_of(declared, names)
    send = _send_async(operation) if is_async(declared.function) else _send(operation)
    return operation_function(declared.function, signature, send)


def _connection(client: Client) -> Connection:
    connection = vars(client).get("_semel_connection")
    if not isinstance(connection, Connection):
        name = type(client).__qualname__
        raise ConfigurationError(f"{name}.__init__ must begin with super().__init__(), which prepares the connections")
    return connection


def _send(operation: Operation) -> Any:
    def send(client: Client, values: tuple[Any, ...]) -> Any:
        connection = _connection(client)
        response = connection.send(operation.request(values))
        return operation.result.read(operation.name, response, connection.secrets, connection.decisions)

    return send


def _send_async(operation: Operation) -> Any:
    async def send(client: Client, values: tuple[Any, ...]) -> Any:
        connection = _connection(client)
        response = await connection.send_async(operation.request(values))
        return operation.result.read(operation.name, response, connection.secrets, connection.decisions)

    return send


def _maker(frame: FrameType) -> FrameType:
    """The frame that a class is made in, past those of classes between that extend ``__init_subclass__``."""
    while frame.f_code.co_name == "__init_subclass__" and frame.f_back is not None:
        frame = frame.f_back
    return frame
