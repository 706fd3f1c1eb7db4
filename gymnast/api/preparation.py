"""The settings of a training and its plan, before it starts."""

from __future__ import annotations

from collections.abc import Mapping

from gymnast.config.space_settings import SpaceSettings
from gymnast.insight.settings import look_up_spaces
from gymnast.tasks import Task, start
from gymnast.training.lifecycle.summary import Preflight


def spaces(
    target: str,
    *,
    overrides: Mapping[str, object] | None = None,
    algo: str | None = None,
    deadline: float | None = None,
) -> Task[SpaceSettings]:
    """Creates an environment (`ENV[:VARIANT]`) and returns the settings that follow from its spaces, on which
    presets and overrides are layered. `overrides`: dotted config key -> value; `algo`: algorithm to use
    instead of the one of the variant."""
    return look_up_spaces(target, overrides or {}, algo=algo, deadline=deadline)


def prepare(
    target: str,
    *,
    overrides: Mapping[str, object] | None = None,
    algo: str | None = None,
    deadline: float | None = None,
) -> Task[Preflight]:
    """Opens the environments as training would and returns its plan: spaces, network, engine, budget,
    settings that are no defaults, and warnings. Nothing is written. The arguments are those of `spaces`."""
    return start(
        "gymnast.training.lifecycle.task:prepare",
        {"target": target, "overrides": overrides or {}, "algo": algo},
        Preflight,
        title=f"prepare {target}",
        deadline=deadline,
    )
