"""Checks of everything that the harness needs, for `harness doctor` and the page with its findings."""

import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from harness.cache.acceptance_rule import LAXEST
from harness.core.text import amount
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.app import App
    from harness.core.entries import TableStats
    from harness.ports import Verifier

LOW_DISK = 200 * 2**20

Finding: TypeAlias = tuple[str, str]
"""State and text of a `CheckResult`."""


class CheckResult(NamedTuple):
    """Result of one check: `ok`, `weak` (works with less) or `broken`; and what to do."""

    name: str
    state: str
    told: str  # a key of `--json`


def check_everything(app: "App") -> list[CheckResult]:
    """Run every check of an app, in order. Sends nothing over the network, except a few words to the embedding endpoint
    if one is set. Reads every row of the database: seconds for a million rows.
    """
    checks, results = _checks(app), list[CheckResult]()
    for done, (name, check) in enumerate(checks):
        app.progress(f"checking {name}", done, len(checks))
        try:
            results.append(CheckResult(name, *check(app)))
        except HarnessError as error:
            results.append(CheckResult(name, "broken", str(error)))
    return results


def _checks(app: "App") -> "list[tuple[str, Callable[[App], Finding]]]":
    """Return the checks with their names; each engine has its own."""
    return [
        ("python", _python),
        ("settings", _settings),
        ("disk", _disk),
        ("database", _database),
        ("embedder", _embedder),
        ("meaning", _meaning),
        ("reader", _reader),
        ("vector index", _index),
        ("languages", _languages),
        *(("engine", partial(_engine, spec)) for spec in app.settings.engine),
        ("access", _access),
    ]


def _python(_app: "App") -> Finding:
    import sqlite3

    version = ".".join(map(str, sys.version_info[:3]))
    return "ok", f"{version}, SQLite {sqlite3.sqlite_version}"


def _disk(app: "App") -> Finding:
    import shutil

    folder = app.settings.data_dir
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    free = shutil.disk_usage(existing).free
    if free < LOW_DISK:
        return "broken", f"{free / 2**20:.0f} MB free for {folder}; free space or choose another --data-dir"
    return "ok", f"{free / 2**30:.1f} GB free for {folder}"


def _database(app: "App") -> Finding:
    identity = app.identity
    problems = app.databases.store.admin.verify(repair=False)
    if problems and not identity.local:  # problems may show rows of other tenants
        return "broken", "damaged; its administrator can repair it: `harness cache verify --repair`"
    if problems:
        more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
        return "broken", f"{problems[0]}{more}; run `harness cache verify --repair`"
    total = sum(each.total for each in _stats(app))
    return "ok", f"{amount(total, 'entry')} in {app.databases.place}"


def _access(app: "App") -> Finding:
    identity = app.identity
    if identity.local:
        return "ok", f"no token: the entries of {identity.tenant}, with all rights"
    return "ok", f"the token {identity.token}: {identity.user}, {identity.role} of {identity.tenant}"


def _embedder(app: "App") -> Finding:
    from harness.models.fallback_embedder import FirstAvailable

    embedder, wanted = app.models.embedder, app.settings.embedding_model
    vectors = embedder.embed(["enable", "disable", "enable"])
    failure = embedder.failure if isinstance(embedder, FirstAvailable) else None
    same, other = float(vectors[0] @ vectors[2]), float(vectors[0] @ vectors[1])
    if not same > 0.999 > other:
        advice = "reinstall research-harness" if _is_local(app) else f"check the model {wanted}"
        return "broken", f"the vectors of {embedder.id} are wrong; {advice}"
    if failure is not None:
        return "weak", f"{embedder.id} is used instead of {wanted}: {failure}"
    unasked = f" (offline: {wanted} is not used)" if wanted and app.settings.offline and _is_local(app) else ""
    return "ok", f"{embedder.id}{unasked}"


def _is_local(app: "App") -> bool:
    from harness.core.multilingual_vectors import knows_english_as
    from harness.models.local.embedder import MiniLM

    return knows_english_as(MiniLM.id, app.models.embedder.id)


def _languages(app: "App") -> Finding:
    """Check meaning in other languages than English."""
    from harness.core.multilingual_vectors import LANGUAGES
    from harness.models.local.embedder import MiniLM
    from harness.models.local.multilingual import Multilingual, UniversalEncoder, is_installed
    from harness.settings.extras import install_message

    if app.models.embedder.id == MiniLM.id:
        if not is_installed():
            return "ok", f"English; {install_message('multilingual')}; until then words decide"
        return "ok", "English; embedding_model: local:english leaves the others to words"
    if app.models.embedder.id != Multilingual.id:
        return "ok", f"those that {app.models.embedder.id} knows"
    question, answer, other = UniversalEncoder().embed(
        ["Wo liegt Berlin?", "柏林在德国东部。", "Katzen schlafen viel."]
    )
    if not question @ answer > question @ other:
        return "broken", "the vectors of other languages are wrong; reinstall research-harness[multilingual]"
    return "ok", f"English {' '.join(sorted(LANGUAGES))}"


