"""Metrics of the shaping terms that are added to the training reward. Returns and scores exclude them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gymnast.metrics.metric import Metric

if TYPE_CHECKING:
    from gymnast.config.sections.shaping import TermConfig

_UNBOUNDED = "shaping terms and their weights may have any size"

METRICS = (
    Metric(
        "shaping/total",
        "Sum of all shaping terms that are added to the training reward; mean over steps.",
        priority=5,
        no_bounds_reason=_UNBOUNDED,
        in_table=True,
    ),
)


def term_metrics(terms: Mapping[str, TermConfig]) -> list[Metric]:
    """Returns two metrics for each shaping term of a config: its mean reward and its weight. `terms`: name ->
    config."""
    # imported here: it loads pydantic, which commands that only read a run do not need
    from gymnast.config.sections.shaping import term_spec

    metrics: list[Metric] = []
    for name, cfg in terms.items():
        spec = term_spec(name, cfg)
        unit = cfg.unit or spec.unit
        metrics += [
            Metric(
                f"shaping/{name}",
                f"{spec.description} In units of reward, including the weight.",
                priority=6,
                estimator=f"mean over steps of weight x term, in units of one {unit or 'unit'}",
                no_bounds_reason=_UNBOUNDED,
                in_table=True,
            ),
            Metric(
                f"hyper/shaping.{name}",
                f"Current weight of the shaping term {name}: reward per {unit or 'unit'}.",
                digits=4,
                priority=8,
                window="this update",
                no_bounds_reason="set by the config, its schedule or a live change",
            ),
        ]
    return metrics


def builtin_term_metrics() -> list[Metric]:
    """Returns the metrics of every built-in shaping term, for the docs."""
    from gymnast.config.sections.shaping import TERMS, TermConfig

    return term_metrics({name: TermConfig() for name in TERMS})
