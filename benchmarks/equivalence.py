"""May the answer to one question be served for another? `python -m benchmarks.equivalence --pairs DIR`.

Every labelled set is halved by a hash so that no text is in both halves (pairs that share texts stay together). Rules
are fitted on pairs of one half that the verifier was not trained on, and measured on the other: the share of same
questions served, the share of different ones served (wrongly), and the precision, with 95 % intervals. Pairs that
readers have graded are also measured by these grades. For the contenders see `benchmarks.rules`; all use the same
MiniLM vectors.
"""

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from msgspec import structs
from tabulate import tabulate

from benchmarks.clusters import cluster_pairs
from benchmarks.embeddings import RememberedEmbedder
from benchmarks.grades import named, read_grades
from benchmarks.pairs import LOOSE, MOST_WRONG, Pair, halves, present, topic_pairs
from benchmarks.rows import at_least, entry_point, say
from benchmarks.rules import (
    OURS,
    Flags,
    Judged,
    Thresholds,
    calibrate,
    cosine_as_often_wrong,
    in_hindsight,
    judge,
    served_by_all,
)
from benchmarks.shipped import decision
from benchmarks.shipped import served as is_served
from benchmarks.traps import Trap, read_traps
from harness.core.abbreviations import Meanings
from harness.core.calibration import interval

GRADES = Path(__file__).with_name("grades.txt")
SURE = 0.7
"""The grade (0..1) from which a careful reader counts a pair as the same question; below 1 - `SURE` it is another one,
and what lies between counts for neither.
"""

LIMITS_FROM = "qqp"
"""The set whose fitted thresholds are used for sets without a calibration half."""

WRITTEN = {"traps, written one by one": read_traps, "clusters, written by subject": cluster_pairs}
"""Pairs that were written to measure, by what they are."""

SIX = (
    ("RAG best practices", "retrieval-augmented generation tips", True),
    ("best practices for rag pipelines", "rag pipeline best practices", True),
    ("GitHub API rate limits", "github rest api rate limit", True),
    ("python 3.11 release date", "python 3.12 release date", False),
    ("population of france 2023", "population of france 2024", False),
    ("how to enable ipv6 on linux", "how to disable ipv6 on linux", False),
)
"""Pairs that every semantic cache should get right, and whether one answers the other."""

RAG = Meanings([("RAG", "retrieval-augmented generation")])

READER = "a careful reader"

NEAR = 0.85
"""The cosine from which a veto is likely to decide: what is less alike is mostly refused anyway."""

_SHARES = ("same served", "different served", "precision")


def measure(judged: Judged, served: Mapping[str, Flags]) -> dict[str, dict[str, Any]]:
    """Return for each contender the three shares with their intervals, and `x cosine`: same questions served, compared
    with the best cosine cut, chosen in hindsight, that serves no more different ones. So a cosine rule has at most 1.
    """
    same, different = int(judged.same.sum()), int((~judged.same).sum())
    told: dict[str, dict[str, Any]] = {}
    for name, flags in served.items():
        right, wrong = int((flags & judged.same).sum()), int((flags & ~judged.same).sum())
        counts = ((right, same), (wrong, different), (right, right + wrong))
        told[name] = dict(zip(_SHARES, (structs.asdict(interval(*count)) for count in counts), strict=True))
        reached = int((judged.similarity[judged.same] >= cosine_as_often_wrong(judged, wrong)).sum())
        told[name] |= {"wrong": wrong, "x cosine": right / reached if reached else None}
    return told


def veto_rows(judged: Judged) -> dict[str, dict[str, tuple[int, int]]]:
    """Count for each guard the pairs that it vetoed, and how many of them really differ: of all, of those that are at
    least `NEAR` alike, and of those that no other guard vetoed.
    """
    found: dict[str, dict[str, list[bool]]] = {}
    for pair, decided in zip(judged.pairs, judged.decisions, strict=True):
        failed = [verdict.guard for verdict in decided.verdicts if not verdict.passed]
        for guard in failed:
            row = found.setdefault(guard, {"vetoed": [], "near": [], "alone": []})
            row["vetoed"].append(not pair.same)
            if pair.similarity >= NEAR:
                row["near"].append(not pair.same)
            if len(failed) == 1:
                row["alone"].append(not pair.same)
    return {
        guard: {which: (len(differ), sum(differ)) for which, differ in row.items()}
        for guard, row in sorted(found.items())
    }


