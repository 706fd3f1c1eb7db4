"""The end of a run: the final fields of run.json, and the summary."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from gymnast.clock import Clock, budget_in_env_steps
from gymnast.config.config import Config
from gymnast.evaluation.evaluate import Evaluation
from gymnast.evaluation.jobs import EvaluationResult
from gymnast.metrics.alerts import Alerts
from gymnast.metrics.recorder import Summary
from gymnast.metrics.score import RunScore, Score, StartScore
from gymnast.runs.curve import run_learning
from gymnast.runs.doubts import doubt_texts, find_doubts, first_return, has_interval
from gymnast.runs.info import Doubt
from gymnast.runs.run import Run
from gymnast.training.lifecycle.stop import StopReason, is_solved

if TYPE_CHECKING:
    from gymnast.metrics.store import MetricStore


@dataclass(frozen=True)
class Ending:
    reason: StopReason
    interrupted: bool
    """True if a signal was received, even if only after the run had another reason to end."""
    score: Score | None
    confirmed: bool
    """True if the score was measured on held-out seeds, at the end."""
    solved: bool | None
    """None for an environment without a threshold; a doubtful score, and one over too few episodes, does not
    count."""
    best_version: int | None
    """Env steps of the best version."""
    doubts: list[Doubt]
    """Reasons why the score may not show that the task was learned."""

    @classmethod
    def decide(
        cls,
        reason: StopReason,
        confirmed: EvaluationResult | None,
        best: Score | None,
        version: int,
        threshold: float | None,
        signal: str | None,
        doubts: list[Doubt],
    ) -> Ending:
        """Returns how a run ends. `confirmed`: the result of `version` (env steps) on held-out seeds, if it
        was measured; `best`: the best score during training; `signal`: the signal that was received;
        `doubts`: about the confirmed score."""
        score: Score | None = {**confirmed.score(), "kind": "confirmed"} if confirmed else best
        # The best of many evaluations is a lucky one, and so are a few episodes: only a confirmed score over
        # enough episodes can count as solved (docs/decisions/0004).
        can_solve = (
            confirmed is not None
            and confirmed.shortfall.is_unbiased
            and not doubts
            and not RunScore.from_info(confirmed.score()).is_small
        )
        return cls(
            reason=reason,
            interrupted=signal is not None,
            score=score,
            confirmed=confirmed is not None,
            solved=None if threshold is None else can_solve and is_solved(score, threshold),
            best_version=version if confirmed or best else None,
            doubts=doubts,
        )

    @property
    def stopped(self) -> bool:
        """True if the run stopped before it was done, so that it can be resumed."""
        return self.interrupted or not self.reason.is_final


def doubts_about(
    confirmed: EvaluationResult | None,
    start: StartScore | None,
    cfg: Config,
    store: MetricStore,
    *,
    trained_before: bool,
) -> list[Doubt]:
    """Returns the doubts about the final score of a run. `start`: the score of the version that it started
    with; `store`: its rows; `trained_before`: this version was trained in another run. None about matches:
    without scripted opponents, their scores say nothing about progress."""
    if not isinstance(confirmed, Evaluation):
        return []
    score, facts, first = confirmed.score(), cfg.facts, None
    # Training episodes with other tasks or another time limit cannot be compared with evaluations.
    comparable = not cfg.env.curriculum and cfg.training_limit() == cfg.evaluation_limit()
    if comparable and not has_interval(start) and not trained_before:
        first = first_return([*store.rows()])
    training, ended, evaluated, lowest, highest = store.read(
        (
            "rollout/truncated_share",
            "rollout/episodes",
            "eval:rollout/truncated_share",
            "eval:episode/return_min",
            "eval:episode/return_max",
        )
    ).values()
    lowest, highest = [*confirmed.returns, *lowest], [*confirmed.returns, *highest]
    shares = [*training[ended > 0], *evaluated]
    if start is not None:
        lowest.append(start.get("return_min", math.nan))
        highest.append(start.get("return_max", math.nan))
        shares.append(start.get("truncated_share", 1.0))
    _, highest_possible = cfg.possible_returns() or (-math.inf, math.inf)
    best_possible = highest_possible if facts.optimum is None else facts.optimum
    return find_doubts(
        score,
        start,
        first,
        facts.threshold,
        trained_before=trained_before,
        constant_returns=bool(np.nanmin(lowest) == np.nanmax(highest)),
        all_truncated=all(confirmed.truncated) and any(share < 1 for share in shares),
        # A return above the possible range shows that the facts are not about this environment.
        lasting_is_goal=facts.termination == "failure"
        or best_possible <= score["mean"] <= highest_possible,
    )


def finish_run(
    run: Run,
    clock: Clock,
    ending: Ending,
    start: StartScore | None,
    alerts: Alerts,
    progress: Mapping[str, object],
) -> Summary:
    """Writes the final state into run.json and returns the summary. `start`: the score of the version that
    the run started with; `progress`: the fields of `RunWriter.progress`."""
    # the learning curve of a stopped run is not extrapolated to the rest of its budget
    budget = None if ending.stopped else budget_in_env_steps(clock.counters(), clock.limits)
    learning = run_learning(run, run.info["threshold"], budget)
    run.update(
        status="stopped" if ending.stopped else "finished",
        reason=ending.reason.text,
        reason_kind=ending.reason.kind,
        solved=ending.solved,
        score=ending.score,
        confirmed=ending.confirmed,
        start_score=start,
        doubts=ending.doubts,
        **progress,
        checkpoints={"best": ending.best_version, "latest": clock.env_steps},
        alerts=[asdict(alert) for alert in alerts.all()],
        learning=None if learning is None else asdict(learning),
    )
    info = run.info
    return Summary(
        id=run.id,
        name=info["name"],
        preset=info["preset"],
        path=str(run.path),
        solved=ending.solved,
        confirmed=ending.confirmed,
        reason=ending.reason.text,
        score=ending.score,
        threshold=info["threshold"],
        env_steps=clock.env_steps,
        seconds=clock.seconds,
        best=ending.best_version,
        doubts=doubt_texts(info),
        interrupted=ending.interrupted,
        stopped=ending.stopped,
    )
