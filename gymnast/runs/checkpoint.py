"""A checkpoint: a directory that is whole or absent, with the hash of every file in it.

    checkpoints/000000120832/
        policy.safetensors optimizer.safetensors ...   arrays, one file per stem
        state.json ...                                 documents, every float with all its digits
        row.csv ...                                    texts
        manifest.json                                  version, step, reason, time, sha256 per file

Only the process that holds the run writes here; anyone may read at any time.
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
from gymnast.runs import document, durable, formats
from gymnast.runs.reference import pick
from gymnast.runs.run import read_info
from gymnast.runs.tensors import pack, unpack

if TYPE_CHECKING:
    import numpy as np

VERSION = 2
"""Format of the directory and its documents. 2: renamed metrics in metrics.json and the alerts."""
FOLDER = "checkpoints"
"""Where a run keeps them."""
WEIGHTS = "policy"
"""Stem of the file with the parameters a policy acts with; `policy-ROLE` where roles differ."""
MANIFEST = "manifest.json"
_DRAFT, _OLD, _DAMAGED = ".draft-", ".old", "damaged-"


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint whose every file has been read and found to be what was written."""

    step: int
    """Env steps taken when it was written."""
    path: Path
    manifest: Mapping[str, Any]
    files: Mapping[str, bytes] = field(repr=False)
    skipped: tuple[str, ...] = ()
    """Newer checkpoints that were damaged, one sentence each; to be shown to the user."""

    def tensors(self, stem: str) -> dict[str, np.ndarray]:
        return unpack(self._file(f"{stem}.safetensors"))

    def document(self, stem: str) -> Any:
        return document.loads(self._file(f"{stem}.json"))

    def text(self, name: str) -> str:
        return self._file(name).decode()

    @property
    def stems(self) -> tuple[str, ...]:
        """Which files of arrays it holds."""
        return tuple(sorted(Path(n).stem for n in self.files if n.endswith(".safetensors")))

    def _file(self, name: str) -> bytes:
        if name not in self.files:
            held = ", ".join(self.files)
            raise CheckpointError(f"has no {name}; it holds {held}", at=str(self.path))
        return self.files[name]


def write(
    folder: Path,
    step: int,
    *,
    tensors: Mapping[str, Mapping[str, np.ndarray]],
    documents: Mapping[str, Any] | None = None,
    texts: Mapping[str, str] | None = None,
    reason: str,
) -> Path:
    """Save into `folder` (a run's `checkpoints/`); the checkpoint is on the disk when this returns.

    A failure at any point, a full disk included, leaves every earlier checkpoint as it was.
    """
    files = {f"{stem}.safetensors": pack(arrays) for stem, arrays in tensors.items()}
    files |= {f"{stem}.json": document.dumps(d).encode() for stem, d in (documents or {}).items()}
    files |= {name: text.encode() for name, text in (texts or {}).items()}
    hashes = {name: sha256(content).hexdigest() for name, content in files.items()}
    manifest = {
        "version": VERSION,
        "step": step,
        "reason": reason,
        "time": time.time(),
        "files": hashes,
    }
    return _write_files(folder, files, manifest)


def copy(found: Checkpoint, folder: Path) -> Path:
    """Save a checkpoint of one run, unchanged, into the `checkpoints/` of another."""
    return _write_files(folder, found.files, found.manifest)


