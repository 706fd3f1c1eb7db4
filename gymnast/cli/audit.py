"""`gymnast audit`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.cli.progress import progress
from gymnast.processes.env_output import separate_env_output
from gymnast.text import wording


@click.command()
@click.argument("run", metavar="RUN[:CHECKPOINT]", default="@last")
@click.option(
    "--episodes",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Matches of each cast, where roles play each other.",
)
@runs_option
@json_option
def audit(run: str, episodes: int, runs_dir: str | None, as_json: bool) -> int:
    """What each term of the reward pays, and which of them can be farmed: collected without winning
    until winning is not worth it.

    \b
    gymnast audit @last
    gymnast audit @last:best --episodes 200
    gymnast audit 3f2a --json

    Where roles play each other: totals per term, role and match of a checkpoint (the best unless named),
    played among its policies and against scripted:medium; and each term against players that go after
    it instead of winning, in at most 40 matches each. Elsewhere: what shaping terms came to per
    episode, by the record, beside the raw return.

    Exit code: 1 where a term can be farmed or outweighs the raw return.
    """
    from gymnast.audit.audit import audit as of_run

    with separate_env_output(), progress("auditing") as told:
        found = of_run(run, episodes=episodes, runs_dir=runs_dir, progress=told)
    if as_json:
        echo_json(found)
    else:
        click.echo("\n".join(_page(found)))
    return 1 if found["flagged"] else 0


def _page(found: dict[str, Any]) -> Iterator[str]:
    at = f", checkpoint {found['checkpoint']:,}" if "checkpoint" in found else ""
    yield f"{found['run']}{at} of {found['env']}"
    for cast in found.get("casts", ()):
        yield ""
        yield from _totals(cast)
    if "farming" in found:
        yield ""
        yield from _farming(found["farming"])
    elif "casts" in found:
        yield "\nnobody is known who could try to farm this environment's reward"
    if found["shaping"]:
        yield ""
        yield from _shaping(found["shaping"])
    elif "casts" not in found:
        yield "no shaping terms: what is learned from is the raw reward of the environment"
    if "farming" in found or found["shaping"]:
        yield ""
        yield from _conclusion(found["flagged"], found["unknown"])


def _totals(cast: dict[str, Any]) -> Iterator[str]:
    sides = " against ".join(f"{role} {name}" for role, name in cast["cast"].items())
    won = ", ".join(f"{role} won {count}" for role, count in cast["won"].items())
    yield f"{sides}: {cast['matches']} matches, {won}; totals per match"
    head = ("role", "term", "mean", "spread", "share", "won", "lost")
    lines = [
        (role, t["term"], *map(_number, (t["mean"], t["std"])), f"{t['share']:.0%}", *ends)
        for role, terms in cast["roles"].items()
        for t in terms
        for ends in [map(_number, (t["won"], t["lost"]))]
    ]
    yield wording.table(head, lines, "mean spread share won lost")


def _farming(farming: dict[str, Any]) -> Iterator[str]:
    yield (
        f"farmable from a share of {farming['threshold']:g} (lower bound): of what winning is worth, "
        "gained without winning"
    )
    head = ("", "role", "term", "share", "bound", "most by")
    lines = [(_WORD[t["verdict"]], t["role"], t["term"], *_most(t)) for t in farming["terms"]]
    yield wording.table(head, lines, "share bound")


def _most(term: dict[str, Any]) -> tuple[str, str, str]:
    if "share" not in term:
        return "-", "-", "nobody: too few matches were won by honest play, or lost by others"
    share, bound = (f"{round(term[key], 2) + 0.0:.2f}" for key in ("share", "low"))
    return share, bound, f"{term['player']}, against {term['opponent']}"


def _shaping(terms: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield "shaping, totals per episode by the record; share: of the range or size of raw returns"
    head = ("", "role", "term", "first", "usual", "last", "most", "raw", "share")
    lines = [
        (
            *(_WORD[t["verdict"]], t["role"] or "-", t["term"]),
            *map(_number, (t["first"], t["usual"], t["last"], t["most"])),
            " to ".join(map(_number, t["raw"])),
            "-" if t["share"] is None else f"{t['share']:.2f}",
        )
        for t in terms
    ]
    yield wording.table(head, lines, "first usual last most raw share")
    if any(t["verdict"] == "unknown" for t in terms):
        yield "unknown: every raw return is 0, so there is nothing to compare with"
    if any(t["verdict"] == "potential" for t in terms):
        yield "a potential takes back what it paid: it cannot be farmed"


_WORD = {
    "sound": "ok",
    "farmable": "FARMABLE",
    "outweighs": "OUTWEIGHS",
    "potential": "potential",
    "unknown": "unknown",
}


def _conclusion(
    flagged: Sequence[dict[str, Any]], unknown: Sequence[dict[str, Any]]
) -> Iterator[str]:
    if unknown:
        yield f"not judged: {', '.join(_named(found) for found in unknown)}"
    if not flagged:
        others = " in the others" if unknown else ""
        yield f"nothing is found that could be farmed{others}"
    for found in flagged:
        if found["verdict"] == "farmable":
            yield f"{_named(found)} can be farmed: pay it for an event, as a potential, or less"
        else:
            what = "is larger than what raw returns are worth"
            yield f"{_named(found)} {what}: lower its weight, or let it fade (5 -> 0)"


def _named(found: dict[str, Any]) -> str:
    return f"{found['role']}: {found['term']}" if found["role"] else found["term"]


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    near = round(value, 9) + 0.0  # what is left of sums that should be 0
    return f"{near:.3g}" if abs(near) < 1000 else f"{near:,.0f}"