def _meaning(app: "App") -> Finding:
    if not app.settings.semantic:
        return "weak", "off: only exact hits; set `semantic: true`"
    from harness.cache.acceptance_rule import own_rule, rule_file, rule_of

    missing = sum(each.unembedded for each in app.cache.maintenance.stats())
    verifier, failure = _reading(app.models.verifier)
    rule = rule_of(verifier, app.settings)
    rate = f"at most {rule.max_wrong:.1%} wrong, calibrated on {rule.calibrated_on}"
    if failure:
        return "weak", f"the verifier does not work: {failure}; {rate}"
    if missing:
        return "weak", f"{amount(missing, 'entry')} without a vector; run `harness cache reindex`"
    own, advice = own_rule(rule_file(app.settings)), "run `harness cache calibrate --pairs FILE`"
    if own is None and not _is_local(app):
        return "weak", f"the rule was calibrated for the local model; {advice}"
    if own is not None and own != rule:
        why = f"it is for another verifier, or for more than {app.settings.max_wrong:.1%} wrong"
        return "weak", f"{rule_file(app.settings)} is not used: {why}; {advice} again; {rate}"
    return "ok", rate


def _reading(verifier: "Verifier | None") -> "tuple[Verifier | None, str]":
    """Return the verifier if it works, or the reason why not."""
    from harness.errors import VerifierError

    if verifier is None:
        return None, ""
    try:
        verifier.rule(LAXEST)
        verifier.probability("does it read", "is it reading")
    except VerifierError as error:
        return None, str(error)
    return verifier, ""


def _reader(app: "App") -> Finding:
    from harness.errors import ReaderError

    if not app.settings.reading:
        return "weak", "off: a report is written even if nothing answers; set `reading: true`"
    try:
        _ = app.models.reader.calibration
        [answers, other] = app.models.reader.answers(
            "what colour is the house", ["The house is red.", "Cats sleep a lot."]
        )
    except ReaderError as error:
        return "weak", f"{error}; a report is written even if nothing answers"
    if answers <= other:
        return "broken", f"{app.models.reader.id} reads wrongly; reinstall research-harness"
    return "ok", app.models.reader.id


def _index(app: "App") -> Finding:
    from harness.settings.extras import install_message, is_installed
    from harness.storage.sqlite.vectors import TAIL_LIMIT

    indexed, tail = (sum(getattr(each, field) for each in _stats(app)) for field in ("indexed", "tail"))
    if is_installed("index") or app.settings.store is not None:  # PostgreSQL has an index by itself
        return "ok", f"{amount(indexed, 'vector')} in the index, {tail:,} scanned"
    state = "ok" if indexed + tail <= TAIL_LIMIT else "weak"
    return state, f"{amount(indexed + tail, 'vector')}, all scanned; {install_message('index')}"


def _engine(spec: str, app: "App") -> Finding:
    """Check one engine; a corpus is opened, and indexed if necessary."""
    from harness.sources.corpus.engine import Corpus

    engines = app.sources.engines([spec])
    engine = engines[0]
    if not isinstance(engine, Corpus):
        names = ", ".join(each.name for each in engines)
        return "ok", f"{names} (not tried: doctor uses no network)"
    if left := engine.unembedded():
        how = f"{amount(left, 'passage')} without a vector, found by words alone; run `harness index {spec}`"
        return "weak", f"{spec}: {how}"
    mode = "words and meaning" if engine.options["mode"] == "hybrid" else "words"
    return "ok", f"{spec} is indexed and searched by {mode}"


def _stats(app: "App") -> "list[TableStats]":
    """Count without the embedder, which has its own check."""
    from harness.core.tables import ANSWERS

    return [app.store.listings.stats(table, app.identity.tenant, 0.0) for table in ANSWERS]


def _settings(app: "App") -> Finding:
    from harness.core.audits import LEAST_COMPARED

    settings = app.settings
    if settings.offline:
        return "weak", "offline: nothing is searched"
    if settings.audit_rate and settings.max_results < LEAST_COMPARED:
        least = f"set max_results to {LEAST_COMPARED} or more"
        return "weak", f"audits learn nothing from {settings.max_results} results; {least}"
    return "ok", "valid"
