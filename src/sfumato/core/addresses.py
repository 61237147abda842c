"""Addresses of tables that a server counts: which there are, and what is printed of one."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, Self

from .database_address import DatabaseAddress
from .spark_address import SparkAddress


class Address(Protocol):
    """Where a table is. Nothing of it is printed but its name."""

    @property
    def name(self) -> str:
        """What is printed of it: neither host nor user."""

    @property
    def command_name(self) -> str:
        """What stands for it in a command that is printed."""

    @property
    def text(self) -> str:
        """The address as it is given again, to another process."""

    def beside(self, name: str) -> Self:
        """The table of a companion."""


def address_of(source: Path | str) -> DatabaseAddress | SparkAddress | None:
    """From its text, or from the path that a command line made of it; None where it is the name of a file."""
    return DatabaseAddress.of(source) or SparkAddress.of(source)


def place_name(path: Path | str) -> str:
    """How a place is called in what is printed: an address by its table, anything else as it stands."""
    address = address_of(path)
    return str(path) if address is None else address.name


def beside(folder: Path, text: str) -> Path | str:
    """A place that a file names: an address as it stands, a path from the file's own folder."""
    return folder / text if address_of(text) is None else text
