"""One update per role, in turn with collecting or beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from gymnast.measure.rollout import effect_row, rollout_row, scoped
from gymnast.rollout import Rollout
from gymnast.seeds import stream
from gymnast.training.lifecycle.stop import updates_left
from gymnast.training.session import Session
from gymnast.training.transaction import Incident

FIRST = 64
"""Rollouts in which it is looked closely: what is wrong with a run mostly shows early."""
NETWORK_EVERY, EFFECT_EVERY = (1, 4), (4, 16)
"""Rollouts from one look at the units of the network, and at what actions do, to the next: in the first
ones, and after them. These cost as much as all other numbers of a row."""


def is_due(number: int, every: tuple[int, int]) -> bool:
    return number % every[number >= FIRST] == 0


@dataclass(frozen=True)
class Update:
    """One that stood: what it learned from."""

    collected: Rollout
    """With the rewards of the environment."""
    given: Rollout
    """The same with shaping terms, times `normalize.reward_scale`."""
    values: Any
    """The hyperparameters in use."""


@dataclass
class UpdatedRoles:
    row: dict[str, float] = field(default_factory=dict[str, float])
    made: dict[str, Update] = field(default_factory=dict[str, Update])
    """Role -> its update; none of a role that did not learn, or whose batch was dropped."""
    updates: int = 0
    """Gradient steps."""
    rolled_back: list[tuple[str, Incident, Rollout]] = field(
        default_factory=list[tuple[str, Incident, Rollout]]
    )
    """Role, what went wrong, and with which rollout."""


def update_roles(
    session: Session, rollouts: Mapping[str, Rollout], of_role: Mapping[str, Any]
) -> UpdatedRoles:
    """From the rollouts of the roles that have one. `of_role`: the algorithm's values for each."""
    done, number, league = UpdatedRoles(), session.clock.rollouts, session.league
    for role, rollout in rollouts.items():
        if not rollout.valid.any():
            continue  # all broke, or none is whole yet
        learner, values = session.learners[role], of_role[role]
        weights = session.settings.control_of(role).weights(session.clock)
        if league is not None:
            weights = {name: w * league.reward_factor(role) for name, w in weights.items()}
        order = partial(stream, session.cfg.seed, "batch", role, number)
        # before the transaction: what was reached was reached, even if nothing is learned from it
        shaped, added = learner.shaping(rollout, weights, values.gamma)
        shaped = learner.scaled(shaped)
        if is_due(number, EFFECT_EVERY):
            added |= effect_row(rollout, learner.policy)
        metrics: dict[str, float] = {}
        left = updates_left(session.clock, done.updates)
        if left != 0 and (league is None or league.learns(role, session.clock)):
            metrics, undone = session.transactions[role].update(
                learner,
                shaped,
                values,
                order,
                network_stats=is_due(number, NETWORK_EVERY),
                max_gradient_steps=left,
            )
            done.rolled_back += [(role, incident, shaped) for incident in undone]
            done.updates += int(metrics.pop("optim/steps"))
            if not any(incident.dropped for incident in undone):
                done.made[role] = Update(rollout, shaped, values)
        else:
            learner.observe_without_update(shaped, values.gamma)
        row = rollout_row(rollout, shaped, learner.policy)
        row |= added
        row |= metrics
        done.row |= scoped(role, row)
    return done


class LearnerThread:
    """A thread to learn in, and thus another core: engines let go of the interpreter while they
    compute."""

    def __init__(self) -> None:
        self._thread: ThreadPoolExecutor | None = None

    def submit(self, work: Callable[[], UpdatedRoles]) -> Future[UpdatedRoles]:
        self._thread = self._thread or ThreadPoolExecutor(1, "learning")
        return self._thread.submit(work)

    def close(self) -> None:
        """When what was begun is done."""
        if self._thread is not None:
            self._thread.shutdown()