def _compare(folder: Path, embedder: RememberedEmbedder, limit: int | None, dump: Path | None) -> dict[str, Any]:
    """Measure every set; return all figures. `dump` gets what our rule says of the calibration halves."""
    told: dict[str, Any] = {"sets": {}, "vetoes": {}, "graded": {}}
    fitted: dict[str, Thresholds] = {}
    names = present(folder)
    if dump:
        dump.write_bytes(b"")
    for name in (each for each in names if each in MOST_WRONG):
        halved = halves(folder, name, embedder, limit)
        start = time.perf_counter()
        calibration, held_out = judge(halved.calibration), judge(halved.held_out)
        number, took = len(calibration.pairs) + len(held_out.pairs), time.perf_counter() - start
        say(f"{name}: {number:,} pairs judged, {1e6 * took / max(1, number):.0f} µs each")
        fitted[name] = calibrate(calibration, MOST_WRONG[name])
        if dump:
            _append(dump, name, calibration)
        served = served_by_all(held_out, fitted[name], f"{MOST_WRONG[name]:.1%} wrong")
        told["sets"][name] = {
            "same": int(held_out.same.sum()),
            "different": int((~held_out.same).sum()),
            "left out": halved.left_out,
            "thresholds": asdict(fitted[name]),
            "rules": measure(held_out, served | in_hindsight(held_out, 0.01)),
        }
        told["vetoes"][name] = veto_rows(held_out)
        graded, grades = _graded(held_out.pairs)
        if graded:
            told["graded"][name] = _read_again(graded, grades)
    if LOOSE in names:
        told["topics"] = _topics(topic_pairs(folder, embedder, limit), fitted.get(LIMITS_FROM))
    told["written"] = {name: _traps(read(), embedder) for name, read in WRITTEN.items()}
    told["six"] = _six(embedder, fitted.get(LIMITS_FROM))
    return told


def _graded(pairs: Sequence[Pair]) -> tuple[list[Pair], list[float]]:
    """Return those of the pairs that careful readers have graded, and their grades (0..1)."""
    grades = read_grades(GRADES)
    found = [(pair, grades[name]) for pair in pairs if (name := named(pair.a, pair.b)) in grades]
    return [pair for pair, _ in found], [grade for _, grade in found]


def _read_again(pairs: Sequence[Pair], grades: Sequence[float]) -> dict[str, Any]:
    """Measure pairs that careful readers graded: by the raters' labels, with the readers as one more contender, and by
    what the readers are sure of.
    """
    sure = [
        replace(pair, same=grade >= SURE)
        for pair, grade in zip(pairs, grades, strict=True)
        if not 1 - SURE <= grade < SURE
    ]
    told = {}
    for name, judged, more in (
        ("by the raters' labels", judge(pairs), {READER: np.array(grades)}),
        (f"by a careful reader's ({SURE:.0%} sure)", judge(sure), {}),
    ):
        told[name] = {
            "same": int(judged.same.sum()),
            "different": int((~judged.same).sum()),
            "rules": measure(judged, served_by_all(judged, None, "") | in_hindsight(judged, 0.01, more)),
        }
    return told


def _topics(pairs: Sequence[Pair], fitted: Thresholds | None) -> dict[str, Any]:
    judged = judge(pairs)
    served = served_by_all(judged, fitted, f"{LIMITS_FROM}'s {MOST_WRONG[LIMITS_FROM]:.0%} wrong")
    return {
        "same": int(judged.same.sum()),
        "different": int((~judged.same).sum()),
        "rules": measure(judged, served),
        "vetoes": veto_rows(judged),
    }


