"""The loss of a gradient step, described as data, so that every engine minimizes the same loss."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Objective:
    """policy loss + value_coef * value loss - entropy_coef * entropy + kl_coef * KL(old || new).

    Each term is a mean over the minibatch; old is the policy that collected it.
    """

    clip: float | None
    """Clip range of PPO's surrogate objective; None for the plain policy gradient, -logprob * advantage."""
    value_coef: float = 0.0
    entropy_coef: float = 0.0
    kl_coef: float = 0.0
    value_clip: float | None = None
    """Clip range of the value loss around the collected value; None for no clipping."""
    huber: bool = False
    """True for the Huber loss, which is linear beyond an error of 1, instead of the squared error."""
    critic: bool = True
    """True if the value loss is part of the objective."""
    standardize: bool = False
    """True if the advantages of each minibatch are scaled to mean 0 and standard deviation 1."""

    @property
    def loss_names(self) -> tuple[str, ...]:
        """Names of the columns of LOSSES that have a meaning for this objective."""
        # The others would be constant zeros, which charts and tables should not show.
        value = ("value/loss",) if self.critic else ()
        surrogate = ("policy/kl_penalty", "value/clip_fraction") if self.clip is not None else ()
        return ("loss/total", "policy/loss", *value, *surrogate, "loss/entropy", "optim/grad_norm")


LOSSES = (
    *("loss/total", "policy/loss", "value/loss"),
    *("policy/kl_penalty", "value/clip_fraction", "loss/entropy", "optim/grad_norm"),
)
"""Columns of `UpdateResult.losses`, in the order of `StepReport` in native/network.hpp.
`optim/grad_norm` is the norm before clipping."""
