"""What shaping adds to the reward that is learned from. Returns and scores are without it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gymnast.metrics.metric import Metric

if TYPE_CHECKING:
    from gymnast.config.sections.shaping import TermConfig

_UNBOUNDED = "weights and terms are of any size"

METRICS = (
    Metric(
        "shaping/total",
        "Mean over steps of what all terms together add to the reward that is learned from.",
        priority=5,
        no_bounds_reason=_UNBOUNDED,
        in_table=True,
    ),
)


def of_terms(terms: Mapping[str, TermConfig]) -> list[Metric]:
    """A metric for each term of a config, and one for its weight."""
    from gymnast.config.sections.shaping import known_term

    found: list[Metric] = []
    for name, cfg in terms.items():
        known = known_term(name, cfg)
        unit = cfg.unit or known.unit
        found += [
            Metric(
                f"shaping/{name}",
                f"{known.description} In reward, its weight included.",
                priority=6,
                estimator=f"mean over steps of weight x term, in units of one {unit or 'unit'}",
                no_bounds_reason=_UNBOUNDED,
                in_table=True,
            ),
            Metric(
                f"hyper/shaping.{name}",
                f"Current weight of the term {name}: reward for one {unit or 'of its units'}.",
                digits=4,
                priority=8,
                window="this update",
                no_bounds_reason="it is what the config, its schedule or a live change says",
            ),
        ]
    return found


def shipped() -> list[Metric]:
    """Of every term that may be asked for by name, under that name."""
    from gymnast.config.sections.shaping import TERMS, TermConfig

    return of_terms({name: TermConfig() for name in TERMS})
