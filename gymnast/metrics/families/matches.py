"""Metrics of matches between roles: win rates, outcomes and ratings."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gymnast.metrics import bounds
from gymnast.metrics.metric import ANY, INF, Limits, Metric
from gymnast.metrics.metric import Range as Span

WINDOW = (
    "the last matches between learning policies (league.window); with the scope `eval/ROLE:`, the "
    "matches of that evaluation"
)
WILSON = "95% Wilson score interval"
EVALUATED = "the matches of that evaluation"


def _ends(section: str, what: str, window: str) -> list[Metric]:
    """Declares the metrics `SECTION/win_low` and `SECTION/win_high`, the ends of the confidence interval of a
    win rate. `what`: that win rate in words; `window`: the matches it is computed over."""
    return [
        Metric(
            f"{section}/win_{end}",
            f"{side} end of the 95% confidence interval of the {what}.",
            unit="share",
            digits=0,
            priority=6,
            estimator=WILSON,
            window=window,
            bounds=(0, 1),
        )
        for end, side in (("low", "Lower"), ("high", "Upper"))
    ]


def _band(limits: Limits) -> Span:
    return limits.win_rate_range or ANY


METRICS = (
    Metric(
        "league/win_rate",
        "Share of matches between the learning policies that the role wins. Matches with an unknown outcome "
        "are not counted.",
        unit="share",
        digits=0,
        priority=1,
        window=WINDOW,
        bounds=(0, 1),
        healthy=_band,
        if_low="The role loses too often. Try league.balance.remedies=[alone, handicap], a higher "
        "learning rate for it (roles.ROLE.set), or start from trained weights (--from).",
        if_high="The role wins too often, so its opponent learns little. Try "
        "league.balance.remedies=[alone, handicap], or more past opponents (league.live_share).",
        in_table=True,
    ),
    *_ends("league", "win rate between the learning policies", WINDOW),
    Metric(
        "league/past_win_rate",
        "Share of matches that the role wins against past versions of its opponent.",
        unit="share",
        digits=0,
        priority=4,
        window="the last matches of that kind (league.window)",
        bounds=(0, 1),
        in_table=True,
    ),
    Metric(
        "match/win_rate",
        "Share of the evaluation matches that the role wins; against one opponent if the scope names it.",
        unit="share",
        digits=0,
        better="higher",
        priority=1,
        window=EVALUATED,
        bounds=(0, 1),
        in_table=True,
    ),
    *_ends("match", "evaluation win rate", EVALUATED),
    Metric(
        "match/count",
        "Number of matches that the other match/* metrics are computed over.",
        digits=0,
        priority=8,
        window=WINDOW,
        bounds=(0, INF),
    ),
    Metric(
        "match/duration",
        "Mean length of a match.",
        unit="steps",
        digits=1,
        priority=4,
        window=WINDOW,
        bounds=bounds.length,
        in_table=True,
    ),
    Metric(
        "match/unknown_share",
        "Share of matches whose outcome the environment did not report.",
        unit="share",
        digits=0,
        priority=7,
        window=WINDOW,
        bounds=(0, 1),
    ),
    Metric(
        "league/pool",
        "Number of past versions of the role in the opponent pool.",
        digits=0,
        priority=7,
        bounds=(0, INF),
    ),
    Metric(
        "league/rung",
        "Current opponent's position on the ladder of opponents, from 1.",
        digits=0,
        priority=3,
        bounds=(1, INF),
        in_table=True,
    ),
    Metric(
        "league/rating",
        "Rating of the role from its matches against scripted opponents; 400 points mean odds of 10 to 1.",
        digits=0,
        better="higher",
        priority=3,
        estimator="maximum a posteriori estimate of a Bradley-Terry model; scripted:medium is 1000",
        window="all evaluations so far",
        no_bounds_reason="ratings are unbounded",
        in_table=True,
    ),
    Metric(
        "league/rating_low",
        "Lower end of the 95% confidence interval of the rating.",
        digits=0,
        better="higher",
        priority=6,
        window="all evaluations so far",
        no_bounds_reason="ratings are unbounded",
    ),
    Metric(
        "league/rating_high",
        "Upper end of the 95% confidence interval of the rating.",
        digits=0,
        better="higher",
        priority=6,
        window="all evaluations so far",
        no_bounds_reason="ratings are unbounded",
    ),
)


_OUTCOME = "match/OUTCOME_share"
# `match/unknown_share` is a metric of its own, not an outcome.
_SHARE = re.compile(r"match/(?!unknown_)\w+_share")


def generic_metrics() -> list[Metric]:
    """Returns the metric with OUTCOME in place of an outcome, for the docs and `gymnast metrics`."""
    return list(outcome_metrics(Limits(outcomes=("OUTCOME",))))


def generic_name(name: str) -> str:
    """Returns the generic name: `match/timeout_share` -> `match/OUTCOME_share`; other names unchanged."""
    return _OUTCOME if _SHARE.fullmatch(name) else name


def outcome_metrics(limits: Limits) -> Iterable[Metric]:
    """Yields one metric per possible outcome of a match."""
    for outcome in limits.outcomes:
        yield Metric(
            f"match/{outcome}_share",
            f"Share of matches that ended with the outcome {outcome}.",
            unit="share",
            digits=0,
            priority=3,
            window=WINDOW,
            bounds=(0, 1),
            in_table=True,
        )
