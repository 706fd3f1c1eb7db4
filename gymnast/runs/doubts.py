"""Doubts about the score of a run: reasons why it may not show that the task was learned.

They are found when a run ends and are stored in run.json by name. A run with a doubt does not count as
solved, whatever its score.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gymnast.runs.info import BRANCH, WEIGHTS, Doubt, RunInfo, branch_point
from gymnast.text import formatting

if TYPE_CHECKING:
    from gymnast.metrics.score import Score, StartScore

Z = 1.96
"""Half the width of a 95 % confidence interval, in standard errors."""
UNTRAINED_ROLLOUTS, UNTRAINED_SHARE = 5, 0.1
"""If the first episodes ended after this many rollouts, and after this share of all rows, the policy was no
longer untrained."""


def is_better(score: Score, other: Score) -> bool | None:
    """True if a score is significantly higher (95 %) than another one; None if one of them has no interval,
    because it is the return of a single episode."""
    # Standard error of the difference of two independent means: sqrt(se1^2 + se2^2).
    margin = math.hypot(_half_width(score), _half_width(other))
    return score["mean"] > other["mean"] + margin if math.isfinite(margin) else None


def _half_width(score: Score) -> float:
    """Returns half the width of the interval. One of its ends may be that of the possible range."""
    return max(score["mean"] - score["low"], score["high"] - score["mean"])


def has_interval(score: Score | None) -> bool:
    """True if a score has a confidence interval: that of a single episode has none."""
    return score is not None and math.isfinite(_half_width(score))


def first_return(rows: Sequence[Mapping[str, float]]) -> Score | None:
    """Returns the mean return of the first training episodes of a run that started untrained; None if the
    policy was no longer untrained when they ended."""
    index = next((i for i, row in enumerate(rows) if "episode/return" in row), None)
    if index is None or index >= max(UNTRAINED_ROLLOUTS, UNTRAINED_SHARE * len(rows)):
        return None
    mean, count = rows[index]["episode/return"], rows[index].get("episode/count", 1.0)
    margin = Z * rows[index].get("episode/return_std", 0.0) / math.sqrt(count)
    return {
        "mean": mean,
        "low": mean - margin,
        "high": mean + margin,
        "iqm": mean,
        "episodes": int(count),
        "env_steps": 0,
    }


def find_doubts(
    score: Score,
    start: StartScore | None,
    first: Score | None,
    threshold: float | None,
    *,
    trained_before: bool,
    constant_returns: bool,
    all_truncated: bool,
    lasting_is_goal: bool,
) -> list[Doubt]:
    """Returns the doubts about the score of a finished run. `start`: the score of the version that it started
    with, if it was measured; `first`: its first training return, the baseline if the start was not evaluated,
    or on a single episode; `trained_before`: this version was trained in another run;
    `constant_returns`: all episodes of all evaluations have the same return; `all_truncated`: a time limit
    ended every episode of the score, although the environment can terminate; `lasting_is_goal`: that is what
    a good policy does."""
    doubts: list[Doubt] = []
    baseline = start if first is None or has_interval(start) else first
    if baseline is not None and is_better(score, baseline) is False:
        doubts.append("not better")
    if start is not None and threshold is not None and not trained_before:
        # The same criterion as for a solved run; a single episode has no lower bound.
        bound = start["low"] if math.isfinite(start["low"]) else start["mean"]
        if bound >= threshold:
            doubts.append("solved at start")
    # Without the start, returns without spread may be those of a policy that always reaches the optimum.
    if start is not None and not trained_before and constant_returns:
        doubts.append("no spread")
    if all_truncated and not lasting_is_goal:
        doubts.append("all truncated")
    return doubts


def doubt_texts(info: RunInfo) -> list[str]:
    """Returns the doubts about the score of a run, one clause each, the most serious first."""
    texts = (_text(doubt, info) for doubt in _stored_doubts(info))
    return [text for text in texts if text]


def _stored_doubts(info: RunInfo) -> list[Doubt]:
    score, branched_at = info["score"], branch_point(info)
    if "doubts" not in info and score is not None and branched_at is not None:
        # Older versions gave a branch the score of its parent, unless one of its own versions was better.
        return ["not better"] if score.get("env_steps", math.inf) <= branched_at else []
    return info.get("doubts", [])


def start_text(parent_kind: str | None) -> str:
    """Returns what a run with this `parent_kind` started with: its parent, received weights, or the untrained
    policy."""
    kinds = {BRANCH: "its parent", WEIGHTS: "the weights that it started from"}
    return kinds.get(parent_kind or "", "the untrained policy")


def _text(doubt: str, info: RunInfo) -> str:
    """Returns a doubt as a clause; empty for a name that a newer version has written."""
    start, kind = info.get("start_score"), info.get("parent_kind")
    number = f" ({formatting.number(start['mean'])})" if start else ""
    run = "branch" if kind == BRANCH else "run"
    if doubt == "not better" and not kind and not has_interval(start):
        return "the run is no better than its first training episodes"
    texts: dict[str, str] = {
        "not better": f"no version of this {run} is better than {start_text(kind)}{number}",
        "solved at start": f"the untrained policy already reaches the threshold{number}",
        "no spread": "every evaluated episode, also of the untrained policy, has the same return",
        "all truncated": "the time limit ended every episode, although the environment can terminate "
        "(if a good policy lasts that long, declare facts.termination=failure)",
    }
    return texts.get(doubt, "")
