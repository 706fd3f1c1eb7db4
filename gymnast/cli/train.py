"""`gymnast train` and `gymnast resume`."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypedDict, TypeVar, Unpack

import click

from gymnast.api import foreground
from gymnast.cli.confirmation import DECLINED, confirm_start, require_terminal
from gymnast.cli.options import (
    allow_code_option,
    echo_json,
    jobs_option,
    json_option,
    parse_assignments,
    runs_option,
    track_option,
)
from gymnast.cli.studio import background_link
from gymnast.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from gymnast.training.foreground import Show

Command = TypeVar("Command", bound=Callable[..., object])
P = ParamSpec("P")
OPTIONS = {
    "stop.env_steps": ("--env-steps", "env_steps"),
    "stop.vec_steps": ("--vec-steps", "vec_steps"),
    "stop.updates": ("--updates", "updates"),
    "stop.rollouts": ("--rollouts", "rollouts"),
    "stop.minutes": ("--minutes", "minutes"),
    "track.to": ("--track", "trackers"),
    "traces.data": ("--data", "data"),
    "seed": ("--seed", "seed"),
}
"""Config key -> the option that sets it, and its name as click passes it."""


class SharedOptions(TypedDict):
    """Options that `train` and `resume` share, as click passes them."""

    assignments: tuple[str, ...]
    env_steps: str | None
    vec_steps: str | None
    updates: str | None
    rollouts: str | None
    minutes: str | None
    debug: bool
    trackers: tuple[str, ...]
    pinned: tuple[str, ...]
    name: str
    tags: tuple[str, ...]
    detach: bool
    max_jobs: int | None
    jobs_on: str | None
    requeue: bool


class TrainOptions(SharedOptions):
    algo: str | None
    seed: int | None
    seeds: int | None
    jobs: int
    source: str | None
    data: str | None
    dry_run: bool
    ask: bool
    studio: bool


class ResumeOptions(SharedOptions):
    at: str
    fresh_optimizer: bool


detach_option = click.option(
    "--detach", is_flag=True, help="Train in the background; queued if too many jobs run."
)
max_jobs_option = click.option(
    "--max-jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --detach: at most N jobs at once. Default: $GYMNAST_JOBS, or one per core.",
)
jobs_on_option = click.option(
    "--jobs-on",
    metavar="PROVIDER",
    help="Train in the background elsewhere: a provider of the settings file, slurm, ray[:ADDRESS],"
    " ssh:HOST, local, or a command with {command} in it.",
)


def names_its_options(command: Callable[P, int]) -> Callable[P, int]:
    """Lets the problems of a config that this command raises name the option that set the value, in place
    of --set."""

    @wraps(command)
    def named(*args: P.args, **options: P.kwargs) -> int:
        try:
            return command(*args, **options)
        except ConfigError as error:
            used = {key: flag for key, (flag, name) in OPTIONS.items() if options.get(name)}
            raise error.with_origins(used) from None

    return named


def training_options(command: Command) -> Command:
    """Adds the options that `train` and `resume` share: overrides, budgets, output."""
    # Decorators apply from the bottom up; reversed, so that --help lists them in this order.
    for option in reversed(
        (
            click.option(
                "--set",
                "assignments",
                multiple=True,
                metavar="KEY=VALUE",
                help="Override a config value, e.g. 'algo.lr=3e-4 -> 0', in quotes. Repeatable.",
            ),
            click.option("--env-steps", metavar="N", help="Budget in env steps: 50k, 2M."),
            click.option(
                "--vec-steps", metavar="N", help="Budget in steps of the vectorized environment."
            ),
            click.option("--updates", metavar="N", help="Budget in gradient steps."),
            click.option("--rollouts", metavar="N", help="Budget in rollouts."),
            click.option("--minutes", metavar="N", help="Budget in wall time."),
            click.option(
                "--debug",
                is_flag=True,
                help="Run everything in one process with extra checks: the same results, slower.",
            ),
            track_option,
            click.option(
                "--pin",
                "pinned",
                multiple=True,
                metavar="METRIC",
                help="Also show this metric during training, e.g. optim/grad_norm_critic. Repeatable.",
            ),
            click.option("--quiet", is_flag=True, help="Print only the final result."),
            runs_option,
            json_option,
        )
    ):
        command = option(command)
    return command


@click.command()
@click.argument("target", metavar="ENV[:VARIANT]")
@training_options
@click.option(
    "--algo",
    metavar="NAME",
    help="Use this algorithm instead of the preset's; py:package.module:Class for your own.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Root seed of all randomness.")
@click.option("--seeds", type=click.IntRange(min=1), metavar="N", help="Train N seeds as a group.")
@jobs_option
@click.option(
    "--from", "source", metavar="RUN[:CHECKPOINT]", help="Start from another run's weights."
)
@click.option("--name", default="", help="A name for the run; with --seeds: NAME-s0, NAME-s1, ...")
@click.option("--tag", "tags", multiple=True, help="A tag for the run. Repeatable.")
@click.option(
    "--data",
    metavar="DIR",
    help="Data directory of the run (traces.data). Default: $GYMNAST_DATA, or `data` next to the runs.",
)
@detach_option
@max_jobs_option
@jobs_on_option
@click.option(
    "--requeue",
    is_flag=True,
    help="Continue the run with this --name if it exists; SIGUSR1 requeues a SLURM job. With --jobs-on:"
    " continue the run after a preemption.",
)
@click.option(
    "--studio",
    is_flag=True,
    help="Print a link to the live page of the run. A studio in the background serves it, also after"
    " training; it ends half an hour after the last page was closed and the last run ended.",
)
@click.option("--dry-run", is_flag=True, help="Show what would happen; write nothing.")
@click.option(
    "--ask",
    is_flag=True,
    help="Show what would happen and ask before starting. No, or Ctrl-C, writes nothing.",
)
@allow_code_option
@names_its_options
def train(
    target: str,
    runs_dir: str | None,
    as_json: bool,
    quiet: bool,
    **options: Unpack[TrainOptions],
) -> int:
    """Train a policy until the environment is solved or the budget is used up.

    \b
    gymnast train CartPole-v1
    gymnast train CartPole-v1:ppo --set 'algo.lr=3e-3 -> 0' --env-steps 50k --seed 0
    gymnast train LunarLander-v3 --seeds 5 --jobs 2
    gymnast train LunarLander-v3 --from @best:LunarLander-v3
    gymnast train LunarLander-v3 --detach          in the background: gymnast jobs
    gymnast train LunarLander-v3 --seeds 20 --jobs-on slurm --requeue
    gymnast train LunarLander-v3 --studio          with a live page in the browser
    gymnast train CartPole-v1 --track wandb        offline, until `wandb sync`; also tensorboard

    --ask exits with 1 if the answer is no, and with 130 on Ctrl-C at the prompt.

    Ctrl-C saves a checkpoint and stops; `gymnast resume @last` continues exactly there. In a terminal,
    keys are commands: c checkpoint, e evaluate, p pause, s stop, ? shows them.
    """
    overrides = _overrides(options)
    if options["data"] is not None:
        # Absolute, since a run in the background may have another working directory.
        overrides["traces.data"] = os.path.abspath(os.path.expanduser(options["data"]))
    request = foreground.TrainRequest(
        target,
        overrides,
        algo=options["algo"],
        seed=options["seed"],
        source=options["source"],
        name=options["name"],
        tags=options["tags"],
        debug=options["debug"],
        requeue=options["requeue"] and options["jobs_on"] is None,
    )
    if options["ask"]:
        require_terminal()
    options["detach"] = options["detach"] or options["jobs_on"] is not None
    in_background, seeds = options["detach"], options["seeds"]
    if in_background or seeds is not None:
        _refuse_pinned(options)
        if request.requeue:
            problem = "--requeue needs one run in the foreground, or --jobs-on"
            raise UsageError(problem, fix="start one run per job")
    if in_background or seeds is not None or options["dry_run"]:
        from gymnast.cli import launching

        if options["studio"] and not options["dry_run"]:
            click.echo(background_link(runs_dir)(""), err=as_json)
        return launching.launch(request, options, runs_dir, as_json=as_json, quiet=quiet)
    # Started here, because processes that are started during training end with it.
    link = background_link(runs_dir) if options["studio"] else None
    result = foreground.train_here(
        request,
        show=_show(quiet=quiet, as_json=as_json),
        pinned=options["pinned"],
        agreed=confirm_start if options["ask"] else None,
        announce=None if link is None else lambda run: link(f"run/{run}"),
        runs_dir=runs_dir,
    )
    if result is None:  # --ask was answered with no
        return DECLINED
    if as_json:
        echo_json(result)
    return result.exit_code


@click.command()
@click.argument("run", metavar="RUN", default="@last")
@training_options
@click.option(
    "--at", default="latest", metavar="CHECKPOINT", help="best, latest, or env steps: 120k."
)
@click.option("--fresh-optimizer", is_flag=True, help="Discard the optimizer state.")
@click.option("--name", default="", help="A name for the branch.")
@click.option("--tag", "tags", multiple=True, help="A tag for the branch. Repeatable.")
@detach_option
@max_jobs_option
@jobs_on_option
@click.option("--requeue", is_flag=True, help="With --jobs-on: continue it after a preemption.")
@allow_code_option
@names_its_options
def resume(
    run: str,
    runs_dir: str | None,
    as_json: bool,
    quiet: bool,
    **options: Unpack[ResumeOptions],
) -> int:
    """Continue a run exactly from its last checkpoint.

    With an earlier checkpoint (--at), a new run branches off there; the old run is not changed.

    \b
    gymnast resume @last
    gymnast resume @last --env-steps 200k          a larger budget: the new total
    gymnast resume 3f2a --set algo.lr=1e-4 --at 120k --name slower
    gymnast resume @last --track tensorboard       replaces the trackers of the run
    gymnast resume @last --detach                  in the background: gymnast jobs
    gymnast resume @last --jobs-on slurm           elsewhere
    """
    request = foreground.ResumeRequest(
        run,
        at=options["at"],
        overrides=_overrides(options),
        fresh_optimizer=options["fresh_optimizer"],
        name=options["name"],
        tags=options["tags"],
        debug=options["debug"],
    )
    if options["requeue"] and options["jobs_on"] is None:
        raise UsageError("--requeue of `gymnast resume` needs --jobs-on", fix="omit --requeue")
    if options["detach"] or options["jobs_on"] is not None:
        from gymnast.cli import launching

        _refuse_pinned(options)
        return launching.resume(request, options, runs_dir, as_json=as_json)
    result = foreground.resume_here(
        request,
        show=_show(quiet=quiet, as_json=as_json),
        pinned=options["pinned"],
        runs_dir=runs_dir,
    )
    if as_json:
        echo_json(result)
    return result.exit_code


def _overrides(options: SharedOptions) -> dict[str, object]:
    """Returns the config overrides of the command line: dotted key -> value."""
    budgets = {key: options.get(name) for key, (_, name) in OPTIONS.items() if key[:5] == "stop."}
    values = parse_assignments(options["assignments"])
    values |= {key: budget for key, budget in budgets.items() if budget is not None}
    return values | ({"track.to": list(options["trackers"])} if options["trackers"] else {})


def _refuse_pinned(options: SharedOptions) -> None:
    """Raises UsageError for metrics to be shown if training is in another process."""
    if options["pinned"]:
        raise UsageError("--pin needs training in the foreground", fix="omit --pin")


def _show(*, quiet: bool, as_json: bool) -> Show:
    return "nothing" if as_json else "ending" if quiet else "everything"
