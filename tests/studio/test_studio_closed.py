"""Closed to everybody else: an attacker on this machine, or a page in the owner's browser, gets 4xx and nothing is written."""

from __future__ import annotations

import random
import socket
from pathlib import Path

import pytest
from studio_house import POSTS, ROUTES, Client, files

from selection import rounds
from sfumato.studio.security import MOST_BODY, MOST_UPLOAD, POLICY, Keys


@pytest.fixture(autouse=True)
def _nothing_is_written(studio: tuple[Client, Path]):
    before = files(studio[1])
    yield
    assert files(studio[1]) == before


@pytest.mark.parametrize("path", ROUTES)
def test_no_page_without_the_cookie(studio: tuple[Client, Path], path: str) -> None:
    client, _ = studio
    assert client.ask("GET", path).status == 403
    name = client.cookie.partition("=")[0]
    for cookie in (
        f"{name}=wrong",
        f"{name}=",
        f"{name}={client.token}",
        f"x{client.cookie}",
        f"{client.cookie}x",
        f"{client.cookie}; {client.cookie}",
    ):
        assert client.ask("GET", path, Cookie=cookie).status == 403, cookie


@pytest.mark.parametrize("path", [*ROUTES, "/enter"])
def test_no_page_for_a_foreign_host_or_origin(studio: tuple[Client, Path], path: str) -> None:
    client, _ = studio
    path = f"/enter?token={client.token}" if path == "/enter" else path
    for host in (
        "evil.example",
        f"evil.example:{client.port}",
        "127.0.0.1",
        f"127.0.0.1:{client.port + 1}",
        "localhost",
        "",
    ):
        status = client.ask("GET", path, Cookie=client.cookie, Host=host).status
        assert 400 <= status < 500, host
    for origin in (
        "http://evil.example",
        "null",
        f"https://{client.host}",
        f"http://{client.host}.evil.example",
        f"http://127.0.0.1:{client.port + 1}",
        f"http://localhost:{client.port}",
    ):
        answer = client.ask("GET", path, Cookie=client.cookie, Origin=origin)
        assert answer.status == 403, origin
        assert "set-cookie" not in answer.headers
    for site in ("cross-site", "same-site"):
        if not path.startswith("/enter"):
            assert client.ask("GET", path, Cookie=client.cookie, Sec_Fetch_Site=site).status == 403


@pytest.mark.parametrize("path", POSTS)
def test_no_change_from_elsewhere(studio: tuple[Client, Path], path: str) -> None:
    client, _ = studio
    kind = "application/octet-stream" if path.endswith("upload") else "application/json"
    ours = f"http://{client.host}"
    good = {"Cookie": client.cookie, "Origin": ours, "Content_Type": kind, "X_File_Name": "a.csv"}
    for wrong in (
        {"Cookie": ""}, {"Origin": ""}, {"Origin": "null"}, {"Origin": "http://evil.example"}, {"Host": "evil.example"},
        {"Content_Type": ""}, {"Content_Type": "text/plain"}, {"Content_Type": "application/x-www-form-urlencoded"},
        {"Content_Type": "multipart/form-data; boundary=x"}, {"Content_Length": ""}, {"Content_Length": "-1"}, {"Content_Length": "ten"},
        {"Content_Length": str(MOST_UPLOAD + 1)}, {"Content_Length": str(MOST_BODY + 1)} if kind.endswith("json") else {"Cookie": "x"},
        {"Sec_Fetch_Site": "cross-site"},
    ):  # fmt: skip
        try:
            status = client.ask("POST", path, b"{}", **{**good, **wrong}).status
        except ConnectionError:  # it was refused before the body was sent
            continue
        assert 400 <= status < 500, wrong
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "HEAD", "TRACE"):
        assert client.ask(method, path, Cookie=client.cookie, Origin=ours).status == 405
    assert client.ask("GET", path, Cookie=client.cookie).status == 405


def test_no_way_out_of_the_folder(studio: tuple[Client, Path]) -> None:
    client, folder = studio
    (secret := folder.parent / "secret.html").write_text("a secret")
    climbs = (
        "../secret.html",
        "..%2fsecret.html",
        "%2e%2e/secret.html",
        "....//secret.html",
        "..\\secret.html",
        "%00",
        "report.html%00",
        str(secret),
        "/etc/passwd",
        "roles.toml",
        "../roles.toml",
    )
    for climb in climbs:
        for place in (
            f"/documents/{climb}",
            f"/package/{climb}",
            f"/{climb}",
            f"/map/figure?risk={climb}",
            f"/map?utility={climb}",
            f"/explain/{climb}",
            f"/release/{climb}",
        ):
            answer = client.get(place)
            assert 400 <= answer.status < 500 or place.startswith("/map"), place
            assert "a secret" not in answer.text
            assert answer.status < 500


