"""The command line. Each command has its own module, which is imported only when it is called."""

from __future__ import annotations

import errno
import importlib
import os
import sys

import click

from gymnast.errors import GymnastError

COMMANDS = {
    "train": "train",
    "resume": "train",
    "eval": "evaluate",
    "league": "league",
    "net": "net",
    "play": "play",
    "rollout": "rollout",
    "video": "video",
    "films": "video",
    "trajectories": "trajectories",
    "stop": "control",
    "pause": "control",
    "unpause": "control",
    "checkpoint": "control",
    "set": "control",
    "jobs": "jobs",
    "logs": "jobs",
    "wait": "jobs",
    "host": "host",
    "runs": "runs",
    "show": "runs",
    "rows": "runs",
    "trends": "trends",
    "chart": "chart",
    "export": "export",
    "compare": "compare",
    "report": "report",
    "monitor": "monitor",
    "doctor": "doctor",
    "inspect": "inspect",
    "review": "review",
    "prompt": "prompt",
    "bundle": "bundle",
    "studio": "studio",
    "mcp": "mcp",
    "audit": "audit",
    "find": "find",
    "docs": "find",
    "presets": "presets",
    "metrics": "metrics",
    "config": "config",
    "check": "check",
    "tune": "tune",
    "sweep": "sweep",
    "reproduce": "reproduce",
    "nightly": "nightly",
    "init": "init",
}
"""Command -> module that defines it; `eval` and `set` are Python builtins and are called `eval_`, `set_`."""


class LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"gymnast.cli.{COMMANDS[cmd_name]}")
        return getattr(module, f"{cmd_name}_" if cmd_name in ("eval", "set") else cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(verb, HELP[verb]) for verb in COMMANDS])


HELP = {
    "train": "Train a policy on an environment or preset.",
    "resume": "Continue a run from one of its checkpoints.",
    "eval": "Evaluate a checkpoint, or with --live a running run, on fixed seeds.",
    "league": "Show self-play ratings of each role, and the cross-play matrix.",
    "net": "Show a network's layers, activations and gradients on one batch.",
    "runs": "List runs; delete, tag or annotate them (rm, prune, tag, note).",
    "play": "Watch a policy or random actions, or play yourself; record it.",
    "rollout": "Play one episode with a policy and store it with the run.",
    "video": "Make a video of a recorded episode.",
    "films": "List or cancel the films that wait to be made after training.",
    "trajectories": "Write stored episodes as JSON lines; rebuild metrics, draw paths, film.",
    "stop": "Save a checkpoint and stop a run or job.",
    "pause": "Pause a run.",
    "unpause": "Continue a paused run.",
    "checkpoint": "Save a checkpoint of a running run now.",
    "set": "Change settings of a run while it trains.",
    "jobs": "List background jobs, newest first.",
    "logs": "Print the log of a run or job.",
    "wait": "Wait until runs or jobs have ended.",
    "host": "Compare another host with this machine before jobs train there.",
    "show": "Show everything about one run.",
    "rows": "Print a run's metrics as CSV or JSON.",
    "trends": "Say which metrics of a run got better or worse, and where they jumped.",
    "chart": "Draw metrics of runs, as text or as a picture.",
    "export": "Export a run's metrics to CSV, Parquet, TensorBoard or W&B.",
    "compare": "Compare runs or groups of seeds.",
    "report": "Write a report with charts, in Markdown and HTML.",
    "monitor": "Write an overview and charts of runs by approach.",
    "doctor": "Diagnose what went wrong with a run, and suggest changes.",
    "review": "Give a run or an episode to a command of yours, and store its review.",
    "prompt": "Print a prompt for an assistant, filled with the data of runs.",
    "bundle": "Write a small archive of a run for a bug report, without anything private.",
    "inspect": "Step through a stored episode: in the studio, as text or as CSV.",
    "studio": "Watch, compare and control runs in the browser.",
    "mcp": "Offer runs and trainings to assistants (MCP).",
    "audit": "Audit reward terms: how much each contributes, and which can be farmed.",
    "find": "Search presets, environments, metrics, settings, documentation and runs.",
    "docs": "Print a page of the documentation.",
    "presets": "List and search presets.",
    "metrics": "Explain the metrics.",
    "config": "Show, check, format and diff configs.",
    "check": "Check an environment, or all presets, for mistakes.",
    "tune": "Find better settings: the fastest backend, a better preset.",
    "sweep": "Search hyperparameters, and confirm the winner on fresh seeds.",
    "reproduce": "Repeat a stored result and report whether it holds.",
    "nightly": "Check everything without supervision, and write one report.",
    "init": "Create a new environment package from a template.",
}
"""One line per command, kept here so that `gymnast --help` imports none of them."""


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="gymnast")
def cli() -> None:
    """Train reinforcement-learning agents.

    \b
    gymnast train CartPole-v1          train until solved
    gymnast show @last                 status, scores and settings of the newest run
    gymnast resume @last               continue exactly where it stopped
    gymnast eval @last:best --json     evaluate the best checkpoint
    gymnast studio                     watch and compare runs in the browser
    """


def main() -> None:
    """Runs the command line and ends the process with its exit code: the number that the command
    returned, else 0; that of a GymnastError or a usage error; 130 after Ctrl-C. Errors that a user
    can fix are printed without a traceback."""
    _open_standard_streams()
    # OpenBLAS starts a thread per core, which takes time at startup; the config key `threads` adds them
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
    except BrokenPipeError:  # the reader of the pipe has exited, e.g. `| head`
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            sys.exit(f"error: cannot write the output: {error.strerror}")
        if error.filename is None or error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        sys.exit(f"error: {error.filename}: {error.strerror}\n  fix: check the permissions")


def _open_standard_streams() -> None:
    """Opens /dev/null for every standard stream that is closed (`>&-`). Otherwise the next file that is
    opened, a database for example, would get its descriptor and everything that is printed."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))
