"""The records of bundles that are made here."""

from __future__ import annotations

from dataclasses import dataclass

from gymnast.runs.bundle_manifest import BundleFile, LeftOut

DEFAULT_MAX_SIZE = 20_000_000
"""Maximum size of a bundle in bytes, which mail servers and issue trackers accept."""


@dataclass(frozen=True)
class BundleContents:
    """The contents of a bundle."""

    run: str
    """Id of the run."""
    status: str
    """Status of the run now."""
    checkpoint: int | None
    """Env steps of the checkpoint; None without one."""
    files: list[BundleFile]
    """All files except the manifest, the most important first."""
    left_out: list[LeftOut]
    """Everything that the run has and the bundle does not."""
    size: int
    """Size of the archive in bytes."""
    max_size: int
    """Maximum size of the archive in bytes."""


@dataclass(frozen=True)
class WrittenBundle:
    """A bundle that was written."""

    path: str
    """The archive."""
    contents: BundleContents
