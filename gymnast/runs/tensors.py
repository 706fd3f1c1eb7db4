"""Named arrays as safetensors. Structured arrays, which safetensors lacks, are stored as bytes with their
dtypes in the header."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from gymnast.runs import document

if TYPE_CHECKING:
    import numpy as np

_METADATA_KEY, _RECORDS = "gymnast", "records"


def pack(arrays: Mapping[str, np.ndarray], header: Mapping[str, object] | None = None) -> bytes:
    """Returns arrays and `header` (JSON values by name) as the bytes of a safetensors file. A structured
    array [...] is stored as uint8 [..., itemsize]; its dtype is added to the header under `records`."""
    import numpy as np
    from safetensors.numpy import save

    # safetensors copies the memory as it is: a transposed view would be read back scrambled
    stored = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    records = {name: array for name, array in stored.items() if array.dtype.names is not None}
    for name, array in records.items():
        flat = array.reshape(-1).view(np.uint8)
        stored[name] = flat.reshape(*array.shape, array.dtype.itemsize)
    metadata = dict(header or {})
    if records:
        metadata[_RECORDS] = {name: array.dtype.descr for name, array in records.items()}
    # One entry: safetensors writes several in random order, and equal content must give equal bytes.
    return save(stored, {_METADATA_KEY: document.dumps(metadata)} if metadata else None)


class _Header(TypedDict, total=False):
    """The JSON header of a safetensors file, besides its arrays."""

    __metadata__: dict[str, str]


def unpack(content: bytes) -> dict[str, np.ndarray]:
    """Returns the arrays that were passed to `pack`, by name. `content`: the bytes of the file."""
    import numpy as np
    from safetensors.numpy import load

    arrays = load(content)
    for name, dtype_fields in read_header(content).get(_RECORDS, {}).items():
        fields = [(field, kind, *map(tuple, shape)) for field, kind, *shape in dtype_fields]
        as_bytes = arrays[name]  # [..., itemsize]
        arrays[name] = as_bytes.reshape(-1).view(np.dtype(fields)).reshape(as_bytes.shape[:-1])
    return arrays


def read_header(content: bytes) -> Any:
    """Returns the `header` that was passed to `pack`, with the dtypes of structured arrays under `records`.
    `content`: the bytes of the file, which starts with the length of its JSON header (8 bytes)."""
    length = int.from_bytes(content[:8], "little")
    header = document.parse(_Header, content[8 : 8 + length])
    return document.loads(header.get("__metadata__", {}).get(_METADATA_KEY, "{}"))
