"""Addresses of tables behind a Spark Connect server: `spark://host:15002/catalog.schema.people`, or `spark://host:15002/?parquet=/lake/people`.

No secret stands in one: a token comes from the environment (SPARK_CONNECT_AUTHENTICATE_TOKEN), and the keys of a store are the server's. So
an address may stand in a study file or a command, and what is printed of one is the name of its table or folder alone.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote, unquote

from .errors import InputError
from .noun import dataclass

_SCHEME = re.compile(r"spark:/+(?=\S)", re.IGNORECASE)
_HOST = re.compile(r"(?:([\w.+%-]+)@)?(\[[0-9A-Fa-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?")
_PART = r"`(?:[^`]|``)+`|[^`.;=/]+"
_TABLE = re.compile(rf"(?:{_PART})(?:\.(?:{_PART})){{0,2}}")
_STORE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/+")
_EXAMPLES = "spark://host:15002/catalog.schema.people or spark://host:15002/?parquet=/lake/people"
TOKEN = "SPARK_CONNECT_AUTHENTICATE_TOKEN"
PORT = 15002


@dataclass(frozen=True)
class SparkAddress:
    """A table that a Spark Connect server reads: one of its catalogs, or a folder of Parquet files as the server sees it."""

    host: str
    port: int
    user: str
    encrypted: bool
    table: tuple[str, ...] = ()
    """Its name, after those of its catalog and schema where they are given; none for a folder."""
    folder: str = ""

    @classmethod
    def of(cls, source: Path | str) -> SparkAddress | None:
        """From its text, or from the path that a command line made of it; None where it is no such address."""
        text = str(source)
        scheme = _SCHEME.match(text)
        if scheme is None:
            return None
        place, _, query = text[scheme.end() :].partition("?")
        authority, _, name = place.partition("/")
        name = unquote(name.strip("/"))
        parameters = dict(_parameter(part) for part in query.split("&") if part)
        folder = parameters.pop("parquet", "").rstrip("/")
        encrypted = parameters.pop("tls", "")
        host = _HOST.fullmatch(authority)
        if host is None or "@" in query.replace("%40", "@") or "@" in name:
            raise InputError(
                "spark://...: the address holds a password, or something that is no host and port; leave the password out. A token is "
                f"given by {TOKEN}, and the keys of a store belong to the server."
            )
        port = int(host[3] or PORT)
        table = _TABLE.fullmatch(name)
        if bool(folder) == bool(name) or (name and table is None) or not 0 < port < 65536:
            raise InputError(f"spark://...: name one table, such as {_EXAMPLES}, in quotes where a shell reads it.")
        if parameters or encrypted not in ("", "true", "false"):
            raise InputError(
                "spark://...: a parameter of the address is not known; there are parquet=FOLDER and tls=true."
            )
        if folder:
            store = _STORE.match(folder)
            folder = f"{store[1]}://{folder[store.end() :]}" if store else folder  # a path keeps one slash of several
            if not folder.startswith("/") and not store:
                raise InputError(
                    "spark://...: name the folder of Parquet files in full, such as ?parquet=/lake/people."
                )
        parts = tuple(_bare(part) for part in re.findall(_PART, name)) if name else ()
        return cls(host[2].lower(), port, unquote(host[1] or ""), encrypted == "true", parts, folder)

    def _about(self) -> list[str]:
        return [self.name]

    @property
    def server(self) -> str:
        """What the client library connects to. No token is in it."""
        user = quote(self.user or "sfumato", "")
        return f"sc://{self.host}:{self.port}/;user_id={user}" + (";use_ssl=true" if self.encrypted else "")

    @property
    def text(self) -> str:
        """The address as it is given again, to another process."""
        user = f"{quote(self.user, '')}@" if self.user else ""
        said = [f"parquet={quote(self.folder, '/:')}"] if self.folder else []
        said += ["tls=true"] if self.encrypted else []
        name = quote(".".join(quoted(part) for part in self.table), "")
        return f"spark://{user}{self.host}:{self.port}/{name}" + (f"?{'&'.join(said)}" if said else "")

    @property
    def name(self) -> str:
        """What is printed of it: the table, or the last part of the folder; neither host nor user."""
        return ".".join(self.table) or self.folder.rpartition("/")[2]

    @property
    def command_name(self) -> str:
        """The address without host, user and the way to its folder."""
        return f"spark://.../{self.name}" if self.table else f"spark://.../?parquet=.../{self.name}"

    def beside(self, name: str) -> SparkAddress:
        """The folder or table of a companion: in the same place, with its name behind."""
        table = (*self.table[:-1], f"{self.table[-1]}_{name}") if self.table else ()
        folder = f"{self.folder}_{name}" if self.folder else ""
        return SparkAddress(self.host, self.port, self.user, self.encrypted, table, folder)


def quoted(name: str) -> str:
    """A name in the SQL of Spark, whatever characters it has."""
    return "`" + name.replace("`", "``") + "`"


def _parameter(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return unquote(name).casefold(), unquote(value)


def _bare(part: str) -> str:
    return part[1:-1].replace("``", "`") if part.startswith("`") else part
