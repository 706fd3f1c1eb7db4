"""Matches between roles: who wins, how they end, and how the roles are rated."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gymnast.metrics import bounds
from gymnast.metrics.metric import ANY, INF, Limits, Metric
from gymnast.metrics.metric import Range as Span

WINDOW = (
    "the last matches of all learners (league.window); in `eval/ROLE:` those of that evaluation"
)
WILSON = "Wilson interval of the share, 95%"


EVALUATED = "the matches of that evaluation"


def _ends(section: str, what: str, window: str) -> list[Metric]:
    return [
        Metric(
            f"{section}/win_{end}",
            f"{side} end of the 95% interval of the {what}.",
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
    return limits.band or ANY


METRICS = (
    Metric(
        "league/win_rate",
        "Share of matches between those who learn that the role wins. Matches whose outcome is unknown "
        "count for nobody.",
        unit="share",
        digits=0,
        priority=1,
        window=WINDOW,
        bounds=(0, 1),
        healthy=_band,
        if_low="The role is dominated. Try league.balance.remedies=[alone, handicap], a higher "
        "learning rate for it (roles.ROLE.set), or a start from weights that can play (--from).",
        if_high="The role dominates, so its opponent learns little. Try "
        "league.balance.remedies=[alone, handicap], or more past selves (league.live_share).",
        in_table=True,
    ),
    *_ends("league", "win rate between those who learn", WINDOW),
    Metric(
        "league/past_win_rate",
        "Share of matches that the role wins against past selves of its opponent.",
        unit="share",
        digits=0,
        priority=4,
        window="the last matches of that kind (league.window)",
        bounds=(0, 1),
        in_table=True,
    ),
    Metric(
        "match/win_rate",
        "Share of the evaluated matches that the role wins; of one opponent where the scope names it.",
        unit="share",
        digits=0,
        better="higher",
        priority=1,
        window=EVALUATED,
        bounds=(0, 1),
        in_table=True,
    ),
    *_ends("match", "evaluated win rate", EVALUATED),
    Metric(
        "match/count",
        "Matches that the match numbers are over.",
        digits=0,
        priority=8,
        window=WINDOW,
        bounds=(0, INF),
    ),
    Metric(
        "match/duration",
        "Mean number of steps of a match.",
        unit="steps",
        digits=1,
        priority=4,
        window=WINDOW,
        bounds=bounds.length,
        in_table=True,
    ),
    Metric(
        "match/unknown_share",
        "Share of matches whose outcome the environment did not tell.",
        unit="share",
        digits=0,
        priority=7,
        window=WINDOW,
        bounds=(0, 1),
    ),
    Metric(
        "league/pool",
        "Past selves of the role that may be met.",
        digits=0,
        priority=7,
        bounds=(0, INF),
    ),
    Metric(
        "league/rung",
        "Place on its ladder of the opponent that is met now.",
        digits=0,
        priority=3,
        bounds=(1, INF),
        in_table=True,
    ),
    Metric(
        "league/rating",
        "Rating of the role by its matches against scripted opponents; 400 points are odds of 10 to 1.",
        digits=0,
        better="higher",
        priority=3,
        estimator="Bradley-Terry by maximum a posteriori; scripted:medium is 1000",
        window="all evaluations so far",
        no_bounds_reason="ratings have no end",
        in_table=True,
    ),
    Metric(
        "league/rating_low",
        "Lower end of the 95% interval of the rating.",
        digits=0,
        better="higher",
        priority=6,
        window="all evaluations so far",
        no_bounds_reason="ratings have no end",
    ),
    Metric(
        "league/rating_high",
        "Upper end of the 95% interval of the rating.",
        digits=0,
        better="higher",
        priority=6,
        window="all evaluations so far",
        no_bounds_reason="ratings have no end",
    ),
)


_OUTCOME = "match/OUTCOME_share"
_SHARE = re.compile(r"match/(?!unknown_)\w+_share")


def patterns() -> list[Metric]:
    """Of any environment of several agents: for docs and `gymnast metrics`."""
    return list(of_outcomes(Limits(outcomes=("OUTCOME",))))


def pattern_of(name: str) -> str:
    """`match/timeout_share` -> `match/OUTCOME_share`; any other name as it is."""
    return _OUTCOME if _SHARE.fullmatch(name) else name


def of_outcomes(limits: Limits) -> Iterable[Metric]:
    """One per way in which a match may end."""
    for outcome in limits.outcomes:
        yield Metric(
            f"match/{outcome}_share",
            f"Share of matches that ended by {outcome}.",
            unit="share",
            digits=0,
            priority=3,
            window=WINDOW,
            bounds=(0, 1),
            in_table=True,
        )
