"""One policy update per role, after collecting a rollout or, with `overlap`, in a thread meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from gymnast.config.section import Hyperparameters
from gymnast.measure.rollout import add_role_scope, effect_row, rollout_row
from gymnast.rollout import Rollout
from gymnast.seeds import stream
from gymnast.step_table import StepTargets
from gymnast.training.learner import Snapshot
from gymnast.training.lifecycle.stop import updates_left
from gymnast.training.session import Session
from gymnast.training.transaction import Incident

Array = np.ndarray
EARLY_ROLLOUTS = 64
"""Rollouts with frequent diagnostics: most problems of a run show early."""
NETWORK_EVERY, EFFECT_EVERY = (1, 4), (4, 16)
"""Period, in rollouts, of the network statistics and of the effect of actions: among the early rollouts,
and after them. These cost as much as all other metrics of a row together."""


def is_due(number: int, every: tuple[int, int]) -> bool:
    """True if rollout `number` gets the diagnostics whose (early, later) periods are `every`."""
    return number % every[number >= EARLY_ROLLOUTS] == 0


@dataclass(frozen=True)
class AcceptedUpdate:
    """An update that was accepted: what the step table shows of it."""

    rollout: Rollout
    """The rollout with the rewards of the environment."""
    targets: StepTargets
    """The rewards, values and advantages that the update used for each step of the rollout."""


@dataclass(frozen=True)
class BeforeUpdate:
    """Everything that an update changes, as it was before."""

    learner: Snapshot
    shaping: dict[str, Array]
    recent_kl: tuple[float, ...]


@dataclass
class UpdatedRoles:
    """The results of updating every role once."""

    row: dict[str, float] = field(default_factory=dict[str, float])
    updates: dict[str, AcceptedUpdate] = field(default_factory=dict[str, AcceptedUpdate])
    """Role -> its update. Roles that did not learn, or whose batch was dropped, are missing."""
    gradient_steps: int = 0
    """Number of optimizer steps of all roles together."""
    rolled_back: list[tuple[str, Incident, Rollout]] = field(
        default_factory=list[tuple[str, Incident, Rollout]]
    )
    """Role, reason and rollout of every attempt that was rolled back."""
    before: dict[str, BeforeUpdate] = field(default_factory=dict[str, BeforeUpdate])
    """Role -> its state before the update. Roles without a rollout are missing."""

    def undo(self, session: Session) -> None:
        """Restores every role as it was before the update, which must be the last one."""
        for role, before in self.before.items():
            learner, recent_kl = session.learners[role], session.transactions[role].recent_kl
            learner.roll_back(before.learner)
            learner.shaping.load(before.shaping)
            recent_kl.clear()
            recent_kl.extend(before.recent_kl)


def update_roles(
    session: Session,
    rollouts: Mapping[str, Rollout],
    hparams_by_role: Mapping[str, Hyperparameters],
) -> UpdatedRoles:
    """Updates every role that has a rollout, with its hyperparameters in `hparams_by_role`, and returns the
    results."""
    result, number, league = UpdatedRoles(), session.clock.rollouts, session.league
    for role, collected in rollouts.items():
        if not collected.valid.any():
            continue  # every episode broke, or no episode is complete yet
        learner, hparams = session.learners[role], hparams_by_role[role]
        # Once, before the transaction: a second attempt starts from the same parameters.
        rollout, correction = learner.correct_staleness(collected)
        weights = session.settings.schedules_for(role).weights(session.clock)
        if league is not None:
            weights = {name: w * league.reward_factor(role) for name, w in weights.items()}
        # the stream depends on the rollout alone, so a retried or resumed update draws the same
        minibatch_stream = partial(stream, session.cfg.seed, "batch", role, number)
        recent_kl = tuple(session.transactions[role].recent_kl)
        shaping = {name: array.copy() for name, array in learner.shaping.state().items()}
        # Outside of the transaction: shaping terms remember what the episodes reached (such as the
        # farthest position), also if the update is rolled back.
        shaped, added = learner.shaping(rollout, weights, hparams.gamma)
        shaped = learner.scale_rewards(shaped)
        if is_due(number, EFFECT_EVERY):
            added |= effect_row(rollout, learner.policy)
        metrics: dict[str, float] = {}
        left = updates_left(session.clock, result.gradient_steps)
        if left != 0 and (league is None or league.learns(role, session.clock)):
            update = session.transactions[role].update(
                learner,
                shaped,
                hparams,
                minibatch_stream,
                network_stats=is_due(number, NETWORK_EVERY),
                max_gradient_steps=left,
            )
            metrics, before = update.metrics, update.before
            result.rolled_back += [(role, incident, shaped) for incident in update.incidents]
            result.gradient_steps += int(metrics.pop("optim/steps"))
            if update.targets is not None:
                targets = replace(update.targets, shaping=learner.shaping.added)
                result.updates[role] = AcceptedUpdate(rollout, targets)
        else:  # no updates left in the budget, or it is not this role's turn to learn
            before = learner.snapshot()
            learner.observe_without_update(shaped, hparams.gamma)
        result.before[role] = BeforeUpdate(before, shaping, recent_kl)
        row = rollout_row(collected, shaped, learner.policy)
        row |= added
        row |= correction
        row |= metrics
        result.row |= add_role_scope(role, row)
    return result


class LearnerThread:
    """A thread for updates, which gives them a core of their own: engines release the interpreter
    lock while they compute."""

    def __init__(self) -> None:
        self._thread: ThreadPoolExecutor | None = None

    def submit(self, work: Callable[[], UpdatedRoles]) -> Future[UpdatedRoles]:
        """Starts `work` in the thread, which is created at the first call."""
        self._thread = self._thread or ThreadPoolExecutor(1, "learning")
        return self._thread.submit(work)

    def close(self) -> None:
        """Waits for the submitted work and ends the thread."""
        if self._thread is not None:
            self._thread.shutdown()