def _traps(traps: Sequence[Trap], embedder: RememberedEmbedder) -> dict[str, Any]:
    """Measure pairs that were written for this: nothing was fitted or trained on them."""
    embedder.prepare(text for trap in traps for text in (trap.a, trap.b))
    ones, others = (embedder.embed([getattr(trap, side) for trap in traps]) for side in ("a", "b"))
    cosines = np.einsum("ij,ij->i", ones, others)
    pairs = [Pair(trap.a, trap.b, trap.label == 1, float(cosine)) for trap, cosine in zip(traps, cosines, strict=True)]
    judged = judge(pairs)
    kinds = np.array([trap.kind for trap in traps])
    graded, grades = _graded(pairs)
    agree = sum(pair.same is (grade >= 0.5) for pair, grade in zip(graded, grades, strict=True))
    return {
        "graded": len(graded),
        "as labelled": structs.asdict(interval(agree, len(graded))) if graded else None,
        "same": int(judged.same.sum()),
        "different": int((~judged.same).sum()),
        "rules": measure(judged, served_by_all(judged, None, "") | in_hindsight(judged, 0.01)),
        "kinds": {
            str(kind): {
                "same": _share(judged.accepted[(kinds == kind) & judged.same]),
                "different": _share(judged.accepted[(kinds == kind) & ~judged.same]),
            }
            for kind in np.unique(kinds)
        },
    }


def _share(flags: Flags) -> dict[str, float] | None:
    """Return how many of the flags are set, with the interval; `None` if there are none."""
    return structs.asdict(interval(int(flags.sum()), len(flags))) if len(flags) else None


def _six(embedder: RememberedEmbedder, fitted: Thresholds | None) -> dict[str, Any]:
    texts = [text for one, other, _ in SIX for text in (one, other)]
    vectors = embedder.embed(texts)
    cosines = [float(vectors[2 * number] @ vectors[2 * number + 1]) for number in range(len(SIX))]
    judged = judge([Pair(one, other, same, cosine) for (one, other, same), cosine in zip(SIX, cosines, strict=True)])
    served = served_by_all(judged, fitted, f"{LIMITS_FROM}'s {MOST_WRONG[LIMITS_FROM]:.0%} wrong")
    told = {name: flags.tolist() for name, flags in served.items()}
    return {"cosine": cosines, "served": {f"{OURS}, RAG taught": _six_taught(embedder)} | told}


def _six_taught(embedder: RememberedEmbedder) -> list[bool]:
    """Decide as a cache that has read the expansion of RAG: texts are embedded and compared with it inserted."""
    told = []
    for one, other, _ in SIX:
        ours, asked = embedder.embed([RAG.expand(one), RAG.expand(other)])
        told.append(is_served(decision(one, other, float(ours @ asked), RAG)))
    return told


def _append(dump: Path, name: str, judged: Judged) -> None:
    with dump.open("ab") as file:
        for pair, decided in zip(judged.pairs, judged.decisions, strict=True):
            vetoes = [[each.guard, each.reason] for each in decided.verdicts if not each.passed]
            line = asdict(pair) | {"set": name, "score": decided.score, "served": is_served(decided)}
            file.write(orjson.dumps(line | {"vetoes": vetoes}) + b"\n")  # orjson writes -inf as null


def _show(told: dict[str, Any]) -> None:
    for name, each in told["sets"].items():
        print(
            f"{name}, held-out half: {each['same']:,} pairs of the same question, {each['different']:,} of different "
            f"ones ({each['left out']} equal texts in the whole set left out)\n"
        )
        print(_table(each["rules"]), end="\n\n")
        print(_vetoes(told["vetoes"][name]), end="\n\n")
    for name, reads in told["graded"].items():
        for labels, each in reads.items():
            print(f"{name}, pairs read again, {labels}: {each['same']:,} the same, {each['different']:,} different\n")
            print(_table(each["rules"]), end="\n\n")
    if topics := told.get("topics"):
        print(
            f"{LOOSE}, NOT a same-answer set: {topics['same']:,} pairs of queries for one topic, and "
            f"{topics['different']:,} of the most\nsimilar queries of different topics; whole set, pairs share "
            "queries, so the intervals are too narrow\n"
        )
        print(_table(topics["rules"], first=("one topic served", "two topics served")), end="\n\n")
        print(_vetoes(topics["vetoes"]), end="\n\n")
    for name, each in told["written"].items():
        print(f"{name}: {each['same']:,} honest rewordings, {each['different']:,} traps")
        if agree := each["as labelled"]:
            print(f"{READER} labels {_percent(agree)} % of {each['graded']:,} of them as they are labelled")
        print()
        print(_table(each["rules"]), end="\n\n")
        print(_kinds(each["kinds"]), end="\n\n")
    _show_six(told["six"])


