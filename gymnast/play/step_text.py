"""The text of `--step`: observation, action and reward of each step."""

from __future__ import annotations

import numpy as np

from gymnast.config.facts import Facts
from gymnast.film.actions import ActionLabels
from gymnast.film.episode_frame import EpisodeFrame
from gymnast.text.formatting import number

MAX_NUMBERS = 32
"""Maximum size of an observation that is printed; larger ones are images or the like."""


def observation_text(step: int, obs: object, facts: Facts) -> str:
    """Returns the observation as text, with the names and units of its parts."""
    if isinstance(obs, dict | tuple):
        return f"step {step}\n  {obs}"
    values = np.asarray(obs)
    flat = values.ravel()
    if flat.size > MAX_NUMBERS:
        return f"step {step}\n  an observation of shape {list(values.shape)}"
    names = [part.name for part in facts.observations]
    units = [f" {part.unit}" if part.unit else "" for part in facts.observations]
    if len(names) != flat.size:  # no facts, or a wrapper changed the observation
        names, units = [f"obs[{i}]" for i in range(flat.size)], [""] * flat.size
    parts = (f"{n} {x:.4g}{u}" for n, x, u in zip(names, flat.tolist(), units, strict=True))
    return f"step {step}\n  {', '.join(parts)}"


def action_text(frame: EpisodeFrame, actions: ActionLabels) -> str:
    """Returns the action with its probability and the value estimate as text."""
    value = "" if frame.value is None else f", value {number(frame.value)}"
    share = actions.probability(frame)
    probability = "" if share is None else f" ({share:.0%})"
    return f"  {actions.action_text(frame.action)}{probability}{value}"


def reward_text(reward: float, total: float) -> str:
    return f"  reward {reward:+.6g}, return {total:.6g}"
