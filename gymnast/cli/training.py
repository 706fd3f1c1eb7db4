"""The implementation of `train` and `resume`: prepare, show the plan, train, print the result."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Literal, TextIO

import click

from gymnast.cli.confirmation import confirm_start, require_terminal
from gymnast.config.config import Config
from gymnast.config.resolve import parse_assignment
from gymnast.config.sections.stop import BUDGETS
from gymnast.errors import EnvError, UsageError
from gymnast.evaluation.rescore import find_checkpoint
from gymnast.metrics.explain import find as find_metric
from gymnast.metrics.sinks.console import Console
from gymnast.metrics.specs import run_metrics, split_key
from gymnast.processes.env_output import separate_env_output
from gymnast.processes.parent import exit_with_parent
from gymnast.runs import store
from gymnast.runs.run import Run
from gymnast.training.collectors import open_collector
from gymnast.training.lifecycle.debug import detect_anomalies
from gymnast.training.lifecycle.label import Label
from gymnast.training.lifecycle.prepare import PreparedRun, prepare
from gymnast.training.lifecycle.resume import resume
from gymnast.training.lifecycle.start import start_run
from gymnast.training.lifecycle.summary import end_text, preflight_text

Show = Literal["everything", "ending", "nothing"]
"""Output of a training: the live table and the result, the result only, or nothing."""


def overrides(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the config overrides of the command line: dotted key -> value."""
    values = dict(parse_assignment(text) for text in options["assignments"])
    values |= {f"stop.{name}": options[name] for name in BUDGETS if options[name] is not None}
    if options["trackers"]:
        values["track.to"] = list(options["trackers"])
    return values if options.get("seed") is None else values | {"seed": options["seed"]}


def train_with_options(
    target: str,
    options: Mapping[str, Any],
    runs_dir: str | None,
    *,
    show: Show,
    claimed: Path | None = None,
) -> dict[str, Any] | None:
    """Trains one run with the options of `gymnast train`, in the directory `claimed` if given.

    Returns its summary; None if the answer to --ask is no."""
    with debugging(options["debug"]):
        return train_one(
            target,
            overrides(options),
            algo=options["algo"],
            source=options["source"],
            label=(options["name"], options["group"], options["tags"]),
            runs_dir=runs_dir,
            dry_run=options["dry_run"],
            ask=options["ask"],
            debug=options["debug"],
            pinned=options["pinned"],
            show=show,
            claimed=claimed,
            rerun_resumes=options["requeue"],
        )


def train_one(
    target: str,
    settings: dict[str, Any],
    *,
    algo: str | None,
    source: str | None,
    label: tuple[str, str | None, tuple[str, ...]],
    runs_dir: str | None,
    dry_run: bool,
    ask: bool,
    debug: bool,
    show: Show,
    pinned: Sequence[str] = (),
    claimed: Path | None = None,
    rerun_resumes: bool = False,
) -> dict[str, Any] | None:
    """Trains one run. Returns its summary, the plan after a dry run, or None if the answer to `ask`
    is no.

    `settings`: overrides, dotted key -> value. `source`: the run or checkpoint whose weights it
    starts from. `label`: name, group and tags of the run. `pinned`: metrics that are always shown.
    `claimed`: the run directory, if it was reserved before. `rerun_resumes`: see `start_run`."""
    exit_with_parent()  # a seed of a group must not outlive the command that started it
    if ask:
        require_terminal()
    with _output(debug=debug) as out:
        # Everything that can be wrong is checked before the run directory is created.
        store.ensure_name_free(label[0], store.runs_dir(runs_dir))
        parent = find_checkpoint(source, runs_dir) if source else None
        prepared = prepare(target, settings, algo, debug=debug)
        check_pinned(pinned, prepared.resolved.config)
        if show == "everything" or dry_run or ask:
            preflight = prepared.preflight()
            if show != "nothing" or ask:
                text_file = sys.stderr if show == "nothing" else out  # stdout has only the JSON
                click.echo(f"{preflight_text(preflight)}\n", file=text_file)
            if dry_run:
                prepared.collector.close()
                return vars(preflight)
        if ask and not _agreed(prepared):
            return None
        name, group, tags = label
        _, summary = start_run(
            prepared.resolved,
            prepared.collector,
            store.runs_dir(runs_dir),
            label=Label(name, group, tags, claimed),
            source=parent,
            console=_console(prepared.resolved.preset, show, pinned, out, live=not debug),
            keyboard=show == "everything" and not debug and out.isatty(),
            debug=debug,
            rerun_resumes=rerun_resumes,
        )
        return dict(summary)


