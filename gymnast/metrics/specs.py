"""The metric table: every number that a run may report is declared here exactly once.

The console, the metric store, CSV export, alerts, docs/metrics.md and `gymnast metrics` all read this table.
Recording a name that is not declared is an error. To add a metric, declare it in its family in `families/`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from gymnast.errors import ConfigError
from gymnast.metrics.families import (
    components,
    experience,
    hosts,
    learning,
    matches,
    network,
    optimization,
    progress,
    shaping,
)
from gymnast.metrics.metric import INF, Bounds, Limits, Metric, Range
from gymnast.text.suggestions import did_you_mean

if TYPE_CHECKING:  # they import pydantic, which commands that only read rows do without
    from gymnast.config.config import Config
    from gymnast.config.section import AlgoSection
    from gymnast.config.sections.env import EnvConfig
    from gymnast.config.sections.metric import MetricConfig

__all__ = [
    "INF",
    "METRICS",
    "SECTIONS",
    "Bounds",
    "Limits",
    "Metric",
    "Range",
    "generic_name",
    "metric_for_key",
    "preset_metric",
    "require_known_key",
    "run_metrics",
    "section",
    "sort_keys",
    "split_key",
]

SECTIONS = {
    "progress": "Share of the budget used",
    "episode": "Returns and lengths of whole episodes",
    "eval": "Evaluation on fixed seeds",
    "match": "Matches between roles",
    "league": "Opponents and ratings",
    "env": "Metrics from the environment",
    "rollout": "Steps of the last rollout",
    "shaping": "Shaping terms of the training reward",
    "policy": "The policy and its update",
    "value": "The critic and its update",
    "advantage": "Advantages, before normalization",
    "loss": "Loss terms",
    "optim": "The optimizer",
    "network": "Hidden units and outputs of the network",
    "hyper": "Current hyperparameters",
    "normalize": "Running normalizers",
    "clock": "Counters in every row",
    "speed": "Throughput",
    "time": "Wall time by activity",
    "system": "The training process",
    "hosts": "Processes that collect for the run",
}
"""Section -> title, in the order that the live table, the summary, reports and docs share."""


def table(*families: Iterable[Metric]) -> dict[str, Metric]:
    """Returns name -> metric; raises ConfigError if a name is declared twice."""
    declared: dict[str, Metric] = {}
    for metric in (metric for family in families for metric in family):
        if metric.name in declared:
            raise ConfigError(f"metric {metric.name!r} is declared twice", fix="rename one of them")
        declared[metric.name] = metric
    return declared


METRICS: Mapping[str, Metric] = table(
    progress.METRICS,
    experience.METRICS,
    matches.METRICS,
    shaping.METRICS,
    learning.METRICS,
    optimization.METRICS,
    network.METRICS,
    hosts.METRICS,
)


_GENERIC = table(components.generic_metrics(), matches.generic_metrics())
"""Declarations of task-dependent metrics, with K or OUTCOME in their names."""


def generic_name(name: str) -> str:
    """Returns the generic form of a task-dependent name: `rollout/obs_mean.3` -> `rollout/obs_mean.K`."""
    return matches.generic_name(components.generic_name(name))


def split_key(key: str) -> tuple[tuple[str, ...], str]:
    """Splits a row's key into scopes and metric name.

    `eval/seeker:episode/return` -> (("eval", "seeker"), "episode/return").
    """
    scope, _, name = key.rpartition(":")
    return (tuple(scope.split("/")) if scope else ()), name


def metric_for_key(key: str, metrics: Mapping[str, Metric] = METRICS) -> Metric:
    """Returns the metric that a row's key reports, ignoring its scopes.

    Per-dimension and per-outcome metrics that are not in `metrics`, as when reading a stored run without its
    config, fall back to their generic declaration.
    """
    name = key.rpartition(":")[2]
    return metrics[name] if name in metrics else _GENERIC[generic_name(name)]


def require_known_key(
    key: str, metrics: Collection[str], tasks: Collection[str], *, at: str
) -> None:
    """Raises ConfigError if `key`, the value of the setting `at`, names a metric that is not in `metrics`, or
    has a scope that is neither `eval` nor one of `tasks`."""
    scopes, name = split_key(key)
    if name not in metrics:
        raise ConfigError(f"{name!r} is not a metric{did_you_mean(name, metrics)}", at=at)
    if any(scope not in ("eval", *tasks) for scope in scopes):
        known = ", ".join(tasks) or "none are declared"
        raise ConfigError(f"{key!r} names an unknown task (env.tasks: {known})", at=at)


def section(key: str) -> str:
    """Returns the heading a key is listed under: its scopes if it has any, else its metric's section."""
    scope, _, name = key.rpartition(":")
    return scope or name.partition("/")[0]


