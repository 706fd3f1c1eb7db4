"""All runs of a directory: listing, filtering, and resolving references to a run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gymnast.config.target import split_target
from gymnast.errors import CheckpointError, RunError
from gymnast.runs import checkpoint, durable, filters, index, layout, lock, reference, unpack
from gymnast.runs.info import RunInfo
from gymnast.runs.run import Run, derived_status, read_info
from gymnast.runs.summary import RunSummary, summarize, summarize_unreadable

RunsDir = str | Path | None
"""A runs directory; None is GYMNAST_RUNS or ./runs."""
RUNS_DIR_VAR = "GYMNAST_RUNS"


def runs_dir(option: RunsDir = None) -> Path:
    """Returns the given directory, else GYMNAST_RUNS, else ./runs, as an absolute path, because environments
    may change the working directory; it need not exist."""
    return Path(option or os.environ.get(RUNS_DIR_VAR) or "runs").expanduser().absolute()


def list_runs(directory: Path, filter: str = "") -> list[RunSummary]:
    """Returns every run in `directory` that matches, newest first.

    `filter`: words, all of which must match (`filters.condition`); empty for all runs. A run that
    cannot be read is listed with status `unreadable` and its `problem`.
    """
    listed = [_listed(path, info) for path, info in index.read_all(directory)]
    conditions = [filters.condition(word) for word in filter.split()]
    chosen = [run for run in listed if all(meets(run) for meets in conditions)]
    return sorted(chosen, key=lambda run: (run.created, run.id), reverse=True)


def read_summary(path: Path) -> RunSummary:
    """Returns the summary of the run in the directory `path`, as `list_runs` does. Raises RunError if there
    is no run."""
    try:
        return _listed(path, read_info(path))
    except RunError as error:
        try:
            changed = layout.RUN.path(path).stat().st_mtime
        except OSError:
            raise error from None
        return summarize_unreadable(path, str(error), changed)


def resolve(ref: str, directory: Path) -> tuple[Run, str | None]:
    """Returns the run that `ref` refers to, and the checkpoint if it names one, else None.

    A reference is an id, a unique prefix of one, a name, a path, `@last`, `@best` or `@best:ENV`, optionally
    followed by a checkpoint: `:best`, `:latest` or `:120k`. Raises RunError if there is no such run or
    several, and CheckpointError for `RUN:text` with a text that is no checkpoint. Whether the checkpoint
    exists is not checked.
    """
    name, which = reference.split_reference(ref)
    path = Path(name).expanduser().absolute()
    if unpack.is_bundle_name(name) and path.is_file():
        fix = f"unpack it into a runs directory: unzip {name} -d {directory}"
        raise RunError("is a bundle, which can only be read", at=name, fix=fix)
    # `@best:ALE/Pong-v5` names an environment, not a path.
    if (os.sep in name and not name.startswith("@")) or name.startswith("."):
        if not layout.RUN.path(path).exists():
            _refuse_unknown_checkpoint(name, directory)
            raise RunError("is not a run: it has no run.json", at=name)
        return Run(path), which
    # An id needs no list of all runs: pages compare hundreds of them by their ids.
    if name.isalnum() and layout.RUN.path(directory / name).exists():
        return Run(directory / name), which
    runs = list_runs(directory)
    if not runs:
        fix = "train one (`gymnast train CartPole-v1`), or name another directory with --runs DIR"
        raise RunError(f"there are no runs in {directory}, so no {name!r}", fix=fix)
    try:
        return Run(Path(_choose(name, runs).path)), which
    except RunError:
        _refuse_unknown_checkpoint(name, directory)
        raise


def resolve_readable(ref: str, directory: Path) -> tuple[Run, str | None]:
    """Returns what `resolve` returns, for reading only: the reference may also be the path of a bundle
    (`FILE.zip`), which is opened. Raises RunError if it cannot be."""
    name, which = reference.split_reference(ref)
    if not unpack.is_bundle_name(name):
        return resolve(ref, directory)
    file = Path(name).expanduser()
    return Run(unpack.open_bundle(file), bundle=file), which


def resolve_all(refs: Sequence[str], directory: Path) -> list[Run]:
    """Returns the runs that `refs` refer to, as in `resolve`, each once."""
    found = (resolve(ref, directory)[0] for ref in refs)
    return list({run.path: run for run in found}.values())


def find_run(name: str, directory: Path) -> Run | None:
    """Returns the run named `name`; None if it names a preset, or no run and so perhaps an environment.
    Raises RunError if `@...` or `NAME:CHECKPOINT` does not exist: these can only be runs."""
    from gymnast.config import presets

    # `@last` and `NAME:120k` can only be runs. Else a preset comes first: a run named like an environment
    # must not change what `gymnast config show CartPole-v1` prints.
    must_be_run = name.startswith("@") or reference.split_reference(name)[1] is not None
    env = split_target(name)[0] if not must_be_run else ""
    if env and (preset := presets.find_preset(env)).path is not None and preset.name == env:
        return None
    try:
        return resolve(name, directory)[0]
    except CheckpointError:  # the run exists
        raise
    except RunError:
        if must_be_run:
            raise
        return None


def _refuse_unknown_checkpoint(ref: str, directory: Path) -> None:
    """Raises CheckpointError for `RUN:what` if RUN is a run, since `what` is no checkpoint of it."""
    name, _, which = ref.rpartition(":")
    if name in ("", "@best"):  # `@best:ENV` is a run
        return
    try:
        run = resolve(name, directory)[0]
    except RunError:
        return
    reference.select_step(list(checkpoint.list_checkpoints(run.path)), which, at=f"run {name}")


@contextmanager
def reserve_name(name: str, directory: Path) -> Iterator[None]:
    """Reserves a name for a new run while inside: no other process can take it meanwhile. Raises RunError if
    it is taken. An empty name needs no reservation."""
    if not name:
        yield
        return
    with durable.explain_os_errors(directory):
        directory.mkdir(parents=True, exist_ok=True)
    with lock.exclusive(directory / ".name-lock"):
        ensure_name_free(name, directory)
        yield


def ensure_name_free(name: str, directory: Path) -> None:
    """Raises RunError if a run or a group of seeds has this name already."""
    for run in list_runs(directory) if name else ():
        if name in (run.name, run.id):
            fix = f"choose another name, or continue that run: gymnast resume {run.id}"
            raise RunError(f"the name {name!r} is taken by {run.id} ({run.status})", fix=fix)
        if name == run.group:
            problem = f"the name {name!r} is taken by a group of seeds"
            raise RunError(problem, fix="choose another name")


def best_run(runs: Sequence[RunSummary]) -> RunSummary | None:
    """Returns the run with the highest `rank`; None if no run has a score."""
    scored = [run for run in runs if run.score is not None]
    return max(scored, key=lambda run: run.rank, default=None)


def _choose(name: str, runs: Sequence[RunSummary]) -> RunSummary:
    """Returns the one of `runs` (newest first) with this id or, if there is none, this name or, if there is
    none, an id that starts with it; `@last` and `@best` are keywords. Raises RunError if there is none or
    several."""
    if name.startswith("@"):
        return _choose_by_keyword(name, [run for run in runs if run.is_readable])
    found = [run for run in runs if run.id == name]
    found = found or [run for run in runs if name and run.name == name]
    found = found or [run for run in runs if name and run.id.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        candidates = "\n".join(f"  {_candidate(run)}" for run in found[:10])
        raise RunError(f"{name!r} is ambiguous:\n{candidates}", fix="use more of the id")
    raise RunError(f"no run is called {name!r}", fix=_nearest(name, runs))


def _choose_by_keyword(name: str, runs: Sequence[RunSummary]) -> RunSummary:
    """Returns the one of `runs` (newest first) that `@last`, `@best` or `@best:ENV` refers to; raises
    RunError if there is none, or for another keyword."""
    rank, _, env = name.partition(":")
    if rank == "@last" and not env and runs:
        # Games of people are stored in runs too, but nobody means those.
        return next((run for run in runs if not run.is_untrained), runs[0])
    if rank == "@best":
        known = sorted({run.env for run in runs if run.score is not None})
        if not env and len(known) > 1:
            problem = f"scores of {' and '.join(known)} cannot be compared"
            raise RunError(problem, fix=f"name the environment, as in @best:{known[0]}")
        found = best_run([run for run in runs if not env or _is_of_env(run, env)])
        if found is not None:
            return found
        where = f" of {env}" if env else ""
        fix = f"scored so far: {', '.join(known) or 'none'}"
        raise RunError(f"no run{where} has a score", fix=fix)
    raise RunError(f"{name!r} does not name a run", fix="use @last, @best or @best:ENV")


def _is_of_env(run: RunSummary, env: str) -> bool:
    """Returns whether `@best:ENV` may refer to this run: ENV is its env id, its preset, or its preset without
    the variant."""
    if env in (run.env, run.preset):
        return True
    return run.preset.startswith(f"{env}:") and split_target(run.preset)[0] == env


def _listed(path: Path, entry: RunInfo | index.UnreadableRun) -> RunSummary:
    if isinstance(entry, index.UnreadableRun):
        return summarize_unreadable(path, entry.problem, entry.created)
    try:
        return summarize(path, entry, derived_status(path, entry))
    except RunError as error:  # one of its files is a link
        return summarize_unreadable(path, str(error), entry.get("created", 0.0))
    # Written or edited by hand: one run must not hide all others.
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        problem = f"{path / layout.RUN.name}: is incomplete: {error}"
        return summarize_unreadable(path, problem, entry.get("created", 0.0))


def _candidate(run: RunSummary) -> str:
    return "  ".join(filter(None, (run.id, run.name, run.preset, run.status)))


def _nearest(name: str, runs: Sequence[RunSummary]) -> str:
    """Returns the suggestion for an unknown reference to a run: up to three similar ids and names."""
    from difflib import get_close_matches

    names = {run.id for run in runs} | {run.name for run in runs if run.name}
    near = get_close_matches(name, names, n=3)
    return f"did you mean {' or '.join(near)}?" if near else "see `gymnast runs`"
