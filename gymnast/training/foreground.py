"""Trains or resumes a run in this process: checks the request, prints the plan, trains, prints the result."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TextIO

from gymnast.config.config import Config
from gymnast.config.serialize import diff
from gymnast.errors import ConfigError, EnvError, UsageError
from gymnast.evaluation.rescore import find_checkpoint
from gymnast.metrics.explain import find as find_metric
from gymnast.metrics.score import RunScore
from gymnast.metrics.sinks.console import Console
from gymnast.metrics.specs import Metric, run_metrics, split_key
from gymnast.processes.env_output import separate_env_output
from gymnast.processes.parent import exit_with_parent
from gymnast.runs import store
from gymnast.runs.doubts import doubt_texts
from gymnast.runs.run import Run, create_run_dir
from gymnast.runs.summary import run_score
from gymnast.training.collectors import open_collector
from gymnast.training.lifecycle.debug import detect_anomalies
from gymnast.training.lifecycle.label import Label
from gymnast.training.lifecycle.prepare import PreparedRun, prepare
from gymnast.training.lifecycle.resume import resume
from gymnast.training.lifecycle.start import ConsoleFactory, start_run
from gymnast.training.lifecycle.summary import end_text, preflight_text
from gymnast.training.request import ResumeRequest, TrainRequest

Show = Literal["everything", "ending", "nothing"]
"""Output of a training: the live table and the result, the result only, or nothing."""
Agreed = Callable[[], bool]
"""Asks the user whether to start."""
Announce = Callable[[str], str]
"""Returns a line about the run with this id."""


@dataclass(frozen=True)
class TrainResult:
    """The result of a training."""

    id: str
    """Id of the run."""
    name: str
    preset: str
    path: str
    """Directory of the run."""
    solved: bool | None
    """None if there is no threshold."""
    confirmed: bool
    """Whether the score was measured on held-out seeds, at the end."""
    reason: str
    """The reason why training ended."""
    score: RunScore | None
    threshold: float | None
    env_steps: int
    seconds: float
    """Training time."""
    best: int | None
    """Env steps of the best checkpoint."""
    interrupted: bool
    """Whether a signal was received, even if only after the run had another reason to end."""
    stopped: bool
    """Whether it was interrupted or a command ended it, so that it can be resumed."""
    parent: str | None = None
    """Id of the run that it branched from, if it is a branch."""
    parent_step: int | None = None
    """Env steps at which it branched off."""
    reason_kind: str = ""
    """The kind of reason why training ended: solved, budget, interrupted, hosts, ..."""
    doubts: list[str] = field(default_factory=list[str])
    """Reasons why the score may not show that the task was learned, one clause each."""

    @property
    def exit_code(self) -> int:
        """Exit code of a command that trained: 130 after a signal, 1 if the hosts stayed away."""
        return 130 if self.interrupted else int(self.reason_kind == "hosts")


def train_here(
    request: TrainRequest,
    *,
    runs_dir: Path,
    show: Show = "everything",
    pinned: Sequence[str] = (),
    agreed: Agreed | None = None,
    announce: Announce | None = None,
    claimed: Path | None = None,
    rerun_resumes: bool = False,
) -> TrainResult | None:
    """Trains one run and returns how it ended; None if it was not agreed to.

    `pinned`: metrics that are always shown; `agreed`: asked after the pre-flight text was shown; `announce`:
    returns a line about the run that is shown before training starts; `claimed`: the run directory, if it
    was claimed before; `rerun_resumes`: the caller continues this run if it is started again, so that a SLURM
    job may be requeued."""
    with _debugging(request.debug), _output(debug=request.debug) as out:
        exit_with_parent()  # a seed of a group must not outlive the command that started it
        if request.requeue and (result := _continue_by_name(request, runs_dir, show, pinned, out)):
            return result
        # Everything that can be wrong is checked before the run directory is created.
        store.ensure_name_free(request.name, runs_dir)
        parent = find_checkpoint(request.source, runs_dir) if request.source else None
        prepared = prepare_checked(request, pinned)
        text_file = sys.stderr if show == "nothing" else out  # stdout has only the JSON
        if show == "everything" or agreed is not None:
            print(f"{preflight_text(prepared.preflight())}\n", file=text_file, flush=True)
        if agreed is not None and not _agreed(agreed, prepared):
            return None
        if announce is not None:
            claimed = claimed or create_run_dir(runs_dir)
            print(f"{announce(claimed.name)}\n", file=text_file, flush=True)
        try:
            run, summary = start_run(
                prepared.resolved,
                prepared.collector,
                runs_dir,
                label=Label(request.name, request.group, request.tags, claimed),
                source=parent,
                console=_console(
                    prepared.resolved.preset, show, pinned, out, live=not request.debug
                ),
                keyboard=show == "everything" and not request.debug and out.isatty(),
                debug=request.debug,
                rerun_resumes=rerun_resumes or request.requeue,
                pause_at=request.pause_at,
            )
        finally:
            if announce is not None and claimed is not None:
                with suppress(OSError):
                    claimed.rmdir()  # empty if it did not become a run
        return _result(run, interrupted=summary.get("interrupted", False))


def resume_here(
    request: ResumeRequest,
    *,
    runs_dir: Path,
    show: Show = "everything",
    pinned: Sequence[str] = (),
    claimed: Path | None = None,
) -> TrainResult:
    """Resumes a run, or branches off one of its checkpoints; returns how the trained run ended. `pinned`:
    metrics that are always shown; `claimed`: the directory of a branch, if it was claimed before."""
    with _debugging(request.debug), _output(debug=request.debug) as out:
        return _resume(request, runs_dir, show, pinned, out, claimed)


def prepare_checked(request: TrainRequest, pinned: Sequence[str] = ()) -> PreparedRun:
    """Resolves the config and opens the environments; raises ConfigError or UsageError for a request that
    cannot be trained."""
    prepared = prepare(request.target, request.settings(), request.algo, debug=request.debug)
    check_pinned(pinned, prepared.resolved.config)
    return prepared


def check_pinned(keys: Sequence[str], cfg: Config) -> None:
    """Raises UsageError for a metric that this config never reports, before anything starts."""
    known = run_metrics(cfg) if keys else {}
    for key in keys:
        if split_key(key)[1] not in known:
            # Metrics per action or observation component exist only as a pattern; raises if unknown.
            find_metric(key)


def _agreed(ask: Agreed, prepared: PreparedRun) -> bool:
    """Asks for confirmation; closes the environments unless the answer is yes."""
    answer = False  # also if Ctrl-C ends the question
    try:
        answer = ask()
    finally:
        if not answer:
            prepared.collector.close()
    return answer


def _resume(
    request: ResumeRequest,
    runs_dir: Path,
    show: Show,
    pinned: Sequence[str],
    out: TextIO,
    claimed: Path | None = None,
) -> TrainResult:
    run, named = store.resolve(request.run, runs_dir)
    at = request.checkpoint(named)
    if pinned:
        check_pinned(pinned, run.config())
    if show == "everything":
        print(f"resuming {run.id} ({run.info['preset']})", file=out, flush=True)

    def report_branch(new: Run) -> None:
        if show != "nothing":
            name = f" ({new.info['name']})" if new.info["name"] else ""
            step = new.info.get("parent_step") or 0
            print(f"branched from {run.id} at {step:,}: new run {new.id}{name}", file=out)

    trained, summary = resume(
        run,
        open_collector,
        at=at,
        overrides=request.overrides,
        optimizer=not request.fresh_optimizer,
        label=Label(request.name, tags=request.tags, claimed_dir=claimed),
        on_branch=report_branch,
        console=_console(run.info["preset"], show, pinned, out, live=not request.debug),
        keyboard=show == "everything" and not request.debug and out.isatty(),
        debug=request.debug,
        pause_at=request.pause_at,
    )
    interrupted = summary.get("interrupted", False)
    return _result(trained, interrupted=interrupted, is_branch=trained.id != run.id)


def _continue_by_name(
    request: TrainRequest, runs_dir: Path, show: Show, pinned: Sequence[str], out: TextIO
) -> TrainResult | None:
    """Resumes the run with the name of the request unless it is finished; returns how it ended, None if
    there is no such run. Raises ConfigError if it has other settings."""
    if not request.name:
        raise UsageError("--requeue needs the name of a run", fix="add --name NAME")
    named = [run for run in store.list_runs(runs_dir) if run.name == request.name]
    if not named:
        return None
    run = Run(runs_dir / named[0].id)
    _refuse_other_settings(run, request)
    info = run.info
    # a scheduler may start the job once more after its last segment
    if info["status"] == "finished":
        if show != "nothing":
            print(f"{request.name} ({run.id}) is finished: {info['reason']}", file=out)
        return _result(run, interrupted=False)
    again = ResumeRequest(run.id, debug=request.debug, pause_at=request.pause_at)
    return _resume(again, runs_dir, show, pinned, out)


def _refuse_other_settings(run: Run, request: TrainRequest) -> None:
    """Raises ConfigError if the request has other settings than the run, which would be ignored silently."""
    prepared = prepare(request.target, request.settings(), request.algo)
    prepared.collector.close()
    differences = [
        f"{key}: {before} in the run, {now} here"
        for key, before, now in diff(run.config(), prepared.resolved.config)
    ]
    if differences:
        problem = f"run {run.id} has the name {request.name!r} and other settings"
        fix = f"choose another name, or use: gymnast resume {run.id}"
        raise ConfigError([problem, *differences], fix=fix)


def _result(run: Run, *, interrupted: bool, is_branch: bool = False) -> TrainResult:
    info = run.info
    return TrainResult(
        id=run.id,
        name=info["name"],
        preset=info["preset"],
        path=str(run.path),
        solved=info["solved"],
        confirmed=info.get("confirmed", False),
        reason=info["reason"],
        score=run_score(info),
        threshold=info["threshold"],
        env_steps=int(info["clocks"]["env_steps"]),
        seconds=info["clocks"]["seconds"],
        best=info["checkpoints"]["best"],
        interrupted=interrupted,
        stopped=info["status"] == "stopped",
        parent=info["parent"] if is_branch else None,
        parent_step=info.get("parent_step") if is_branch else None,
        reason_kind=info.get("reason_kind", ""),
        doubts=doubt_texts(info),
    )


@contextmanager
def _debugging(enabled: bool) -> Iterator[None]:
    """Detects NaN gradients and prints full tracebacks of environment errors, if `--debug` is set."""
    if not enabled:
        yield
        return
    with detect_anomalies():
        try:
            yield
        except EnvError as problem:
            print(problem.traceback or traceback.format_exc(), file=sys.stderr)
            raise


def _output(*, debug: bool) -> AbstractContextManager[TextIO]:
    """Reserves stdout for gymnast; with --debug, environments (and a debugger in them) use it as well."""
    return nullcontext(sys.stdout) if debug else separate_env_output()


def _console(
    title: str, show: Show, pinned: Sequence[str], out: TextIO, *, live: bool
) -> ConsoleFactory:
    """Returns a function that makes the console of a run once its metrics and config are known.
    `live=False` prints lines instead of a table that is redrawn."""

    def make(metrics: Mapping[str, Metric], cfg: Config) -> Console:
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