def sort_keys(keys: Iterable[str], metrics: Mapping[str, Metric] = METRICS) -> list[str]:
    """Sorts keys by section, then by priority, as every view does; undeclared keys come last."""
    ranks = {name: rank for rank, name in enumerate(SECTIONS)}

    def sort_key(key: str) -> tuple[int, str, int, str, int]:
        """Returns the sort key: section, heading with scopes, priority, metric without index, index."""
        heading = section(key)
        name = key.rpartition(":")[2]
        family, index = components.split_index(name)
        metric = metrics.get(name) or _GENERIC.get(generic_name(name))
        # Undeclared keys come last; the components of one metric are sorted by number, not as text.
        rank = ranks.get(heading.partition("/")[0], len(ranks))
        return (rank, heading, metric.priority if metric else 99, family, index)

    return sorted(keys, key=sort_key)


def run_metrics(cfg: Config, limits: Limits | None = None) -> Mapping[str, Metric]:
    """Returns all metrics of one run, name -> metric, with the bounds of its task (open without `limits`).

    These are the table, one `hyper/<field>` per scheduled field of the algorithm, the metrics that the
    algorithm's config section declares (`METRICS`: name -> fields of Metric), those of the shaping terms, one
    per dimension of the spaces and per match outcome, those of the preset's `metrics:` and one per parameter
    that `env.randomize` draws. Raises ConfigError if a name is declared twice.
    """
    algo = type(cfg.algo)
    metrics = table(
        METRICS.values(),
        hyperparameter_metrics(algo),
        algo_metrics(algo),
        shaping.term_metrics(cfg.shaping),
        components.task_metrics(limits or Limits()),
        matches.outcome_metrics(limits or Limits()),
        (preset_metric(name, metric) for name, metric in cfg.metrics.items()),
        _randomized_parameter_metrics(cfg.env),
    )
    return {name: metric.resolved(limits or Limits()) for name, metric in metrics.items()}


def algo_metrics(algo: type[AlgoSection]) -> list[Metric]:
    """Returns the metrics that `algo`, the class of an algorithm's config section, declares in addition to
    the table."""
    return [Metric(name, **fields) for name, fields in getattr(algo, "METRICS", {}).items()]


def hyperparameter_metrics(algo: type[AlgoSection]) -> list[Metric]:
    """Returns one metric per field of `algo`, the class of an algorithm's config section, that can be a
    schedule."""
    docs = algo.field_docs()
    return [
        Metric(
            f"hyper/{name}",
            _first_sentence(docs.get(name)) or f"Current value of algo.{name}.",
            digits=4,
            priority=5 if name == "lr" else 8,
            window="this update",
            no_bounds_reason="set by the config, its schedule or a live change",
            in_table=name == "lr",
        )
        for name in algo.schedulable_fields()
    ]


def _first_sentence(text: str | None) -> str:
    """Returns the first sentence of a docstring on one line."""
    first = " ".join((text or "").split()).split(". ")[0].rstrip(".")
    return f"{first}." if first else ""


def _randomized_parameter_metrics(env: EnvConfig) -> list[Metric]:
    """Returns one metric per parameter that `env.randomize` draws. `env`: the config section."""
    return [
        Metric(
            metric,
            f"Value of `{name}` drawn for an episode from {env.randomize[name]}.",
            priority=8,
            estimator="mean over the episodes",
            window=experience.EPISODES,
            bounds=env.randomize[name].bounds(),
        )
        for name, metric in env.randomized_metrics().items()
    ]


def preset_metric(name: str, declaration: MetricConfig) -> Metric:
    """Returns the metric that a preset declares under `metrics:` for a value in `info`. Raises ConfigError if
    `name` is not of the form family/name."""
    if ":" in name or not all(name.partition("/")):
        raise ConfigError(
            f"metrics.{name}: a metric name has the form family/name",
            fix=f"write env/{name.strip('/:')}",
        )
    return Metric(
        name,
        declaration.description or f"`{declaration.source}` from the environment's info.",
        unit=declaration.unit,
        digits=declaration.digits,
        better=declaration.better,
        priority=4,
        estimator="mean over the episodes that report it",
        window=experience.EPISODES,
        no_bounds_reason="the environment defines it",
        in_table=True,
    )
