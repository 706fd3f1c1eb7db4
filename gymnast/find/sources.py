"""The contents of the search: every preset, environment, metric, setting, section of the docs and run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast, get_args

from gymnast.text import formatting
from gymnast.text.search import Document

if TYPE_CHECKING:
    from gymnast.config.field_spec import FieldSpec

Kind = Literal["preset", "environment", "metric", "setting", "doc", "run"]
KINDS: tuple[Kind, ...] = get_args(Kind)
TITLE, LINE, BODY = 3.0, 2.0, 1.0
"""Weights of the fields of an entry."""


@dataclass(frozen=True)
class Entry:
    """Something that can be found."""

    kind: Kind
    name: str
    line: str
    """One line about it."""
    more: str
    """The next useful command."""
    body: str = ""
    """Further text to be searched, which is not shown."""
    title: str = ""
    """Text that counts more than the line."""

    def document(self) -> Document:
        return Document(
            self.name, {BODY: f"{self.kind} {self.body}", LINE: self.line, TITLE: self.title}
        )


def entries(kind: Kind, runs_dir: Path) -> list[Entry]:
    """Returns all entries of a kind."""
    return list(_runs(runs_dir) if kind == "run" else _SOURCES[kind]())


def _presets() -> Iterator[Entry]:
    from gymnast.config.environments import known_environments
    from gymnast.config.presets import find_preset
    from gymnast.insight.preset_list import list_presets

    spaces = {env.id: env for env in known_environments()}
    for preset in list_presets():
        if preset.problem:
            continue
        about = _first_comment(Path(preset.path))
        env = spaces.get(preset.name)
        facts = [about.rstrip("."), "" if env is None else f"{env.observation} -> {env.action}"]
        if preset.threshold is not None:
            facts.append(f"threshold {preset.threshold:g}")
        if result := preset.results.get(preset.default):
            seeds = formatting.count_noun(result.seeds, "seed")
            facts.append(f"ours {result.mean:.4g} over {seeds}")
        facts.append(f"variants {', '.join(preset.variants)}")
        body = f"{preset.family} {'' if env is None else _space_words(env.observation, env.action)}"
        if _has_memory(find_preset(preset.name).data):
            body += " memory recurrent policy rnn lstm gru"
        yield Entry(
            "preset",
            preset.name,
            "; ".join(fact for fact in facts if fact),
            f"gymnast config show {preset.name}",
            body,
        )


def _environments() -> Iterator[Entry]:
    from gymnast.config.environments import known_environments
    from gymnast.config.families import family_of
    from gymnast.config.presets import all_presets

    with_preset = {preset.name for preset in all_presets().values()}
    for env in known_environments():
        if env.id in with_preset:
            continue
        family = family_of(env.id)
        extra = f", needs gymnast[{family.extra}]" if family is not None and family.extra else ""
        spaces = f"{env.observation} -> {env.action}; " if env.action else ""
        yield Entry(
            "environment",
            env.id,
            f"{spaces}{env.family}{extra}; no preset: default settings",
            f"gymnast train {env.id}",
            _space_words(env.observation, env.action),
        )


def _metrics() -> Iterator[Entry]:
    from gymnast.metrics.explain import catalog

    for metric in catalog().values():
        direction = f" ({metric.better} is better)" if metric.better else ""
        yield Entry(
            "metric",
            metric.name,
            f"{metric.description}{direction}",
            f"gymnast metrics {metric.name}",
            f"{metric.estimator} {metric.unit} {metric.if_low} {metric.if_high}",
        )


def _settings() -> Iterator[Entry]:
    from gymnast.config.config import Config
    from gymnast.config.field_spec import section_specs
    from gymnast.config.section import Section
    from gymnast.config.sections import ALGORITHMS

    def walk(section: type[Section], path: str) -> Iterator[tuple[str, FieldSpec]]:
        for name, spec in section_specs(section).items():
            inner = section.model_fields[name].annotation
            if isinstance(inner, type) and issubclass(inner, Section):
                yield from walk(inner, f"{path}{name}.")
            else:
                yield f"{path}{name}", spec

    found = dict(walk(Config, ""))
    algorithms: dict[str, list[str]] = {}
    for algorithm, (section, _) in ALGORITHMS.items():
        for key, spec in walk(section, "algo."):
            found.setdefault(key, spec)
            algorithms.setdefault(key, []).append(algorithm)
    for key, spec in found.items():
        default = "" if spec.default is None else f" Default: {spec.default}."
        only = algorithms.get(key, [])
        of = f" ({', '.join(only)})" if only and len(only) < len(ALGORITHMS) else ""
        yield Entry(
            "setting",
            key,
            f"{_one_sentence(spec.doc)}{of}{_where(spec)}{default}",
            f"gymnast train ENV --set {key}={spec.choices[0] if spec.choices else 'VALUE'}",
            f"{spec.doc} {' '.join(spec.choices)}",
        )


def _where(spec: FieldSpec) -> str:
    """Returns the conditions under which a setting has an effect."""
    return "".join(f" Applies only {one.condition_text}." for one in spec.applies)


def _docs() -> Iterator[Entry]:
    from gymnast.find.pages import all_pages, first_sentence

    for page, sections in all_pages().items():
        if page == "metrics":
            continue  # its entries are metrics
        for section in sections:
            first = first_sentence(section.text)
            heading = (
                f"{sections[0].title}: {section.title}" if section.level > 1 else section.title
            )
            yield Entry(
                "doc",
                section.name,
                f"{heading}. {first}." if first else f"{heading}.",
                f"gymnast docs {section.name}",
                section.text,
                section.title,
            )


def _runs(runs_dir: Path) -> Iterator[Entry]:
    from gymnast.insight.page import score_text
    from gymnast.runs import store

    for run in store.list_runs(runs_dir):
        if run.problem:
            continue
        score = "no score" if run.score is None else f"score {score_text(run.score)}"
        steps = formatting.count(run.clocks.get("env_steps"))
        label = f"{run.name}: " if run.name else ""
        yield Entry(
            "run",
            run.id,
            f"{label}{run.preset} seed {run.seed}, {run.status}, {score}, {steps} env steps",
            f"gymnast show {run.id}",
            f"{' '.join(run.tags)} {run.group_name} {run.note} {run.reason} "
            f"{'solved' if run.solved else ''}",
            run.name,
        )


_SOURCES: Mapping[Kind, Callable[[], Iterable[Entry]]] = {
    "preset": _presets,  # users edit their own presets while a server runs
    "environment": cache(lambda: list(_environments())),
    "metric": cache(lambda: list(_metrics())),
    "setting": cache(lambda: list(_settings())),
    "doc": cache(lambda: list(_docs())),
}


def _space_words(observation: str, action: str) -> str:
    """Returns the words that people use for kinds of spaces."""
    words = [
        "discrete actions" if "Discrete" in action else "",
        "continuous actions" if action.startswith("Box") else "",
        "image observations pixels" if "image" in observation else "",
        "vector observations" if observation.startswith("Box") else "",
    ]
    return " ".join(words)


def _has_memory(settings: object) -> bool:
    """Returns whether a preset, or one of its variants, sets `policy.memory`."""
    if not isinstance(settings, Mapping):
        return False
    sections = cast("Mapping[str, object]", settings)
    policy = sections.get("policy")
    found = isinstance(policy, Mapping) and policy.get("memory", "off") not in ("off", False)
    return found or any(map(_has_memory, sections.values()))


def _one_sentence(doc: str) -> str:
    return f"{doc.split('. ')[0].rstrip('.')}." if doc else ""


def _first_comment(file: Path) -> str:
    """Returns the comment in the first line of a preset, which describes its task."""
    with file.open(encoding="utf-8") as lines:
        first = next(lines, "")
    return first.lstrip("# ").strip() if first.startswith("#") else ""
