"""THE TABLE: every number a run may report, declared once.

The console, the record, CSV, alerts, docs/metrics.md and `gymnast metrics` all read it; recording
a name that is not here is an error. To add a metric, add its entry to its family in `families/`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from gymnast.errors import ConfigError
from gymnast.metrics.families import (
    components,
    experience,
    learning,
    matches,
    network,
    optimization,
    progress,
    shaping,
)
from gymnast.metrics.metric import INF, Bounds, Limits, Metric, Range
from gymnast.text.closest import closest

__all__ = [
    "INF",
    "METRICS",
    "SECTIONS",
    "Bounds",
    "Limits",
    "Metric",
    "Range",
    "declared",
    "in_order",
    "pattern_of",
    "refuse_unknown",
    "section",
    "spec",
    "split",
]

SECTIONS = {
    "progress": "How much of the budget is used",
    "episode": "Whole episodes: the score",
    "eval": "Evaluation on fixed seeds",
    "match": "Matches between roles",
    "league": "Opponents and ratings",
    "env": "The environment's own numbers",
    "rollout": "The steps just collected",
    "shaping": "What is added to the reward that is learned from",
    "policy": "The policy and its update",
    "value": "The critic and its update",
    "advantage": "Advantages, before normalisation",
    "loss": "What is minimised",
    "optim": "The optimiser",
    "network": "Units and outputs of the network",
    "hyper": "Hyperparameters in use",
    "normalize": "Running normalisers",
    "clock": "Counters that every row carries",
    "speed": "Throughput",
    "time": "Where wall time went",
    "system": "The training process",
}
"""Sections in the one order that table, summary, report and docs follow."""


def table(*families: Iterable[Metric]) -> dict[str, Metric]:
    """Metrics by name; a name declared twice is an error."""
    found: dict[str, Metric] = {}
    for metric in (metric for family in families for metric in family):
        if metric.name in found:
            raise ConfigError(f"metric {metric.name!r} is declared twice", fix="rename one of them")
        found[metric.name] = metric
    return found


METRICS: Mapping[str, Metric] = table(
    progress.METRICS,
    experience.METRICS,
    matches.METRICS,
    shaping.METRICS,
    learning.METRICS,
    optimization.METRICS,
    network.METRICS,
)


_PATTERNS = table(components.patterns(), matches.patterns())


def pattern_of(name: str) -> str:
    """What stands for a name that depends on the task: `rollout/obs_mean.3` -> `rollout/obs_mean.K`."""
    return matches.pattern_of(components.pattern_of(name))


def split(key: str) -> tuple[tuple[str, ...], str]:
    """`eval/seeker:episode/return` -> (("eval", "seeker"), "episode/return")."""
    scope, _, name = key.rpartition(":")
    return (tuple(scope.split("/")) if scope else ()), name


def spec(key: str, metrics: Mapping[str, Metric] = METRICS) -> Metric:
    """The declaration behind a row's key, whatever its scopes. Of a part of a space or an outcome that
    `metrics` do not know, as in a stored run, that of any such part."""
    name = key.rpartition(":")[2]
    return metrics[name] if name in metrics else _PATTERNS[pattern_of(name)]


def refuse_unknown(key: str, metrics: Collection[str], tasks: Collection[str], *, at: str) -> None:
    """Of a row's key that a setting names: its metric is declared, its scopes (`tasks` and roles) are
    known."""
    scopes, name = split(key)
    if name not in metrics:
        raise ConfigError(f"{name!r} is no metric{closest(name, metrics)}", at=at)
    if any(scope not in ("eval", *tasks) for scope in scopes):
        known = ", ".join(tasks) or "there are none"
        raise ConfigError(f"{key!r} names no task (env.tasks: {known})", at=at)


def section(key: str) -> str:
    """Where a key is shown: under its scopes if it has any, else under its metric's section."""
    scope, _, name = key.rpartition(":")
    return scope or name.partition("/")[0]


def in_order(keys: Iterable[str], metrics: Mapping[str, Metric] = METRICS) -> list[str]:
    """Keys by section, then priority: the order of every view. Unknown ones come last."""
    places = {name: place for place, name in enumerate(SECTIONS)}

    def place(key: str) -> tuple[int, str, int, str, int]:
        where = section(key)
        name = key.rpartition(":")[2]
        family, part = components.place_of(name)
        metric = metrics.get(name) or _PATTERNS.get(pattern_of(name))
        first = places.get(where.partition("/")[0], len(places))
        return (first, where, metric.priority if metric else 99, family, part)

    return sorted(keys, key=place)


def declared(cfg: Any, limits: Limits | None = None) -> Mapping[str, Metric]:
    """All metrics of one run, with the bounds of its task: the table, one `hyper/<field>` per
    scheduled field of the algorithm, what the algorithm declares (`METRICS` of its section, name ->
    fields of Metric), those of its shaping terms and of the parts of its spaces, what the preset's
    `metrics:` declares and what its `env.randomize` draws."""
    algo = type(cfg.algo)
    metrics = table(
        METRICS.values(),
        hyperparameters(algo),
        own_metrics(algo),
        shaping.of_terms(cfg.shaping),
        components.of_task(limits or Limits()),
        matches.of_outcomes(limits or Limits()),
        (_from_env(name, metric) for name, metric in cfg.metrics.items()),
        _drawn(cfg.env),
    )
    return {name: metric.resolved(limits or Limits()) for name, metric in metrics.items()}


def own_metrics(algo: Any) -> list[Metric]:
    """What an algorithm's section declares beside the table."""
    return [Metric(name, **fields) for name, fields in getattr(algo, "METRICS", {}).items()]


def hyperparameters(algo: Any) -> list[Metric]:
    """One metric per field of an algorithm's section that can be a schedule."""
    docs = algo.docs()
    return [
        Metric(
            f"hyper/{name}",
            _first_sentence(docs.get(name)) or f"Current value of algo.{name}.",
            digits=4,
            priority=5 if name == "lr" else 8,
            window="this update",
            no_bounds_reason="it is what the config, its schedule or a live change says",
            in_table=name == "lr",
        )
        for name in algo.schedules()
    ]


def _first_sentence(text: str | None) -> str:
    first = " ".join((text or "").split()).split(". ")[0].rstrip(".")
    return f"{first}." if first else ""


def _drawn(env: Any) -> list[Metric]:
    """One metric per randomised parameter."""
    return [
        Metric(
            metric,
            f"`{name}` as it was drawn for an episode from {env.randomize[name]}.",
            priority=8,
            estimator="mean over the episodes",
            window=experience.EPISODES,
            bounds=env.randomize[name].ends(),
        )
        for name, metric in env.drawn_metrics().items()
    ]


def _from_env(name: str, declaration: Any) -> Metric:
    """A user's own number, read from `info`."""
    if ":" in name or not all(name.partition("/")):
        raise ConfigError(
            f"metrics.{name}: a metric is named family/name", fix=f"write env/{name.strip('/:')}"
        )
    return Metric(
        name,
        declaration.description or f"`{declaration.source}` of the environment's info.",
        unit=declaration.unit,
        digits=declaration.digits,
        better=declaration.better,
        priority=4,
        estimator="mean over the episodes that report it",
        window=experience.EPISODES,
        no_bounds_reason="the environment's own number",
        in_table=True,
    )
