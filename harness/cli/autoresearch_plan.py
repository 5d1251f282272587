"""Plan of `harness autoresearch`: a loop from its options, its proposer, and its checkout."""

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from harness.cli.autoresearch_options import PROPOSERS, CodeOptions, LoopOptions, SourceOptions
from harness.cli.options import chosen_tasks, listed_names
from harness.errors import InvalidInput

if TYPE_CHECKING:
    from harness_evals.code_trials import Checkout
    from harness_evals.journal import Begun
    from harness_evals.proposers import Proposer
    from harness_evals.space import Space, Surface
    from harness_evals.tasks import Task

    from harness.app import App
    from harness.settings import Settings


class Plan(NamedTuple):
    """A loop to run: a new one, or one to continue."""

    begun: "Begun"
    folder: Path
    tasks: "Sequence[Task]"
    space: "Space"


def plan(options: LoopOptions, source: SourceOptions, settings: "Settings") -> Plan:
    """Return the loop that the options describe, or the one to continue.

    Raises:
        InvalidInput: no such loop, proposer or surface, or an unusable file.
    """
    from harness_evals.journal import FOLDER, find_loop, read_journal
    from harness_evals.journal import Options as Rules
    from harness_evals.loop import begin
    from harness_evals.space import DEFAULT_SPACE, checked_space, read_space
    from harness_evals.verdicts import ALPHA, REPEATS

    folder = settings.data_dir / FOLDER
    if options.resume is not None:
        held = read_journal(find_loop(folder, options.resume))
        journaled: Space = {name: tuple(values) for name, values in held.begun.space.items()}
        tasks = chosen_tasks(held.begun.tasks, options.tasks_dir)
        space = checked_space(journaled, str(held.folder)) if journaled else {}
        return Plan(held.begun, held.folder, tasks, space)
    surfaces = _surfaces(options.surface)
    _check(options, source, surfaces)
    tasks = chosen_tasks(listed_names(options.tasks), options.tasks_dir)
    space = read_space(options.space) if options.space else checked_space(DEFAULT_SPACE, "the program")
    space = space if "settings" in surfaces else {}
    repeats = options.repeats if options.repeats is not None else REPEATS if settings.model else 1
    rules = Rules(
        options.experiments,
        repeats,
        options.delta,
        ALPHA,
        options.seed,
        options.proposer,
        options.plateau,
        options.fresh_gather,
        surfaces,
        "gain" if options.keep_rule == "gain" else "significant",
        options.objective,
    )
    begun = begin(tasks, settings, space, rules, now=time.time())
    return Plan(begun, folder / begun.id, tasks, space)


def _surfaces(given: str) -> "tuple[Surface, ...]":
    from harness_evals.space import SURFACES

    names = listed_names(given)
    if other := [name for name in names if name not in SURFACES] or ([given] if not names else []):
        raise InvalidInput(f"no surface {other[0]!r}; choose of {', '.join(SURFACES)}, with commas between several")
    return tuple(surface for surface in SURFACES if surface in names)


def _check(options: LoopOptions, source: SourceOptions, surfaces: "Sequence[Surface]") -> None:
    if options.proposer not in PROPOSERS:
        raise InvalidInput(f"no proposer {options.proposer!r}; choose one of {', '.join(PROPOSERS)}")
    if options.keep_rule not in {"significant", "gain"}:
        raise InvalidInput(f"no rule {options.keep_rule!r} for --keep-rule; choose significant or gain")
    if (options.proposer == "file") != (source.file is not None):
        raise InvalidInput("--proposer file and --file FILE need each other")
    if (options.proposer == "agent") != (source.agent is not None):
        raise InvalidInput("--proposer agent and --agent COMMAND need each other")
    if source.proposer_model is not None and options.proposer != "model":
        raise InvalidInput("--proposer-model is the model of --proposer model; pass that too")
    if options.proposer in {"grid", "random", "hillclimb"} and tuple(surfaces) != ("settings",):
        raise InvalidInput(
            f"--proposer {options.proposer} changes settings alone; for {', '.join(surfaces)} take file, model or agent"
        )


def checkout(begun: "Begun", folder: Path, changed: CodeOptions, settings: "Settings") -> "Checkout | None":
    """Return the checkout for changes of code and for agents; `None` if the loop needs none.

    Raises:
        InvalidInput: settings that changed code cannot run with, and as `Checkout` does.
    """
    if "code" not in begun.options.surfaces and begun.options.proposer != "agent":
        return None
    from harness_evals.code_trials import Checkout, checkout_of_program
    from harness_evals.trial_runs import check_settings

    declared = tuple(listed_names(changed.code_files)) if changed.code_files else ()
    made = Checkout(
        checkout_of_program(), begun.id, folder, allow_unsandboxed=changed.allow_unsandboxed, declared=declared
    )
    if "code" in begun.options.surfaces:
        check_settings(settings, confined=made.confined)
    return made


def proposer_for(
    begun: "Begun", source: SourceOptions, space: "Space", app: "App", code: "Checkout | None"
) -> "Proposer":
    """Return the proposer of a loop.

    Raises:
        InvalidInput: its file, its command or its language model is missing.
    """
    from harness_evals import model_proposers, proposers

    rules = begun.options
    match rules.proposer:
        case "grid":
            return proposers.Grid(space)
        case "random":
            return proposers.Random(space, rules.seed)
        case "hillclimb":
            return proposers.HillClimb(space, rules.seed)
        case "file":
            if source.file is None:
                raise InvalidInput("this loop reads its experiments from a file; pass --file FILE again")
            return proposers.FromFile(source.file, rules.surfaces)
        case "agent":
            from harness_evals.workshop import copy_to_edit

            if source.agent is None or code is None:
                raise InvalidInput("this loop asks an agent; pass --agent COMMAND again")
            log = app.settings.data_dir / "autoresearch" / begun.id / "agent.log"
            return model_proposers.FromAgent(
                source.agent, rules.surfaces, partial(copy_to_edit, code), log, seconds=source.agent_seconds
            )
    named = replace(app.settings, model=source.proposer_model or app.settings.model)
    if (model := app.models.with_settings(named).language_model) is None:
        raise InvalidInput("--proposer model needs a language model; pass --proposer-model, or set `model`")
    return model_proposers.FromModel(rules.surfaces, model, app.cache)
