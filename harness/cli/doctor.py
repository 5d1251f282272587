"""`harness doctor`: check everything that the harness depends on."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import typer

from harness.cli.calibrate import LAXEST
from harness.cli.options import EngineOption, JsonOption
from harness.cli.output import print_json
from harness.cli.session import Session, with_session
from harness.cli.terminal import ExitCode
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.app import App
    from harness.core.entries import TableStats
    from harness.ports import Verifier

LOW_DISK = 200 * 2**20


class Finding(NamedTuple):
    """One thing that was checked: `ok`, `weak` (works, with less) or `broken`; and what to do about it."""

    name: str
    state: str
    told: str


@with_session
def doctor(session: Session, engine: EngineOption = None, as_json: JsonOption = False) -> None:
    """Check everything that the harness needs, and say what to do.

    Ends with 5 if one of them is broken. Nothing is sent over the network, but for a few words to the endpoint of
    embeddings where one is set.

    \b
    Examples:
      harness doctor
      harness doctor --engine corpus:~/notes
    """
    findings = []
    with session.app({"engine": engine or None}) as app:
        for done, (name, check) in enumerate(CHECKS):
            app.progress(f"checking {name}", done, len(CHECKS))
            findings += _run(name, check, app)
    if as_json:
        healthy = all(finding.state != "broken" for finding in findings)
        print_json({"healthy": healthy, "findings": [finding._asdict() for finding in findings]})
    else:
        marks = {"ok": "ok    ", "weak": "weak  ", "broken": "BROKEN"}
        for finding in findings:
            typer.echo(f"{marks[finding.state]}  {finding.name}: {finding.told}")
    if any(finding.state == "broken" for finding in findings):
        raise typer.Exit(ExitCode.FAILED)


def _run(name: str, check: "Callable[[App], Finding | list[Finding]]", app: "App") -> list[Finding]:
    try:
        found = check(app)
    except HarnessError as error:
        return [Finding(name, "broken", str(error))]
    return found if isinstance(found, list) else [found]


def _python(_app: "App") -> Finding:
    import sqlite3

    version = ".".join(map(str, sys.version_info[:3]))
    return Finding("python", "ok", f"{version}, SQLite {sqlite3.sqlite_version}")


def _disk(app: "App") -> Finding:
    import shutil

    folder = app.settings.data_dir
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    free = shutil.disk_usage(existing).free
    if free < LOW_DISK:
        return Finding(
            "disk", "broken", f"{free / 2**20:.0f} MB free for {folder}; free space or choose another --data-dir"
        )
    return Finding("disk", "ok", f"{free / 2**30:.1f} GB free for {folder}")


def _database(app: "App") -> Finding:
    identity = app.identity
    problems = app.database_store.admin.verify(repair=False)
    if problems and not identity.local:  # what they are may tell of other tenants' rows
        return Finding("database", "broken", "damaged; whoever keeps it mends it: `harness cache verify --repair`")
    if problems:
        more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
        return Finding("database", "broken", f"{problems[0]}{more}; run `harness cache verify --repair`")
    total = sum(each.total for each in _stats(app))
    return Finding("database", "ok", f"{total:,} entries in {app.place}")


def _access(app: "App") -> Finding:
    identity = app.identity
    if identity.local:
        return Finding("access", "ok", f"no token: the entries of {identity.tenant}, and everything may be done")
    return Finding("access", "ok", f"the token {identity.token}: {identity.user}, {identity.role} of {identity.tenant}")


def _embedder(app: "App") -> Finding:
    from harness.models.fallback_embedder import FirstAvailable

    embedder, wanted = app.embedder, app.settings.embedding_model
    vectors = embedder.embed(["enable", "disable", "enable"])
    failure = embedder.failure if isinstance(embedder, FirstAvailable) else None
    same, other = float(vectors[0] @ vectors[2]), float(vectors[0] @ vectors[1])
    if not same > 0.999 > other:
        advice = "reinstall research-harness" if _is_local(app) else f"check what {wanted} is"
        return Finding("embedder", "broken", f"the vectors of {embedder.id} make no sense; {advice}")
    if failure is not None:
        return Finding("embedder", "weak", f"{embedder.id} serves instead of {wanted}: {failure}")
    unasked = f" (offline: {wanted} is not asked)" if wanted and app.settings.offline and _is_local(app) else ""
    return Finding("embedder", "ok", f"{embedder.id}{unasked}")


def _is_local(app: "App") -> bool:
    from harness.models.local.embedder import MiniLM

    return app.embedder.id == MiniLM.id


def _meaning(app: "App") -> Finding:
    if not app.settings.semantic:
        return Finding("meaning", "weak", "off: only the very same search is answered; set `semantic: true`")
    from harness.cache.acceptance_rule import own_rule

    missing = sum(each.unembedded for each in app.cache.stats())
    verifier, failure = _reading(app.verifier)
    rule = app.rule_of(verifier)
    told = f"at most {rule.max_wrong:.1%} wrong, calibrated on {rule.calibrated_on}"
    if failure:
        return Finding("meaning", "weak", f"no verifier reads the pairs: {failure}; {told}")
    if missing:
        return Finding("meaning", "weak", f"{missing:,} entries have no vector; run `harness cache reindex`")
    own, advice = own_rule(app.rule_file), "run `harness cache calibrate --pairs FILE`"
    if own is None and not _is_local(app):
        return Finding("meaning", "weak", f"the rule was calibrated on the vectors of the local model; {advice}")
    if own is not None and own != rule:
        why = f"it is for another verifier, or for more than {app.settings.max_wrong:.1%} wrong"
        return Finding("meaning", "weak", f"{app.rule_file} is not used: {why}; {advice} again; {told}")
    return Finding("meaning", "ok", told)


def _reading(verifier: "Verifier | None") -> "tuple[Verifier | None, str]":
    """Return the verifier, if it works, and otherwise why it does not."""
    from harness.errors import VerifierError

    if verifier is None:
        return None, ""
    try:
        verifier.rule(LAXEST)
        verifier.probability("does it read", "is it reading")
    except VerifierError as error:
        return None, str(error)
    return verifier, ""


def _index(app: "App") -> Finding:
    from importlib.util import find_spec

    if find_spec("chromadb") is None:
        return Finding("vector index", "weak", "chromadb is not installed: rows are scanned; pip install chromadb")
    indexed, tail = (sum(getattr(each, field) for each in _stats(app)) for field in ("indexed", "tail"))
    return Finding("vector index", "ok", f"{indexed:,} vectors in the index, {tail:,} scanned")


def _engine(app: "App") -> list[Finding]:
    """Check each engine by itself; a corpus is opened, and indexed if it is not."""
    return [each for spec in app.settings.engine for each in _run("engine", _one_engine(spec), app)]


def _one_engine(spec: str) -> "Callable[[App], Finding]":
    def check(app: "App") -> Finding:
        from harness.sources.corpus.engine import Corpus

        [engine] = app.engines([spec])
        if not isinstance(engine, Corpus):
            return Finding("engine", "ok", f"{engine.name} (not asked: no network is used here)")
        if left := engine.unembedded():
            how = f"{left:,} passages have no vector, so only words find them; run `harness index {spec}`"
            return Finding("engine", "weak", f"{spec}: {how}")
        mode = "words and meaning" if engine.options["mode"] == "hybrid" else "words"
        return Finding("engine", "ok", f"{spec} is indexed, and searched by {mode}")

    return check


def _stats(app: "App") -> "list[TableStats]":
    """Count without the embedder: whatever is wrong with that is told of it alone."""
    from harness.cache import ANSWERS

    return [app.store.listings.stats(table, app.identity.tenant, 0.0) for table in ANSWERS]


def _settings(app: "App") -> Finding:
    from harness.core.audits import LEAST_COMPARED

    settings = app.settings
    if settings.offline:
        return Finding("settings", "weak", "offline: nothing is searched")
    if settings.audit_rate and settings.max_results < LEAST_COMPARED:
        told = f"audits learn nothing from {settings.max_results} results; set max_results to {LEAST_COMPARED} or more"
        return Finding("settings", "weak", told)
    return Finding("settings", "ok", "valid")


CHECKS: tuple[tuple[str, "Callable[[App], Finding | list[Finding]]"], ...] = (
    ("python", _python),
    ("settings", _settings),
    ("disk", _disk),
    ("database", _database),
    ("embedder", _embedder),
    ("meaning", _meaning),
    ("vector index", _index),
    ("engine", _engine),
    ("access", _access),
)
