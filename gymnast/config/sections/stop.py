"""Stopping criteria: budgets, the solved threshold, target returns and a plateau."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import Field

from gymnast.config.applies import WITH_EVALUATIONS, Applies
from gymnast.config.numbers import OFF, Count, Maybe, Number, Positive, Switch
from gymnast.config.section import Section

BUDGETS = {
    "env_steps": "env_steps",
    "vec_steps": "vec_steps",
    "updates": "updates",
    "rollouts": "rollouts",
    "minutes": "seconds",
}
"""Field -> the clock it limits. The first budget that is set is the main one."""


WITH_A_THRESHOLD = Applies(
    "where a threshold is declared (facts.threshold)",
    lambda on: on.config.facts.threshold is not None,
)


class StopConfig(Section):
    LIVE = (*BUDGETS, "solved", "train_return", "eval_return", "plateau")
    env_steps: Maybe[Count] = OFF
    """Budget in env steps, summed over all env copies."""
    vec_steps: Maybe[Count] = OFF
    """Budget in vector steps (one step of all env copies)."""
    updates: Maybe[Count] = OFF
    """Budget in gradient steps. The last update is cut short if it would exceed the budget."""
    rollouts: Maybe[Count] = OFF
    """Budget in rollouts."""
    minutes: Maybe[Annotated[Positive, Field(le=1e9)]] = OFF
    """Budget in minutes of wall time."""
    solved: Annotated[Switch, WITH_A_THRESHOLD] = True
    """Stop once an evaluation reaches the threshold (facts.threshold)."""
    train_return: Maybe[Number] = OFF
    """Stop once the training return reaches this."""
    eval_return: Annotated[Maybe[Number], WITH_EVALUATIONS] = OFF
    """Stop once the evaluation return reaches this."""
    plateau: Annotated[Maybe[Count], WITH_EVALUATIONS] = OFF
    """Stop after this many evaluations without improvement."""

    def limits(self) -> dict[str, float]:
        """Returns clock name -> limit, the main budget first; minutes become seconds."""
        budgets = {field: getattr(self, field) for field in BUDGETS}
        return {
            BUDGETS[field]: amount * 60 if field == "minutes" else amount
            for field, amount in budgets.items()
            if amount is not None
        }


def limits_after(
    changes: Iterable[Mapping[str, object]], limits: Mapping[str, float]
) -> dict[str, float]:
    """Returns clock name -> limit after live changes. `changes`: in their order, each with a `key` and its
    new value `to`; `limits`: the limits before them."""
    amounts = {change["key"]: change["to"] for change in changes}
    after: dict[str, float] = {}
    for field, clock in BUDGETS.items():
        amount = amounts.get(f"stop.{field}")
        if isinstance(amount, int | float):
            after[clock] = amount * 60 if field == "minutes" else amount
        elif amount is None and clock in limits:  # not changed; `limits` are already in seconds
            after[clock] = limits[clock]
    return after
