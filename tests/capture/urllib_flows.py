"""What programs do with urllib.request, xmlrpc.client and http.client; each function gives the objects that it got."""

from __future__ import annotations

import http.client
import io
import os
import ssl
import urllib.error
import urllib.request
import xmlrpc.client
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.cookiejar import CookieJar
from typing import Any
from urllib.parse import urlsplit

from deep import show

from semel import App

app = App("capture", database=os.environ["DATABASE"])


@app.workflow
def flows(url: str, names: list[str]) -> None:
    for name in names:
        show([name, globals()[name](url)])


def caught(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except (OSError, TypeError, http.client.HTTPException) as error:
        return error


def told(response: Any) -> Any:
    """What a caller can see of a response, its body read last."""
    seen = [response.status, response.reason, response.version, response.headers.items(), response.getheaders()]
    seen += [response.will_close, response.chunked, response.length, response.getheader("content-type")]
    seen += [getattr(response, "url", None), response.isclosed(), response.msg]
    return [*seen, response.read(), response.isclosed(), response.length, response]


def plain(url: str) -> Any:
    with urllib.request.urlopen(f"{url}/json?q=1") as response:
        return told(response), response.geturl(), response.info(), response.getcode()


def posted(url: str) -> Any:
    request = urllib.request.Request(f"{url}/echo", b"a=1", {"Content-Type": "text/plain"}, method="PUT")
    return told(urllib.request.urlopen(request, timeout=10))


def posted_in_pieces(url: str) -> Any:
    request = urllib.request.Request(f"{url}/echo", iter([b"in ", b"pieces"]), {"Content-Length": "9"})
    chunked = urllib.request.Request(f"{url}/echo?2", iter([b"in ", b"chunks 0\r\n"]))
    return [told(urllib.request.urlopen(one)) for one in (request, chunked)]


def shapes(url: str) -> Any:
    return [told(urllib.request.urlopen(f"{url}/{name}")) for name in ("chunked", "gzip", "empty", "until-closed")]


def head(url: str) -> Any:
    return told(urllib.request.urlopen(urllib.request.Request(f"{url}/head", method="HEAD")))


def streamed(url: str) -> Any:
    ways = (by_lines, by_line, by_pieces, by_one, into_buffer, by_peeks)
    names = ("chunked", "until-closed", "json")
    return [read(urllib.request.urlopen(f"{url}/{name}")) for name in names for read in ways]


def by_lines(response: Any) -> Any:
    return [*response]


def by_line(response: Any) -> Any:
    return [response.readline(), response.readline(2), response.length, response.read(3), response.length]


def by_pieces(response: Any) -> Any:
    return [(response.read(9), response.length) for _ in range(8)]


def by_one(response: Any) -> Any:
    return [response.read1(4), response.read1(), response.read1()]


def into_buffer(response: Any) -> Any:
    buffer = bytearray(7)
    return [response.readinto(buffer), buffer, io.BufferedReader(response).read()]


def by_peeks(response: Any) -> Any:
    return [response.peek(3), response.read(2), response.peek(3), response.read()]


def redirected(url: str) -> Any:
    jar = CookieJar()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    return told(opener.open(f"{url}/redirect/3")), [vars(cookie) for cookie in jar]


def logged_in(url: str) -> Any:
    passwords = urllib.request.HTTPPasswordMgrWithDefaultRealm()
    passwords.add_password(None, url, "me", "secret-password")
    opener = urllib.request.build_opener(urllib.request.HTTPBasicAuthHandler(passwords))
    return told(opener.open(f"{url}/login"))


def error_answer(url: str) -> Any:
    try:
        return urllib.request.urlopen(f"{url}/status/404")
    except urllib.error.HTTPError as error:
        return error.code, error.reason, error.headers.items(), error.url, str(error), error.read()


def retrieved(url: str) -> Any:
    name, headers = urllib.request.urlretrieve(f"{url}/json")
    with open(name, "rb") as file:
        return file.read(), headers


def retried(url: str) -> Any:
    for _ in range(5):
        try:
            return told(urllib.request.urlopen(f"{url}/flaky"))
        except urllib.error.HTTPError as error:
            show([error.code, error.read()])
    return "never"


def refused(url: str) -> Any:
    addresses = (f"http://127.0.0.1:{os.environ['CLOSED_PORT']}/", "http://no.such.host.invalid/")
    return [caught(lambda address=address: urllib.request.urlopen(address)) for address in addresses]


def over_tls(url: str) -> Any:
    contexts = (ssl._create_unverified_context(), ssl.create_default_context())
    return [
        caught(lambda context=context: urllib.request.urlopen(f"{url}/json", context=context)) for context in contexts
    ]


def timed_out(url: str) -> Any:
    return caught(lambda: urllib.request.urlopen(f"{url}/silence", timeout=0.3))


def no_answer(url: str) -> Any:
    names = ("nothing", "garbage")
    return [caught(lambda name=name: urllib.request.urlopen(f"{url}/{name}")) for name in names]


def broken_off(url: str) -> Any:
    seen: list[Any] = []
    for name in ("half", "half-chunked", "reset"):
        response = urllib.request.urlopen(f"{url}/{name}")
        seen += [response.status, response.headers.items(), caught(response.read), response.isclosed()]
    return seen


def broken_off_in_pieces(url: str) -> Any:
    seen: list[Any] = []
    for name in ("half", "half-chunked", "reset"):
        response = urllib.request.urlopen(f"{url}/{name}?pieces")
        seen += [caught(lambda response=response: response.read(20)) for _ in range(20)]
    return seen


def remote_call(url: str) -> Any:
    with xmlrpc.client.ServerProxy(url) as proxy:
        return proxy.answer(1, "two")


def direct(url: str) -> Any:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
    connection.connect()
    connection.request("POST", "/echo", b"body", {"X-Of-Mine": "1"})
    first = told(connection.getresponse())
    return first, asked_again(connection), asked_by_hand(connection), connection.sock is None


def asked_again(connection: Any) -> Any:
    connection.request("GET", "/json")
    response = connection.getresponse()
    return response.read(4), response.fp is None, response.read()


def asked_by_hand(connection: Any) -> Any:
    connection.putrequest("PUT", "/echo")
    connection.putheader("Content-Length", "9")
    connection.endheaders()
    connection.send(b"by ")
    connection.send(io.BytesIO(b"pieces"))
    seen = told(connection.getresponse())
    connection.close()
    return seen


def refused_directly(url: str) -> Any:
    connection = http.client.HTTPConnection("127.0.0.1", int(os.environ["CLOSED_PORT"]))
    return caught(lambda: connection.request("GET", "/"))


def too_early(url: str) -> Any:
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    return [caught(connection.getresponse), caught(lambda: connection.send("text"))]


def a_file(url: str) -> Any:
    with urllib.request.urlopen(f"file://{__file__}") as file:
        return file.readline()


def concurrently(url: str) -> Any:
    with ThreadPoolExecutor(8) as pool:
        return [*pool.map(lambda number: urllib.request.urlopen(f"{url}/echo?{number}").read(), range(20))]


@app.workflow
def two_calls(url: str) -> str:
    first = urllib.request.urlopen(f"{url}/echo?first", b"1").read()
    second = [urllib.request.urlopen(f"{url}/redirect/2", data).read() for data in (b"2",)]
    return f"{first} {second}"


@app.workflow
def upgraded(url: str) -> str:
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    connection.request("GET", "/json", headers={"Upgrade": "websocket", "Connection": "Upgrade"})
    return "opened"


@app.workflow
def much(url: str, name: str) -> str:
    return str(len(urllib.request.urlopen(f"{url}/{name}").read()))


@app.workflow
def over_ftp(url: str) -> str:
    return str(urllib.request.urlopen(url.replace("http:", "ftp:")).read())


@app.workflow
def secret(url: str) -> str:
    request = urllib.request.Request(f"{url}/json?key=secret-in-url", b"secret-in-body", {"X-Key": "secret-in-header"})
    return urllib.request.urlopen(request).headers.get("X-Secret", "not there")
