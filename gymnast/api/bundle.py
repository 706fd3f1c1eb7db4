"""Bundles: small archives of a run for bug reports."""

from __future__ import annotations

from pathlib import Path

from gymnast.bundle.bundle import bundle_path, make_bundle, write_bundle
from gymnast.bundle.record import DEFAULT_MAX_SIZE, BundleContents, WrittenBundle
from gymnast.errors import UsageError
from gymnast.runs import store
from gymnast.runs.run import Run
from gymnast.runs.store import RunsDir


def bundle_contents(
    ref: str = "@last",
    *,
    checkpoint: str | None = None,
    max_size: int = DEFAULT_MAX_SIZE,
    runs_dir: RunsDir = None,
) -> BundleContents:
    """Returns what `bundle` with the same arguments would write, file by file, and what it would leave out.
    Nothing is written."""
    return make_bundle(*_resolve(ref, checkpoint, runs_dir), max_size).contents


def bundle(
    ref: str = "@last",
    *,
    out: str | Path | None = None,
    checkpoint: str | None = None,
    max_size: int = DEFAULT_MAX_SIZE,
    force: bool = False,
    runs_dir: RunsDir = None,
) -> WrittenBundle:
    """Writes an archive for a bug report: log, config, metrics, events, versions, a checkpoint and its
    evaluation, without secrets, names and home directories. `show` opens it on another machine.

    `out`: the file, which must end in .zip, or a directory; by default RUN-bundle.zip in the current
    directory. `checkpoint`: `best`, `latest`, a number of env steps or `none`; by default the one that `ref`
    names, else the best, else the latest. `max_size`: maximum size of the archive in bytes; what does not fit
    is left out, the least important part first. `force` overwrites an existing file."""
    run, which = _resolve(ref, checkpoint, runs_dir)
    path = bundle_path(run, Path(out or "."), force=force)  # before anything is read
    made = make_bundle(run, which, max_size)
    write_bundle(made, path)
    return WrittenBundle(str(path), made.contents)


def _resolve(ref: str, checkpoint: str | None, runs_dir: RunsDir) -> tuple[Run, str | None]:
    """Returns the run and the checkpoint that `ref` or `checkpoint` names."""
    run, named = store.resolve(ref, store.runs_dir(runs_dir))
    if named is not None and checkpoint is not None:
        problem = f"the checkpoint is given twice: {named} and {checkpoint}"
        raise UsageError(problem, fix="name it in one of both places")
    return run, named or checkpoint