@pytest.mark.parametrize(
    "name",
    [
        "../a.csv",
        "..%2fa.csv",
        "/etc/a.csv",
        "%00.csv",
        "a.csv/..",
        "a.exe",
        "a",
        "",
        ".csv",
        "a.toml",
        "roles.toml",
        "%FF.csv",
        "x" * 5000 + ".exe",
        "a.csv.gz.html",
    ],
)
def test_an_upload_has_no_say_in_paths(studio: tuple[Client, Path], name: str) -> None:
    """An empty file is refused whatever its name is, so that nothing stays: what the name becomes is tested with the work folder."""
    client, folder = studio
    answer = client.upload(name, b"")
    assert answer.status == 400
    assert {path.name for path in folder.iterdir()} <= {"roles.toml", "study.toml", ".studio"}


@pytest.mark.parametrize(
    "path", [path for path in POSTS if not path.endswith("upload") and path not in ("/run/start", "/run/stop")]
)
def test_what_a_page_would_not_send_is_refused(studio: tuple[Client, Path], path: str) -> None:
    client, _ = studio
    for body in (b"", b"[]", b"null", b"1", b'"a"', b"{", b"\xff", b"[" * 100_000, b'{"roles": 1}', b'{"roles": ["quasi"]}',
                 b'{"levels": ["1e9"]}', b'{"levels": ["-1"], "suppression": "nan"}', b'{"candidate": "../0"}', b'{"reasons": ["a", "b", "c"]}',
                 b'{"header_row": "0", "missing": ["x"]}', b'{"decimal": "both"}', b'{"to": "anyone"}', b'{"guidance": "none"}', b'{"bounds": 3}'):  # fmt: skip
        answer = client.ask(
            "POST", path, body, Cookie=client.cookie, Origin=f"http://{client.host}", Content_Type="application/json"
        )
        assert answer.status == 400, (body, answer)
        assert answer.json["error"]


def test_malformed_requests_are_refused_and_harm_nothing(studio: tuple[Client, Path]) -> None:
    client, _ = studio
    draw = random.Random(7)
    starts = (
        b"GET / HTTP/1.1\r\n",
        b"POST /open/upload HTTP/1.1\r\n",
        b"GET http://evil.example/ HTTP/1.1\r\n",
        b"GET",
        b"\x16\x03\x01",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    )
    heads = (
        b"Host: " + client.host.encode(),
        b"Host: evil.example",
        b"Cookie: " + b"a" * 70_000,
        b"Content-Length: 5",
        b"Content-Length: 6",
        b"Transfer-Encoding: chunked",
        b"Upgrade: websocket",
        b"Connection: Upgrade",
        b": x",
        b"A\x00B: c",
        b" folded",
    )
    seen = set()
    for _ in rounds(10_000):
        raw = (
            draw.choice(starts)
            + b"".join(draw.choice(heads) + b"\r\n" for _ in range(draw.randrange(5)))
            + b"\r\n"
            + draw.randbytes(draw.randrange(40))
        )
        with socket.create_connection(("127.0.0.1", client.port), timeout=20) as peer:
            answer = b""
            try:
                peer.sendall(raw)
                peer.shutdown(socket.SHUT_WR)
                while block := peer.recv(1 << 16):
                    answer += block
            except TimeoutError:
                raise
            except OSError:  # the server has hung up before all was said
                continue
        if answer:
            seen.add(int(answer.split(b" ", 2)[1]))
    assert seen
    assert all(400 <= status < 500 for status in seen), seen
    assert client.get("/open").status == 200


def test_what_is_answered_may_load_nothing_of_others(studio: tuple[Client, Path]) -> None:
    client, _ = studio
    for path in ("/open", "/columns", "/limits", "/look", "/run", "/map", "/studio.js", "/nowhere"):
        headers = client.get(path).headers
        assert headers["content-security-policy"] == POLICY
        assert "unsafe" not in POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert not any(name.startswith("access-control") for name in headers)
        assert "server" not in headers
    for path in ("/open", "/columns", "/limits", "/look", "/run"):
        text = client.get(path).text
        assert "<style" not in text
        assert " style=" not in text
        assert " onclick" not in text
        assert "<script>" not in text


def test_the_token_opens_one_cookie_and_nothing_else(studio: tuple[Client, Path]) -> None:
    client, folder = studio
    entered = client.ask("GET", f"/enter?token={client.token}")
    said = entered.headers["set-cookie"]
    assert entered.status == 200
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= {part.strip() for part in said.split(";")}
    assert client.token not in said
    for query in (
        "",
        "?token=",
        "?token=x",
        f"?token={client.token}x",
        f"?token={client.token}&token={client.token}",
        "?token=%ff",
    ):
        assert client.ask("GET", f"/enter{query}").status == 403
    assert (folder / ".studio" / "enter.html").stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700


def test_it_listens_on_this_machine_alone(studio: tuple[Client, Path]) -> None:
    client, _ = studio
    listening = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    bound = {
        entry[1].partition(":")[0]
        for entry in listening
        if int(entry[1].partition(":")[2], 16) == client.port and entry[3] == "0A"
    }
    assert bound == {"0100007F"}


def test_no_two_studios_share_a_secret() -> None:
    first, second = Keys.new(1), Keys.new(1)
    assert len({first.token, first.cookie, second.token, second.cookie}) == 4
    assert first.token not in repr(first)
    assert first.cookie not in repr(first)
