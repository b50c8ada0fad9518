"""What the extension asks Python to do: other packages' arrays, dates, and results as arrays.

Dates become milliseconds since 1970 UTC, as in the command; a date without a zone is UTC, as in numpy.
"""

import datetime

try:
    import numpy as _np
except ImportError:  # results are lists then
    _np = None

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_MILLISECOND = datetime.timedelta(milliseconds=1)


def array(data, code):
    """Numbers of a bytearray as a numpy array, which takes it over, or as a list."""
    if _np is not None:
        return _np.frombuffer(data, {"?": "bool", "d": "float64", "Q": "uint64"}[code])
    return memoryview(data).cast(code).tolist()


def keys(values):
    """A collection that the extension does not know, as a list or as a buffer that it knows."""
    if _np is not None and hasattr(values, "__array__"):
        found = _np.asarray(values)
        if found.dtype.kind in "iu":
            return found.astype(found.dtype.newbyteorder("="), copy=False)
        if found.dtype.kind in "SU" and found.dtype.isnative:
            return found
        if found.dtype.kind in "bfcMmV":
            raise TypeError(f"keys of dtype {found.dtype}: a key is str, bytes or int")
        return found.tolist()
    try:
        return list(values)
    except TypeError:
        raise TypeError(f"a key is str, bytes or int, not {type(values).__name__}") from None


def _date(value):
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            value = value.replace(tzinfo=datetime.timezone.utc)
        return (value - _EPOCH) // _MILLISECOND
    if isinstance(value, datetime.date):
        return _date(datetime.datetime(value.year, value.month, value.day))
    return value


def numbers(values):
    """Values or times that are not numbers of C: an int, a list, or a buffer of 64-bit numbers."""
    if isinstance(values, datetime.date):
        return _date(values)
    if _np is not None and (hasattr(values, "__array__") or isinstance(values, _np.generic)):
        found = _np.asarray(values)
        if found.dtype.kind == "M":
            if _np.isnat(found).any():
                raise ValueError(f"time {int(_np.isnat(found).argmax())} is NaT")
            found = found.astype("datetime64[ms]").view("int64")
        elif found.dtype.kind in "iu":
            found = found.astype(found.dtype.newbyteorder("="), copy=False)
        elif found.dtype.kind == "f":
            found = found.astype("float64", copy=False)
        else:
            return [_date(value) for value in found.tolist()]
        return int(found) if found.ndim == 0 else found
    try:
        return [_date(value) for value in values]
    except TypeError:
        return values.__index__()


def floats(values):
    """Numbers as an array, or as a list."""
    return list(values) if _np is None else _np.asarray(values, "float64")