def _agreed(prepared: PreparedRun) -> bool:
    """Asks for confirmation; closes the environments unless the answer is yes."""
    answer = False  # also if Ctrl-C ends the question
    try:
        answer = confirm_start()
    finally:
        if not answer:
            prepared.collector.close()
    return answer


def resume_one(
    ref: str,
    settings: dict[str, Any],
    *,
    at: str,
    optimizer: bool,
    label: Label,
    runs_dir: str | None,
    debug: bool,
    show: Show,
    pinned: Sequence[str] = (),
) -> dict[str, Any]:
    """Resumes a run, or branches off one of its checkpoints; returns the summary of the trained
    run, and for a branch also `parent` and `parent_step`.

    `settings`: overrides, dotted key -> value. `at`: best, latest, or env steps of the checkpoint.
    `optimizer`: False discards the state of the optimizer. `label`: name and tags of a branch."""
    run, checkpoint = store.resolve(ref, store.runs_dir(runs_dir))
    if checkpoint is not None and at != "latest" and checkpoint != at:
        raise UsageError(
            f"{ref} names checkpoint {checkpoint}, but --at names {at}", fix="use one of them"
        )
    if pinned:
        check_pinned(pinned, run.config())
    with _output(debug=debug) as out:
        if show == "everything":
            click.echo(f"resuming {run.id} ({run.info['preset']})", file=out)

        def report_branch(new: Run) -> None:
            if show != "nothing":
                name = f" ({new.info['name']})" if new.info["name"] else ""
                step = new.info.get("parent_step")
                click.echo(f"branched from {run.id} at {step:,}: new run {new.id}{name}", file=out)

        trained, summary = resume(
            run,
            open_collector,
            at=checkpoint or at,
            overrides=settings,
            optimizer=optimizer,
            label=label,
            on_branch=report_branch,
            console=_console(run.info["preset"], show, pinned, out, live=not debug),
            keyboard=show == "everything" and not debug and out.isatty(),
            debug=debug,
        )
        info = trained.info
        branch = {"parent": info["parent"], "parent_step": info.get("parent_step")}
        return {**summary, **(branch if trained.id != run.id else {})}


@contextmanager
def debugging(enabled: bool) -> Iterator[None]:
    """Detects NaN gradients and prints full tracebacks of environment errors, if `--debug` is set."""
    if not enabled:
        yield
        return
    with detect_anomalies():
        try:
            yield
        except EnvError as problem:
            click.echo(problem.traceback or traceback.format_exc(), err=True)
            raise


def exit_code(result: Mapping[str, Any]) -> int:
    return 130 if result.get("interrupted") else 0


def check_pinned(keys: Sequence[str], cfg: Config) -> None:
    """Raises UsageError for a metric that this config never reports, before anything starts."""
    known = run_metrics(cfg) if keys else {}
    for key in keys:
        if split_key(key)[1] not in known:
            # Metrics per action or observation component exist only as a pattern; raises if unknown.
            find_metric(key)


def _output(*, debug: bool) -> AbstractContextManager[TextIO]:
    """Reserves stdout for gymnast; with --debug, environments (and a debugger in them) use it as well."""
    return nullcontext(sys.stdout) if debug else separate_env_output()


def _console(title: str, show: Show, pinned: Sequence[str], out: TextIO, *, live: bool) -> Any:
    """Returns a function that makes the console of a run once its metrics and config are known.
    `live=False` prints lines instead of a table that is redrawn."""

    def make(metrics: Any, cfg: Any) -> Console:
        """Returns the console for a run with these declared metrics and this config."""
        return Console(
            metrics,
            title=title,
            budget=cfg.stop.limits(),
            format_summary=None if show == "nothing" else end_text,
            quiet=show != "everything",
            live=live,
            pinned=pinned,
            file=out,
        )

    return make
