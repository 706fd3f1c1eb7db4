"""`gymnast audit`: how much each reward term contributes, and which ones can be farmed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from gymnast import api
from gymnast.cli.options import allow_code_option, echo_json, json_option, runs_option
from gymnast.cli.tasks import wait_for
from gymnast.text import formatting

if TYPE_CHECKING:
    from gymnast.audit.record import (
        AuditReport,
        CastTotals,
        FarmedTerm,
        FarmingTest,
        ShapingTotal,
        TermFlag,
    )


@click.command()
@click.argument("run", metavar="RUN[:CHECKPOINT]", default="@last")
@click.option(
    "--episodes",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Matches per pairing (environments with several roles).",
)
@runs_option
@allow_code_option
@json_option
def audit(run: str, episodes: int, runs_dir: str | None, as_json: bool) -> int:
    """Audit the reward: how much each term contributes, and which terms can be farmed, i.e. collected
    without winning until winning is not worth it.

    \b
    gymnast audit @last
    gymnast audit @last:best --episodes 200
    gymnast audit 3f2a --json

    For environments with several roles, a checkpoint (the best by default) plays matches among its own
    policies and against scripted:medium, and the totals per term, role and match are shown. Each term
    is then tested with players that collect it instead of winning, in at most 40 matches each. For
    other environments, the recorded totals of the shaping terms per episode are compared with the raw
    return.

    Exit code: 1 if a term can be farmed or outweighs the raw return.
    """
    task = api.audit(run, episodes=episodes, runs_dir=runs_dir)
    report = wait_for(task, "auditing")
    if as_json:
        echo_json(report)
    else:
        click.echo("\n".join(_page(report)))
    return 1 if report.flagged else 0


def _page(report: AuditReport) -> Iterator[str]:
    """Yields the lines of the page: totals per cast, verdicts on farming, shaping terms, conclusion."""
    at = f", checkpoint {report.checkpoint:,}" if report.checkpoint is not None else ""
    yield f"{report.run}{at} of {report.env}"
    for cast in report.casts:
        yield ""
        yield from _totals(cast)
    if report.farming is not None:
        yield ""
        yield from _farming(report.farming)
    elif report.casts:
        yield "\nfarming is not tested: this environment has no players that try to farm its reward"
    if report.shaping:
        yield ""
        yield from _shaping(report.shaping)
    elif not report.casts:
        yield "no shaping terms: the policy learns from the raw reward of the environment"
    if report.farming is not None or report.shaping:
        yield ""
        yield from _conclusion(report.flagged, report.unknown)


def _totals(cast: CastTotals) -> Iterator[str]:
    """Yields a title and a table for one cast: the total of each reward term per match and agent, for each
    role that the run's own policy played."""
    sides = " against ".join(f"{role} {name}" for role, name in cast.cast.items())
    won = ", ".join(f"{role} won {count}" for role, count in cast.won.items())
    yield f"{sides}: {cast.matches} matches, {won}; totals per match"
    head = ("role", "term", "mean", "spread", "share", "won", "lost")
    lines = [
        (role, t.term, *map(_number, (t.mean, t.std)), f"{t.share:.0%}", *ends)
        for role, terms in cast.roles.items()
        for t in terms
        for ends in [map(_number, (t.won, t.lost))]
    ]
    yield formatting.table(head, lines, "mean spread share won lost")


def _farming(farming: FarmingTest) -> Iterator[str]:
    """Yields an explanation and a table with the verdict on each term."""
    yield (
        "share: reward gained without winning, as a fraction of what winning is worth; a term is "
        f"farmable if its lower bound is at least {farming.threshold:g}"
    )
    head = ("", "role", "term", "share", "bound", "farmed best by")
    lines = [(_WORD[t.verdict], t.role, t.term, *_best_farmer(t)) for t in farming.terms]
    yield formatting.table(head, lines, "share bound")


def _best_farmer(term: FarmedTerm) -> tuple[str, str, str]:
    """Returns three cells of the table: the share, its lower bound, and the player that farmed the
    term best, or `-`, `-` and the reason if there were too few matches."""
    if term.share is None or term.low is None:
        return "-", "-", "unknown: too few matches won by honest play, or lost by farming players"
    # + 0.0 turns -0.00 into 0.00
    share, bound = (f"{round(value, 2) + 0.0:.2f}" for value in (term.share, term.low))
    return share, bound, f"{term.player}, against {term.opponent}"


def _shaping(terms: Sequence[ShapingTotal]) -> Iterator[str]:
    """Yields an explanation and a table of the shaping terms (`shaping` of the audit), and an
    explanation of the verdicts `unknown` and `potential` if they occur."""
    yield "shaping: recorded totals per episode; share: relative to the range or size of raw returns"
    head = ("", "role", "term", "first", "median", "last", "max", "raw", "share")
    lines = [
        (
            *(_WORD[t.verdict], t.role or "-", t.term),
            *map(_number, (t.first, t.usual, t.last, t.most)),
            " to ".join(map(_number, t.raw)),
            "-" if t.share is None else f"{t.share:.2f}",
        )
        for t in terms
    ]
    yield formatting.table(head, lines, "first median last max raw share")
    if any(t.verdict == "unknown" for t in terms):
        yield "unknown: every raw return is 0, so there is nothing to compare with"
    if any(t.verdict == "potential" for t in terms):
        yield "potential: the terms of a potential cancel over an episode, so it cannot be farmed"


_WORD = {
    "sound": "ok",
    "farmable": "FARMABLE",
    "outweighs": "OUTWEIGHS",
    "potential": "potential",
    "unknown": "unknown",
}


def _conclusion(flagged: Sequence[TermFlag], unknown: Sequence[TermFlag]) -> Iterator[str]:
    """Yields the terms that were not judged (`unknown`), and for each of the terms in `flagged`
    what to change; if there is none, that no term was found."""
    if unknown:
        yield f"not judged: {', '.join(map(_term_name, unknown))}"
    if not flagged:
        others = " in the others" if unknown else ""
        yield f"no term was found that can be farmed{others}"
    for term in flagged:
        if term.verdict == "farmable":
            fix = "pay it once per event, make it a potential, or lower its weight"
            yield f"{_term_name(term)} can be farmed: {fix}"
        else:
            fix = "lower its weight, or anneal it (5 -> 0)"
            yield f"{_term_name(term)} outweighs the raw returns: {fix}"


def _term_name(term: TermFlag) -> str:
    return f"{term.role}: {term.term}" if term.role else term.term


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    # Sums that should be 0 have rounding errors; + 0.0 turns -0.0 into 0.0.
    rounded = round(value, 9) + 0.0
    return f"{rounded:.3g}" if abs(rounded) < 1000 else f"{rounded:,.0f}"
