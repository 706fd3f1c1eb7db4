"""`gymnast tune`: finds better settings, of the backend on this machine and of a preset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, get_args

import click

from gymnast import api
from gymnast.api import sweep_prepare as sweeps
from gymnast.api.sweep_options import TuningGoal
from gymnast.cli import sweep_text
from gymnast.cli.options import echo_json, json_option, parse_assignments, runs_option
from gymnast.cli.sweep_start import run_study
from gymnast.cli.tasks import wait_for
from gymnast.errors import UsageError
from gymnast.text import formatting

if TYPE_CHECKING:
    from gymnast.tune.record import ScaleResult, TuningResult


class TuneGroup(click.Group):
    """Explains what to write instead of `gymnast tune ENV`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.commands:
            problem = f"gymnast tune has no command {args[0]!r}"
            fix = f"gymnast tune preset {args[0]}, or gymnast tune envs {args[0]}"
            raise UsageError(problem, fix=fix)
        return super().resolve_command(ctx, args)


@click.group(cls=TuneGroup)
def tune() -> None:
    """Find better settings: the fastest backend on this machine, or a better preset.

    \b
    gymnast tune envs CartPole-v1
    gymnast tune preset CartPole-v1 --minutes 10
    gymnast tune scale HalfCheetah-v5
    """


@tune.command()
@click.argument("target", metavar="ENV[:VARIANT]")
@click.option(
    "--minutes",
    type=click.FloatRange(min=0.5),
    default=sweeps.MINUTES,
    show_default=True,
    help="Wall time, the confirmation included.",
)
@click.option(
    "--objective",
    type=click.Choice(get_args(TuningGoal)),
    default="area",
    show_default=True,
    help="What better means: learning fast and ending high, or only the return at the end.",
)
@click.option("--out", metavar="FILE", help="Write the variant to this file, if it is better.")
@click.option("--name", default="", help="Name of the study. Default: made from the environment.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed of the proposals.")
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Runs at once."
)
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Fix a value.")
@click.option("--dry-run", is_flag=True, help="Only show what would be searched.")
@click.option("--detach", is_flag=True, help="Run in the background, and return at once.")
@runs_option
@json_option
def preset(
    target: str,
    minutes: float,
    objective: TuningGoal,
    out: str | None,
    name: str,
    seed: int,
    jobs: int,
    assignments: tuple[str, ...],
    dry_run: bool,
    detach: bool,
    runs_dir: str | None,
    as_json: bool,
) -> int:
    """Look for better hyperparameters of a preset, and confirm them against it on fresh seeds.

    This is a search (gymnast sweep) around the values of the preset, or of the defaults if there is none.
    The most important parameters come first; a short time searches fewer of them, with shorter runs. The
    winner and the preset are trained again on five fresh seeds, or on at least three if the time is short.
    The result is a variant in YAML, with its evidence.

    \b
    gymnast tune preset CartPole-v1 --minutes 10
    gymnast tune preset MountainCarContinuous-v0 --minutes 10 --jobs 2 --out tuned.yaml
    gymnast tune preset Acrobot-v1 --objective score
    gymnast tune preset LunarLander-v3 --set stop.env_steps=200k --detach

    Ctrl-C loses nothing: gymnast sweep resume.
    """
    planned = sweeps.plan_tuning(
        target,
        minutes=minutes,
        overrides=parse_assignments(assignments),
        jobs=jobs,
        seed=seed,
        objective=objective,
        runs_dir=runs_dir,
    )
    estimate = planned.prepared.estimate
    if dry_run and as_json:
        echo_json(estimate)
        return 0
    click.echo("\n".join(sweep_text.plan_lines(estimate)), err=as_json)
    if planned.shortened:
        click.echo(
            f"  runs are shortened to {estimate.rungs[-1]:,} env steps to fit into the time",
            err=as_json,
        )
    if dry_run:
        return 0
    study = sweeps.create(planned.prepared, name, jobs=jobs, runs_dir=runs_dir)
    return run_study(study, detach=detach, as_json=as_json, reopen=False, out=out)


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
    collects fewer steps, so that an update uses as many steps as before. If rewards are so rare that a
    rollout hardly contains any, a second command has a larger algo.n_steps.

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


@tune.command()
@click.argument("target", metavar="ENV[:VARIANT]")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.1),
    default=3.0,
    show_default=True,
    help="Maximum seconds per measurement.",
)
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Override a value.")
@runs_option
@json_option
def scale(
    target: str,
    seconds: float,
    assignments: tuple[str, ...],
    runs_dir: str | None,
    as_json: bool,
) -> None:
    """Measure where the time of a run goes, and what more hosts would change.

    Collects and learns in one process, then collects with one and two local hosts and with central
    inference. From that it predicts the speed with more hosts, each with a core of its own, and recommends
    a number of hosts and a mode, or one process.

    \b
    gymnast tune scale HalfCheetah-v5
    gymnast tune scale py:my_env.env:MyEnv --set env.n_envs=32 --json

    The machine should be idle otherwise.
    """
    task = api.tune_scale(target, seconds=seconds, overrides=parse_assignments(assignments))
    result = wait_for(task, "measuring")
    if as_json:
        echo_json(result)
    else:
        click.echo("\n".join(_scale_page(result)))


def _scale_page(result: ScaleResult) -> Iterator[str]:
    """Yields the lines of the page: predicted speeds, advice, and the settings."""
    cores = formatting.count_noun(result.cores, "core")
    yield f"{result.target} on {cores}: {result.speed_here:,.0f} env steps per second in one process\n"
    lines = [
        (
            str(p.hosts),
            f"{p.sync:,.0f}",
            "" if p.overlap is None else f"{p.overlap:,.0f}",
            f"{p.sync * result.bytes_per_step / 1e6:,.1f}",
        )
        for p in result.predictions
    ]
    head = ("hosts", "steps/s", "overlapped", "MB/s")
    yield formatting.table(head, lines, right=" ".join(head))
    yield "Predicted, with one core per host; MB/s is what the training process receives.\n"
    yield from result.advice
    yield from _patch_lines(result.target, result.patch)


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
    yield from _patch_lines(result.target, result.patch)
    if longer := result.longer_rollouts:
        yield "\nlonger rollouts, which contain about two rewards or more, and change what is learned:\n"
        yield _command(result.target, longer)


def _patch_lines(target: str, patch: Mapping[str, Mapping[str, int | str]]) -> Iterator[str]:
    """Yields a patch as YAML and as options of `gymnast train`; nothing if it is empty."""
    if patch:
        yield "\nfor a preset:\n"
        yield from _yaml(patch)
        yield "\nor on the command line:\n"
        yield _command(target, patch)


def _command(target: str, patch: Mapping[str, Mapping[str, int | str]]) -> str:
    settings = [f"--set {s}.{k}={v}" for s, more in patch.items() for k, v in more.items()]
    return f"gymnast train {target} {' '.join(settings)}"


def _yaml(patch: Mapping[str, Mapping[str, int | str]]) -> Iterator[str]:
    for section, settings in patch.items():
        yield f"{section}:"
        yield from (f"  {key}: {value}" for key, value in settings.items())
