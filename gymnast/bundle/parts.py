"""Reads the parts of a bundle from a run directory, and cleans them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from gymnast.bundle import part
from gymnast.bundle.metrics_copy import metrics_copies
from gymnast.bundle.part import Draft, Part
from gymnast.bundle.stored_arrays import read_clean, with_manifest
from gymnast.privacy.content import clean_content
from gymnast.privacy.sanitize import Sanitizer
from gymnast.runs import checkpoint, document, layout
from gymnast.runs.checkpoint import CheckpointInfo
from gymnast.runs.run import Run
from gymnast.text.formatting import count_noun

LOG_BYTES = 500_000
"""Size of the end of the log that a bundle has."""
SHORTENED = (4, 16, 64)
"""A shortened log or list of events has its last n-th part."""
MAX_INCIDENTS = 10
"""Maximum number of incidents in a bundle."""
_REVISION = re.compile(r"[0-9a-f]{40}(?:-dirty)?")


def parts_of(run: Run, chosen: CheckpointInfo | None, sanitizer: Sanitizer) -> list[Part]:
    """Returns the parts of a bundle in the order in which they are added. `chosen`: the checkpoint; None
    without one."""
    incidents = _incidents(run.path)

    def policy() -> Iterator[Draft]:
        if chosen is not None:
            yield _checkpoint(run, Path(chosen.path), sanitizer, only_policy=True)

    def training_state() -> Iterator[Draft]:
        if chosen is not None:
            yield _checkpoint(run, Path(chosen.path), sanitizer, only_policy=False)

    return [
        Part(part.RUN, lambda: _run(run, sanitizer)),
        Part(part.LOG, lambda: _log(run, sanitizer)),
        Part(part.EVENTS, lambda: _events(run, sanitizer)),
        Part(part.METRICS, lambda: _metrics(run, sanitizer)),
        Part(part.LEAGUE, lambda: _cross_play(run, sanitizer)),
        Part(part.INCIDENT, lambda: _rolled_back(run, incidents[:1], sanitizer)),
        Part(part.POLICY, policy),
        Part(part.EPISODES, lambda: _evaluation(run, chosen, sanitizer)),
        Part(part.TRAINING, training_state),
        Part(part.INCIDENTS, lambda: _rolled_back(run, incidents[1:MAX_INCIDENTS], sanitizer)),
    ]


def _run(run: Run, sanitizer: Sanitizer) -> Iterator[Draft]:
    info = document.loads(layout.RUN.path(run.path).read_bytes())
    clean = sanitizer.value(info)
    assert isinstance(clean, dict)
    # A commit looks like a key, but is public, and says which code to look at.
    if _REVISION.fullmatch(str(info.get("revision", ""))):
        clean["revision"] = info["revision"]
    files = {layout.RUN.name: document.dumps(clean, indent=1).encode()}
    for file in (layout.CONFIG, layout.PROVENANCE):
        if file.path(run.path).exists():
            files |= _clean_file(run, file.path(run.path), sanitizer)
    yield Draft(files)


def _log(run: Run, sanitizer: Sanitizer) -> Iterator[Draft]:
    """Yields the end of the log. It is shortened after it was cleaned: a part of a secret would not be
    recognized."""
    path = layout.LOG.path(run.path)
    if not path.exists():
        return
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(size - LOG_BYTES, 0))
        content = file.read(LOG_BYTES)
    if size > LOG_BYTES:
        content = content.partition(b"\n")[2]
    lines = clean_content(path.name, content, sanitizer).splitlines(keepends=True)
    note = "its end" if size > LOG_BYTES else ""
    yield Draft({layout.LOG.name: b"".join(lines)}, note)
    yield from _last_lines(layout.LOG.name, lines, "line")


def _events(run: Run, sanitizer: Sanitizer) -> Iterator[Draft]:
    path = layout.EVENTS.path(run.path)
    if path.exists():
        files = _clean_file(run, path, sanitizer)
        yield Draft(files)
        lines = files[layout.EVENTS.name].splitlines(keepends=True)
        yield from _last_lines(layout.EVENTS.name, lines, "event")


def _last_lines(name: str, lines: list[bytes], noun: str) -> Iterator[Draft]:
    for share in SHORTENED:
        kept = len(lines) // share
        if kept:
            note = f"the last {count_noun(kept, noun)} of {len(lines):,}"
            yield Draft({name: b"".join(lines[-kept:])}, note)


def _metrics(run: Run, sanitizer: Sanitizer) -> Iterator[Draft]:
    for content, note in metrics_copies(layout.METRICS.path(run.path), sanitizer):
        yield Draft({layout.METRICS.name: content}, note)


def _cross_play(run: Run, sanitizer: Sanitizer) -> Iterator[Draft]:
    from gymnast.league.stored_cross_play import file

    if file(run.path).exists():
        yield Draft(_clean_file(run, file(run.path), sanitizer))


def _rolled_back(run: Run, incidents: list[Path], sanitizer: Sanitizer) -> Iterator[Draft]:
    """Yields the given incidents; with fewer of the older ones if they do not fit."""
    read: list[dict[str, bytes]] = []
    for path in incidents:
        manifest = checkpoint.read_manifest(path)
        files = read_clean(path, manifest["files"], manifest, sanitizer)
        read.append(_below(run, path, with_manifest(files, manifest, sanitizer)))
    for kept in range(len(read), 0, -1):
        note = "" if kept == len(read) else f"the newest {kept} of {len(read)}"
        yield Draft({name: c for files in read[:kept] for name, c in files.items()}, note)


def _checkpoint(run: Run, path: Path, sanitizer: Sanitizer, *, only_policy: bool) -> Draft:
    """Returns the policy and the documents of a checkpoint, which is enough to evaluate and to inspect it; or
    all its files, with which it can be resumed."""
    manifest = checkpoint.read_manifest(path)
    names = [name for name in manifest["files"] if not only_policy or _is_policy(name)]
    files = read_clean(path, names, manifest, sanitizer)
    return Draft(_below(run, path, with_manifest(files, manifest, sanitizer)))


def _is_policy(name: str) -> bool:
    return name.endswith(".json") or name.startswith(checkpoint.WEIGHTS)


def _evaluation(run: Run, chosen: CheckpointInfo | None, sanitizer: Sanitizer) -> Iterator[Draft]:
    """Yields the stored evaluations of a checkpoint's policy: episodes, or matches between roles."""
    if chosen is None:
        return
    names = [f"{kind}-{chosen.step:012d}.safetensors" for kind in ("eval", "confirm")]
    found = [folder / name for name in names for folder in (run.traces, run.matches)]
    files: dict[str, bytes] = {}
    for file in found:
        if file.exists():
            files |= _clean_file(run, file, sanitizer)
    if files:
        yield Draft(files)


def _incidents(run_dir: Path) -> list[Path]:
    """Returns the directories of incidents, newest first."""
    folder = layout.INCIDENTS.path(run_dir)
    found = [file.parent for file in folder.glob(f"**/{checkpoint.MANIFEST}")]
    return sorted(found, key=lambda path: (path.name, path.parent.name), reverse=True)


def _clean_file(run: Run, path: Path, sanitizer: Sanitizer) -> dict[str, bytes]:
    """Returns a file of the run as its path in the run directory -> clean content."""
    name = path.relative_to(run.path).as_posix()
    content = layout.refuse_links_below(run.path, path).read_bytes()
    return {name: clean_content(path.name, content, sanitizer)}


def _below(run: Run, path: Path, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Returns the files of a directory of the run with their paths in the run directory."""
    folder = path.relative_to(run.path).as_posix()
    return {f"{folder}/{name}": content for name, content in files.items()}
