"""Blunders: the steps of an episode at which another action would have led to a higher return.

At each tested step the played action and its alternatives are forced, one line each, and the policy continues
to the end. The lost return is the mean return after the best alternative minus that after the played action.
Both continue with the policy, so that a step is not blamed for what was played later.

If the environment or the policy is random, an action is judged by several continuations, which have other
random numbers than the episode, but the same for each action of a step (common random numbers): an unlucky
episode is not a blunder. A mark then needs a significant loss, measured with random numbers that were not
used to choose the step.
"""

from __future__ import annotations

import time
from contextlib import closing

import numpy as np

from gymnast.inspector.action_forms import label, to_value
from gymnast.inspector.blunder_search import BlunderSearch, Trial
from gymnast.inspector.branch_record import Blunder, BlunderReport, Level
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.lines import LinePlayer, require_branchable
from gymnast.inspector.outcome_scale import evaluation_returns, outcome_scale, scale_of_lines
from gymnast.policy.policy import Policy
from gymnast.progress import ProgressCallback

Array = np.ndarray
THRESHOLDS: dict[Level, float] = {"inaccuracy": 0.05, "mistake": 0.1, "blunder": 0.15}
"""Lowest lost share of the outcome scale of each level: those of Lichess, on a scale from 0 (lost) to 1."""
BUDGET = 600_000
"""Env steps of a search, by default."""
COPIES = 16
"""Number of lines that are played at once."""
MAX_MARKS = 20
NEARBY = 5
"""Number of steps within which actions of the policy itself have one mark."""
_SIGNIFICANT = 1.645
"""Standard errors that a loss must have: the 95 % quantile of the normal distribution."""


def find_blunders(
    episode: OpenEpisode,
    *,
    budget: int = BUDGET,
    horizon: int | None = None,
    sampled: bool | None = None,
    progress: ProgressCallback = lambda *_: None,
) -> BlunderReport:
    """Returns the blunders of an episode. `budget`: env steps of the search; `horizon`: maximum length of a
    line after its branch; `sampled`: continue with sampled actions, by default as in the run's evaluations.
    Raises UsageError if the episode cannot be branched."""
    started = time.perf_counter()
    policy = require_branchable(episode)
    by_sampling = not episode.config.eval.deterministic if sampled is None else sampled
    scale = outcome_scale(episode.config.facts, evaluation_returns(episode.run))
    least = 0.0 if scale is None else min(THRESHOLDS.values()) * scale.width
    with closing(LinePlayer(episode, COPIES, sampled=by_sampling)) as player:
        search = BlunderSearch(episode, policy, player, budget, horizon, least, progress)
        trials = search.run()
    scale = scale or scale_of_lines(_line_returns(episode, trials))
    marks: list[Blunder] = []
    if scale is not None:
        found = [_mark(episode, policy, trial, scale.width) for trial in trials]
        marks = sorted((mark for mark in found if mark), key=lambda mark: -mark.lost)
        marks = distinct(marks, search.deviates)
    return BlunderReport(
        steps=len(episode.trace),
        steps_tested=len(search.tested),
        scale=0.0 if scale is None else scale.width,
        scale_doc="All lines have the same return." if scale is None else scale.doc,
        random=search.is_random,
        lines=search.lines,
        env_steps=player.env_steps,
        seconds=time.perf_counter() - started,
        thresholds=THRESHOLDS,
        marks=marks[:MAX_MARKS],
    )


def distinct(marks: list[Blunder], deviates: Array) -> list[Blunder]:
    """Returns the marks, worst first, without those close to a worse one of the same kind. If the policy
    itself leads into trouble, several steps in a row offer a way out, of which the best is marked. Actions
    that are not the policy's own (`deviates`, [T]) are mistakes by themselves and keep their marks."""
    kept: list[Blunder] = []
    own: list[int] = []
    for mark in marks:
        if not deviates[mark.step]:
            if any(abs(mark.step - other) <= NEARBY for other in own):
                continue
            own.append(mark.step)
        kept.append(mark)
    return kept


def _line_returns(episode: OpenEpisode, trials: list[Trial]) -> list[float]:
    """Returns the raw returns of the episode and of all lines, from the first step on."""
    before = np.concatenate([[0.0], np.cumsum(episode.trace.reward)])
    lines = [float(before[t.step]) + r for t in trials for returns in t.returns for r in returns]
    return [episode.trace.raw_return, *lines]


def _mark(episode: OpenEpisode, policy: Policy, trial: Trial, width: float) -> Blunder | None:
    """Returns the mark of a step; None if too little was lost, or if it may have been luck."""
    share = trial.lost / width
    levels: list[Level] = [level for level, threshold in THRESHOLDS.items() if share >= threshold]
    if not levels or trial.lost <= _SIGNIFICANT * trial.error:
        return None
    space, facts = policy.action_space, episode.config.facts
    played, better = trial.actions[0], trial.actions[trial.best]
    return Blunder(
        step=trial.step,
        played=to_value(space, played),
        played_label=label(space, played, facts),
        better=to_value(space, better),
        better_label=label(space, better, facts),
        lost=share,
        lost_raw=trial.lost,
        error_raw=trial.error,
        continuations=len(trial.returns[0]),
        level=levels[-1],
    )
