"""The repository itself: what must not be in it, and what must agree with what.

Patterns are put together from pieces wherever this file would otherwise match itself.
"""

import fnmatch
import functools
import hashlib
import os
import re
import shutil
import subprocess
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ["run", ".ci/run"]


# --- the files -------------------------------------------------------------------------------------------------------


@functools.cache
def repository_files() -> list[str]:
    """What git tracks; without git, or before anything is tracked, the tree less what is made or installed in it."""
    try:
        listing = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        listing = b""
    names = [name for name in listing.decode().split("\0") if name] or list(walk())
    return sorted(name for name in names if (ROOT / name).is_file())


def walk() -> Iterator[str]:
    made = re.compile(r"\.(?!ci$).*|__pycache__|dist|build|out|sfumato-demo|.*\.egg-info")
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [folder for folder in folders if not made.fullmatch(folder)]
        yield from ((Path(folder) / file).relative_to(ROOT).as_posix() for file in files)


def text_of(name: str) -> str:
    """The file's text, or nothing if it is not text."""
    try:
        return (ROOT / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def test_the_list_of_files_is_not_empty() -> None:
    assert {"pyproject.toml", "requirements.lock"} <= set(repository_files())
    assert {"pyproject.toml", "tests/test_repository.py", *SCRIPTS} <= set(walk())


# --- no machine, no registry -----------------------------------------------------------------------------------------

HOSTS = re.compile(
    "|".join(
        [
            r"py" + r"pi\.(?:org|python)",
            r"python" + r"hosted\.org",
            r"ana" + r"conda\.(?:org|com)",
            r"conda-" + r"forge\.org",
            r"crates" + r"\.io",
            r"npm" + r"js\.(?:org|com)",
            r"un" + r"pkg\.com",
            r"js" + r"delivr\.net",
            r"cdn" + r"js\.(?:com|cloudflare)",
            r"repo1?\.maven" + r"\.(?:org|apache)",
            r"deb\." + r"debian\.org",
            r"https?://[^\s\"'<>]*/simple(?![\w-])",  # any index, whatever its host
        ]
    ),
    re.IGNORECASE,
)
THIS_CHECKOUT = re.escape(str(ROOT)) if len(ROOT.parts) > 2 else "(?!)"
PATHS = re.compile(
    r"(?<![\w.~$}/-])"  # not a part of a URL or of a relative path
    rf"(?:/(?:home|Users)/[\w.$<{{]|(?:/(?:root|work)|{THIS_CHECKOUT})(?![\w-]))"
    r"|\b[A-Z]:\\+Users\\"
)


def found(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{name}:{number}: {match[0]}"
        for name in repository_files()
        for number, line in enumerate(text_of(name).splitlines(), start=1)
        for match in pattern.finditer(line)
    ]


def test_no_package_registry_is_named() -> None:
    hits = found(HOSTS)
    assert not hits, "package registry hosts in the repository:\n" + "\n".join(hits)


def test_no_path_of_a_machine() -> None:
    hits = found(PATHS)
    assert not hits, "absolute paths of a machine in the repository:\n" + "\n".join(hits)


@pytest.mark.parametrize(
    ("pattern", "line", "caught"),
    [
        (HOSTS, "https://py" + "pi.org/project/x", True),
        (HOSTS, "https://files.python" + "hosted.org/x.whl", True),
        (HOSTS, "https://mirror.example/" + "simple/", True),
        (HOSTS, "https://example.org/simple-rules", False),
        (HOSTS, "--no-emit-index-url", False),
        (PATHS, 'open("/ho' + 'me/ada/x.csv")', True),
        (PATHS, "cd /ro" + "ot", True),
        (PATHS, "see /wo" + "rk/main", True),
        (PATHS, "C:" + "\\Users\\ada", True),
        (PATHS, "https://example.org/home/ada", False),
        (PATHS, "education/work, /workclass, ./work, ../root", False),
        (PATHS, "#!/usr/bin/env python3", False),
    ],
)
def test_the_patterns_catch_what_they_should(pattern: re.Pattern[str], line: str, caught: bool) -> None:
    assert bool(pattern.search(line)) is caught


def test_no_two_test_files_share_a_name() -> None:
    """pytest imports them by their bare names, and a whole run would end at the second."""
    names = [path.name for path in (ROOT / "tests").rglob("*.py") if path.name != "conftest.py"]
    assert sorted(set(names)) == sorted(names)


def test_no_shared_data() -> None:
    """Data sets are read where the user has them; the repository carries none of them, under any name."""
    data = re.compile(
        r"(?:adult.*|hierarchy_[\w-]+)\.(?:csv|tsv|data|test|names|parquet|arrow|feather|xlsx?|sav|dta|zip|gz|xz|zst)",
        re.IGNORECASE,
    )
    hits = [name for name in repository_files() if data.fullmatch(Path(name).name)]
    shared = [path for path in (ROOT.parent / "shared" / "data").rglob("*") if path.is_file() and path.suffix != ".md"]
    contents = {hashlib.sha256(path.read_bytes()).digest(): path.name for path in shared}
    for name in repository_files():
        copied = contents.get(hashlib.sha256((ROOT / name).read_bytes()).digest())
        if copied and name not in hits:
            hits.append(f"{name} (the content of {copied})")
    assert not hits, "data files in the repository:\n" + "\n".join(hits)


# --- the lock --------------------------------------------------------------------------------------------------------


def locked() -> dict[str, list[tuple[str, bool]]]:
    """Name -> (version, whether it has a hash) for each pin; a universal lock may pin one name more than once."""
    pins: dict[str, list[tuple[str, bool]]] = {}
    text = re.sub(r"^\s*#.*\n", "", text_of("requirements.lock"), flags=re.MULTILINE).replace("\\\n", " ")
    for line in filter(None, map(str.strip, text.splitlines())):
        match = re.match(r"([\w.-]+)(?:\[[^\]]*\])?==([^\s;]+)", line)
        assert match, f"requirements.lock has a line which is not a pin: {line[:100]}"
        pins.setdefault(canonicalize_name(match[1]), []).append((match[2], "--hash=sha256:" in line))
    return pins


def wanted() -> list[Requirement]:
    """Every requirement of [project.dependencies] and of the group dev, with the groups that it includes."""
    project = tomllib.loads(text_of("pyproject.toml"))
    groups = project["dependency-groups"]

    def group(name: str) -> Iterator[str]:
        for entry in groups[name]:
            if isinstance(entry, str):
                yield entry
            else:
                yield from group(entry["include-group"])

    return [Requirement(line) for line in [*project["project"]["dependencies"], *group("dev")]]


@pytest.mark.parametrize("requirement", wanted(), ids=lambda requirement: requirement.name)
def test_lock_agrees_with_pyproject(requirement: Requirement) -> None:
    pins = locked().get(canonicalize_name(requirement.name))
    assert pins, f"{requirement.name} is not pinned in requirements.lock: compile the lock again"
    for version, _ in pins:
        assert requirement.specifier.contains(version, prereleases=True), f"{requirement} is pinned to {version}"


def test_every_pin_has_a_hash() -> None:
    assert [name for name, pins in locked().items() for _, hashed in pins if not hashed] == []


def test_the_installer_is_pinned_by_hash() -> None:
    """./run fetches one version of uv, and pip refuses a file whose hash is not there."""
    lines = [line.strip(" \\") for line in text_of("installer.lock").splitlines() if not line.startswith("#")]
    assert re.fullmatch(r"uv==[\d.]+", lines[0])
    assert len(lines) > 1
    assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", line) for line in lines[1:])
    assert re.findall(r"-m pip install .*", text_of("run")) == [
        '-m pip install --quiet --require-hashes --only-binary :all: --no-deps -r installer.lock "$@" ||'
    ]


# --- the scripts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("script", SCRIPTS)
def test_script_is_executable_and_parses(script: str) -> None:
    assert os.access(ROOT / script, os.X_OK), f"{script} is not executable"
    parsed = subprocess.run(["sh", "-n", str(ROOT / script)], capture_output=True, text=True, check=False)
    assert parsed.returncode == 0, parsed.stderr


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A bare copy, in a path with a space, of what the set-up reads."""
    copy = tmp_path / "a checkout"
    copy.mkdir()
    for name in ["run", "pyproject.toml", "requirements.lock", "installer.lock"]:
        shutil.copy2(ROOT / name, copy / name)
    return copy


def run(checkout: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(checkout / "run"), *arguments],
        cwd=checkout.parent,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("arguments", [[], ["help"], ["--help"]])
def test_run_explains_itself_and_installs_nothing(checkout: Path, arguments: list[str]) -> None:
    done = run(checkout, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(f"./run {job}" in done.stdout for job in ["demo", "test", "setup", "bench", "help"])
    assert not (checkout / ".venv").exists()


def test_run_refuses_an_unknown_job(checkout: Path) -> None:
    done = run(checkout, "dmeo")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "run: there is no job called 'dmeo'."


def test_run_says_in_one_sentence_that_python_is_missing(checkout: Path) -> None:
    done = run(checkout, "setup", PYTHON="false")
    assert done.returncode == 2
    assert done.stderr.splitlines() == ["run: PYTHON=false is not a working Python 3.11 or newer."]
    assert not (checkout / ".venv").exists()


def test_run_lets_python_keep_what_it_compiled(checkout: Path) -> None:
    """The tests start hundreds of processes: each would compile the package and its libraries again."""
    programs = checkout / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("python", "ruff", "mypy", "pytest"):
        (programs / name).write_text("#!/bin/sh\nenv\n")
        (programs / name).chmod(0o755)
    stamp = subprocess.run("cat requirements.lock pyproject.toml | cksum", shell=True, cwd=checkout, capture_output=True, text=True)  # fmt: skip
    (checkout / ".venv" / ".stamp").write_text(f"{stamp.stdout.strip()} {checkout.resolve()}\n")
    done = run(checkout, "test", PYTHONDONTWRITEBYTECODE="1")
    assert done.returncode == 0, done.stderr
    assert "PATH=" in done.stdout
    assert "PYTHONDONTWRITEBYTECODE" not in done.stdout


# --- words: promise only what is measured ----------------------------------------------------------------------------

WORDS = re.compile(r"\b(?:anonymous|safe)\b", re.IGNORECASE)
NEGATED = re.compile(
    r"(?:\b(?:never|not|no|nor|neither|cannot|without|avoid|forbid\w*)|n['’]t)\b"
    r"(?:[\s*_`\"'“”‘’]+[\w-]+){0,4}[\s*_`\"'“”‘’]+$",  # at most four words on, within the clause
    re.IGNORECASE,
)
QUOTED = [("“", "”"), ("‘", "’"), ("«", "»"), *((mark, mark) for mark in "\"'*_`")]

# (files, what may stand there, why)
ALLOWED = [
    ("*", r"(?:\b(?:\w|\d+)|[)$*])[-‑]anonymous\b", "k-anonymous: the name of a model, not a promise"),
    ("*", r"\bSafe Harbou?r\b", "the HIPAA method's name"),
    ("*", r"\b(?:thread|type|process)[-‑]safe\b", "about code, not about data"),
    ("*.html", r"\|\s*safe\b", "the template filter"),
]


def prose(name: str) -> str:
    """What a reader may see, on the lines where it stands: of Python only strings and comments."""
    if not name.endswith(".py"):
        return text_of(name)
    lines = [""] * (text_of(name).count("\n") + 2)
    with tokenize.open(ROOT / name) as file:
        for token in tokenize.generate_tokens(file.readline):
            first, kind = token.start[0] - 1, tokenize.tok_name[token.type]
            if kind == "STRING":
                words = re.sub(r"^\w*('''|\"\"\"|'|\")(.*)\1$", r"\2", token.string, flags=re.DOTALL)
            elif kind in {"COMMENT", "FSTRING_MIDDLE"}:
                words = token.string.lstrip("#")
            else:
                words = ";" if token.string.strip() else ""  # code between two strings parts their clauses
            for offset, line in enumerate(words.split("\n")):
                lines[first + offset] += f" {line}" if offset == 0 else line
    return "\n".join(lines)


def promises(name: str, text: str) -> Iterator[str]:
    """Each place where one of the words is neither allowed, nor quoted, nor negated."""
    allowed = [re.compile(what, re.IGNORECASE) for files, what, _ in ALLOWED if fnmatch.fnmatch(name, files)]
    spans = [match.span() for pattern in allowed for match in pattern.finditer(text)]
    for match in WORDS.finditer(text):
        start, end = match.span()
        if any(first <= start and end <= last for first, last in spans):
            continue
        before = text[max(0, start - 120) : start]
        if (before[-1:], text[end : end + 1]) in QUOTED or NEGATED.search(before):
            continue
        number = text.count("\n", 0, start) + 1
        yield f"{name}:{number}: {text.split(chr(10))[number - 1].strip()[:100]}"


def test_nothing_is_promised() -> None:
    readable = re.compile(r"src/.+\.(?:py|html|js|md|j2|jinja)|README\.md|docs/.+\.(?:md|rst|html|ipynb)")
    hits = [hit for name in repository_files() if readable.fullmatch(name) for hit in promises(name, prose(name))]
    assert not hits, (
        "these lines promise what nobody measured; say sanitize, release, risk under ... instead:\n" + "\n".join(hits)
    )


@pytest.mark.parametrize(
    ("text", "promised"),
    [
        ("The release is anonymous.", True),
        ("Safe to publish", True),
        ("safe", True),
        ("a fully-anonymous table", True),
        ("Do not worry, it is safe.", True),
        ("It is not so. The data are safe.", True),
        ("a k-anonymous table, a (k, e)-anonymous one, 10-anonymous", False),
        ("HIPAA Safe Harbor", False),
        ("the counter is thread-safe", False),
        ("we never say *anonymous* or *safe*", False),
        ("a release is never called\nanonymous or safe", False),
        ("what “safe” would mean", False),
        ("safety, unsafe, anonymously, safe_load", False),
    ],
)
def test_promises_are_recognized(text: str, promised: bool) -> None:
    assert bool(list(promises("README.md", text))) is promised


def test_prose_of_python_is_its_strings_and_comments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ['safe = quote(x, safe="/")', 'verdict = "safe"', '["not met", "safe"]', '("never "', '  "safe")', "# safe"]
    (tmp_path / "module.py").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    assert [hit.split(":")[1] for hit in promises("module.py", prose("module.py"))] == ["2", "3", "6"]


def test_every_promise_names_a_test_that_is_there() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:tests|benchmarks)[^` :]*)`", text))
    assert len(named) > 10
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
    rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| promise")]
    assert [row for row in rows if "`tests" not in row and "`benchmarks" not in row] == []
