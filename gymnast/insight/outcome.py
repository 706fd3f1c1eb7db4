"""The outcome of a run, before its causes are examined: solved, learned, failed, or too early to say.

The final score is compared with the score of the version that the run started with, which was evaluated in
the same way; a run that is no better has failed, whatever its threshold. Runs of older versions, and those
without evaluations, have no such score. Their baseline is the first training return, from episodes that the
untrained network sampled: the mean of a few episodes, biased to short ones. The text names the baseline that
was used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gymnast.config.families import is_multi_agent
from gymnast.metrics.score import RunScore, Score
from gymnast.runs.doubts import doubt_texts, first_return, is_better, start_text
from gymnast.runs.info import RunInfo
from gymnast.text import formatting

Kind = Literal["solved", "learned", "doubtful", "unconfirmed", "failed", "unknown", "early"]
Rows = Sequence[Mapping[str, float]]


@dataclass(frozen=True)
class RunOutcome:
    kind: Kind
    text: str
    """The measured result, as a clause."""


@dataclass(frozen=True)
class Comparison:
    """The final score of a run against its baseline."""

    better: bool
    text: str
    """A clause that names the baseline."""


def run_outcome(info: RunInfo, rows: Rows) -> RunOutcome:
    """Returns the outcome of a run. `info`: run.json, with the derived status; `rows`: the rows of the
    run."""
    if info["status"] == "failed":
        return RunOutcome("failed", f"training failed: {info['reason']}")
    if info["status"] != "finished":
        return RunOutcome("early", _progress_text(info, rows))
    score, threshold = info["score"], info["threshold"]
    if score is None:
        return RunOutcome("unknown", "it was never evaluated")
    text = _scored(score)
    if threshold is not None:
        below = "below the " if score["mean"] < threshold else ""
        text = f"{text}, {below}threshold {formatting.number(threshold)}"
    doubts, compared = doubt_texts(info), compare_with_baseline(info, score, rows)
    if compared is not None and "not better" not in info.get("doubts", ()):
        text = f"{text}, {compared.text}"
    text = "; ".join([text, *doubts])
    is_below = threshold is not None and score["mean"] < threshold
    if is_below or (compared is not None and not compared.better):
        return RunOutcome("failed", text)
    if doubts:
        return RunOutcome("doubtful", text)
    if threshold is None:
        return _without_threshold(text, compared)
    if RunScore.from_info(score).is_small:
        episodes = formatting.count_noun(score["episodes"], "episode")
        return RunOutcome("unconfirmed", f"{text}; but only over {episodes}")
    if info["solved"] is True:
        return RunOutcome("solved", text)
    bound = f"the lower bound {formatting.number(score['low'])} is below the threshold"
    return RunOutcome("unconfirmed", f"{text}; but {bound}")


def compare_with_baseline(info: RunInfo, score: Score, rows: Rows) -> Comparison | None:
    """Returns how the final score compares with that of the version that the run started with, or else with
    its first training return; None if there is neither."""
    # In self-play, a score depends on the opponents, which may be equally untrained.
    if is_multi_agent(info["env"]):
        return None
    start, name = info.get("start_score"), start_text(info.get("parent_kind"))
    better = None if start is None else is_better(score, start)
    # A branch or a fine-tuned run did not start untrained.
    if better is None and not info.get("parent"):
        start, name = first_return(rows), "sampled actions, the first training return"
        better = None if start is None else is_better(score, start)
        # A run with doubts has been compared at its end, when its time limits were known.
        if better is False and "doubts" in info and "not better" not in info["doubts"]:
            return None
    if start is None or better is None:
        return None
    word = "better" if better else "no better"
    return Comparison(better, f"{word} than {name} ({formatting.number(start['mean'])})")


def _without_threshold(text: str, compared: Comparison | None) -> RunOutcome:
    """Returns the outcome of a finished run whose preset has no threshold: unknown without a baseline, else
    learned. `text`: the score, compared with the baseline."""
    if compared is None:
        return RunOutcome(
            "unknown", f"{text}; there is neither a threshold nor a baseline to compare with"
        )
    return RunOutcome(
        "learned", f"{text}; there is no threshold to decide whether that is good enough"
    )


def _scored(score: Score) -> str:
    return f"scored {formatting.interval(score['mean'], score['low'], score['high'])}"


def _progress_text(info: RunInfo, rows: Rows) -> str:
    steps = rows[-1]["clock/env_steps"] if rows else 0
    share = rows[-1].get("progress/share") if rows else None
    of_budget = f", {share:.0%} of the budget" if share is not None else ""
    reason = f": {info['reason']}" if info["reason"] else ""
    return f"{info['status']} after {steps:,.0f} env steps{of_budget}{reason}"
