"""The formats of tables that are read and written: help, errors and documents take their names from here.

What a format cannot hold is refused before a release is made: names of columns, more rows than a sheet has, a package that is missing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from .addresses import address_of
from .errors import InputError, Unavailable
from .noun import dataclass
from .spark_address import SparkAddress


@dataclass(frozen=True)
class Format:
    """Files of one program: by which endings they are known, and which of them a release is written to."""

    title: str
    endings: tuple[str, ...]
    written: tuple[str, ...] = ()
    needs: str = ""
    """The package that reads and writes it, where it is not one that is always there."""
    most_rows: int = 0
    longest_name: int = 0
    """Bytes (SPSS) or characters of the longest name of a column; 0: no such limit."""


CSV = Format("CSV", (".csv", ".tsv", ".txt"), (".csv",))
JSON_LINES = Format("JSON lines", (".jsonl", ".ndjson"))
PARQUET = Format("Parquet", (".parquet",), (".parquet",))
ARROW = Format("Arrow", (".arrow", ".feather", ".ipc"))
EXCEL = Format("Excel", (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods"), (".xlsx",), most_rows=1_048_575)
SPSS = Format("SPSS", (".sav", ".zsav", ".por"), (".sav",), "pyreadstat", longest_name=64)
STATA = Format("Stata", (".dta",), (".dta",), "pyreadstat", longest_name=32)
SAS = Format("SAS", (".xpt", ".sas7bdat"), (), "pyreadstat")
DATABASE = Format("PostgreSQL", (), needs="adbc_driver_postgresql", longest_name=63)
"""A table of a server, by its address and not by an ending."""
SPARK = Format("Spark", (), needs="pyspark")
"""A folder of Parquet files that a server writes, the same."""
FORMATS = (CSV, JSON_LINES, PARQUET, ARROW, EXCEL, SPSS, STATA, SAS)
STATISTICAL = (SPSS, STATA, SAS)

_ADDRESS = re.compile(r"""\b([A-Za-z][A-Za-z0-9+.-]+):/[^\s'"`]*?(?=[:;,.]*(?:[\s'"`]|$))""")
_NAME = re.compile(r"[^\W\d]\w*")
_SPSS_NAME = re.compile(r"[^\W\d_@#$][\w.@#$]*(?<!\.)|[^\W\d_]")
_SPSS_WORDS = re.compile("(?i)all|and|by|eq|ge|gt|le|lt|ne|not|or|to|with")
_STATA_WORDS = re.compile(
    r"_(all|b|coef|cons|n|N|pi|pred|rc|skip)|alias|byte|double|float|if|in|int|long|str(L|\d+)|using|with"
)


def _listed(words: Sequence[str], last: str) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


READABLE = f"a {_listed([each.title for each in FORMATS], 'or')} file, a DuckDB or SQLite database, or the address of a PostgreSQL or Spark table"
"""What may be brought, in a sentence."""
WRITABLE = _listed([ending for each in FORMATS for ending in each.written], "or")
"""What a release may be written to."""


def of(path: Path) -> Format | None:
    """The format that the ending of a name says; None where it says none of them."""
    ending = path.suffix.lower()
    return next((each for each in FORMATS if ending in each.endings), None)


def require(form: Format, path: Path) -> None:
    """Refuse where the package that the format needs is missing."""
    package = "xlsxwriter" if form is EXCEL else form.needs
    if package and find_spec(package) is None:
        raise Unavailable(f"{path}: {form.title} needs {package}; install it with: pip install 'sfumato[formats]'.")


def check_local(path: Path) -> None:
    """Refuse an address in a network: nothing is ever fetched or sent. What stands behind its scheme may be a secret and is not told."""
    scheme = _ADDRESS.match(str(path))
    if scheme is not None and not path.exists():
        raise InputError(
            f"{scheme[1].lower()}://...: an address, not a file; sfumato opens files on this machine only. Download or export the table "
            "first, and name the file."
        )


def without_addresses(text: str) -> str:
    """A sentence that names addresses by their schemes alone."""
    return _ADDRESS.sub(lambda found: f"{found[1].lower()}://...", text)


def check_folder(path: Path) -> None:
    """Refuse to write where there is no folder."""
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder does not exist; make it first.")


def check_out(path: Path, columns: Sequence[str] = (), rows: int = 0) -> Format:
    """The format of a release, or why it cannot be written there: before any work is done for it."""
    address = address_of(path)
    if isinstance(address, SparkAddress):
        if find_spec(SPARK.needs) is None:
            raise Unavailable(
                f"{address.name}: Spark needs pyspark-client; install it with: pip install 'sfumato[spark]'."
            )
        return SPARK
    if address is not None:
        if find_spec(DATABASE.needs) is None:
            raise Unavailable(
                f"{address.name}: PostgreSQL needs adbc-driver-postgresql; install it with: pip install 'sfumato[postgres]'."
            )
        check_names(columns, address.name)
        return DATABASE
    check_local(path)
    form = of(path)
    if form is None or path.suffix.lower() not in form.written:
        raise InputError(f"{path}: a release is written as {WRITABLE}.")
    require(form, path)
    check_folder(path)
    if path.is_dir():
        raise InputError(f"{path}: a folder; name a file.")
    for name in columns:
        _check_name(form, name, path)
    if form.most_rows and rows > form.most_rows:
        raise InputError(
            f"{path}: {rows:,} rows, and a sheet of {form.title} has {form.most_rows:,} below its header; write CSV or Parquet."
        )
    return form


def check_names(columns: Sequence[str], where: str) -> None:
    """Refuse names of columns that a table of a database cannot have, which the server would cut in silence."""
    for name in columns:
        if len(name.encode()) > DATABASE.longest_name:
            raise InputError(
                f"{where}: the name of column {name!r} has {len(name.encode())} bytes, and PostgreSQL takes {DATABASE.longest_name}; rename it."
            )


def _check_name(form: Format, name: str, path: Path) -> None:
    if form is SPSS:
        pattern, words, size = _SPSS_NAME, _SPSS_WORDS, len(name.encode())
    elif form is STATA:
        pattern, words, size = _NAME, _STATA_WORDS, len(name)
    else:
        return
    if size > form.longest_name:
        unit = "bytes" if form is SPSS else "characters"
        raise InputError(
            f"{path}: the name of column {name!r} has {size} {unit}, and {form.title} takes {form.longest_name}; rename it, or write CSV or "
            "Parquet."
        )
    if not pattern.fullmatch(name) or words.fullmatch(name):
        raise InputError(
            f"{path}: {name!r} cannot be the name of a column in {form.title}, which takes letters, digits and underscores, a letter "
            "first, and none of its own words; rename it, or write CSV or Parquet."
        )
