"""Addresses of tables in a database server: `postgresql://host/database?table=schema.people`.

A password never stands in one: the server's own client takes it from the environment (PGPASSWORD) or from the password file (PGPASSFILE,
~/.pgpass). So an address may stand in a study file or a command, and what is printed of one is the name of its table alone.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote, unquote

from .errors import InputError
from .noun import dataclass

_SCHEME = re.compile(r"postgres(?:ql)?:/+(?=\S)", re.IGNORECASE)
_SECRETS = frozenset({"password", "sslpassword"})
_PARAMETERS = ("host", "port", "user", "sslmode", "sslrootcert", "sslcert", "sslkey", "passfile", "connect_timeout")
_EXAMPLE = "postgresql://host/database?table=schema.people"
_PART = r'"(?:[^"]|"")+"|[^".]+'
_TABLE = re.compile(rf"(?:({_PART})\.)?({_PART})")


@dataclass(frozen=True)
class DatabaseAddress:
    """A table in a PostgreSQL database: where the server is, and what the table is called there."""

    database: str
    table: str
    schema: str | None
    authority: str
    """User, host and port, as they stand before the name of the database."""
    parameters: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, source: Path | str) -> DatabaseAddress | None:
        """From its text, or from the path that a command line made of it; None where it is no such address.

        A path keeps one slash of several, so one part before the question mark is a database and two are host and database.
        """
        text = str(source)
        scheme = _SCHEME.match(text)
        if scheme is None:
            return None
        place, _, query = text[scheme.end() :].partition("?")
        parameters = dict(_parameter(part) for part in query.split("&") if part)
        parts = [part for part in place.split("/") if part]
        user, at, _ = place.rpartition("@")
        if _SECRETS & parameters.keys() or (at and ":" in user) or "@" in query.partition("table=")[0]:
            raise InputError(
                "postgresql://...: the address holds a password, or a sign that is not spelled by its code; leave the password out, and "
                "give it by PGPASSWORD or in a password file (PGPASSFILE, ~/.pgpass)."
            )
        table = _TABLE.fullmatch(parameters.pop("table", ""))
        if table is None or not 1 <= len(parts) <= 2:
            raise InputError(
                f"postgresql://...: name the database and one table of it, such as {_EXAMPLE}, in quotes where a shell reads it."
            )
        if unknown := sorted(parameters.keys() - {*_PARAMETERS}):
            raise InputError(
                f"postgresql://...: {len(unknown)} parameters of the address are not known; there are table, {', '.join(_PARAMETERS)}."
            )
        authority = parts[0] if len(parts) == 2 else ""
        schema, name = (None if part is None else _bare(part) for part in table.groups())
        return cls(unquote(parts[-1]), str(name), schema, authority, tuple(sorted(parameters.items())))

    def _about(self) -> list[str]:
        return [self.name]

    @property
    def server(self) -> str:
        """What the server's client library connects to. No password is in it."""
        given = {"connect_timeout": "10", "application_name": "sfumato", **dict(self.parameters)}
        query = "&".join(f"{name}={quote(value, '')}" for name, value in given.items())
        return f"postgresql://{self.authority}/{quote(self.database, '')}?{query}"

    @property
    def text(self) -> str:
        """The address as it is given again, to another process."""
        table = ".".join('"' + part.replace('"', '""') + '"' for part in (self.schema, self.table) if part is not None)
        query = "&".join(f"{name}={quote(value, '/')}" for name, value in (*self.parameters, ("table", table)))
        return f"postgresql://{'/'.join(part for part in (self.authority, quote(self.database, '')) if part)}?{query}"

    @property
    def name(self) -> str:
        """What is printed of it: the database and the table, neither host nor user."""
        return ".".join(part for part in (self.database, self.schema, self.table) if part is not None)

    @property
    def command_name(self) -> str:
        """The address without host and user."""
        return f"postgresql://.../{self.database}?table={'.'.join(part for part in (self.schema, self.table) if part)}"

    def beside(self, name: str) -> DatabaseAddress:
        """The table of a companion: in the same schema, with its name behind."""
        return DatabaseAddress(self.database, f"{self.table}_{name}", self.schema, self.authority, self.parameters)


def _parameter(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return unquote(name).casefold(), unquote(value)


def _bare(part: str) -> str:
    return part[1:-1].replace('""', '"') if part.startswith('"') else part
