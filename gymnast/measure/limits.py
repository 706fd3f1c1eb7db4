"""The bounds that an environment and a config put on the metrics of a run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from gymnast.collect.collector import Collector
from gymnast.config.config import Config
from gymnast.config.schedule import highest
from gymnast.metrics.metric import Dimension, Limits
from gymnast.spaces.actions import Action
from gymnast.spaces.observations import BoxObs, Observation, as_box
from gymnast.spaces.policy_facts import facts_for_policy_obs
from gymnast.spaces.spaces import with_declared_ranges


def metric_limits(collector: Collector, cfg: Config) -> Limits:
    """Returns the limits that the spaces, the facts and the config of this task put on metrics; with several
    roles, limits that hold for all."""
    limits = [
        _limits_of_role(obs, action, collector, cfg) for obs, action in collector.spaces.values()
    ]
    return reduce(Limits.joined, limits)


def _limits_of_role(obs: Observation, action: Action, collector: Collector, cfg: Config) -> Limits:
    """Returns the limits for the metrics of a role with these observation and action spaces. Declared ranges
    of observations are not used with `env.tasks`, randomization or noise, which may leave them."""
    facts = facts_for_policy_obs(cfg.facts, cfg.env, obs)
    # Ranges are declared for the unmodified environment: noise or another task may leave them.
    unmodified = not (cfg.env.tasks or cfg.env.adds_randomness)
    obs = with_declared_ranges(obs, facts.observations) if unmodified else obs
    box, (low, high) = as_box(obs), action.bounds
    # Rows of training and evaluation share these bounds, so a limit holds only if it holds for both. Returns
    # are declared for episodes of the environment's own length.
    own_limit = cfg.training_limit().steps is None and cfg.evaluation_limit().steps is None
    return Limits(
        n_actions=action.n_choices,
        entropy=action.max_entropy,
        action_low=low,
        action_high=high,
        obs_low=min(box.low) if box else None,
        obs_high=max(box.high) if box else None,
        reward=facts.reward,
        returns=facts.returns if own_limit else None,
        episode_steps=collector.env.time_limit if own_limit else None,
        epochs=int(highest(getattr(cfg.algo, "epochs", 0))) or None,
        action_labels=_labels(facts.actions, action.n_choices or 0),
        action_dims=_action_dimensions(facts.actions, action),
        obs_dims=_obs_dimensions([part.name for part in facts.observations], obs)
        if isinstance(obs, BoxObs)
        else (),
        outcomes=tuple(collector.env.outcomes),
        win_rate_range=cfg.league.balance.band if len(collector.spaces) > 1 else None,
    )


def _labels(names: Sequence[str], count: int) -> tuple[str, ...]:
    """Returns the declared names if there is one for each of `count` components, else empty names."""
    return tuple(names) if len(names) == count else ("",) * count


def _obs_dimensions(names: Sequence[str], space: BoxObs) -> tuple[Dimension, ...]:
    """Returns the components of a vector with their bounds, and with `names` if there is one for each."""
    return tuple(map(Dimension, _labels(names, space.size), space.low, space.high))


def _action_dimensions(names: Sequence[str], space: Action) -> tuple[Dimension, ...]:
    """Returns the elements of an action with their bounds; none if all are discrete. Elements of an array
    without `names` are known by their index alone."""
    if not space.has_continuous:
        return ()
    default = ["" if e.name.isdigit() else e.name for e in space.elements]
    labels = names if len(names) == len(default) else default
    return tuple(
        Dimension(name, e.low, e.high) for name, e in zip(labels, space.elements, strict=True)
    )
