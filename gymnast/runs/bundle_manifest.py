"""The manifest of a bundle: which files of a run it has, what was left out, and where it was made."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from gymnast.errors import RunError
from gymnast.records import from_json
from gymnast.runs import document, files, formats, layout

VERSION = layout.BUNDLE.version


@dataclass(frozen=True)
class BundleFile:
    """A file of a bundle."""

    name: str
    """Its path in the run directory."""
    part: str
    """The part of the bundle that it belongs to: run, log, events, metrics, policy, ..."""
    size: int
    """Number of bytes, not compressed."""
    sha256: str
    note: str = ""
    """Says what is missing, if it was shortened."""


@dataclass(frozen=True)
class LeftOut:
    """Something of the run that the bundle does not have."""

    name: str
    """A part, or a file or folder of the run directory."""
    size: int
    """Number of bytes on disk, not compressed."""
    reason: str


@dataclass(frozen=True)
class BundleMachine:
    """The machine on which a bundle was made; run.json has the one on which the run was trained."""

    system: str
    """Operating system and processor architecture."""
    python: str
    """Version of Python."""
    cpu: str
    """CPU model."""
    cores: int
    memory: int
    """Main memory in bytes."""
    packages: dict[str, str] = field(default_factory=dict[str, str])
    """Installed package -> version."""


@dataclass(frozen=True)
class BundleManifest:
    """The content of manifest.json in a bundle."""

    version: int
    """Format version of the bundle."""
    gymnast: str
    """Version of gymnast that made it."""
    run: str
    """Id of the run."""
    status: str
    """Status of the run when the bundle was made."""
    checkpoint: int | None
    """Env steps of the checkpoint that it has; None without one."""
    machine: BundleMachine
    files: list[BundleFile]
    """All its files except the manifest."""
    left_out: list[LeftOut]


def read_manifest(run_dir: Path) -> BundleManifest | None:
    """Returns the manifest of a run directory that was unpacked from a bundle; None for any other. Raises
    RunError as `parse_manifest`."""
    file = layout.BUNDLE.path(run_dir)
    try:
        content = files.read(file)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RunError(f"cannot be read: {error.strerror}", at=str(file)) from error
    return parse_manifest(content, at=str(file))


def parse_manifest(content: bytes, *, at: str) -> BundleManifest:
    """Returns the manifest with this content. `at`: the file, for messages. Raises RunError if it is damaged
    or has another format version."""
    from pydantic import ValidationError

    try:
        stored = document.loads(content)
        version = stored["version"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RunError(f"is damaged: {layout.BUNDLE.name} cannot be read", at=at) from error
    if version != VERSION:
        problem, fix = formats.version_error("bundle", version, VERSION)
        raise RunError(problem, at=at, fix=fix)
    try:
        return from_json(BundleManifest, stored)
    except ValidationError as error:
        raise RunError(f"is damaged: {layout.BUNDLE.name} is incomplete", at=at) from error
