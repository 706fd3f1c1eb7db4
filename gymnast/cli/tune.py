"""`gymnast tune`: measures which settings are fastest on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import click

from gymnast import api
from gymnast.cli.options import echo_json, json_option, parse_assignments, runs_option
from gymnast.cli.tasks import wait_for
from gymnast.errors import UsageError
from gymnast.text import formatting

if TYPE_CHECKING:
    from gymnast.tune.record import TuningResult


class TuneGroup(click.Group):
    """Explains what to write instead of `gymnast tune ENV`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.commands:
            problem = f"gymnast tune has no command {args[0]!r}"
            raise UsageError(problem, fix=f"gymnast tune envs {args[0]}")
        return super().resolve_command(ctx, args)


@click.group(cls=TuneGroup)
def tune() -> None:
    """Measure which settings are fastest on this machine.

    \b
    gymnast tune envs CartPole-v1
    """


@tune.command()
@click.argument("target", metavar="ENV[:VARIANT]")
@click.option("--backends", metavar="A,B", help="Backends to measure. Default: all.")
@click.option("--copies", metavar="N,M", help="Numbers of environment copies. Default: 4,8,16,32.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.1),
    default=2.0,
    show_default=True,
    help="Maximum seconds per backend and number of copies.",
)
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Override a value.")
@runs_option
@json_option
def envs(
    target: str,
    backends: str | None,
    copies: str | None,
    seconds: float,
    assignments: tuple[str, ...],
    runs_dir: str | None,
    as_json: bool,
) -> None:
    """Measure which environment backend, with how many copies, collects experience fastest.

    The policy acts but does not learn. Reported are env steps per second of wall time, and per CPU
    second of all processes. A measurement ends early once it is accurate to 2 %. The best combination
    is printed as a patch for a preset: the configured one if it is among the fastest, otherwise the one
    with the fewest copies. The patch does not change the learning problem: with more copies, each
    collects fewer steps, so that an update uses as many steps as before.

    \b
    gymnast tune envs CartPole-v1
    gymnast tune envs LunarLander-v3 --backends inprocess,process --copies 8,16
    gymnast tune envs py:my_env.env:MyEnv --seconds 5 --json

    The machine should be idle otherwise.
    """
    task = api.tune_envs(
        target,
        backends=backends.split(",") if backends else (),
        copies=_counts(copies) if copies else (),
        seconds=seconds,
        overrides=parse_assignments(assignments),
    )
    result = wait_for(task, "measuring")
    if as_json:
        echo_json(result)
    else:
        click.echo("\n".join(_page(result)))


def _counts(text: str) -> list[int]:
    """Returns the numbers in the value of --copies, such as `4,16`; raises UsageError unless all
    are from 1 to 65,536."""
    words = text.split(",")
    if not all(word.isdecimal() and 0 < int(word) <= 65_536 for word in words):
        raise UsageError(
            f"--copies {text} is not a list of numbers", fix="write e.g. --copies 4,16"
        )
    return [int(word) for word in words]


def _page(result: TuningResult) -> Iterator[str]:
    """Yields the lines of the page: the measurements, the backends that cannot be used, advice, and
    the patch as YAML and as options of `gymnast train`."""
    yield f"{result.target} on {formatting.count_noun(result.cores, 'core')}: collecting without learning\n"
    head = ("backend", "copies", "steps/s", "steps/CPU-s", "env", "resumes exactly", "")
    lines = [
        (
            sample.backend,
            str(sample.n_envs),
            f"{sample.per_second:,.0f}",
            f"{sample.per_cpu_second:,.0f}",
            f"{sample.env_share:.0%}",
            "yes" if sample.restores else "no",
            "<- best" if sample == result.best else "",
        )
        for sample in result.samples
        if not sample.refused
    ]
    yield formatting.table(head, lines, right="copies steps/s steps/CPU-s env")
    yield from (
        f"{sample.backend}: {sample.refused}" for sample in result.samples if sample.refused
    )
    yield ""
    yield from result.advice
    if result.patch:
        yield "\nfor a preset:\n"
        yield from _yaml(result.patch)
        yield "\nor on the command line:\n"
        settings = [
            f"--set {s}.{k}={v}" for s, more in result.patch.items() for k, v in more.items()
        ]
        yield f"gymnast train {result.target} {' '.join(settings)}"


def _yaml(patch: Mapping[str, Mapping[str, int | str]]) -> Iterator[str]:
    for section, settings in patch.items():
        yield f"{section}:"
        yield from (f"  {key}: {value}" for key, value in settings.items())
