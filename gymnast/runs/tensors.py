"""Named arrays as safetensors, records too: those are stored as bytes, their fields in the header."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gymnast.runs import document

if TYPE_CHECKING:
    import numpy as np

_OURS, _RECORDS = "gymnast", "records"


def pack(arrays: Mapping[str, np.ndarray], header: Mapping[str, Any] | None = None) -> bytes:
    import numpy as np
    from safetensors.numpy import save

    # safetensors writes memory as it lies: a transposed view would come back scrambled
    plain = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    records = {name: array for name, array in plain.items() if array.dtype.names is not None}
    for name, array in records.items():
        flat = array.reshape(-1).view(np.uint8)
        plain[name] = flat.reshape(*array.shape, array.dtype.itemsize)
    said = dict(header or {})
    if records:
        said[_RECORDS] = {name: array.dtype.descr for name, array in records.items()}
    # a single entry: the order of several would differ from file to file
    return save(plain, {_OURS: document.dumps(said)} if said else None)


def unpack(content: bytes) -> dict[str, np.ndarray]:
    import numpy as np
    from safetensors.numpy import load

    arrays = load(content)
    for name, described in header_of(content).get(_RECORDS, {}).items():
        fields = [(field, kind, *map(tuple, shape)) for field, kind, *shape in described]
        stored = arrays[name]
        arrays[name] = stored.reshape(-1).view(np.dtype(fields)).reshape(stored.shape[:-1])
    return arrays


def header_of(content: bytes) -> dict[str, Any]:
    """What was said beside the arrays. A file begins with the length of its header (8 bytes)."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    return document.loads(header.get("__metadata__", {}).get(_OURS, "{}"))
