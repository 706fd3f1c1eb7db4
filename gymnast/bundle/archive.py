"""Writes bundles: zip archives whose bytes depend on nothing but their content."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping

LEVEL = 6
"""Compression level; arrays hardly become smaller with a higher one."""
_TIME = (1980, 1, 1, 0, 0, 0)
"""The earliest time that zip archives can store."""
_PER_FILE, _AT_END = 30 + 46, 22
"""Bytes that an archive needs for each file besides its name (twice) and its content, and once at the end."""


class SizeOfArchives:
    """Computes sizes of archives before they are written; each content is compressed once."""

    def __init__(self) -> None:
        self._compressed: dict[bytes, int] = {}

    def __call__(self, files: Mapping[str, bytes]) -> int:
        """Returns the size of the archive of these files in bytes. `files`: name -> content."""
        names = sum(2 * len(name.encode()) + _PER_FILE for name in files)
        return names + sum(map(self._size, files.values())) + _AT_END

    def _size(self, content: bytes) -> int:
        if content not in self._compressed:
            packer = zlib.compressobj(LEVEL, zlib.DEFLATED, -15)
            self._compressed[content] = len(packer.compress(content)) + len(packer.flush())
        return self._compressed[content]


def pack(files: Mapping[str, bytes]) -> bytes:
    """Returns the archive of these files in this order. `files`: name -> content."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        for name, content in files.items():
            member = zipfile.ZipInfo(name, _TIME)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.create_system = 3  # Unix, also if it is made elsewhere
            member.external_attr = 0o100644 << 16
            opened.writestr(member, content, compresslevel=LEVEL)
    return archive.getvalue()
