"""Proposers that think: a language model, and any command that edits a copy of the program."""

import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import orjson
from msgspec import Struct

from harness.cache import Cache
from harness.core.text import clean, one_line, shorten
from harness.errors import InvalidInput, ModelError, ModelUnavailable
from harness.ports import LanguageModel, Message
from harness_evals.edits import edited
from harness_evals.proposers import MAX_IDEA, Proposal, Proposer, Situation, TaskState, is_tried
from harness_evals.sandbox import kill_group
from harness_evals.space import InvalidProposal, Surface, surface_of

SHOWN = 20
"""Past experiments that a proposer is shown."""
WORST = 3
"""Tasks whose reports a proposer is shown: those with the lowest scores."""
MAX_TEXTS = 80_000
"""Characters of prompts, rules and source files that a model is shown; further ones are only named."""
MAX_FILE = 10**6
"""Bytes of a file that an agent edits."""
MAX_LOG = 10**6
"""Bytes of an agent's output that are kept."""
PROPOSAL = "proposal.json"
BRIEF = "program.md"


class _Answer(Struct, frozen=True):
    """Answer of a model, or the file that an agent may leave."""

    change: dict[str, Any] = {}
    idea: str = ""
    hypothesis: str = ""


class FromModel(Proposer):
    """Proposals of a language model, which sees the texts that it may change, the scores, what the worst reports lack,
    and the past experiments; through the cache.
    """

    def __init__(self, surfaces: Sequence[Surface], model: LanguageModel, cache: Cache) -> None:
        self._surfaces = surfaces
        self._model = model
        self._cache = cache

    @property
    def tokens(self) -> int:
        """See `Proposer.tokens`."""
        return self._cache.tokens

    def propose(self, situation: Situation) -> Proposal | None:
        """See `Proposer.propose`.

        Raises:
            InvalidProposal: the answer is no such JSON, repeats an experiment, or changes what it may not.
            ModelUnavailable: no answer comes.
        """
        messages: list[Message] = [
            {"role": "system", "content": f"{brief()}\n\n{_rules(self._surfaces)}"},
            {"role": "user", "content": orjson.dumps(_shown(situation)).decode()},
        ]
        try:
            answer = self._cache.completions.answer(self._model, messages, schema=_SCHEMA).value.text
        except ModelUnavailable:
            raise
        except ModelError as error:  # an answer came, and is not usable
            raise InvalidProposal(str(error)) from error
        return _proposal(_decoded(answer, "the model's answer"), situation, self._surfaces, "the model's answer")


Workshop: TypeAlias = Callable[[Situation], AbstractContextManager[tuple[Path, Mapping[str, Path]]]]
"""Maker of a copy of the program, which is removed on exit: its folder, and the file of each target."""


class FromAgent(Proposer):
    """Proposals of a command that edits a copy of the program, which `workshop` makes from the state kept so far.
    The command gets the path of a brief as its last argument, and at most `seconds`; it is not sandboxed, because it
    is the user's own. What it writes on its outputs goes into `log`.
    """

    def __init__(
        self, command: str, surfaces: Sequence[Surface], workshop: Workshop, log: Path, *, seconds: float
    ) -> None:
        try:
            self._command = shlex.split(command)
        except ValueError as error:
            raise InvalidInput(f"--agent {command!r} is no command ({error}); quote its arguments") from error
        if not self._command:
            raise InvalidInput("--agent names no command; pass for instance --agent 'my-agent --edit'")
        if (found := shutil.which(self._command[0])) is None:
            raise InvalidInput(f"no program {self._command[0]!r} can be run; check --agent")
        self._command[0] = str(Path(found).absolute())  # it runs in another folder
        self._surfaces = surfaces
        self._workshop = workshop
        self._log = log
        self._seconds = seconds

    def propose(self, situation: Situation) -> Proposal | None:
        """See `Proposer.propose`.

        Raises:
            InvalidProposal: the command fails, takes too long, changes nothing, or what it may not.
            InvalidInput: the command cannot be run any more.
        """
        with self._workshop(situation) as (root, paths):
            before = {target: _read(path) for target, path in paths.items()}
            brief_path = root / BRIEF
            state = orjson.dumps(_shown(situation), option=orjson.OPT_INDENT_2).decode()
            brief_path.write_text(
                f"{brief()}\n\n{_rules(self._surfaces)}\n\n{_PLACES}\n"
                + "".join(f"- {target}: {path.relative_to(root)}\n" for target, path in paths.items())
                + f"\n## State of the loop\n\n```json\n{state}\n```\n",
                encoding="utf-8",
            )
            self._work(root, brief_path)
            brief_path.unlink(missing_ok=True)
            left = root / PROPOSAL
            told = _decoded(_read(left), PROPOSAL) if left.is_file() else _Answer()
            left.unlink(missing_ok=True)
            texts = {target: after for target, path in paths.items() if (after := _read(path)) != before[target]}
            self._refuse_others(root, paths)
        change = {**told.change, **texts}
        return _proposal(_Answer(change, told.idea, told.hypothesis), situation, self._surfaces, "the agent")

    def _work(self, root: Path, brief_path: Path) -> None:
        self._log.parent.mkdir(parents=True, exist_ok=True)
        command = [*self._command, str(brief_path)]
        try:
            with self._log.open("wb") as output:
                process = subprocess.Popen(  # noqa: S603 - the user's own command, without a shell
                    command, cwd=root, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
                )
            try:
                status = process.wait(self._seconds)
            finally:
                kill_group(process)  # also what the command has started
        except subprocess.TimeoutExpired as error:
            raise InvalidProposal(f"the agent took longer than {self._seconds:g} s; see {self._log}") from error
        except OSError as error:
            raise InvalidInput(f"cannot run the agent {command[0]} ({error.strerror}); check --agent") from error
        finally:
            if self._log.exists() and self._log.stat().st_size > MAX_LOG:
                with self._log.open("rb+") as output:
                    output.truncate(MAX_LOG)
        if status:
            raise InvalidProposal(f"the agent ended with status {status}; see {self._log}")

    def _refuse_others(self, root: Path, paths: Mapping[str, Path]) -> None:
        """Refuse a copy in which other files were changed."""
        command = ["git", "-C", str(root), "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"]
        found = subprocess.run(command, check=False, capture_output=True, timeout=60)  # noqa: S603 - fixed arguments
        names = [entry[3:] for entry in found.stdout.decode(errors="replace").split("\0") if len(entry) > 3]
        known = {str(path.relative_to(root)) for path in paths.values()}
        if other := sorted(name for name in names if name not in known):
            raise InvalidProposal(f"the agent changed {_quoted(', '.join(other[:3]))}, which it may not")


