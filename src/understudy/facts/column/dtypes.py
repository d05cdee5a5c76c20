"""Types that a column may come back in: declared, since those of a frame depend on its rows."""

from __future__ import annotations

_WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_NULLABLE_WHOLE = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
_REAL = ("float32", "float64", "Float32", "Float64")
_TEXT = ("string", "object")
_MOMENTS = ("datetime64[s]", "datetime64[ms]", "datetime64[us]", "datetime64[ns]")

WHOLE_TYPES = (*_WHOLE, *_NULLABLE_WHOLE)
REAL_TYPES = _REAL
TYPES = {
    "integer": (*WHOLE_TYPES, *_REAL, *_TEXT),
    "float": (*_REAL, "decimal", *_TEXT),
    "boolean": ("bool", "boolean", *_WHOLE[:4], *_TEXT, "category"),
    "categorical": (*WHOLE_TYPES, "float64", "Float64", "bool", "boolean", *_TEXT, "category"),
    "date": ("date", *_MOMENTS, *_TEXT),
    "datetime": (*_MOMENTS, *_TEXT),
    "id": ("int32", "int64", "uint32", "uint64", *_TEXT),
    "text": _TEXT,
}


def check_dtype(dtype: str, kind: str) -> None:
    """Refuse a type that a kind of column cannot have."""
    known = TYPES[kind]
    if dtype not in known:
        raise ValueError(
            f"dtype is {dtype!r}, which a column of kind {kind} cannot have; "
            f"use one of {', '.join(known)}"
        )


def most_exact(dtype: str) -> int:
    """Return up to which whole number a type of reals, by its name, tells all of them apart."""
    return 2**24 if dtype.lower() == "float32" else 2**53


def whole_bounds(dtype: str) -> tuple[int, int]:
    """Return the smallest and the largest number of a whole type, by its name."""
    name = dtype.lower()
    bits = int(name.removeprefix("u").removeprefix("int"))
    return (0, 2**bits - 1) if name.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
