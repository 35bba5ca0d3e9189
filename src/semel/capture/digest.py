"""What identifies a request: method, path and stable query; never the host, and nothing that changes by itself.

The engine keys the digests with the run's secret, so that a short body cannot be guessed from its record.
"""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

from .exchange import Request

#: Parts of a query that are new at each request: signatures, dates, nonces.
VOLATILE = frozenset(
    {
        *("x-amz-algorithm", "x-amz-credential", "x-amz-date", "x-amz-expires", "x-amz-security-token"),
        *("x-amz-signature", "x-amz-signedheaders", "awsaccesskeyid", "signature", "expires", "x-id"),
        *("x-goog-algorithm", "x-goog-credential", "x-goog-date", "x-goog-expires", "x-goog-signature"),
        *("x-goog-signedheaders", "sig", "se", "st", "sv", "skoid", "sktid"),
        *("timestamp", "ts", "_", "nonce", "oauth_nonce", "oauth_timestamp", "oauth_signature", "cachebuster"),
    }
)


def identity(request: Request) -> bytes:
    """The bytes that two requests for the same share. Query parameters count in any order."""
    parts = urlsplit(request.url)
    query = sorted(
        (name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if name.lower() not in VOLATILE
    )
    told = [request.method.upper(), parts.path or "/", *(f"{name}={value}" for name, value in query)]
    if request.about:
        told.append(request.about)
    return "\0".join(told).encode("utf-8", "surrogatepass")


def content(request: Request) -> bytes:
    """The bytes of the body that a digest of it is made of: without the boundary of a multipart, which is random."""
    body = request.body or b""
    if body.startswith(b"--"):
        boundary = body.partition(b"\r\n")[0]
        return body.replace(boundary, b"--")
    return body
