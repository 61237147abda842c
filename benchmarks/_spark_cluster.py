"""A Spark Connect server of one's own on this machine: started on loopback, alone or over a master and workers, stopped and removed.

Spark itself is the `pyspark` package of an environment of its own, .venv-spark, which `./run setup --spark` makes, or what SPARK_HOME
names. It needs Java 17 or newer. Whoever may ask the server reads files as its user: so it listens on loopback alone, and asks for a token,
which is in the environment of who started it and, with all settings, in a folder that only that user opens.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOKEN = "SPARK_CONNECT_AUTHENTICATE_TOKEN"
_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
_LOCAL = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""A server of small questions starts sooner so."""


def home() -> Path | None:
    """Where Spark is: in the environment of its own, or where SPARK_HOME says; None where it is not, or there is no Java."""
    named = os.environ.get("SPARK_HOME")
    found = [Path(named)] if named else sorted(ROOT.glob(".venv-spark/lib/python*/site-packages/pyspark"))
    usable = [path for path in found if list(path.glob("jars/spark-connect_*.jar"))]
    return usable[-1] if usable and shutil.which("java") and shutil.which("bash") else None


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Spark:
    """A server in a folder: within one process, or over a master and so many workers."""

    def __init__(self, folder: Path | None = None, *, workers: int = 0, memory: str = "1g") -> None:
        where = home()
        if where is None:
            raise SystemExit(
                "Spark is not here: ./run setup --spark fetches it, and it needs Java (Debian: apt-get install default-jre-headless)."
            )
        self.home, self.workers, self.memory = where, workers, memory
        self.folder = folder or Path(tempfile.mkdtemp(prefix="spark-"))
        self.port = 0
        self.token = os.environ.get(TOKEN) or secrets.token_hex(16)
        os.environ[TOKEN] = self.token  # where clients in this process look for it
        self.processes: dict[str, int] = {}

    @property
    def data(self) -> Path:
        """A folder for tables."""
        return self.folder / "data"

    def start(self, patience: float = 240, until: int = 0) -> None:
        """Start it and wait until it listens; it goes when the process `until` is no more."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.data.mkdir(exist_ok=True)
        self.port, master = free_port(), "local[2]"
        settings = {
            **_SETTINGS,
            "spark.authenticate": "true",
            "spark.authenticate.secret": secrets.token_hex(16),
            "spark.connect.grpc.binding.port": str(self.port),
            "spark.sql.warehouse.dir": str(self.folder / "warehouse"),
        }
        settings |= {"spark.executor.memory": self.memory, "spark.executor.cores": "1"} if self.workers else _LOCAL
        (self.folder / "conf").mkdir(exist_ok=True)
        lines = "".join(f"{name} {value}\n" for name, value in settings.items())
        (self.folder / "conf" / "spark-defaults.conf").write_text(lines, encoding="utf-8")
        if self.workers:
            port = free_port()
            master = f"spark://127.0.0.1:{port}"
            here = ["--host", "127.0.0.1", "--webui-port", "0"]
            self._begin("master", "spark-class", "org.apache.spark.deploy.master.Master", *here, "--port", str(port))
            _wait(port, patience)
            for i in range(self.workers):
                size = ["--cores", "1", "--memory", self.memory, "--work-dir", str(self.folder / f"work{i}")]
                self._begin(f"worker{i}", "spark-class", "org.apache.spark.deploy.worker.Worker", *here, *size, master)
        memory = ["--driver-memory", self.memory]
        self._begin("server", "spark-submit", "--master", master, *memory, "--class", _SERVER, "spark-internal")
        if until:
            groups = " ".join(f"-{process}" for process in self.processes.values())
            guard = f"while kill -0 {until} 2>/dev/null; do sleep 2; done; kill -9 -- {groups} 2>/dev/null"
            self._begin("guard", "/bin/sh", "-c", guard)
        _wait(self.port, patience)

    def stop(self) -> None:
        """Stop it at once and remove all of it."""
        stop_all(self.processes, self.folder)

    def kill(self, name: str) -> None:
        """End one of its processes without a word, with what it has started."""
        _kill(self.processes.pop(name))

    def address(self, table: str = "", folder: Path | str = "") -> str:
        """Where a table of it is."""
        return f"spark://localhost:{self.port}/{table}" + (f"?parquet={folder}" if folder else "")

    def _begin(self, name: str, program: str, *words: str) -> None:
        environment = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(self.folder),
            "LC_ALL": "C.UTF-8",
            "SPARK_HOME": str(self.home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "SPARK_NO_DAEMONIZE": "1",
            "SPARK_CONF_DIR": str(self.folder / "conf"),
            TOKEN: self.token,
        }
        if java := os.environ.get("JAVA_HOME"):
            environment["JAVA_HOME"] = java
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [str(self.home / "bin" / program), *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env=environment,
                start_new_session=True,
            )
        self.processes[name] = process.pid
        process.returncode = 0  # it is waited for by nobody: it may outlive us, and is ended by its number


def stop_all(processes: dict[str, int], folder: Path) -> None:
    """End the processes of a server, those that were started last first, and remove its folder."""
    for process in reversed(processes.values()):
        _kill(process)
    shutil.rmtree(folder, ignore_errors=True)


def _wait(port: int, patience: float) -> None:
    for _ in range(int(patience / 0.1)):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"Spark did not start within {patience:.0f} seconds; its own words are in its folder.")


def _kill(process: int) -> None:
    """A process and those of its group, and wait until the system has let go of it."""
    try:
        os.killpg(process, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
    with contextlib.suppress(ChildProcessError):  # another one's
        os.waitpid(process, 0)
