"""Checkpoints: directories written atomically, with the hash of every file in a manifest.

    checkpoints/000000120832/
        policy.safetensors optimizer.safetensors ...   arrays, one file per stem
        state.json ...                                 JSON documents, floats with all their digits
        row.csv ...                                    texts
        manifest.json                                  version, step, reason, time, sha256 per file

Only the process that holds the run's lock writes here; any process may read at any time.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gymnast.errors import CheckpointError, UnknownFormat
from gymnast.runs import document, durable, files, formats, layout
from gymnast.runs.info import Manifest
from gymnast.runs.reference import select_step
from gymnast.runs.run import read_info
from gymnast.runs.tensors import pack, unpack

if TYPE_CHECKING:
    import numpy as np

VERSION = layout.CHECKPOINTS.version
WEIGHTS = "policy"
"""Stem of the file with the policy's parameters; `policy-ROLE` where each role has its own policy."""
MANIFEST = "manifest.json"
_DRAFT, _OLD, _DAMAGED = ".draft-", ".old", "damaged-"


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that has been read completely; the hash of every file matches its manifest."""

    step: int
    """Number of env steps when it was written."""
    path: Path
    manifest: Manifest
    files: Mapping[str, bytes] = field(repr=False)
    skipped_errors: tuple[str, ...] = ()
    """One message per newer checkpoint that is damaged, to be shown to the user."""

    def tensors(self, stem: str) -> dict[str, np.ndarray]:
        return unpack(self._file(f"{stem}.safetensors"))

    def document(self, stem: str) -> Any:
        name = f"{stem}.json"
        try:
            return document.loads(self._file(name))
        except ValueError as error:  # the hash matches, so somebody else wrote it
            raise _damaged(self.path, f"{name} cannot be read: {error}") from error

    def text(self, name: str) -> str:
        return self._file(name).decode()

    @property
    def stems(self) -> tuple[str, ...]:
        """Stems of its safetensors files, sorted."""
        return tuple(sorted(Path(n).stem for n in self.files if n.endswith(".safetensors")))

    def _file(self, name: str) -> bytes:
        if name not in self.files:
            available = ", ".join(self.files)
            raise CheckpointError(f"has no {name}; it holds {available}", at=str(self.path))
        return self.files[name]


def write(
    folder: Path,
    step: int,
    *,
    tensors: Mapping[str, Mapping[str, np.ndarray]],
    documents: Mapping[str, object] | None = None,
    texts: Mapping[str, str] | None = None,
    reason: str,
) -> Path:
    """Writes a checkpoint into `folder` (a run's `checkpoints/`) and returns its directory.

    `tensors`: stem of a file -> arrays by name; `documents`: stem -> JSON value; `texts`: file name -> text.
    The checkpoint is durable when this returns (fsync). A failure at any point, a full disk included, leaves
    every earlier checkpoint unchanged; CheckpointError is raised for one of the file system.
    """
    files = {f"{stem}.safetensors": pack(arrays) for stem, arrays in tensors.items()}
    files |= {f"{stem}.json": document.dumps(d).encode() for stem, d in (documents or {}).items()}
    files |= {name: text.encode() for name, text in (texts or {}).items()}
    hashes = {name: sha256(content).hexdigest() for name, content in files.items()}
    sizes = {name: len(content) for name, content in files.items()}
    manifest: Manifest = {
        "version": VERSION,
        "step": step,
        "reason": reason,
        "time": time.time(),
        "files": hashes,
        "sizes": sizes,
    }
    return _write_files(folder, files, manifest)


def copy(found: Checkpoint, folder: Path) -> Path:
    """Writes a checkpoint of one run, unchanged, into the `checkpoints/` folder of another."""
    return _write_files(folder, found.files, found.manifest)


def _write_files(folder: Path, files: Mapping[str, bytes], manifest: Manifest) -> Path:
    """Writes `files` (name -> content) and the manifest to a draft, publishes it under the name of the
    manifest's step and returns that directory. An identical checkpoint that exists already is kept. Raises
    CheckpointError if the file system fails."""
    folder.mkdir(parents=True, exist_ok=True)
    _clean_up(folder)
    final = folder / _name(manifest["step"])
    if final.is_dir() and _is_same(final, manifest["files"]):
        return final
    draft = folder / f"{_DRAFT}{final.name}"
    try:
        draft.mkdir()
        for name, content in files.items():
            durable.write(draft / name, content)
        durable.write(draft / MANIFEST, document.dumps(dict(manifest), indent=1).encode())
        durable.sync_directory(draft)
        _publish(draft, final)
    except BaseException as error:
        shutil.rmtree(draft, ignore_errors=True)
        if isinstance(error, OSError):
            fix = "free disk space or fix the permissions; earlier checkpoints are unchanged"
            raise CheckpointError(f"not saved: {error.strerror}", at=str(final), fix=fix) from error
        raise
    return final


def read(path: Path) -> Checkpoint:
    """Reads a checkpoint completely; raises CheckpointError if a file does not match its hash."""
    manifest = read_manifest(path)
    contents: dict[str, bytes] = {}
    for name, expected in manifest["files"].items():
        try:
            contents[name] = files.read(path / name, below=path, limit=files.MAX_ARRAYS)
        except OSError as error:
            raise _damaged(path, f"{name} cannot be read: {error.strerror}") from error
        if sha256(contents[name]).hexdigest() != expected:
            raise _damaged(path, f"{name} has changed since it was written (its hash differs)")
    return Checkpoint(manifest["step"], path, manifest, contents)


def read_manifest(path: Path) -> Manifest:
    """Returns the manifest of the checkpoint in `path` alone, which is cheap; the files are not verified.
    Raises CheckpointError if it is damaged, UnknownFormat if it has another format version."""
    try:
        manifest = document.loads(files.read(path / MANIFEST, below=path.parent))
        version = manifest["version"]
        if version == VERSION:
            document.checked(Manifest, manifest)
    except FileNotFoundError:
        raise _damaged(path, f"{MANIFEST} is missing") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(path, f"{MANIFEST} cannot be read") from error
    if version != VERSION:
        problem, fix = formats.version_error("checkpoint", version, VERSION)
        raise UnknownFormat(problem, at=str(path), fix=fix)
    if path.name.removesuffix(_OLD) != _name(manifest["step"]):
        raise _damaged(path, f"{MANIFEST} belongs to another checkpoint")
    return manifest


def weights_sha256(manifest: Manifest) -> str | None:
    """Returns a hash that is equal for checkpoints with the same policies; None without a policy file.
    `manifest`: that of a checkpoint."""
    hashes = manifest["files"]
    names = sorted(n for n in hashes if n.startswith(WEIGHTS) and n.endswith(".safetensors"))
    if len(names) <= 1:
        return hashes[names[0]] if names else None
    return sha256("".join(hashes[name] for name in names).encode()).hexdigest()


@dataclass(frozen=True)
class CheckpointInfo:
    """A checkpoint, from its manifest."""

    step: int
    """Number of env steps when it was written."""
    path: str
    reason: str
    """The reason why it was written: start, cadence, evaluation, ..."""
    time: float
    """Seconds since the epoch."""
    sha256: str | None
    """Hash that is equal for checkpoints with the same policies; None without a policy."""


def describe(path: Path, *, verify: bool = False) -> CheckpointInfo:
    """Describes the checkpoint in `path` from its manifest, which is cheap. `verify` also reads its files and
    compares their hashes. Raises CheckpointError if it is damaged: without `verify`, only a missing or
    unreadable manifest and files that are missing or have another size are noticed."""
    manifest = read(path).manifest if verify else read_manifest(path)
    sizes = manifest.get("sizes", {})
    for name in manifest["files"]:
        try:
            size = (path / name).stat().st_size
        except OSError:
            raise _damaged(path, f"{name} is missing") from None
        if size != (expected := sizes.get(name, size)):
            raise _damaged(path, f"{name} has {size:,} of {expected:,} bytes")
    return CheckpointInfo(
        manifest["step"],
        str(path),
        manifest["reason"],
        manifest["time"],
        weights_sha256(manifest),
    )


def list_checkpoints(run_dir: Path) -> dict[int, Path]:
    """Returns env steps -> checkpoint directory, oldest first, damaged checkpoints included."""
    folder = layout.CHECKPOINTS.path(run_dir)
    found: dict[int, Path] = {}
    for name in sorted(os.listdir(folder)) if folder.is_dir() else ():
        # `_publish` moves a checkpoint to STEP.old for a moment while it replaces it
        digits = name.removesuffix(_OLD)
        if digits.isdecimal():
            found.setdefault(int(digits), folder / name)
    return dict(sorted(found.items()))


def latest(run_dir: Path) -> Checkpoint:
    """Returns the newest checkpoint that loads; its `skipped_errors` describe newer ones that are damaged.
    Raises CheckpointError if none loads, UnknownFormat if a newer one has another format version."""
    while True:
        found = list_checkpoints(run_dir)
        skipped: list[CheckpointError] = []
        for path in reversed(found.values()):
            try:
                return replace(read(path), skipped_errors=tuple(map(str, skipped)))
            except UnknownFormat:
                raise  # it may be intact: do not fall back to an older one
            except CheckpointError as error:
                if path.exists():  # else the trainer pruned it in the meantime
                    skipped.append(error)
        if list_checkpoints(run_dir) == found:
            break
    if not skipped:
        raise CheckpointError("has no checkpoint yet", at=str(run_dir))
    listed = "\n".join(f"  {error.at}: {error.message}" for error in skipped)
    problem = f"no checkpoint can be loaded:\n{listed}"
    raise CheckpointError(problem, at=str(run_dir), fix="restore its files, or train it again")


def find(run_dir: Path, which: str | int) -> Checkpoint:
    """Reads the checkpoint `best`, `latest` or at an env step: `120832`, or `121k` if exactly one rounds to
    it. Raises CheckpointError if there is none, or if it is damaged."""
    return latest(run_dir) if which == "latest" else read(locate(run_dir, which))


def locate(run_dir: Path, which: str | int) -> Path:
    """Returns the directory of the checkpoint `best` or at an env step, as in `find`, without reading it;
    raises CheckpointError if there is none."""
    available = list_checkpoints(run_dir)
    step = (
        _best(run_dir) if which == "best" else select_step(list(available), which, at=str(run_dir))
    )
    if step not in available:
        raise CheckpointError(f"checkpoint {step} was deleted", at=str(run_dir), fix="use `latest`")
    return available[step]


def prune(run_dir: Path, keep: int, protect: Set[int] = frozenset()) -> None:
    """Deletes all checkpoints except the newest `keep` and the ones at the env steps in `protect`."""
    folder = layout.CHECKPOINTS.path(run_dir)
    found = list_checkpoints(run_dir)
    kept = set(list(found)[-keep:]) | protect
    for path in (path for step, path in found.items() if step not in kept):
        away = folder / f"{_DRAFT}{path.name}"  # rename first: no reader ever sees half of it
        path.rename(away)
        shutil.rmtree(away)


def set_aside_damaged(run_dir: Path, after: int) -> list[int]:
    """Renames the checkpoints after env step `after`, all of them damaged, to `damaged-STEP`; returns their
    steps.

    The run continues from `after` and reaches these steps again. The files are kept, so that a person can
    decide whether anything in them can be rescued.
    """
    folder = layout.CHECKPOINTS.path(run_dir)
    later = {step: path for step, path in list_checkpoints(run_dir).items() if step > after}
    for path in later.values():
        renamed = folder / f"{_DAMAGED}{path.name}"
        if renamed.exists():
            shutil.rmtree(renamed)
        path.rename(renamed)
    if later:
        durable.sync_directory(folder)
    return list(later)


def _publish(draft: Path, final: Path) -> None:
    """Renames the draft to `final`; if `final` exists, a complete checkpoint exists at every moment."""
    if final.exists():
        old = final.with_name(final.name + _OLD)
        final.rename(old)
        draft.rename(final)
        durable.sync_directory(final.parent)
        shutil.rmtree(old, ignore_errors=True)
    else:
        draft.rename(final)
        durable.sync_directory(final.parent)


def _clean_up(folder: Path) -> None:
    """Deletes the drafts of a killed writer and restores a checkpoint it was about to replace."""
    for path in folder.glob(f"{_DRAFT}*"):
        shutil.rmtree(path)
    for old in folder.glob(f"*{_OLD}"):
        final = old.with_name(old.name.removesuffix(_OLD))
        if final.exists():
            shutil.rmtree(old)
        else:
            old.rename(final)


def _best(run_dir: Path) -> int:
    """Returns the env step of the best checkpoint; raises CheckpointError if none has been scored yet."""
    best = read_info(run_dir)["checkpoints"]["best"]
    if best is None:
        fix = "use `latest`"
        raise CheckpointError("no checkpoint has been scored yet", at=str(run_dir), fix=fix)
    return best


def _is_same(path: Path, hashes: Mapping[str, str]) -> bool:
    try:
        return read(path).manifest["files"] == hashes
    except CheckpointError:
        return False


def _name(step: int) -> str:
    return f"{step:012d}"


def _damaged(path: Path, problem: str) -> CheckpointError:
    found = list_checkpoints(path.parent.parent)
    earlier = [s for s, other in found.items() if _name(s) < path.name and _looks_whole(other)]
    fix = f"use an earlier checkpoint: {', '.join(map(str, earlier[-3:]))}" if earlier else ""
    return CheckpointError(f"is damaged: {problem}", at=str(path), fix=fix)


def _looks_whole(path: Path) -> bool:
    """Returns whether the manifest can be read and all files have their sizes."""
    try:
        manifest = document.loads(files.read(path / MANIFEST, below=path.parent))
        sizes = {name: (path / name).stat().st_size for name in manifest["files"]}
        return sizes == {name: manifest.get("sizes", sizes)[name] for name in sizes}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
