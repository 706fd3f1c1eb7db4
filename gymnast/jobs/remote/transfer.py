"""Copies runs between hosts as tar archives: to a host before a job starts, and back from it.

Only plain files and directories with relative names are packed and unpacked. A database that is being written
is packed as a consistent snapshot.
"""

from __future__ import annotations

import io
import sqlite3
import tarfile
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import IO

from gymnast.errors import RunError
from gymnast.jobs import record
from gymnast.runs import files, layout, trust
from gymnast.runs.run import Run, read_info

SMALL = (layout.RUN, layout.CONFIG, layout.PROVENANCE, layout.METRICS, layout.EVENTS, layout.LOG)
"""The files of a run that show how it is: everything but checkpoints and episodes."""
_LEFT_OUT = (layout.LOCK.name, layout.HEARTBEAT.name)
"""Files of the process that trains, which mean nothing elsewhere."""
_SQLITE = ("-wal", "-shm", "-journal")


def pack(files: Mapping[str, Path], out: IO[bytes]) -> None:
    """Packs files and directories: name in the archive -> where it is. What is deleted meanwhile is left
    out."""
    with tarfile.open(fileobj=out, mode="w|") as archive:
        for name, source in files.items():
            for found in [source, *sorted(source.rglob("*"))] if source.is_dir() else [source]:
                inside = found.relative_to(source).as_posix()
                _add(archive, name if inside == "." else f"{name}/{inside}", found)


def pack_run(runs_dir: Path, job_id: str, out: IO[bytes], *, small: bool) -> None:
    """Packs the run of a job, if it has one, and the record and output of the job. `small`: only the files
    that show how it is, without checkpoints and episodes."""
    path, folder = runs_dir / job_id, record.jobs_dir(runs_dir)
    for found in path.rglob("*"):
        files.refuse_link(found)
    packed = {job_id: path} if not small else {f"{job_id}/{f.name}": f.path(path) for f in SMALL}
    for file in (folder / f"{job_id}.json", record.output_file(folder, job_id)):
        packed[f"{folder.name}/{file.name}"] = file
    pack({name: file for name, file in packed.items() if file.exists()}, out)


def unpack(archive: IO[bytes], target: Path, keep: Callable[[str], bool] = lambda _: True) -> None:
    """Unpacks an archive into the directory `target`, which is created; existing files are replaced. `keep`:
    whether the file with this name is wanted. Raises RunError if the archive is damaged or has a file that
    does not belong below `target`."""
    target.mkdir(parents=True, exist_ok=True)
    try:
        with tarfile.open(fileobj=archive, mode="r|") as packed:
            for member in packed:
                if not (member.isreg() or member.isdir()):
                    raise RunError(f"{member.name} is neither a file nor a directory")
                if keep(member.name):
                    packed.extract(member, target, filter="data")
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        raise RunError(f"the copy of a run cannot be unpacked: {error}", at=str(target)) from error


def place_run(archive: IO[bytes], runs_dir: Path, job_id: str) -> record.JobRecord:
    """Puts a run that a host has sent into the runs directory, and returns the record of its job there. Files
    that were not sent stay as they are."""
    folder = record.jobs_dir(runs_dir)
    with tempfile.TemporaryDirectory(prefix=".fetched-", dir=folder) as draft_name:
        draft = Path(draft_name)
        unpack(archive, draft, lambda name: _belongs(name, job_id, folder.name))
        output = record.output_file(draft / folder.name, job_id)
        if output.exists():
            output.replace(record.output_file(folder, job_id))
        if layout.RUN.path(draft / job_id).exists():
            _move_run(draft / job_id, runs_dir / job_id)
        return record.read(draft / folder.name, job_id)


def _belongs(name: str, job_id: str, folder: str) -> bool:
    """Returns whether a file that a host sends belongs to this job."""
    top, _, rest = name.partition("/")
    return top == job_id or (top == folder and rest in (f"{job_id}.json", f"{job_id}.txt"))


def _move_run(source: Path, target: Path) -> None:
    """Moves the files of a run over those of an earlier copy, run.json last. Its note and tags stay as they
    are here: they are the user's, who may have changed them since."""
    found = sorted(source.rglob("*"))
    sent = [file for file in found if file.is_file() and file.name != layout.SIGNATURES.name]
    ours = dict[str, object]()
    if layout.RUN.path(target).exists():
        info = read_info(target)
        ours = {"note": info["note"], "tags": info["tags"]}
    for folder in [source, *(file for file in found if file.is_dir())]:
        (target / folder.relative_to(source)).mkdir(parents=True, exist_ok=True)
    for file in sorted(sent, key=lambda file: file == layout.RUN.path(source)):
        file.replace(target / file.relative_to(source))
    for suffix in _SQLITE:  # of the database that was replaced
        target.joinpath(f"{layout.METRICS.name}{suffix}").unlink(missing_ok=True)
    if ours:
        Run(target).update(**ours)
    # A host of the user trained it: its signatures are made with the key of that host.
    trust.sign_code(target, Run(target).config_code())


def _add(archive: tarfile.TarFile, name: str, file: Path) -> None:
    """Adds a file or an empty directory, unless it was deleted or is of no use elsewhere."""
    if file.name in _LEFT_OUT or file.name.endswith(_SQLITE):
        return
    try:
        if file.is_dir():
            archive.add(file, name, recursive=False)
        elif file.name == layout.METRICS.name:
            content = _snapshot(file)
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        elif file.is_file():
            with file.open("rb") as opened:
                # The size is read once: a log may grow while it is packed.
                archive.addfile(archive.gettarinfo(arcname=name, fileobj=opened), opened)
    except FileNotFoundError:
        return


def _snapshot(database: Path) -> bytes:
    """Returns the content of an sqlite file, which another process may be writing, as one version."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / database.name
        with (
            closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(target)
        return copy.read_bytes()
