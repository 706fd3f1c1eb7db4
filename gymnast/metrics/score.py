"""A score: how well a policy played, how that was measured, and how scores are ranked.

Only scores that were measured alike are comparable: on held-out seeds, over enough episodes. The best of many
evaluations is a lucky one, and one episode is luck. `RunScore.rank` is the only sort key of scores.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NotRequired, TypedDict

from gymnast.records import MayLack

ScoredHow = Literal["confirmed", "evaluated"]
"""confirmed: on held-out seeds, after training. evaluated: on the seeds of evaluations during training, which
also selected the version."""
MIN_EPISODES = 10
"""Scores over fewer episodes are not comparable, unless they are exact. The final confirmation plays at least
this many, however long they take."""


class MissingEpisodes(TypedDict, total=False):
    """The fields that a score has if planned episodes are missing from it."""

    planned: int
    """Number of planned episodes."""
    missing: str
    """The reasons, as a sentence."""


class MeanScore(TypedDict):
    """Mean raw return of episodes, or win rate of matches, with its 95% confidence interval."""

    mean: float
    low: float
    high: float
    iqm: MayLack[float]
    """Interquartile mean."""
    episodes: int


class Score(MeanScore, MissingEpisodes):
    """The score of an evaluation, as stored in run.json."""

    env_steps: MayLack[int]
    """Version: number of env steps that the scored policy had learned from."""
    kind: NotRequired[ScoredHow]
    """Missing in runs of older versions."""
    exact: NotRequired[bool]
    """True if the episodes are all that there are, so that the mean has no sampling error."""
    role: NotRequired[str]
    """The role with this score, which is the worst one; only in self-play."""


class StartScore(Score):
    """The score of the version that a run starts with. Scores of matches have no further fields."""

    return_min: NotRequired[float]
    return_max: NotRequired[float]
    truncated_share: NotRequired[float]
    """Share of the episodes that a time limit ended."""


@dataclass(frozen=True)
class RunScore:
    """Mean raw return of the best version of a policy, or win rate of the worst role, with its 95 %
    confidence interval."""

    mean: float
    low: float
    """Lower end of the interval, within the possible range of the return; -inf for a single episode."""
    high: float
    episodes: int
    iqm: float | None = None
    env_steps: int | None = None
    """Version: env steps of the policy that was evaluated."""
    role: str = ""
    """The role that the score is about, in a run with several roles."""
    planned: int | None = None
    """Number of episodes that were planned, if some are missing."""
    missing: str = ""
    """The reason why they are missing, as a clause."""
    kind: ScoredHow = "confirmed"
    """confirmed: measured on held-out seeds, after training. evaluated: the best evaluation of training."""
    exact: bool = False
    """True if the episodes are all that there are, so that the mean has no sampling error."""
    caveat: str = ""
    """The reason why it is not comparable with confirmed scores: unconfirmed, too few episodes, or both.
    Empty if it is."""
    rank: tuple[int, float, float] = (0, 0.0, 0.0)
    """Sort key, the highest is the best: comparability (2: confirmed over enough episodes, 1: unconfirmed, 0:
    too few episodes), lower bound (of a single episode, its return), mean. Also where the lowest scores come
    first, those of higher comparability do."""

    def __post_init__(self) -> None:
        """Computes `caveat` and `rank`, which follow from the other fields."""
        unconfirmed = self.kind != "confirmed"
        caveats = {"unconfirmed": unconfirmed, "too few episodes": self.is_small}
        low = self.low if math.isfinite(self.low) else self.mean
        rank = (
            0 if self.is_small else 1 if unconfirmed else 2,
            _sortable(low),
            _sortable(self.mean),
        )
        object.__setattr__(self, "caveat", ", ".join(text for text in caveats if caveats[text]))
        object.__setattr__(self, "rank", rank)

    @property
    def is_small(self) -> bool:
        """True if it is over too few episodes to be comparable."""
        return self.episodes < MIN_EPISODES and not self.exact

    @staticmethod
    def from_info(score: Score, kind: ScoredHow = "confirmed") -> RunScore:
        """Returns a stored score. `kind`: that of a score which does not say it."""
        return RunScore(
            score["mean"],
            score["low"],
            score["high"],
            score["episodes"],
            score.get("iqm"),
            score.get("env_steps"),
            score.get("role", ""),
            score.get("planned"),
            score.get("missing", ""),
            score.get("kind", kind),
            # Older versions do not store it; but only an exact score of one episode has an interval.
            score.get("exact", score["episodes"] == 1 and math.isfinite(score["low"])),
        )


def comparable(scores: Iterable[RunScore]) -> list[RunScore]:
    """Returns the scores with the highest comparability among these: only such scores have a common mean."""
    found = list(scores)
    highest = max((score.rank[0] for score in found), default=0)
    return [score for score in found if score.rank[0] == highest]


def best_mean(evaluations: Iterable[float], score: RunScore | None) -> float | None:
    """Returns the highest mean return of evaluations, or the score if it is higher; None without both."""
    known = [*evaluations, *([] if score is None else [score.mean])]
    return max((mean for mean in known if not math.isnan(mean)), default=None)


def _sortable(value: float) -> float:
    """Returns a finite number in the place of NaN, which is below all others, and of infinity."""
    largest = sys.float_info.max
    return -largest if math.isnan(value) else max(-largest, min(value, largest))
