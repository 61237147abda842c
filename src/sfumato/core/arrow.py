"""Arrow arrays from plain data without pandas: pyarrow imports the installed pandas (half a second) for every conversion
of a Python object, so these few go through buffers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_FLOATS = {"double": "float64", "float": "float32", "halffloat": "float16"}


def strings(texts: Sequence[str | None]) -> pa.Array:
    """Texts as an Arrow string array, None as NULL."""
    encoded = [b"" if text is None else text.encode() for text in texts]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    valid = np.packbits([text is not None for text in texts], bitorder="little") if None in texts else None
    buffers = [None if valid is None else pa.py_buffer(valid), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.large_string(), len(encoded), buffers)


def integers(values: npt.NDArray[np.int64]) -> pa.Array:
    """Integers as an Arrow array."""
    values = np.ascontiguousarray(values, dtype=np.int64)
    return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(values)])


def floats(values: Sequence[float] | npt.NDArray[np.float64]) -> pa.Array:
    """Numbers as an Arrow array."""
    data = np.ascontiguousarray(values, dtype=np.float64)
    return pa.Array.from_buffers(pa.float64(), len(data), [None, pa.py_buffer(data)])


def take(values: pa.Array, codes: npt.NDArray[np.int64]) -> pa.Array:
    """Values by code; a code past the end is NULL."""
    beyond = codes >= len(values)
    valid = pa.py_buffer(np.packbits(~beyond, bitorder="little")) if beyond.any() else None
    picked = np.where(beyond, 0, codes).astype(np.int64)
    indices = pa.Array.from_buffers(pa.int64(), len(codes), [valid, pa.py_buffer(picked)])
    return values.take(indices)


def numpy(values: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.generic]:
    """An Arrow array of numbers without NULLs as a numpy array, not copied."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    kind = np.dtype(_FLOATS.get(str(values.type), str(values.type)))
    data = values.buffers()[1]
    if data is None or not len(values):
        return np.zeros(0, dtype=kind)
    return np.frombuffer(data, dtype=kind, count=len(values), offset=values.offset * kind.itemsize)
