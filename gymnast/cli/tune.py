"""`gymnast tune`: what is fastest on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.cli.progress import progress
from gymnast.errors import UsageError
from gymnast.processes.env_output import separate_env_output
from gymnast.text import wording

if TYPE_CHECKING:
    from gymnast.tune.copies import Tuned


@click.group()
def tune() -> None:
    """Measure what is fastest on this machine."""


@tune.command()
@click.argument("target", metavar="ENV[:VARIANT]")
@click.option("--backends", metavar="A,B", help="Which backends. Default: all.")
@click.option("--copies", metavar="N,M", help="Numbers of copies. Default: 4,8,16,32.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.1),
    default=2.0,
    show_default=True,
    help="Longest measurement of one backend with one number of copies.",
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
    """Which backend, with how many copies, collects experience fastest here.

    The network acts, nothing is learned: env steps per second by the clock, and per second of CPU of
    all processes. A measurement ends early once it is sure to 2 %. The best is printed as a patch
    to paste into a preset: what is configured, or else the fewest copies that are as fast as any.
    The patch does not change the learning problem: with more copies each collects less, so that an
    update learns from as many steps as before.

    \b
    gymnast tune envs CartPole-v1
    gymnast tune envs LunarLander-v3 --backends inprocess,process --copies 8,16
    gymnast tune envs py:my_env.env:MyEnv --seconds 5 --json

    The machine should do nothing else meanwhile.
    """
    from gymnast.config.families import has_roles
    from gymnast.config.resolve import parse_assignment, resolve
    from gymnast.training.lifecycle.prepare import prepare
    from gymnast.tune.copies import BACKENDS, COPIES, tune_copies

    chosen = backends.split(",") if backends else BACKENDS
    if unknown := [name for name in chosen if name not in BACKENDS]:
        raise UsageError(f"no backend {unknown[0]}", fix=f"the backends are {', '.join(BACKENDS)}")
    counts = _counts(copies) if copies else COPIES
    if has_roles(resolve(target).config.env.id):
        what = f"{target} has several roles, whose matches are stepped in one way only"
        fix = "compare speed/env_steps of short trainings: gymnast train --set env.n_envs=N"
        raise UsageError(what, fix=fix)
    with separate_env_output(), progress("measuring") as told:
        prepared = prepare(target, dict(map(parse_assignment, assignments)))
        prepared.collector.close()
        resolved = prepared.resolved
        found = tune_copies(
            resolved.preset,
            resolved.config,
            backends=chosen,
            copies=counts,
            seconds=seconds,
            beat=told,
        )
    if as_json:
        echo_json(found.as_json())
    else:
        click.echo("\n".join(_page(found)))


def _counts(text: str) -> list[int]:
    words = text.split(",")
    if not all(word.isdecimal() and 0 < int(word) <= 65_536 for word in words):
        raise UsageError(f"--copies {text} are no numbers of copies", fix="such as --copies 4,16")
    return [int(word) for word in words]


def _page(found: Tuned) -> Iterator[str]:
    yield f"{found.target} on {wording.counted(found.cores, 'core')}: collecting, nothing learned\n"
    head = ("backend", "copies", "steps/s", "steps/CPU-s", "env", "resumes exactly", "")
    lines = [
        (
            one.backend,
            str(one.n_envs),
            f"{one.per_second:,.0f}",
            f"{one.per_cpu_second:,.0f}",
            f"{one.env_share:.0%}",
            "yes" if one.restores else "no",
            "<- best" if one == found.best else "",
        )
        for one in found.samples
        if not one.refused
    ]
    yield wording.table(head, lines, right="copies steps/s steps/CPU-s env")
    yield from (f"{one.backend}: {one.refused}" for one in found.samples if one.refused)
    yield ""
    yield from found.advice
    if found.patch:
        yield "\nfor a preset:\n"
        yield from _yaml(found.patch)
        yield "\nor on the command line:\n"
        settings = [
            f"--set {s}.{k}={v}" for s, more in found.patch.items() for k, v in more.items()
        ]
        yield f"gymnast train {found.target} {' '.join(settings)}"


def _yaml(patch: dict[str, Any]) -> Iterator[str]:
    for section, settings in patch.items():
        yield f"{section}:"
        yield from (f"  {key}: {value}" for key, value in settings.items())
