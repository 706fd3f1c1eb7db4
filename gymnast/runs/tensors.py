"""Named arrays as safetensors. Structured arrays, which safetensors lacks, are stored as bytes with their
dtypes in the header."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gymnast.runs import document

if TYPE_CHECKING:
    import numpy as np

_METADATA_KEY, _RECORDS = "gymnast", "records"


def pack(arrays: Mapping[str, np.ndarray], header: Mapping[str, Any] | None = None) -> bytes:
    import numpy as np
    from safetensors.numpy import save

    # safetensors copies the memory as it is: a transposed view would be read back scrambled
    plain = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    records = {name: array for name, array in plain.items() if array.dtype.names is not None}
    for name, array in records.items():
        flat = array.reshape(-1).view(np.uint8)
        plain[name] = flat.reshape(*array.shape, array.dtype.itemsize)
    metadata = dict(header or {})
    if records:
        metadata[_RECORDS] = {name: array.dtype.descr for name, array in records.items()}
    # a single entry, since the order of several would differ from file to file
    return save(plain, {_METADATA_KEY: document.dumps(metadata)} if metadata else None)


def unpack(content: bytes) -> dict[str, np.ndarray]:
    import numpy as np
    from safetensors.numpy import load

    arrays = load(content)
    for name, dtype_fields in read_header(content).get(_RECORDS, {}).items():
        fields = [(field, kind, *map(tuple, shape)) for field, kind, *shape in dtype_fields]
        stored = arrays[name]
        arrays[name] = stored.reshape(-1).view(np.dtype(fields)).reshape(stored.shape[:-1])
    return arrays


def read_header(content: bytes) -> dict[str, Any]:
    """Returns the `header` passed to `pack`. A file starts with the length of its JSON header (8 bytes)."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    return document.loads(header.get("__metadata__", {}).get(_METADATA_KEY, "{}"))
