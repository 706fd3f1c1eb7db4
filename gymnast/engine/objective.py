"""What a gradient step minimises, as data: every engine computes the same from it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Objective:
    """policy + value_coef * value - entropy_coef * entropy + kl_coef * KL(acting || now), each a mean
    over the minibatch."""

    clip: float | None
    """PPO's surrogate, held within this of ratio 1; None: the plain policy gradient."""
    value_coef: float = 0.0
    entropy_coef: float = 0.0
    kl_coef: float = 0.0
    value_clip: float | None = None
    """How far a value may move from the one collected and still be rewarded."""
    huber: bool = False
    """The critic's error grows linearly beyond 1 instead of as a square."""
    critic: bool = True
    """It takes part."""
    standardize: bool = False
    """Advantages of each minibatch are brought to mean 0 and deviation 1."""

    @property
    def loss_names(self) -> tuple[str, ...]:
        """What is told of each step, by the names of metrics: columns of LOSSES that mean something."""
        value = ("value/loss",) if self.critic else ()
        surrogate = ("policy/kl_penalty", "value/clip_fraction") if self.clip is not None else ()
        return ("loss/total", "policy/loss", *value, *surrogate, "loss/entropy", "optim/grad_norm")


LOSSES = (
    *("loss/total", "policy/loss", "value/loss"),
    *("policy/kl_penalty", "value/clip_fraction", "loss/entropy", "optim/grad_norm"),
)
"""Columns of the table that an engine fills, a line per gradient step."""
