"""Directories in the format of a checkpoint, cleaned: checkpoints and incidents."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from hashlib import sha256
from pathlib import Path

from gymnast.errors import CheckpointError
from gymnast.privacy.content import clean_content
from gymnast.privacy.sanitize import Sanitizer
from gymnast.runs import checkpoint, document
from gymnast.runs.files import read
from gymnast.runs.info import Manifest
from gymnast.runs.unpack import MAX_UNPACKED
from gymnast.text import formatting


def read_clean(
    path: Path, names: Collection[str], manifest: Manifest, sanitizer: Sanitizer
) -> dict[str, bytes]:
    """Returns file name -> clean content of these files of a directory. Raises CheckpointError if one is
    missing, does not match its hash or if they are too large, ValueError if one cannot be cleaned."""
    files: dict[str, bytes] = {}
    if sum(file_size(path / name) for name in names) > MAX_UNPACKED:
        raise CheckpointError(f"is larger than {formatting.size(MAX_UNPACKED)}")
    for name in names:
        try:
            content = read(path / name, below=path.parent, limit=MAX_UNPACKED)
        except OSError as error:
            raise CheckpointError(f"{name} cannot be read: {error.strerror}") from error
        if sha256(content).hexdigest() != manifest["files"][name]:
            raise CheckpointError(f"{name} is damaged (its hash differs)")
        files[name] = clean_content(name, content, sanitizer)
    return files


def with_manifest(
    files: Mapping[str, bytes], manifest: Manifest, sanitizer: Sanitizer
) -> dict[str, bytes]:
    """Returns the files with a manifest that lists just these, with the hashes of their clean contents."""
    hashes = {name: sha256(content).hexdigest() for name, content in files.items()}
    reason = sanitizer.text(manifest["reason"])
    text = document.dumps({**manifest, "reason": reason, "files": hashes}, indent=1)
    return {**files, checkpoint.MANIFEST: text.encode()}


def file_size(file: Path) -> int:
    """Returns the size of a file in bytes; 0 if it does not exist."""
    try:
        return file.stat().st_size
    except OSError:  # reading it reports that
        return 0
