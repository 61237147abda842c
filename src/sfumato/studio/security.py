"""Who gets in: the browser that was given the address, on this machine, from a page of ours. Everybody else gets a 4xx and nothing else.

Every request is held against five walls before any page sees it, in this order:

    method   GET or POST
    Host     the address that we listen on: a foreign name that resolves to this machine is refused (DNS rebinding)
    Origin   where the browser sends one it is ours, and a POST must have one; `Sec-Fetch-Site` says the same where it is sent
    body     of a stated length within its bound, in a type that no form of another page can send
    cookie   the secret that the first address was exchanged for: HttpOnly, SameSite=Strict, one a port

Nothing is allowed to other origins (no CORS header is ever sent), and what is answered may load nothing but our own files.
"""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Iterable
from typing import ClassVar
from urllib.parse import parse_qs

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..core.noun import dataclass

ENTRANCE = "/enter"
UPLOAD, UPLOAD_RELEASE = "/open/upload", "/check/upload"
MOST_BODY = 1 << 20
MOST_UPLOAD = 4 << 30
"""Bytes of a table that a browser may bring; a larger one is named on the command line."""
_TYPES = dict.fromkeys((UPLOAD, UPLOAD_RELEASE), ("application/octet-stream", MOST_UPLOAD))
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"cache-control", b"no-store"),
)


@dataclass(frozen=True)
class Keys:
    """The secrets of one studio: the token in its first address, and the cookie that this is exchanged for."""

    shows: ClassVar[tuple[str, ...]] = ("port",)
    port: int
    token: str
    cookie: str

    @classmethod
    def new(cls, port: int) -> Keys:
        """Two secrets of 256 bits each from the system's cryptographic source."""
        return cls(port, secrets.token_urlsafe(32), secrets.token_urlsafe(32))

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a Host header may say."""
        return (f"127.0.0.1:{self.port}", f"localhost:{self.port}")

    @property
    def name(self) -> str:
        """The cookie's name: browsers share cookies between the ports of a host."""
        return f"sfumato_{self.port}"

    @property
    def address(self) -> str:
        """The first address."""
        return f"http://{self.hosts[0]}{ENTRANCE}?token={self.token}"

    @property
    def set_cookie(self) -> str:
        """The header that lets a browser in until it is closed."""
        return f"{self.name}={self.cookie}; Path=/; HttpOnly; SameSite=Strict"


class Guard:
    """The walls, around all pages."""

    def __init__(self, app: ASGIApp, *, keys: Keys) -> None:
        self.app, self.keys = app, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def walled(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = message.setdefault("headers", [])
                there = {name for name, _ in given}
                given.extend(each for each in _HEADERS if each[0] not in there)
            await send(message)

        refused = self.refusal(scope)
        if refused is None:
            try:
                await self.app(scope, receive, walled)
            except Exception:  # it was answered; the server would print it, and a foreign error may quote the table
                if os.environ.get("SFUMATO_DEBUG"):
                    raise
        else:
            status, sentence = refused
            await PlainTextResponse(sentence, status, {"connection": "close"})(scope, receive, walled)

    def refusal(self, scope: Scope) -> tuple[int, str] | None:
        """The status and the sentence for a request that does not get in."""
        method, path = scope["method"], scope["path"]
        headers: list[tuple[bytes, bytes]] = list(scope["headers"])
        if method not in ("GET", "POST"):
            return 405, "Only GET and POST are answered."
        hosts = _values(headers, b"host")
        if len(hosts) != 1 or hosts[0] not in self.keys.hosts:
            return 421, "This address is not the studio's."
        origins, sites = _values(headers, b"origin"), _values(headers, b"sec-fetch-site")
        if any(origin != f"http://{hosts[0]}" for origin in origins) or (method == "POST" and len(origins) != 1):
            return 403, "The request comes from another page."
        entering = path == ENTRANCE
        if any(site not in ("same-origin", "none") for site in sites) and not entering:
            return 403, "The request comes from another page."
        if method == "POST" and (refused := _body_refusal(headers, path)):
            return refused
        if entering:
            return (
                None if self._has_token(scope["query_string"]) else (403, "The address is not whole; copy all of it.")
            )
        if not self._has_cookie(headers):
            return 403, "Open the address that `sfumato studio` printed; it lets one browser in."
        return None

    def _has_token(self, query: bytes) -> bool:
        try:
            tokens = parse_qs(query.decode("ascii"), max_num_fields=4).get("token", [])
        except ValueError:
            return False
        return len(tokens) == 1 and _same(tokens[0], self.keys.token)

    def _has_cookie(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        pairs = [part.strip().partition("=") for line in _values(headers, b"cookie") for part in line.split(";")]
        ours = [value for name, _, value in pairs if name == self.keys.name]
        return len(ours) == 1 and _same(ours[0], self.keys.cookie)


def _body_refusal(headers: list[tuple[bytes, bytes]], path: str) -> tuple[int, str] | None:
    """Why a body is not even read."""
    kind, most = _TYPES.get(path, ("application/json", MOST_BODY))
    if [value.partition(";")[0].strip().lower() for value in _values(headers, b"content-type")] != [kind]:
        return 415, f"The body must be {kind}."
    lengths = _values(headers, b"content-length")
    if len(lengths) != 1 or not (lengths[0].isascii() and lengths[0].isdigit()):
        return 411, "The body must say how long it is."
    if int(lengths[0][:20]) > most:
        return 413, f"More than {most:,} bytes; name a larger table on the command line: sfumato studio FILE."
    return None


def _values(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key == name]


def _same(given: str, ours: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), ours.encode())
