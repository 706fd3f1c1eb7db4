"""Opens bundles: unpacks the files of a run into a private directory, which is deleted with the process.

A bundle comes from somebody else, so that nothing in it is trusted: only plain files that its manifest
lists, with the names that the files of a run have, with the sizes and hashes of the manifest, are written.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from gymnast.errors import RunError
from gymnast.runs import layout
from gymnast.runs.bundle_manifest import BundleManifest, parse_manifest

SUFFIX = ".zip"
"""The end of the name of a bundle."""
MAX_FILES = 2_000
"""Maximum number of files in a bundle."""
MAX_UNPACKED = 256 << 20
"""Maximum size of all files of a bundle together, in bytes, not compressed."""
MAX_MANIFEST = 4 << 20
"""Maximum size of the manifest in bytes."""
CHUNK = 1 << 20
"""Number of bytes that are decompressed at a time."""
BUNDLED = (
    layout.RUN,
    layout.CONFIG,
    layout.PROVENANCE,
    layout.METRICS,
    layout.EVENTS,
    layout.CHECKPOINTS,
    layout.TRACES,
    layout.MATCHES,
    layout.LEAGUE,
    layout.INCIDENTS,
    layout.LOG,
)
"""The files and folders of a run that a bundle may have."""
RUN_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Names that the only folder of a bundle may have."""
_NAME = re.compile(r"[A-Za-z0-9_][\w.+-]{0,120}", re.ASCII)
"""Name of a file or folder; one that starts with a dot would be hidden."""
_FIX = "ask for a new one: gymnast bundle RUN"
_opened: dict[tuple[str, int, int, int], Path] = {}
"""Path, modification time, size and inode of a bundle -> the run directory with its content."""


def open_bundle(file: Path) -> Path:
    """Returns a run directory with the content of a bundle. It belongs to this process, and is deleted when
    it ends. Raises RunError if the file is missing, damaged, no bundle or of an unknown format version."""
    try:
        found = file.stat()
    except OSError as error:
        raise RunError(f"cannot be read: {error.strerror}", at=str(file)) from error
    key = (os.path.realpath(file), found.st_mtime_ns, found.st_size, found.st_ino)
    if key not in _opened or not _opened[key].exists():
        _opened[key] = _unpack(file)
    return _opened[key]


def is_bundle_name(name: str) -> bool:
    """Returns whether a reference to a run is the path of a bundle."""
    return name.lower().endswith(SUFFIX)


def is_safe_name(name: str) -> bool:
    """Returns whether a file of a bundle may have this path in the run directory."""
    top, *rest = name.split("/")
    if not all(map(_NAME.fullmatch, (top, *rest))) or len(name) > 250:
        return False
    return (f"{top}/" if rest else top) in {file.name for file in BUNDLED}


def _unpack(file: Path) -> Path:
    """Unpacks a bundle into a new directory; raises RunError as `open_bundle`."""
    target = Path(tempfile.mkdtemp(prefix="gymnast-bundle-"))
    atexit.register(_remove, target, os.getpid())
    try:
        with zipfile.ZipFile(file) as archive:
            members = _members(archive, file)
            folder, manifest = _manifest(archive, members, file)
            _check_members(members, folder, manifest, file)
            run_dir = target / folder
            for listed in manifest.files:
                member = members[f"{folder}/{listed.name}"]
                digest, size = sha256(), 0
                (run_dir / listed.name).parent.mkdir(parents=True, exist_ok=True)
                with (run_dir / listed.name).open(
                    "xb"
                ) as output:  # never through a file that exists
                    for chunk in _chunks(archive, member, file):
                        digest.update(chunk)
                        size += output.write(chunk)
                if size != listed.size or digest.hexdigest() != listed.sha256:
                    raise _damaged(file, f"{listed.name} is not as its manifest says")
            manifest_name = f"{folder}/{layout.BUNDLE.name}"
            stored = b"".join(_chunks(archive, members[manifest_name], file))
            layout.BUNDLE.path(run_dir).write_bytes(stored)
            for empty in (layout.CHECKPOINTS, layout.TRACES):
                empty.path(run_dir).mkdir(exist_ok=True)
        return run_dir
    except BaseException as error:
        _remove(target, os.getpid())
        if isinstance(error, zipfile.BadZipFile | EOFError | ValueError):
            raise _damaged(file, "it is no archive, or incomplete") from error
        if isinstance(error, OSError):
            raise RunError(f"cannot be unpacked: {error.strerror}", at=str(file)) from error
        raise


