"""`gymnast doctor`: diagnoses a run and suggests a config patch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gymnast import api
from gymnast.api import foreground
from gymnast.cli.options import allow_code_option, echo_json, json_option, runs_option
from gymnast.errors import UsageError

if TYPE_CHECKING:
    from gymnast.insight.doctor import Diagnosis
    from gymnast.insight.treatment import Treatment


@click.command()
@click.argument("refs", nargs=-1, metavar="RUN [RUN]...")
@click.option(
    "--apply",
    "apply_it",
    is_flag=True,
    help="Train the first run again with the patch, same seed and budget, and compare.",
)
@click.option(
    "--env",
    default="",
    metavar="ENV",
    help="Environment of a foreign run, for its threshold and its number of actions.",
)
@click.option(
    "--threshold", type=float, metavar="N", help="Mean return from which a foreign run is solved."
)
@click.option(
    "--map",
    "column_map",
    metavar="FILE",
    help="Column map for a foreign run with other names (docs/foreign-runs.md).",
)
@runs_option
@allow_code_option
@json_option
def doctor(
    refs: tuple[str, ...],
    apply_it: bool,
    env: str,
    threshold: float | None,
    column_map: str | None,
    runs_dir: str | None,
    as_json: bool,
) -> int:
    """Diagnose what went wrong with a run: causes, evidence, and what to change.

    The outcome comes first: a run that ended below its threshold, or no better than it started, is
    never healthy. Then follow the likely causes, judged by the run's metrics, its preset, and the
    stored runs of the preset. The patch addresses the first cause for which there is a change; it
    changes how the agent learns, never how it is evaluated. If no known cause matches, unusual metrics
    are listed.

    RUN may also be a run that another program made: the path of a TensorBoard directory, of SB3's
    progress.csv or of a W&B offline run, or wandb:ENTITY/PROJECT/RUN. The advice then names
    hyperparameters of that library, and checks that its missing metrics rule out are listed.

    \b
    gymnast doctor                     the last run
    gymnast doctor k3jx 7fqa --json
    gymnast doctor @last --apply       train it again with the patch, and compare
    gymnast doctor logs/ppo_sb3/       a run of Stable-Baselines3
    gymnast doctor runs/PPO_1/ --env CartPole-v1
    """
    diagnoses = [
        api.doctor(ref, env=env, threshold=threshold, column_map=column_map, runs_dir=runs_dir)
        for ref in refs or ("@last",)
    ]
    treated = None
    if apply_it and diagnoses[0].foreign is not None:
        problem = (
            f"{diagnoses[0].run} is a run of another program, which gymnast cannot train again"
        )
        raise UsageError(problem, fix="change its hyperparameters there")
    if not as_json:
        from gymnast.insight.diagnosis_text import diagnosis_text

        click.echo("\n\n".join(map(diagnosis_text, diagnoses)))
    if apply_it:
        treated = _apply(refs[0] if refs else "@last", diagnoses[0], runs_dir, quiet=as_json)
    if as_json:
        echo_json({"diagnoses": diagnoses, "treated": treated})
    return 1 if treated is not None and not treated.ok else 0


def _apply(ref: str, diagnosis: Diagnosis, runs_dir: str | None, *, quiet: bool) -> Treatment:
    """Trains the run again with the patch of its diagnosis, and compares the two runs. `quiet` prints nothing
    but errors."""
    report = None if quiet else click.echo
    treated = foreground.treat_here(ref, diagnosis.changes, report=report, runs_dir=runs_dir)
    for text in treated.errors:
        click.echo(text, err=True)
    if treated.run is not None and not quiet:
        from gymnast.insight.comparison_text import comparison_page

        compared = api.compare((diagnosis.run, treated.run), runs_dir=runs_dir)
        click.echo("\n" + comparison_page(compared))
    return treated
