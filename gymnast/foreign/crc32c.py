"""The checksum of event files: CRC-32C (Castagnoli), masked as in TFRecord files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

POLYNOMIAL = 0x82F63B78
"""CRC-32C with reversed bits (RFC 3720, section 12.1)."""
_MASK = 0xA282EAD8
_BITS = (1 << 32) - 1


def _table() -> np.ndarray:
    values = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        values = np.where(values & 1, (values >> 1) ^ np.uint32(POLYNOMIAL), values >> 1)
    return values.astype(np.uint32)


_TABLE = _table()


def masked_crc32c(contents: Sequence[bytes]) -> list[int]:
    """Returns the checksum of each of these contents.

    Contents of the same length are computed together, byte by byte: events of scalars are many, short, and of
    few lengths."""
    found = [0] * len(contents)
    by_length: dict[int, list[int]] = {}
    for index, content in enumerate(contents):
        by_length.setdefault(len(content), []).append(index)
    for length, indices in by_length.items():
        data = np.frombuffer(b"".join(contents[i] for i in indices), dtype=np.uint8)
        columns = data.reshape(len(indices), length).T
        sums = np.full(len(indices), _BITS, dtype=np.uint32)
        for column in columns:
            sums = _TABLE[(sums ^ column) & 0xFF] ^ (sums >> 8)
        for index, value in zip(indices, (sums ^ _BITS).tolist(), strict=True):
            # rotated and shifted, so that a checksum of data with checksums stays meaningful
            found[index] = ((value >> 15 | value << 17) + _MASK) & _BITS
    return found
