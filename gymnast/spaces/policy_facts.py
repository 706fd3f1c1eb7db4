"""Names and ranges of the components of a policy's observation.

The facts of an environment describe its own observation. The policy may also receive a stack of past
observations and the last actions, whose components are named here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gymnast.config.facts import Component, Facts
from gymnast.config.sections.env import EnvConfig
from gymnast.spaces.observations import BoxObs, Observation


def facts_for_policy_obs(facts: Facts, env: EnvConfig, obs: Observation) -> Facts:
    """Returns the facts with one entry per component of `obs`, without hidden ones, and with stacked
    observations and actions.

    The newest observation keeps the declared names. The facts are returned unchanged if nothing is
    declared, if every component has a name already, or if the declared components do not fit:
    `gymnast check` reports that.
    """
    declared = tuple(c for i, c in enumerate(facts.observations) if i not in env.hide)
    if env.hide:
        facts = facts.model_copy(update={"observations": declared})
    if not declared or not isinstance(obs, BoxObs) or obs.size == len(declared):
        return facts
    # The order of the wrappers: the stack of observations, oldest first, then the last actions.
    stacked = tuple(_stacked(declared, env.stack))
    actions = _previous_actions(facts.actions, env.previous_actions, obs, len(stacked))
    components = (*stacked, *actions)
    if len(components) != obs.size:
        return facts
    return facts.model_copy(update={"observations": components})


def _stacked(declared: Sequence[Component], n: int) -> Iterator[Component]:
    """Yields the components of n stacked observations, oldest first."""
    for steps in reversed(range(1, n)):
        for part in declared:
            yield part.model_copy(update={"name": f"{part.name} {_ago(steps)}"})
    yield from declared


def _previous_actions(
    actions: Sequence[str], n: int, obs: BoxObs, first: int
) -> Iterator[Component]:
    """Yields the components of the last n actions, which start at index `first` of the observation.
    `actions`: the labels of the actions, used if there is one per component of an action."""
    count = (obs.size - first) // max(n, 1)  # components of one action
    labels = actions if len(actions) == count else [str(k) for k in range(count)]
    for place in range(n * count):
        steps, label = n - place // count, labels[place % count]
        name = "last action" if steps == 1 else f"action {_ago(steps)}"
        low, high = obs.low[first + place], obs.high[first + place]
        yield Component(name=f"{name}: {label}", low=low, high=high)


def _ago(steps: int) -> str:
    return "1 step ago" if steps == 1 else f"{steps} steps ago"
