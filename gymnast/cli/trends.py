"""`gymnast trends`: how the metrics of a run developed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gymnast import api
from gymnast.api.trends import RECENT
from gymnast.cli.options import clock_option, echo_json, json_option, runs_option
from gymnast.clock import clock_label
from gymnast.text.chart import short_number

if TYPE_CHECKING:
    from gymnast.insight.trends import MetricTrend


@click.command()
@click.argument("run", default="@last")
@click.option(
    "--metric",
    "names",
    multiple=True,
    metavar="NAME",
    help="Only this metric; a * at its end matches any suffix. Default: those of the live table.",
)
@click.option("--all", "every", is_flag=True, help="All metrics.")
@click.option(
    "--recent",
    type=click.FloatRange(min=0, max=1, min_open=True),
    default=RECENT,
    show_default=True,
    help="Share of the rows that counts as recent.",
)
@clock_option
@runs_option
@json_option
def trends(
    run: str,
    names: tuple[str, ...],
    every: bool,
    recent: float,
    x: str,
    runs_dir: str | None,
    as_json: bool,
) -> None:
    """Say how the metrics of a run developed: over the whole run, recently, and suddenly.

    `better` and `worse` know whether higher or lower values of a metric are better; a metric without such a
    direction is `rising` or `falling`. A change that is not larger than the noise is `flat`.

    \b
    gymnast trends @last
    gymnast trends @last --metric episode/return --metric 'policy/*'
    gymnast trends @last --recent 0.1 --json
    """
    chosen = ("*",) if every else names
    found = api.trends(run, chosen, x=x, recent=recent, runs_dir=runs_dir)
    if as_json:
        echo_json(found)
        return
    width = max((len(trend.key) for trend in found.trends), default=0)
    for trend in found.trends:
        click.echo(f"{trend.key:<{width}}  {trend.text}{_jump(trend)}{_health(trend)}")
    if found.trends:
        click.echo(f"positions are in {clock_label(found.x)}")
    if len(found.trends) < found.total:
        click.echo(f"{len(found.trends)} of {found.total} metrics; --all has them all")


def _jump(trend: MetricTrend) -> str:
    """Returns the largest sudden change of a metric, unless it is only noise or the collapse."""
    jump = trend.jump
    if jump is None or not jump.exceeds_noise or trend.collapse is not None:
        return ""
    values = f"{short_number(jump.before)} to {short_number(jump.after)}"
    return f"; largest jump {values} at {short_number(jump.at)}"


def _health(trend: MetricTrend) -> str:
    return "; not healthy" if trend.healthy is False else ""
