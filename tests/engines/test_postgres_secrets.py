"""A password never stands in an address, and none that the environment has is ever printed, kept or written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.database_address import DatabaseAddress
from sfumato.core.errors import InputError

SECRET = "Quixotic7741"  # the canary that `refusal` looks for
WITH_PASSWORD = (
    f"postgresql://user:{SECRET}@host/db?table=people",
    f"postgres://user:{SECRET}@host/db?table=people",
    f"postgresql://user:{SECRET}/x@host/db?table=people",
    f"postgresql://user:a?{SECRET}@host/db?table=people",
    f"postgresql://host/db?table=people&password={SECRET}",
    f"postgresql://host/db?pass%77ord={SECRET}&table=people",
    f"postgresql://host/db?table=people&{SECRET}=1",
    f"POSTGRESQL://user:{SECRET}@/db",
    f"postgresql://user:{SECRET}@host",
    f"postgresl://user:{SECRET}@host/db?table=people",
)


@pytest.mark.parametrize("address", WITH_PASSWORD)
def test_a_password_in_an_address_is_refused(address: str, refusal: Any, tmp_path: Path) -> None:
    refusal(InputError, lambda: sf.read(address))
    refusal(InputError, lambda: sf.read(Path(address)))
    release = sf.Release(table=sf.read(pa.table({"age": ["1", "1"]})))
    refusal(
        InputError, lambda: sf.publish(release, sf.Roles(quasi=("age",)), [sf.require("k_anonymity >= 2")], address)
    )


@pytest.mark.parametrize(
    "text",
    ["postgresql://host/db", "postgresql://host/db?table=", "postgresql://?table=x", "postgresql://a/b/c?table=x", "postgresql://host/db?table=a.b.c", "postgresql://host/db?table=x&shoe=size"],
)  # fmt: skip
def test_addresses_that_name_no_table(text: str, refusal: Any) -> None:
    refusal(InputError, lambda: sf.read(text), "postgresql://")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("postgresql://host/db?table=people", "db.people"),
        ("postgresql://anna@host:5433/db?table=city.people&sslmode=require", "db.city.people"),
        ("postgresql:///db?table=people&host=/run/pg", "db.people"),
        ('postgresql://[::1]/d%20b?table="my.schema"."a ""b"""', 'd b.my.schema.a "b"'),
    ],
)
def test_an_address_survives_being_a_path(text: str, name: str) -> None:
    address = DatabaseAddress.of(text)
    assert address is not None
    assert address.name == name
    assert DatabaseAddress.of(Path(text)) == address
    assert DatabaseAddress.of(Path(address.text)) == address
    assert "anna" not in f"{address!r} {address.name}"


@pytest.mark.parametrize("text", ["people.csv", "postgresql.csv", "data/postgresql:", "s3://bucket/x", "postgresql:"])
def test_what_is_no_address(text: str) -> None:
    assert DatabaseAddress.of(text) is None


@pytest.mark.full
def test_a_planted_secret_stands_nowhere(database: Any, tmp_path: Path) -> None:
    """The password comes from the environment or from the password file; everything that is printed, kept and written is searched."""
    run = database.session.run
    run(f"CREATE ROLE guard LOGIN PASSWORD '{SECRET}'")
    run("CREATE DATABASE guarded OWNER guard")
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path)}
    environment.pop("PGPASSFILE", None)
    address = database.server.address("people", "guarded", "guard")
    code = "import sys, sfumato as sf, pyarrow as pa\nfrom sfumato.core.database_address import DatabaseAddress as A\nfrom sfumato.engines.postgres_server import server\na = A.of(sys.argv[1])\nserver(a.server, a.database).bring(pa.table({'age': [str(20 + i % 7) for i in range(140)], 'ill': [['flu', 'cold', 'none'][i % 3] for i in range(140)]}), schema='public', name='people')"  # fmt: skip
    told = []

    def call(*words: str, code: int = 0, **more: str) -> str:
        done = subprocess.run(
            [*words], env={**environment, **more}, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        told.append(done.stdout + done.stderr)
        assert done.returncode == code, done.stderr
        return done.stderr

    passfile = tmp_path.parent / f"{tmp_path.name}.pgpass"  # the one place where it may stand
    passfile.write_text(f"*:*:*:guard:{SECRET}\n")
    passfile.chmod(0o600)
    call(sys.executable, "-c", code, address, PGPASSWORD=SECRET)
    (tmp_path / "roles.toml").write_text('[roles]\nquasi = ["age"]\nsensitive = ["ill"]\n', encoding="utf-8")
    sfumato = str(Path(sys.executable).with_name("sfumato"))
    assert "PGPASSWORD" in call(sfumato, "profile", address, code=2)
    assert "PGPASSWORD" in call(sfumato, "profile", address, code=2, PGPASSWORD="wrong")
    study = tmp_path / "study.toml"
    study.write_text(f'table = "{address}"\nroles = "roles.toml"\nrequire = ["k_anonymity >= 5"]\nrefine = 0\n[[candidate]]\nmechanism = "mondrian"\nk = 5\n[[candidate]]\nmechanism = "mondrian"\nk = 20\n', encoding="utf-8")  # fmt: skip
    by_file = {"PGPASSFILE": str(passfile)}
    call(
        sfumato,
        "study",
        "study.toml",
        "--out",
        "documents",
        "--cache",
        "cache",
        "--workers",
        "2",
        "--package",
        "package",
        "--formats",
        "html,md",
        **by_file,
    )
    target = database.server.address("released", "guarded", "guard")
    call(
        sfumato,
        "sanitize",
        address,
        "--roles",
        "roles.toml",
        "--mechanism",
        "mondrian k=5",
        "--out",
        target,
        "--json",
        **by_file,
    )
    call(sfumato, "measure", target, "--roles", "roles.toml", "--original", address, "--json", **by_file)
    call(
        sfumato,
        "verify",
        target,
        "--roles",
        "roles.toml",
        "--require",
        "k_anonymity >= 6",
        "--original",
        address,
        **by_file,
    )
    call(
        sfumato,
        "verify",
        f"postgresql://guard:{SECRET}@host/guarded?table=x",
        "--roles",
        "roles.toml",
        "--require",
        "k_anonymity >= 2",
        code=2,
    )
    assert json.loads(told[-4])["release"] == "guarded.released"
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.suffix == ".html" for path in files)
    assert len([path for path in files if "cache" in path.parts]) > 1
    for path in files:
        content = path.read_bytes()
        assert SECRET.encode() not in content, path
        if path != study:  # what the owner wrote is the owner's; nothing that is made names user or host
            assert b"guard@" not in content, path
            assert str(database.server.folder).encode() not in content, path
    assert not any(SECRET in text or "guard@" in text for text in told)
