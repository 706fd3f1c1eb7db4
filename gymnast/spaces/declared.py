"""What an environment declares of its observations, said of all that a policy sees: of each one in a
stack, and of the last actions beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gymnast.config.facts import Component, Facts
from gymnast.config.sections.env import EnvConfig
from gymnast.spaces.observations import BoxObs, Observation


def facts_for_policy_obs(facts: Facts, env: EnvConfig, obs: Observation) -> Facts:
    """With a name for every part of `obs`, the newest by the names that the environment declares.

    Left as they are where nothing is declared, each part has a name already, or what is declared does
    not fit: that is for a check to tell.
    """
    own = facts.observations
    if not own or not isinstance(obs, BoxObs) or obs.size == len(own):
        return facts
    seen = tuple(_stacked(own, env.stack))
    parts = (*seen, *_taken(facts.actions, env.previous_actions, obs, len(seen)))
    return facts.model_copy(update={"observations": parts}) if len(parts) == obs.size else facts


def _stacked(own: Sequence[Component], n: int) -> Iterator[Component]:
    for steps in reversed(range(1, n)):
        yield from (part.model_copy(update={"name": f"{part.name} {_ago(steps)}"}) for part in own)
    yield from own


def _taken(actions: Sequence[str], n: int, obs: BoxObs, first: int) -> Iterator[Component]:
    """Of the last n actions, from the part `first` on."""
    count = (obs.size - first) // max(n, 1)
    labels = actions if len(actions) == count else [str(k) for k in range(count)]
    for place in range(n * count):
        steps, label = n - place // count, labels[place % count]
        name = "last action" if steps == 1 else f"action {_ago(steps)}"
        low, high = obs.low[first + place], obs.high[first + place]
        yield Component(name=f"{name}: {label}", low=low, high=high)


def _ago(steps: int) -> str:
    return "1 step ago" if steps == 1 else f"{steps} steps ago"
