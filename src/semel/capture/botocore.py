"""What botocore, and so boto3, does only sometimes in a call: it gets credentials, tokens and endpoints.

Its exchanges go through urllib3 and are recorded there. Whether a call refreshes credentials depends on the hour and
on the process, so a refresh can be no part of the call, and what it brings back must not be stored. The endpoints that
give credentials are often local, and STS is asked by ordinary clients, so a list of hosts would not do: what botocore
does to load and refresh them happens outside the run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

from semel.compiler.path import current

#: What gets credentials and the like, by module, class and method.
_SOMETIMES = {
    "botocore.credentials": (
        ("CredentialResolver", "load_credentials"),
        ("RefreshableCredentials", "_protected_refresh"),
    ),
    "botocore.tokens": (
        ("TokenProviderChain", "load_token"),
        ("DeferredRefreshableToken", "_protected_refresh"),
    ),
    "botocore.utils": (
        ("IdentityCache", "get_credentials"),  # sessions of S3 Express
        ("IMDSRegionProvider", "provide"),
    ),
    "botocore.discovery": (("EndpointDiscoveryManager", "describe_endpoint"),),
}

MODULES = tuple(_SOMETIMES)


def install(module: ModuleType) -> None:
    """Patches what of ``module`` happens only sometimes. Idempotent."""
    for class_name, name in _SOMETIMES[module.__name__]:
        owner = getattr(module, class_name, None)
        original = vars(owner).get(name) if owner is not None else None
        if original is not None and not hasattr(original, "_semel_outside"):
            setattr(owner, name, _outside(original))


def _outside(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def outside(*args: Any, **kwargs: Any) -> Any:
        if current.get() is None:
            return original(*args, **kwargs)
        token = current.set(None)
        try:
            return original(*args, **kwargs)
        finally:
            current.reset(token)

    outside.__dict__["_semel_outside"] = True
    return outside