def _write_files(folder: Path, files: Mapping[str, bytes], manifest: Mapping[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    _sweep(folder)
    final = folder / _name(manifest["step"])
    if final.is_dir() and _same(final, manifest["files"]):
        return final
    draft = folder / f"{_DRAFT}{final.name}"
    try:
        draft.mkdir()
        for name, content in files.items():
            durable.write(draft / name, content)
        durable.write(draft / MANIFEST, document.dumps(dict(manifest), indent=1).encode())
        durable.sync_directory(draft)
        _put(draft, final)
    except BaseException as error:
        shutil.rmtree(draft, ignore_errors=True)
        if isinstance(error, OSError):
            fix = "make room or give access; earlier checkpoints are as they were"
            raise CheckpointError(f"not saved: {error.strerror}", at=str(final), fix=fix) from error
        raise
    return final


def read(path: Path) -> Checkpoint:
    """Read all of it, comparing every file with the hash in its manifest."""
    manifest = describe(path)
    files: dict[str, bytes] = {}
    for name, expected in manifest["files"].items():
        try:
            files[name] = (path / name).read_bytes()
        except OSError as error:
            raise _damaged(path, f"{name} cannot be read: {error.strerror}") from error
        if sha256(files[name]).hexdigest() != expected:
            raise _damaged(path, f"{name} is not what was written (its hash differs)")
    return Checkpoint(manifest["step"], path, manifest, files)


def describe(path: Path) -> dict[str, Any]:
    """The manifest alone: cheap, and says nothing about whether the files are whole."""
    try:
        manifest = document.loads((path / MANIFEST).read_bytes())
        version, step, files = manifest["version"], manifest["step"], manifest["files"]
    except FileNotFoundError:
        raise _damaged(path, f"{MANIFEST} is missing") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(path, f"{MANIFEST} cannot be read") from error
    if version != VERSION:
        problem, fix = formats.rejection("checkpoint", version, VERSION)
        raise UnknownFormat(problem, at=str(path), fix=fix)
    if path.name.removesuffix(_OLD) != _name(step) or not isinstance(files, dict):
        raise _damaged(path, f"{MANIFEST} belongs to another checkpoint")
    return manifest


def weights_sha256(manifest: Mapping[str, Any]) -> str | None:
    """The hash by which two checkpoints can be said to hold the same policy."""
    hashes: dict[str, str] = manifest["files"]
    names = sorted(n for n in hashes if n.startswith(WEIGHTS) and n.endswith(".safetensors"))
    if len(names) <= 1:
        return hashes[names[0]] if names else None
    return sha256("".join(hashes[name] for name in names).encode()).hexdigest()


def steps(run_dir: Path) -> dict[int, Path]:
    """Env steps -> directory, oldest first, damaged ones included."""
    folder = run_dir / FOLDER
    found: dict[int, Path] = {}
    for name in sorted(os.listdir(folder)) if folder.is_dir() else ():
        digits = name.removesuffix(_OLD)  # counts only while the new one is not in place
        if digits.isdecimal():
            found.setdefault(int(digits), folder / name)
    return dict(sorted(found.items()))


def latest(run_dir: Path) -> Checkpoint:
    """The newest that loads; `skipped` of the result names newer ones that do not."""
    while True:
        found = steps(run_dir)
        skipped: list[str] = []
        for path in reversed(found.values()):
            try:
                return replace(read(path), skipped=tuple(skipped))
            except UnknownFormat:
                raise  # it may be intact: an older one must not replace it
            except CheckpointError as error:
                if path.exists():  # else it was pruned while we looked
                    skipped.append(str(error))
        if steps(run_dir) == found:
            break
    problem = "no checkpoint can be loaded:\n" + "\n".join(skipped)
    raise CheckpointError(problem if skipped else "has no checkpoint yet", at=str(run_dir))


def find(run_dir: Path, which: str | int) -> Checkpoint:
    """`best`, `latest`, or env steps: `120832`, or `121k` for the one that rounds to it."""
    if which == "latest":
        return latest(run_dir)
    available = steps(run_dir)
    step = _best(run_dir) if which == "best" else pick(list(available), which, at=str(run_dir))
    if step not in available:
        raise CheckpointError(f"checkpoint {step} is gone", at=str(run_dir), fix="use `latest`")
    return read(available[step])


def prune(run_dir: Path, keep: int, protect: Set[int] = frozenset()) -> None:
    """Remove all but the newest `keep` and the protected ones."""
    folder = run_dir / FOLDER
    found = steps(run_dir)
    kept = set(list(found)[-keep:]) | protect
    for path in (path for step, path in found.items() if step not in kept):
        away = folder / f"{_DRAFT}{path.name}"  # gone in one step, so nobody reads half of it
        path.rename(away)
        shutil.rmtree(away)


def set_aside_damaged(run_dir: Path, after: int) -> list[int]:
    """Rename the checkpoints later than `after`, none of which can be loaded, to `damaged-STEP`.

    The run continues from `after` and writes these steps again. The files stay: whether something
    can be rescued from them is for a person to decide.
    """
    folder = run_dir / FOLDER
    later = {step: path for step, path in steps(run_dir).items() if step > after}
    for path in later.values():
        aside = folder / f"{_DAMAGED}{path.name}"
        if aside.exists():
            shutil.rmtree(aside)
        path.rename(aside)
    if later:
        durable.sync_directory(folder)
    return list(later)


def _put(draft: Path, final: Path) -> None:
    """Give the draft its name; where that is taken, one of the two is whole at every moment."""
    if final.exists():
        old = final.with_name(final.name + _OLD)
        final.rename(old)
        draft.rename(final)
        durable.sync_directory(final.parent)
        shutil.rmtree(old, ignore_errors=True)
    else:
        draft.rename(final)
        durable.sync_directory(final.parent)


def _sweep(folder: Path) -> None:
    """Remove what a killed writer has left behind."""
    for path in folder.glob(f"{_DRAFT}*"):
        shutil.rmtree(path)
    for old in folder.glob(f"*{_OLD}"):
        final = old.with_name(old.name.removesuffix(_OLD))
        if final.exists():
            shutil.rmtree(old)
        else:
            old.rename(final)


def _best(run_dir: Path) -> int:
    best = read_info(run_dir)["checkpoints"]["best"]
    if best is None:
        fix = "use `latest`"
        raise CheckpointError("no checkpoint has been scored yet", at=str(run_dir), fix=fix)
    return best


def _same(path: Path, hashes: Mapping[str, str]) -> bool:
    try:
        return read(path).manifest["files"] == hashes
    except CheckpointError:
        return False


def _name(step: int) -> str:
    return f"{step:012d}"


def _damaged(path: Path, problem: str) -> CheckpointError:
    return CheckpointError(f"is damaged: {problem}", at=str(path), fix="use an earlier checkpoint")
