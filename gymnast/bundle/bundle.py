"""Makes the bundle of a run: chooses the checkpoint, cleans and selects the parts, writes the archive."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from gymnast.bundle.archive import SizeOfArchives, pack
from gymnast.bundle.fit import Selection, select
from gymnast.bundle.machine import this_machine
from gymnast.bundle.others import never_included
from gymnast.bundle.own_words import own_words
from gymnast.bundle.parts import parts_of
from gymnast.bundle.record import BundleContents
from gymnast.errors import CheckpointError, UsageError
from gymnast.privacy.sanitize import Sanitizer, this_identity
from gymnast.records import to_json
from gymnast.runs import checkpoint, document, durable, layout
from gymnast.runs.bundle_manifest import VERSION, BundleManifest
from gymnast.runs.checkpoint import CheckpointInfo
from gymnast.runs.run import Run
from gymnast.runs.unpack import RUN_ID, SUFFIX

NO_CHECKPOINT = "none"
"""The choice of a bundle without a checkpoint."""


@dataclass(frozen=True)
class Bundle:
    """A bundle that can be written."""

    files: dict[str, bytes]
    """Name in the archive -> content; the manifest first."""
    contents: BundleContents


def make_bundle(run: Run, which: str | None, max_size: int) -> Bundle:
    """Returns the bundle of a run with at most `max_size` bytes. `which`: the checkpoint, as in
    `checkpoint.find`, or NO_CHECKPOINT; None for the best, or the latest if none is the best. Raises
    CheckpointError if there is no such checkpoint, UsageError if `max_size` is too small."""
    while True:
        chosen = choose_checkpoint(run, which)
        made = _make(run, chosen, max_size)
        if chosen is None or Path(chosen.path).exists():
            return made
        # A training has deleted the checkpoint meanwhile, because it has newer ones.


def bundle_path(run: Run, out: Path, *, force: bool = False) -> Path:
    """Returns the file for the bundle of a run: `out`, or a file named after the run in the directory `out`.
    Raises UsageError if it exists and `force` is false, or if it cannot be a bundle."""
    path = out / f"{run.id}-bundle{SUFFIX}" if out.is_dir() else out
    if path.suffix != SUFFIX:
        problem = f"the name of a bundle ends in {SUFFIX}"
        raise UsageError(problem, at=str(path), fix=f"--out {path.with_suffix(SUFFIX)}")
    if path.exists() and not force:
        fix = "choose another file (--out), or overwrite it with --force"
        raise UsageError("exists already", at=str(path), fix=fix)
    if not path.parent.is_dir():
        fix = f"create it: mkdir -p {path.parent}"
        raise UsageError(f"there is no directory {path.parent}", at=str(path), fix=fix)
    return path


def write_bundle(bundle: Bundle, path: Path) -> None:
    """Writes a bundle to a file, atomically; an existing file is replaced."""
    durable.replace(path, pack(bundle.files))


def choose_checkpoint(run: Run, which: str | None) -> CheckpointInfo | None:
    """Returns the checkpoint that `make_bundle` includes; None without one. Raises
    CheckpointError if the run has no checkpoint with the given name."""
    if which == NO_CHECKPOINT:
        return None
    if which not in (None, "latest"):
        return checkpoint.describe(checkpoint.locate(run.path, which))
    candidates = [*reversed(checkpoint.list_checkpoints(run.path).values())]
    if which is None and (best := run.info["checkpoints"]["best"]) is not None:
        candidates = [c for c in candidates if c.name.startswith(f"{best:012d}")] + candidates
    for path in candidates:
        try:
            return checkpoint.describe(path)
        except CheckpointError:
            continue  # a damaged one
    if which is not None:
        problem = "has no checkpoint that can be read"
        raise CheckpointError(problem, at=str(run.path), fix=f"use {NO_CHECKPOINT}")
    return None


def _make(run: Run, chosen: CheckpointInfo | None, max_size: int) -> Bundle:
    """Returns the bundle with the checkpoint `chosen`."""
    sanitizer = Sanitizer(this_identity(run.path.resolve().parent, [run.info["host"]], own_words()))
    folder = run.id if RUN_ID.fullmatch(run.id) and sanitizer.text(run.id) == run.id else "run"
    empty = BundleManifest(
        version=VERSION,
        gymnast=version("gymnast"),
        run=folder,
        status=run.status,
        checkpoint=chosen.step if chosen else None,
        machine=sanitizer.record(this_machine()),
        files=[],
        left_out=[],
    )
    size_of = SizeOfArchives()

    def manifest_of(selection: Selection) -> BundleManifest:
        has_checkpoint = any(n.startswith(layout.CHECKPOINTS.name) for n in selection.contents)
        return replace(
            empty,
            checkpoint=empty.checkpoint if has_checkpoint else None,
            files=selection.files,
            left_out=selection.left_out,
        )

    def files_of(selection: Selection) -> dict[str, bytes]:
        manifest = document.dumps(to_json(manifest_of(selection)), indent=1).encode()
        files = {layout.BUNDLE.name: manifest, **selection.contents}
        return {f"{folder}/{name}": content for name, content in files.items()}

    selection = select(
        parts_of(run, chosen, sanitizer),
        lambda names: never_included(run.path, names),
        max_size=max_size,
        size_of=lambda selection: size_of(files_of(selection)),
        sanitizer=sanitizer,
    )
    manifest, files = manifest_of(selection), files_of(selection)
    contents = BundleContents(
        run=folder,
        status=manifest.status,
        checkpoint=manifest.checkpoint,
        files=manifest.files,
        left_out=manifest.left_out,
        size=size_of(files),
        max_size=max_size,
    )
    return Bundle(files, contents)
