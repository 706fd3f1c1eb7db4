"""The outcome of a run, before its causes are examined: solved, learned, failed, or too early to say.

The baseline of random actions is the first training return of the run, from episodes that the untrained
network sampled. It costs nothing and nearly every run has it. But it is the mean of a few episodes, biased to
short ones, and a run that started from the weights of another run has none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gymnast.config.families import is_multi_agent
from gymnast.runs.info import RunInfo
from gymnast.text import formatting

if TYPE_CHECKING:
    from gymnast.metrics.score import Score

Kind = Literal["solved", "learned", "unconfirmed", "failed", "unknown", "early"]
Rows = Sequence[Mapping[str, float]]
UNTRAINED_ROLLOUTS, UNTRAINED_SHARE = 5, 0.1
"""If the first episodes ended after this many rollouts, and after this share of all rows, the policy was no
longer untrained."""
Z = 1.96
"""Half the width of a 95 % confidence interval, in standard errors."""


@dataclass(frozen=True)
class RunOutcome:
    kind: Kind
    text: str
    """The measured result, as a clause."""


@dataclass(frozen=True)
class Baseline:
    """Mean return of an untrained policy."""

    mean: float
    error: float
    """Its standard error."""

    def is_beaten_by(self, score: Score) -> bool:
        """True if the score is significantly higher (95 %)."""
        # Standard error of the difference of two independent means: sqrt(se1^2 + se2^2). One end of the
        # interval may be that of the possible range, and the other one then gives the error.
        half = max(score["mean"] - score["low"], score["high"] - score["mean"])
        error = math.hypot(half / Z, self.error)
        return score["mean"] > self.mean + Z * error


def run_outcome(info: RunInfo, rows: Rows) -> RunOutcome:
    """Returns the outcome of a run. `info`: run.json, with the derived status; `rows`: the rows of the
    run."""
    if info["status"] == "failed":
        return RunOutcome("failed", f"training failed: {info['reason']}")
    if info["status"] != "finished":
        return RunOutcome("early", _progress_text(info, rows))
    score, threshold = info["score"], info["threshold"]
    if score is not None and threshold is not None and info["solved"] is True:
        return RunOutcome("solved", f"{_scored(score)}, threshold {formatting.number(threshold)}")
    if score is None:
        return RunOutcome("unknown", "it was never evaluated")
    # In self-play, the first return depends on an equally untrained opponent and is no baseline.
    untrained = None if is_multi_agent(info["env"]) else baseline(info, rows)
    learned = untrained is None or untrained.is_beaten_by(score)
    compared = _compared(untrained, learned)
    if threshold is None:
        return _without_threshold(_scored(score) + compared, untrained, learned)
    goal = f"the threshold {formatting.number(threshold)}"
    if score["mean"] < threshold:
        return RunOutcome("failed", f"{_scored(score)}, below {goal}{compared}")
    bound = f"the lower bound {formatting.number(score['low'])} is below it"
    return RunOutcome("unconfirmed", f"{_scored(score)}, above {goal}, but {bound}")


def baseline(info: RunInfo, rows: Rows) -> Baseline | None:
    """Returns the mean return of the untrained policy; None if the rows do not contain it."""
    index = next((i for i, row in enumerate(rows) if "episode/return" in row), None)
    if info.get("parent") or index is None:  # a branch or a fine-tuned run did not start untrained
        return None
    if index >= max(UNTRAINED_ROLLOUTS, UNTRAINED_SHARE * len(rows)):
        return None
    first = rows[index]
    spread = first.get("episode/return_std", 0.0)
    return Baseline(first["episode/return"], spread / math.sqrt(first.get("episode/count", 1.0)))


def _without_threshold(text: str, untrained: Baseline | None, learned: bool) -> RunOutcome:
    """Returns the outcome of a finished run whose preset has no threshold: unknown without a
    baseline, failed if it is not beaten, else learned. `text`: the score, compared with the
    baseline."""
    if untrained is None:
        return RunOutcome(
            "unknown", f"{text}; there is neither a threshold nor a baseline to compare with"
        )
    if not learned:
        return RunOutcome("failed", text)
    return RunOutcome(
        "learned", f"{text}; there is no threshold to decide whether that is good enough"
    )


def _compared(untrained: Baseline | None, learned: bool) -> str:
    if untrained is None:
        return ""
    word = "better" if learned else "no better"
    number = formatting.number(untrained.mean)
    return f", {word} than random actions ({number}, the first training return)"


def _scored(score: Score) -> str:
    return f"scored {formatting.interval(score['mean'], score['low'], score['high'])}"


def _progress_text(info: RunInfo, rows: Rows) -> str:
    steps = rows[-1]["clock/env_steps"] if rows else 0
    share = rows[-1].get("progress/share") if rows else None
    of_budget = f", {share:.0%} of the budget" if share is not None else ""
    reason = f": {info['reason']}" if info["reason"] else ""
    return f"{info['status']} after {steps:,.0f} env steps{of_budget}{reason}"
