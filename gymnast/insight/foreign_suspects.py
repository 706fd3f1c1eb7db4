"""Causes of a failure that the rows of a foreign run show without an alert.

Alerts wait for several bad rows in succession. Rows of other programs are often few and far apart, so that a
single update can ruin a policy between two of them, and the number of rows that training was planned for is
unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean, median

from gymnast.foreign.run import ForeignRun
from gymnast.insight.causes import TOO_LARGE_STEPS, TOO_SMALL_STEPS, LikelyCause
from gymnast.metrics.checks import KEYS
from gymnast.metrics.checks.check import rounded_text
from gymnast.metrics.checks.policy import (
    ENTROPY,
    KL,
    LR,
    NEARLY_UNIFORM,
    STILL_KL,
    USUAL_BONUS,
    larger_steps,
    smaller_steps,
)
from gymnast.metrics.run_history import ANNEALED, RunHistory
from gymnast.text.formatting import number

RUINOUS_KL = 0.5
"""KL of one update, in nats, that is far outside of any trust region."""
MIN_UPDATES = 5
"""Number of updates from which a policy counts as frozen."""
ENTROPY_COEF = "algo.entropy_coef"
LARGE_BONUS = "the entropy bonus is too large"


@dataclass(frozen=True)
class Examination:
    """A way to find a cause."""

    cause: str
    """The cause that it finds."""
    keys: tuple[str, ...]
    """Metrics without which it finds nothing."""
    examine: Callable[[ForeignRun], LikelyCause | None]
    """Returns the finding, with settings of gymnast; None if the rows do not show the cause."""


def foreign_suspects(run: ForeignRun) -> list[LikelyCause]:
    """Returns the findings for a foreign run that failed, with settings of gymnast."""
    found = (one.examine(run) for one in EXAMINATIONS)
    return [finding for finding in found if finding is not None]


def _ruinous_update(run: ForeignRun) -> LikelyCause | None:
    """Returns a finding if one update changed the policy far too much."""
    updates = [row for row in run.rows if KL in row]
    worst = max(updates, key=lambda row: row[KL], default=None)
    if worst is None or not worst[KL] > RUINOUS_KL:
        return None
    at = f"{worst['clock/env_steps']:,.0f} env steps"
    evidence = [f"the update before {at} changed the policy by {number(worst[KL])} nats of KL"]
    later = [row for row in run.rows if row["clock/env_steps"] > worst["clock/env_steps"]]
    after = [row[ENTROPY] for row in later if ENTROPY in row]
    late = after[-max(1, len(after) // 5) :]
    if late and fmean(late) < 0.02:
        evidence.append(f"afterwards the policy kept {fmean(late):.1%} of the maximum entropy")
    history = RunHistory(
        KEYS, {k: v for k, v in run.settings.items() if isinstance(v, int | float)}
    )
    history.add_row(worst)
    remedy = smaller_steps(history)
    advice = "lower algo.lr or algo.epochs, or set algo.target_kl"
    return LikelyCause(TOO_LARGE_STEPS, 89.0, evidence, remedy.changes, advice=advice)


def _uniform_policy(run: ForeignRun) -> LikelyCause | None:
    """Returns a finding if the policy is still nearly uniform at the end, although updates change it. Only a
    run that records its entropy bonus can say whether that is the cause."""
    shares = [row[ENTROPY] for row in run.rows if ENTROPY in row]
    late = shares[-max(1, len(shares) // 5) :]
    moves = [row[KL] for row in run.rows if KL in row]
    if not late or fmean(late) < NEARLY_UNIFORM or not moves or fmean(moves) < STILL_KL:
        return None
    evidence = [
        f"the policy is nearly uniform at the end: {fmean(late):.1%} of the maximum entropy"
    ]
    known = run.settings.get(ENTROPY_COEF)
    if known is None:
        return LikelyCause(
            "the policy stays uniform: the entropy bonus is too large, or the updates find no better action",
            78.0,
            evidence,
            advice=f"check {ENTROPY_COEF}, which the run does not record: above {USUAL_BONUS:g} it can keep"
            " a policy uniform",
        )
    if not isinstance(known, int | float) or known <= USUAL_BONUS:
        return None
    changes: dict[str, object] = {ENTROPY_COEF: USUAL_BONUS}
    evidence.append(f"{ENTROPY_COEF} is {known}")
    return LikelyCause(LARGE_BONUS, 90.0, evidence, changes)


def _frozen_policy(run: ForeignRun) -> LikelyCause | None:
    """Returns a finding if nearly all updates left the policy as it was."""
    # those after the learning rate was annealed change nothing in healthy runs, too
    peak = max((row[LR] for row in run.rows if LR in row), default=0.0)
    changes = [row[KL] for row in run.rows if KL in row and row.get(LR, peak) > ANNEALED * peak]
    if len(changes) < MIN_UPDATES or median(changes) > STILL_KL:
        return None
    # a policy that has become deterministic has no KL either, but for another reason
    if any(row.get(ENTROPY, 1.0) < 0.02 for row in run.rows):
        return None
    usual = median(changes)
    evidence = [f"the median update changed the policy by only {rounded_text(usual)} nats of KL"]
    remedy = larger_steps(_history(run, usual))
    return LikelyCause(TOO_SMALL_STEPS, 88.0, evidence, remedy.changes, advice="raise algo.lr")


def _history(run: ForeignRun, kl: float) -> RunHistory:
    """Returns a history with one update of this KL, on which remedies are based."""
    known = {key: value for key, value in run.settings.items() if isinstance(value, int | float)}
    history = RunHistory(KEYS, known)
    history.add_row({KL: kl})
    return history


EXAMINATIONS = (
    Examination(TOO_LARGE_STEPS, (KL,), _ruinous_update),
    Examination(TOO_SMALL_STEPS, (KL,), _frozen_policy),
    Examination(LARGE_BONUS, (ENTROPY, KL), _uniform_policy),
)
"""The ways to find a cause in a run that failed."""