def _members(archive: zipfile.ZipFile, file: Path) -> dict[str, zipfile.ZipInfo]:
    """Returns name -> member; raises RunError unless all are plain files of an acceptable size."""
    found = archive.infolist()
    if len(found) > MAX_FILES or sum(member.file_size for member in found) > MAX_UNPACKED:
        raise _refused(file, "it is too large to be a bundle")
    members = {member.filename: member for member in found}
    if len(members) != len(found):
        raise _refused(file, "it has several files with the same name")
    for member in found:
        kind = stat.S_IFMT(member.external_attr >> 16)
        if member.is_dir() or kind not in (0, stat.S_IFREG):
            raise _refused(file, f"{member.filename!r} is not a plain file")
        if member.flag_bits & 1 or member.compress_type not in (
            zipfile.ZIP_STORED,
            zipfile.ZIP_DEFLATED,
        ):
            raise _refused(file, f"{member.filename!r} is encrypted or compressed in another way")
    return members


def _manifest(
    archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], file: Path
) -> tuple[str, BundleManifest]:
    """Returns the only folder of a bundle and its manifest."""
    found = [name for name in members if name.partition("/")[2] == layout.BUNDLE.name]
    folder = found[0].partition("/")[0] if len(found) == 1 else ""
    if not RUN_ID.fullmatch(folder):
        fix = "a bundle is made by `gymnast bundle RUN`"
        raise RunError("is not a bundle: it has no manifest of a run", at=str(file), fix=fix)
    member = members[found[0]]
    if member.file_size > MAX_MANIFEST:
        raise _refused(file, "its manifest is too large")
    return folder, parse_manifest(b"".join(_chunks(archive, member, file)), at=str(file))


def _check_members(
    members: dict[str, zipfile.ZipInfo], folder: str, manifest: BundleManifest, file: Path
) -> None:
    """Raises RunError unless the archive has exactly the files of its manifest, with safe names."""
    listed = {f"{folder}/{entry.name}" for entry in manifest.files}
    for name in sorted(members.keys() - listed - {f"{folder}/{layout.BUNDLE.name}"}):
        raise _refused(file, f"{name!r} is not in its manifest")
    for entry in manifest.files:
        if not is_safe_name(entry.name):
            raise _refused(file, f"{entry.name!r} is not a file of a run")
        if f"{folder}/{entry.name}" not in members:
            raise _damaged(file, f"{entry.name} is missing")
    if len(listed) != len(manifest.files):
        raise _damaged(file, "its manifest lists a file twice")
    if layout.RUN.name not in {entry.name for entry in manifest.files}:
        raise _damaged(file, f"{layout.RUN.name} is missing")


def _chunks(archive: zipfile.ZipFile, member: zipfile.ZipInfo, file: Path) -> Iterator[bytes]:
    """Yields the content of a member in parts, of which never more than its declared size is
    decompressed."""
    left = member.file_size
    try:
        with archive.open(member) as opened:
            while chunk := opened.read(min(CHUNK, left + 1)):
                left -= len(chunk)
                if left < 0:
                    break
                yield chunk
    except (zipfile.BadZipFile, EOFError, zlib.error, NotImplementedError, RuntimeError) as error:
        raise _damaged(file, f"{member.filename} cannot be decompressed") from error
    if left != 0:
        raise _damaged(file, f"{member.filename} has another size than declared")


def _remove(folder: Path, pid: int) -> None:
    if os.getpid() == pid:  # a forked child must not delete what its parent reads
        shutil.rmtree(folder, ignore_errors=True)


def _damaged(file: Path, problem: str) -> RunError:
    return RunError(f"is damaged: {problem}", at=str(file), fix=_FIX)


def _refused(file: Path, problem: str) -> RunError:
    return RunError(f"is refused: {problem}", at=str(file), fix=_FIX)
