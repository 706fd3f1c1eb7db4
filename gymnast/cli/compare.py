"""`gymnast compare`: scores, evaluation curves and configs of several runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gymnast import api
from gymnast.cli.options import echo_json, json_option, runs_option

if TYPE_CHECKING:
    from gymnast.insight.compare import Comparison, MeanInterval
    from gymnast.runs.summary import Learning


@click.command()
@click.argument("refs", nargs=-1, required=True, metavar="RUN|GROUP RUN|GROUP...")
@click.option(
    "--x",
    type=click.Choice(["vec_steps", "env_steps", "updates", "seconds"]),
    default="vec_steps",
    show_default=True,
    help="Clock on the x-axis of the curves.",
)
@runs_option
@json_option
def compare(refs: tuple[str, ...], x: str, runs_dir: str | None, as_json: bool) -> None:
    """Compare two or more runs: scores, evaluation curves and config differences.

    The default x-axis is vec_steps, which is fair to runs with different numbers of environments;
    env_steps compares sample efficiency. `area` is the mean height of the curve over the range that
    all curves cover; `of-goal` is the area of `gymnast show`. A group of seeds, named by its id or
    name, is compared by its means over seeds, with 95 % intervals.

    \b
    gymnast compare k3jx 7fqa
    gymnast compare @best:CartPole-v1 @last --x env_steps
    gymnast compare try-1 try-2 try-3 --json
    gymnast compare g1f3a9c02 wide             groups of --seeds
    """
    comparison = api.compare(refs, x, runs_dir=runs_dir)
    if as_json:
        echo_json(comparison)
    else:
        click.echo(comparison_page(comparison))


def comparison_page(comparison: Comparison) -> str:
    """Formats a comparison: scores, chart of the curves, config differences."""
    scores = _group_scores if comparison.groups else _scores
    return "\n\n".join([scores(comparison), comparison_chart(comparison), _configs(comparison)])


def comparison_chart(comparison: Comparison, *, width: int = 72, height: int = 16) -> str:
    """Draws the evaluation curves of a comparison in one chart, as text; `width` and `height` are
    in characters. Groups of seeds have one mean curve each."""
    curves = {group.name: group.curve for group in comparison.groups}
    curves = curves or {run.label: run.curve for run in comparison.runs}
    from gymnast.text.chart import line_chart

    series = {name: (curve.x, curve.y) for name, curve in curves.items()}
    return line_chart(series, width=width, height=height, x_label=comparison.x)


def _scores(comparison: Comparison) -> str:
    """Returns the table of runs, with a note about the range of the areas and an explanation of the
    columns."""
    from gymnast.insight.page import score_text
    from gymnast.text import formatting

    clocks = tuple(dict.fromkeys(("env_steps", comparison.x)))
    head = ("id", "name", "preset", "status", "score", "area", "of-goal")
    head = (*head, "goal-steps", "goal-time", *clocks, "time")
    lines = [
        (
            run.id,
            run.name,
            f"{run.preset} #{run.seed}",
            run.status,
            score_text(run.score),
            "-" if run.area is None else formatting.number(run.area),
            *_goal(run.learning),
            *(formatting.count(run.clocks.get(clock)) for clock in clocks),
            formatting.duration(run.clocks.get("seconds")),
        )
        for run in comparison.runs
    ]
    note = "no area: the evaluation curves do not overlap on this axis"
    if comparison.range:
        low, high = comparison.range
        note = f"area: mean evaluation return over {low:,.0f} to {high:,.0f} {comparison.x}"
    right = f"area of-goal goal-steps goal-time env_steps {comparison.x} time"
    return "\n".join([formatting.table(head, lines, right=right), note, _OF_GOAL])


def _group_scores(comparison: Comparison) -> str:
    """Returns the table of the groups of seeds and, for two groups, the difference of their scores."""
    from gymnast.text import formatting

    def over_seeds(value: MeanInterval | None) -> str:
        if value is None:
            return "-"
        if value.low is None or value.high is None:
            return formatting.number(value.mean)
        return formatting.interval(value.mean, value.low, value.high)

    head = ("group", "preset", "seeds", "scored", "solved", "score", "IQM", "area", "goal-steps")
    lines = [
        (
            group.name,
            group.preset,
            str(group.runs),
            str(group.scored),
            str(group.solved),
            over_seeds(group.score),
            "-" if group.iqm is None else formatting.number(group.iqm),
            over_seeds(group.area),
            over_seeds(group.steps_to_threshold) + f" ({group.reached} of {group.runs})",
        )
        for group in comparison.groups
    ]
    table = formatting.table(head, lines, right="seeds scored solved IQM")
    notes = [
        "means over seeds with 95 % bootstrap intervals; goal-steps over the seeds that reached the goal"
    ]
    if comparison.difference is not None:
        first, second = (group.name for group in comparison.groups)
        difference = over_seeds(comparison.difference)
        notes.append(f"score of {first} minus score of {second}: {difference}")
    return "\n".join([table, *notes])


_OF_GOAL = (
    "of-goal: area over the whole budget, 0 at the first return and 1 at the threshold; the last "
    "evaluation of a finished run is extended over the steps it did not use\n"
    "goal-steps, goal-time: until the lower bound of an evaluation reached the threshold"
)


def _goal(learning: Learning | None) -> tuple[str, str, str]:
    """Returns three cells of a run's line: area relative to the goal, env steps and time until the
    threshold was reached. `learning` is None if there was no evaluation."""
    from gymnast.text import formatting

    if learning is None:
        return "-", "-", "-"
    steps, seconds = learning.steps_to_threshold, learning.seconds_to_threshold
    return formatting.area(learning.area), formatting.count(steps), formatting.duration(seconds)


def _configs(comparison: Comparison) -> str:
    """Returns the table of settings that differ, with a column per run or group; a sentence if
    there are none, or if the configs cannot be read."""
    from gymnast.text import formatting

    if comparison.config_problem:
        return f"configs cannot be compared: {comparison.config_problem}"
    if not comparison.config:
        return "the configs are identical"
    sides = [group.name for group in comparison.groups]
    head = ("config", *(sides or (run.id for run in comparison.runs)))
    lines = [(entry.key, *map(str, entry.values)) for entry in comparison.config]
    return formatting.table(head, lines)