def _table(rules: dict[str, dict[str, Any]], first: Sequence[str] = _SHARES[:2]) -> str:
    rows = [
        (
            name,
            *(_percent(each[share]) for share in _SHARES),
            f"{each['wrong']:,}",
            "" if each["x cosine"] is None else f"{each['x cosine']:.2f}",
        )
        for name, each in rules.items()
    ]
    headers = ("%, 95 % interval", *first, _SHARES[2], "wrong", "x cosine")
    return tabulate(rows, headers=headers, colalign=("left", *["right"] * 5), disable_numparse=True)


def _kinds(kinds: dict[str, dict[str, dict[str, float] | None]]) -> str:
    rows = [
        (kind, *(_percent(share) if (share := each[label]) else "" for label in ("different", "same")))
        for kind, each in kinds.items()
    ]
    headers = ("kind, %, as shipped", "different served", "same served")
    return tabulate(rows, headers=headers, colalign=("left", "right", "right"), disable_numparse=True)


def _percent(each: dict[str, float]) -> str:
    share, low, high = (100 * each[key] for key in ("share", "low", "high"))
    digits = 2 if share < 10 else 1
    return f"{share:.{digits}f} ({low:.{digits}f}-{high:.{digits}f})"


def _vetoes(guards: dict[str, dict[str, tuple[int, int]]]) -> str:
    if not guards:
        return "no guard vetoed anything"
    rows = [
        (guard, *(cell for counted in each.values() for cell in _precision(*counted))) for guard, each in guards.items()
    ]
    headers = ("guard", "vetoed", "different", "%", f"cosine >= {NEAR}", "different", "%", "no other", "different", "%")
    return tabulate(rows, headers=headers, colalign=("left", *["right"] * 9), disable_numparse=True)


def _precision(vetoed: int, different: int) -> tuple[str, str, str]:
    return f"{vetoed:,}", f"{different:,}", f"{100 * different / vetoed:.0f}" if vetoed else ""


def _show_six(six: dict[str, Any]) -> None:
    for number, ((one, other, same), cosine) in enumerate(zip(SIX, six["cosine"], strict=True), start=1):
        print(f"{number}  {'reuse' if same else 'never'}  cosine {cosine:.2f}  {one} / {other}")
    rows = []
    for name, flags in six["served"].items():
        answers = zip(flags, SIX, strict=True)
        told = [("served" if flag else "no") + ("" if flag is same else " !") for flag, (_, _, same) in answers]
        rows.append((name, *told, f"{sum('!' not in each for each in told)} of {len(SIX)}"))
    headers = ("(! = wrong)", *(str(number + 1) for number in range(len(SIX))), "right")
    print(f"\n{tabulate(rows, headers=headers, disable_numparse=True)}")


@entry_point
def main() -> None:
    """Run the benchmark that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.equivalence", description=__doc__)
    parser.add_argument("--pairs", type=Path, metavar="DIR", required=True, help="folder of the labelled pairs")
    parser.add_argument("--limit", type=at_least(1), metavar="N", help="at most N pairs of each set")
    parser.add_argument("--cache", type=Path, metavar="FILE", help=".npz file that keeps the vectors between runs")
    parser.add_argument(
        "--dump", type=Path, metavar="FILE", help=f"write what {OURS} says of every calibration pair (JSON lines)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    told = _compare(arguments.pairs, RememberedEmbedder(arguments.cache), arguments.limit, arguments.dump)
    if arguments.json:
        print(orjson.dumps(told, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY).decode())
    else:
        _show(told)


if __name__ == "__main__":
    main()