def brief() -> str:
    """Return the brief of proposers: what the loop does, and what a good proposal is."""
    return files("harness_evals").joinpath(BRIEF).read_text(encoding="utf-8").strip()


def _decoded(text: str, where: str) -> _Answer:
    try:
        return msgspec.json.decode(text, type=_Answer)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise InvalidProposal(f"{where} is no JSON with `idea`, `hypothesis` and `change`: {_quoted(text)}") from error


def _proposal(answer: _Answer, situation: Situation, surfaces: Sequence[Surface], where: str) -> Proposal:
    """Return the proposal of an answer, on top of the kept changes.

    Raises:
        InvalidProposal: it changes nothing, what it may not, or repeats an experiment.
    """
    if not answer.change:
        raise InvalidProposal(f"{where} changes nothing")
    if other := sorted(answer.change.keys() - situation.space.keys() - situation.targets.keys()):
        raise InvalidProposal(f"{where} changes {_quoted(', '.join(other[:3]))}, which this loop does not")
    checked = edited(answer.change, situation.targets, where, surfaces)
    for name, value in checked.items():
        if surface_of(name) == "settings" and value not in situation.space[name]:
            raise InvalidProposal(f"{name} may be any of {list(situation.space[name])}, not {_quoted(str(value))}")
    changes = {**situation.best, **checked}
    if is_tried(changes, situation.tried):
        raise InvalidProposal(f"{where} repeats an earlier experiment")
    idea, hypothesis = (one_line(clean(text, MAX_IDEA)) for text in (answer.idea, answer.hypothesis))
    return Proposal(changes, idea, hypothesis)


def _shown(situation: Situation) -> dict[str, Any]:
    """Return the state of the loop as plain values, bounded."""
    texts: dict[str, str] = {}
    room = MAX_TEXTS
    for target, text in situation.targets.items():
        texts[target] = text if len(text) <= room else f"({len(text):,} characters, not shown)"
        room -= len(text) if len(text) <= room else 0
    worst = sorted(situation.tasks, key=lambda task: (task.total, task.id))
    return {
        "left": dict(situation.left),
        "allowed_settings": {name: list(values) for name, values in situation.space.items()},
        "kept": {target: _brief_value(target, value) for target, value in situation.best.items()},
        "texts": texts,
        "tasks": [_task(task, whole=task in worst[:WORST]) for task in worst],
        "tried": [
            {
                "idea": each.idea,
                "changes": {target: _brief_value(target, value) for target, value in each.changes.items()},
                "score": each.score,
                "status": each.status,
                "reasons": list(each.reasons),
            }
            for each in situation.tried[-SHOWN:]
        ],
    }


def _task(task: TaskState, *, whole: bool) -> dict[str, Any]:
    scores = {name: round(value, 3) for name, value in task.scores.items()}
    shown = {"id": task.id, "question": task.question, "score": round(task.total, 3), "scores": scores}
    return {**shown, "missed": list(task.missed), "report": task.report} if whole else shown


def _brief_value(target: str, value: Any) -> Any:
    return value if surface_of(target) == "settings" else f"(its text, {len(value):,} characters)"


def _rules(surfaces: Sequence[Surface]) -> str:
    may = ", ".join(_MAY[surface] for surface in surfaces)
    return f"In this loop you may change {may}. Everything else is refused."


def _read(path: Path) -> str:
    if not path.is_file():
        return ""
    if (size := path.stat().st_size) > MAX_FILE:
        raise InvalidProposal(f"the agent left {path.name} with {size:,} bytes; at most {MAX_FILE:,} are read")
    return path.read_text(encoding="utf-8", errors="replace")


def _quoted(text: str) -> str:
    return repr(shorten(one_line(clean(text, 200)), 100))


_MAY: Mapping[Surface, str] = {
    "settings": "settings (to one of the allowed values)",
    "prompts": "the prompts of the language model (`prompts.NAME`)",
    "rules": "the rules of planner and report (`rules.NAME`)",
    "code": "the source files that are named",
}
_PLACES = "The texts that you may edit are in these files; leave everything else as it is:"
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "idea": {"type": "string"},
        "hypothesis": {"type": "string"},
        "change": {"type": "object", "minProperties": 1},
    },
    "required": ["idea", "hypothesis", "change"],
}
