"""The command line. Each verb lives in its own module, imported only when it is called."""

from __future__ import annotations

import errno
import importlib
import os
import sys

import click

from gymnast.errors import GymnastError

VERBS = {
    "train": "train",
    "resume": "train",
    "eval": "evaluate",
    "league": "league",
    "net": "net",
    "play": "play",
    "video": "video",
    "stop": "control",
    "pause": "control",
    "unpause": "control",
    "checkpoint": "control",
    "evaluate": "control",
    "set": "control",
    "jobs": "jobs",
    "logs": "jobs",
    "wait": "jobs",
    "runs": "runs",
    "show": "runs",
    "rows": "runs",
    "export": "export",
    "compare": "compare",
    "report": "report",
    "doctor": "doctor",
    "audit": "audit",
    "presets": "presets",
    "metrics": "metrics",
    "config": "config",
    "check": "check",
    "tune": "tune",
    "reproduce": "reproduce",
    "init": "init",
}
"""Verb -> module that defines a click command of that name; `eval_` and `set_` where Python has one."""


class LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"gymnast.cli.{VERBS[cmd_name]}")
        return getattr(module, f"{cmd_name}_" if cmd_name in ("eval", "set") else cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(verb, HELP[verb]) for verb in VERBS])


HELP = {
    "train": "Train a policy on an environment or preset.",
    "resume": "Go on with a run from one of its checkpoints.",
    "eval": "Score a run's policy on fixed seeds.",
    "league": "Ratings of roles that play each other, and who beats whom.",
    "net": "A network's layers, activations and gradients on one batch.",
    "runs": "List runs; rm, prune, tag and note keep them in order.",
    "play": "Watch a policy, random actions or yourself; record it.",
    "video": "Film an episode of a run as it happened.",
    "stop": "Ask a run or a job to save and stop.",
    "pause": "Ask a run to wait.",
    "unpause": "Let a paused run go on.",
    "checkpoint": "Have a run save now.",
    "evaluate": "Have a run scored now, while it trains.",
    "set": "Change settings of a run while it trains.",
    "jobs": "List background trainings, newest first.",
    "logs": "What a run or job has logged.",
    "wait": "Wait until runs have ended.",
    "show": "Everything about one run.",
    "rows": "A run's metric record as CSV or JSON.",
    "export": "A run's record for other programs: CSV, Parquet, TensorBoard, W&B.",
    "compare": "Two or more runs side by side.",
    "report": "A run as a page with charts, in Markdown and HTML.",
    "doctor": "What went wrong with a run, and what to change.",
    "audit": "What each term of the reward pays, and which of them can be farmed.",
    "presets": "List and search presets.",
    "metrics": "What each number means.",
    "config": "Show, check, format and diff configs.",
    "check": "Find what is wrong with an environment, or with the presets.",
    "tune": "Measure what is fastest on this machine.",
    "reproduce": "Repeat a stored result and say whether it holds.",
    "init": "Begin an environment of your own.",
}
"""One line per verb, said here so that `gymnast --help` imports none of them."""


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="gymnast")
def cli() -> None:
    """Train reinforcement-learning agents, with runs you can trust, resume and read.

    \b
    gymnast train CartPole-v1          train until solved
    gymnast show @last                 what happened
    gymnast resume @last               go on exactly where it stopped
    gymnast eval @last:best --json     score the best checkpoint
    """


def main() -> None:
    # threads of NumPy's that nobody asked for: each costs time at the start; `threads:` adds them
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        code = cli.main(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except GymnastError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:  # the reader of a pipe went away: not our mistake
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        sys.exit(f"error: cannot write the output: {error.strerror}")
