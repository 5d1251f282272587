"""Engines, models and depths to choose from when a research starts on the web: those set up on this server."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Literal, TypeAlias, get_args

from msgspec import Struct

from harness.app import App
from harness.core.engine_choice import choosable, searches_public_web
from harness.core.keys import host_in
from harness.core.search_engines import AUTO, ENGINES, KEYED, LIBRARY, PYTHON_DOCS, alternative_specs, engine_kind
from harness.core.text import clean, one_line
from harness.errors import InvalidInput
from harness.research.run_view import past_run
from harness.settings import Settings

Depth: TypeAlias = Literal["quick", "standard", "thorough"]

NO_MODEL = "none"
STANDARD: Depth = "standard"
MAX_NAME = 60


class EngineChoice(Struct, frozen=True):
    """One choice: one or more engines. Clients send `name`, people see `label`; `specs` are `NAME[:ARG]`, `question` is
    a fitting example. Name and label contain neither passwords nor folder paths.
    """

    name: str
    label: str
    specs: tuple[str, ...]
    question: str


class ResearchChoice(Struct, frozen=True):
    """Engines of a research (empty: those of the settings), whether the configured model writes it, and its depth."""

    specs: tuple[str, ...] = ()
    model: bool = True
    depth: Depth = STANDARD

    def changes(self, settings: Settings) -> dict[str, Any]:
        """Return the settings, by name, that the choice changes."""
        changed: dict[str, Any] = {} if self.model else {"model": None}
        if self.specs:
            changed["engine"] = self.specs
        if self.depth == "quick":
            changed |= {"max_rounds": 1, "depth": 1, "read_pages": min(settings.read_pages, 2)}
        elif self.depth == "thorough":
            changed |= {
                "max_rounds": 5,
                "depth": max(settings.depth, 2),
                "read_pages": max(settings.read_pages, 6),
                "enough_score": max(settings.enough_score, 0.95),
                "min_novelty": min(settings.min_novelty, 0.05),
            }
        return changed


def engine_choices(settings: Settings) -> list[EngineChoice]:
    """Return the choices: `auto` where questions may go to the public web; all configured engines together, which are
    the default of the API; each of them, and those that `auto` may choose; at last the library and the Python language
    reference, which need no network.
    """
    public = searches_public_web(settings.engine)
    suited = [kind.name for kind in ENGINES if kind.name in choosable() and _is_usable(kind.name, settings)]
    single = dict.fromkeys([*settings.engine, *(suited if public else ()), LIBRARY, PYTHON_DOCS])
    groups = dict.fromkeys([*([(AUTO,)] if public else []), settings.engine, *((spec,) for spec in single)])
    choices: list[EngineChoice] = []
    for specs in groups:
        names, labels = zip(*(_name_and_label(spec, settings) for spec in specs), strict=True)
        same = sum(each.name.partition("#")[0] == "+".join(names) for each in choices)
        mark = f"#{same + 1}" if same else ""
        question = (engine_kind(specs[0]) or ENGINES[0]).question
        choices.append(EngineChoice("+".join(names) + mark, " + ".join(labels) + mark, specs, question))
    return choices


def needs_network(specs: Iterable[str]) -> bool:
    """Return whether one of the engines sends requests."""
    return any(each.partition(":")[0] not in {"corpus", LIBRARY} for spec in specs for each in alternative_specs(spec))


def _is_usable(name: str, settings: Settings) -> bool:
    """Return whether an engine has its key, if it needs one, and goes through the proxy, if there is one."""
    kind = engine_kind(name)
    keyed = name not in KEYED or bool((getattr(settings, f"{name}_api_key") or "").strip())
    return keyed and kind is not None and (kind.proxy or not settings.proxy)


def model_choices(settings: Settings) -> list[str]:
    """Return the names of the models that can write, default first; `none`: a report made of excerpts."""
    return [settings.model, NO_MODEL] if settings.model else [NO_MODEL]


def choice_of(settings: Settings, engine: str = "", model: str = "", depth: str = STANDARD) -> ResearchChoice:
    """Return the choice with these names of engines and model, and this depth; an empty name is the default.

    Raises:
        InvalidInput: a name is not among the choices.
    """
    engines = {choice.name: choice.specs for choice in engine_choices(settings)}
    if engine and engine not in engines:
        raise InvalidInput(f"no such engine here: {_shown(engine)!r}; choose from {', '.join(engines)}")
    models = model_choices(settings)
    if model and model not in models:
        raise InvalidInput(f"no such model here: {_shown(model)!r}; choose from {', '.join(models)}")
    found = next((each for each in get_args(Depth) if each == depth), None)
    if found is None:
        raise InvalidInput(f"no such depth: {_shown(depth)!r}; choose from {', '.join(get_args(Depth))}")
    return ResearchChoice(engines[engine] if engine else (), model != NO_MODEL, found)


def choice_of_run(app: App, run: str) -> ResearchChoice:
    """Return the choice of a recorded run; the default engines if its engines are no longer set up here.

    Raises:
        NotFound: there is no such run.
        StoreCorrupt: its record cannot be read.
        StoreError: the store cannot be read.
    """
    past_run(app.cache, run)  # checks the record
    record = app.cache.runs.get(run)
    question = str(record["question"])
    made_with = [_identity(each["name"], each.get("options")) for each in record["engines"]]
    specs = (choice.specs for choice in engine_choices(app.settings))
    found = next((each for each in specs if _identities(app, each, question) == made_with), ())
    return ResearchChoice(found, record.get("model") is not None)


def _identities(app: App, specs: Sequence[str], question: str) -> list[tuple[str, str]]:
    """Return the identities of engines as in the record of a run; an empty list if one cannot be opened."""
    try:
        return [_identity(each.name, each.options) for each in app.sources.engines(specs, question=question)]
    except InvalidInput:
        return []


def _identity(name: str, options: object) -> tuple[str, str]:
    """Return the name of an engine and the path of its corpus; other options change with settings and files."""
    return name, str(options.get("corpus", "")) if isinstance(options, Mapping) else ""


def _name_and_label(spec: str, settings: Settings) -> tuple[str, str]:
    """Return the name and the label of one engine."""
    name, _, argument = spec.partition(":")
    if name == "searxng":
        host = _shown(host_in(argument or settings.searxng_url or "")) or "searxng"
        return f"searxng:{host}", f"SearXNG at {host}"
    if name == "corpus" and spec != PYTHON_DOCS:
        folder = _shown(PurePath(argument).name) or "documents"
        return f"corpus:{folder}", f"Documents in {folder}"
    kind = engine_kind(spec)
    if kind is None:
        return _shown(name), _shown(name)
    return (spec, kind.label) if spec == kind.name else (_shown(spec), f"{kind.label}: {_shown(argument)}")


def _shown(text: str) -> str:
    return clean(one_line(text[: 4 * MAX_NAME]), MAX_NAME)
