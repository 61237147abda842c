"""A PostgreSQL server of one's own on this machine: made in a folder, started on a socket there, stopped and removed.

Tests and benchmarks start one each. `./run cluster start` starts one for a newcomer, with the demo's town loaded, `./run cluster start spark`
a Spark (_spark_cluster.py), and `./run cluster stop` stops what was started. It listens on no network port, and runs as a user without rights where it is started by root.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from _spark_cluster import TOKEN, Spark, stop_all

USER = "town"
GUARDED = "guarded"
"""A database that asks for a password, for tests."""
_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "autovacuum": "off",
    "shared_buffers": "256MB",
    "max_wal_size": "4GB",
}


def programs() -> Path | None:
    """The folder of initdb and pg_ctl: on the path, or where Debian has them; the newest where there are several."""
    found = [Path(name).resolve().parent for name in [shutil.which("pg_ctl")] if name]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: -float(path.parent.name))
    return next((path for path in found if (path / "initdb").exists() and (path / "pg_ctl").exists()), None)


def _as_user() -> dict[str, Any]:
    """The server refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise SystemExit("PostgreSQL does not run as root, and there is neither a user postgres nor nobody.")


class Postgres:
    """A server in a folder, which is made where it is not there."""

    def __init__(self, folder: Path | None = None) -> None:
        where = programs()
        if where is None:
            raise SystemExit("PostgreSQL is not installed here (Debian: apt-get install postgresql).")
        self.bin = where
        self.folder = folder or Path(tempfile.mkdtemp(prefix="pg-"))  # a path of a socket has 107 bytes at most
        self.data = self.folder / "data"

    def start(self) -> None:
        """Make it if need be, and start it."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        who = _as_user()
        if who:
            os.chown(self.folder, who["user"], who["group"])
        if not self.data.exists():
            how = ["--no-sync", "-A", "trust", "-U", USER, "-E", "UTF8", "--locale=C.UTF-8"]
            self._run("initdb", *how, "-D", str(self.data))
            rules = self.data / "pg_hba.conf"
            rules.write_text(f"local {GUARDED} all scram-sha-256\n{rules.read_text()}")
        options = " ".join(f"-c {name}='{value}'" for name, value in _SETTINGS.items())
        options += f" -c unix_socket_directories='{self.folder}'"
        self._run("pg_ctl", "-D", str(self.data), "-w", "-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        """Stop it at once and remove all of it."""
        if (self.data / "postmaster.pid").exists():
            self._run("pg_ctl", "-D", str(self.data), "-m", "immediate", "stop", check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def address(self, table: str = "", database: str = "postgres", user: str = USER) -> str:
        """Where a table of it is."""
        return f"postgresql://{user}@/{database}?host={self.folder}" + (f"&table={table}" if table else "")

    def _run(self, program: str, *arguments: str, check: bool = True) -> None:
        done = subprocess.run(
            [str(self.bin / program), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # no pipe: the server would keep it open
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8"},
            check=False,
            **_as_user(),
        )
        if check and done.returncode:
            raise SystemExit(f"{program} failed; the server's own words are in {self.folder / 'log'}.")


def _town(server: Postgres) -> str:
    """The demo's town as a table of the server; its address."""
    import sfumato as sf
    from sfumato.core.database_address import DatabaseAddress
    from sfumato.engines.postgres_server import server as session

    address = DatabaseAddress.of(server.address("people"))
    assert address is not None
    with tempfile.TemporaryDirectory() as folder:
        people = sf.read(sf.write_town(Path(folder))["people"])
        session(address.server, address.database).bring(people.to_arrow(), schema="public", name="people")
    return server.address("people")


def _town_folder(folder: Path) -> None:
    """The demo's town as a folder of Parquet files."""
    import pyarrow.parquet as pq

    import sfumato as sf

    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as made:
        pq.write_table(sf.read(sf.write_town(Path(made))["people"]).to_arrow(), folder / "0.parquet")


def main() -> None:
    job = sys.argv[1:] or ["help"]
    folder = Path(tempfile.gettempdir()) / f"sfumato-cluster-{os.getuid()}"
    lake, state = Path(f"{folder}-spark"), Path(f"{folder}-spark.json")
    if job == ["start"]:
        server = Postgres(folder)
        if server.data.exists():
            raise SystemExit(f"It runs already, or was not stopped: {server.folder}. ./run cluster stop removes it.")
        server.start()
        people = _town(server)
        print("PostgreSQL runs on a socket of this machine, with the demo's town. For example:\n")
        print(f"  .venv/bin/sfumato profile '{people}'\n")
        print("./run cluster stop stops it and removes everything in it.")
    elif job == ["start", "spark"]:
        if state.exists():
            raise SystemExit(f"It runs already, or was not stopped: {lake}. ./run cluster stop removes it.")
        spark = Spark(lake, workers=2)
        lake.mkdir(mode=0o700)
        state.touch(mode=0o600)
        try:
            spark.start()
        finally:
            state.write_text(json.dumps(spark.processes))
        _town_folder(spark.data / "people")
        print("Spark runs on this machine, a master and two workers, with the demo's town. For example:\n")
        print(f"  export {TOKEN}={spark.token}")
        print(f"  .venv/bin/sfumato profile '{spark.address(folder=spark.data / 'people')}'\n")
        print("./run cluster stop stops it and removes everything in it.")
    elif job == ["stop"]:
        if programs() is not None:
            Postgres(folder).stop()
        if state.exists():
            stop_all(json.loads(state.read_text()), lake)
            state.unlink()
        print("Stopped, and removed.")
    else:
        raise SystemExit("usage: ./run cluster start | start spark | stop")


if __name__ == "__main__":
    main()
