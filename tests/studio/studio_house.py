"""A studio under test: a real server on loopback in a process of its own, and a client that has the cookie or has not."""

from __future__ import annotations

import http.client
import json
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

ROUTES = (
    "/", "/open", "/columns", "/hierarchies", "/limits", "/look", "/run", "/run/events", "/map", "/map/figure", "/decide", "/decide/events",
    "/compare", "/compare/events", "/check", "/check/events", "/words", "/explain/k_anonymity", "/documents/report.html", "/package/release.csv", "/package/package.zip", "/release/xlsx", "/studio.js", "/studio.css", "/vega.js",
)  # fmt: skip
POSTS = (
    "/open/upload", "/open/reading", "/columns/roles", "/columns/waive", "/hierarchies/rule", "/hierarchies/preview", "/hierarchies/cuts", "/hierarchies/groups", "/hierarchies/groups/preview", "/limits/answers", "/look/at", "/look/search", "/run/start", "/run/stop",
    "/compare/start", "/check/upload", "/tour/start", "/tour/end", "/decide/sign", "/decide/package",
)  # fmt: skip


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


class Client:
    """A browser, as far as requests go."""

    def __init__(self, address: str) -> None:
        self.address = address
        parts = urlsplit(address)
        self.port = int(parts.port or 0)
        self.host = f"127.0.0.1:{self.port}"
        self.token = parse_qs(parts.query)["token"][0]
        self.cookie = ""

    def enter(self) -> Answer:
        answer = self.get(f"/enter?token={self.token}")
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return answer

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        """A request with exactly these headers besides Host and Content-Length; `Host=...` names another host."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            sent = {"Host": self.host, **{name.replace("_", "-"): value for name, value in headers.items()}}
            if body is not None:
                sent.setdefault("Content-Length", str(len(body)))
            for name, value in sent.items():
                if value:
                    connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            return Answer(
                answer.status,
                {k.lower(): v for k, v in answer.getheaders()},
                answer.read().decode("utf-8", "replace"),
            )
        finally:
            connection.close()

    def get(self, path: str) -> Answer:
        return self.ask("GET", path, Cookie=self.cookie)

    def post(self, path: str, content: Any) -> Answer:
        return self.ask(
            "POST", path, json.dumps(content).encode(), Cookie=self.cookie, Origin=f"http://{self.host}", Content_Type="application/json"
        )  # fmt: skip

    def upload(self, name: str, content: bytes, path: str = "/open/upload") -> Answer:
        return self.ask(
            "POST", path, content, Cookie=self.cookie, Origin=f"http://{self.host}", X_File_Name=name,
            Content_Type="application/octet-stream",
        )  # fmt: skip


@contextmanager
def serving(folder: Path, *words: str, room: int | None = None) -> Iterator[Client]:
    """`sfumato studio` as a user starts it; interrupted at the end, which is no failure. No file may grow beyond `room` bytes, as on a full disk."""

    def limit() -> None:
        if room is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    script = str(Path(sys.executable).with_name("sfumato"))
    command = [script, "studio", *words, "--folder", str(folder), "--no-browser"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=limit)
    try:
        assert child.stdout is not None
        line = child.stdout.readline()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/enter\?token=[\w-]{43}\n", line), child.communicate()
        yield Client(line.strip())
    finally:
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=60)
        sys.stderr.write(errors)  # pytest shows it where a test fails
    assert child.returncode == 0, errors
    assert "Traceback" not in errors
    assert "Closed." in errors


def files(folder: Path) -> dict[str, bytes]:
    """Everything in a folder, by its path there."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
