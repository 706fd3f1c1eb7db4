"""An episode told step by step, as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from gymnast.config.facts import Facts
from gymnast.film.actions import Actions
from gymnast.film.shot import Shot
from gymnast.text.wording import number

MOST = 32
"""Numbers of an observation that are told; larger ones are pictures or the like."""


def seen(step: int, obs: Any, facts: Facts) -> str:
    """What the player sees, by the names of its parts."""
    if isinstance(obs, dict | tuple):
        return f"step {step}\n  {obs}"
    flat = np.ravel(obs)
    if flat.size > MOST:
        return f"step {step}\n  an observation of shape {list(np.shape(obs))}"
    names = [part.name for part in facts.observations]
    units = [f" {part.unit}" if part.unit else "" for part in facts.observations]
    if len(names) != flat.size:
        names, units = [f"obs[{i}]" for i in range(flat.size)], [""] * flat.size
    parts = (f"{n} {x:.4g}{u}" for n, x, u in zip(names, flat.tolist(), units, strict=True))
    return f"step {step}\n  {', '.join(parts)}"


def decided(shot: Shot, actions: Actions) -> str:
    """What is done, and what is expected from it."""
    value = "" if shot.value is None else f", value {number(shot.value)}"
    chance = ""
    if shot.chances is not None:
        share = max(bar.high for bar in actions.bars(shot) if bar.chosen)
        chance = f" ({share:.0%})"
    return f"  {actions.name(shot.action)}{chance}{value}"


def got(reward: float, total: float) -> str:
    return f"  reward {reward:+.6g}, return {total:.6g}"
