"""Small summaries of endless streams: the Bloom filter family.

>>> import everbloom
>>> seen = everbloom.Filter("lru:memory=1M")
>>> [word for word in "to be or not to be".split() if not seen.add(word)]
['to', 'be', 'or', 'not']

A key is a str (its UTF-8), bytes, or an int (its decimal text, unless the filter has keys=i64 or
keys=u64).  So the snapshot of a filter means the same here, in the command and in every other host.

Collections of keys go in as they are: lists, numpy arrays, Arrow and polars columns, pandas series.
"""

import itertools as _itertools
import mmap as _mmap
import os as _os
import re as _re
import tempfile as _tempfile

from . import _arrays, _everbloom
from ._everbloom import (
    BusyError,
    Error,
    Estimate,
    Join,
    Kind,
    Offer,
    Option,
    Prediction,
    Quantile,
    Range,
    Spec,
    Stats,
    Sum,
    __version__,
    describe,
    join,
    kinds,
)

__all__ = [
    "BusyError", "Error", "Estimate", "Filter", "Join", "Kind", "Offer", "Option", "Prediction", "Quantile",
    "Range", "Ranges", "Spec", "Stats", "Sum", "Top", "dedup", "describe", "join", "kinds", "load", "plan",
    "predict", "view",
]  # fmt: skip


class Filter(_everbloom.Filter):
    """A filter, made from a spec such as "lru:memory=64M"; options may be given by name.

    >>> f = Filter("bloom", distinct=1000, fpr=0.001)
    >>> f.add("apple")   # was it there before?
    False
    >>> f.add("apple"), "apple" in f, "pear" in f
    (True, True, False)

    Many threads may read a filter at a time, or one may change it; else a call raises BusyError.
    """

    __slots__ = ()

    def save(self, path):
        """Write a snapshot to a file, which is replaced at once or stays as it was.

        >>> f = Filter("bloom:memory=1K,k=5")
        >>> _ = f.add("a")
        >>> f.save("bad.eb")
        >>> "a" in load("bad.eb"), "a" in view("bad.eb")
        (True, True)
        """
        path = _os.fspath(path)
        folder, name = _os.path.split(path)
        handle, new = _tempfile.mkstemp(prefix=name + ".", dir=folder or ".")
        try:
            with open(handle, "wb") as file:
                file.write(self.dumps())
                file.flush()
                _os.fsync(file.fileno())
            umask = _os.umask(0)
            _os.umask(umask)
            _os.chmod(new, 0o666 & ~umask)
            _os.replace(new, path)
        except BaseException:
            _os.unlink(new)
            raise

    @classmethod
    def load(cls, path):
        """The filter of a file.  Everything is checked: the file may come from anyone."""
        with open(path, "rb") as file:
            return cls.loads(file.read())

    @classmethod
    def view(cls, source, trust=False):
        """A read-only filter on a snapshot, without a copy.

        source: bytes or another buffer; a path or an open file, which is mapped.  With trust its
        checksum is not computed, so even a large file opens at once.
        """
        if isinstance(source, (str, _os.PathLike)):
            with open(source, "rb") as file:
                return cls.view(file, trust)
        if hasattr(source, "fileno"):
            source = _mmap.mmap(source.fileno(), 0, access=_mmap.ACCESS_READ)
        return cls._view(source, trust)

    @property
    def kind(self):
        """The kind of filter: the first word of its spec."""
        return self.spec.partition(":")[0]

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    def __reduce__(self):
        return type(self).loads, (self.dumps(),)

    def __repr__(self):
        return f"{type(self).__name__}({self.spec!r})"


load = Filter.load
view = Filter.view


class Ranges(Filter):
    """A filter of numbers that knows how many lie in a range, and quantiles.

    >>> r = Ranges(bits=16)
    >>> r.update(range(1000))
    >>> r.range(10, 19)
    everbloom.Range(lower=10.0, upper=10.0)
    >>> r.quantile(0.5).value
    499
    """

    __slots__ = ()

    def __new__(cls, spec="dyadic", **options):
        return super().__new__(cls, spec, **options)

    def range(self, first, last):
        """How many keys lie in first..last, both included: certain bounds."""
        return self._range(first, last)

    def quantile(self, q):
        """The smallest key such that a share q (0..1) of all keys is not larger, with certain bounds."""
        return self._quantile(q)


class Top(Filter):
    """A counting filter that keeps the keys that occur most often.

    >>> top = Top(memory="64K")
    >>> top.update("to be or not to be to".split())
    >>> top.most_common(2)
    [('to', 3.0), ('be', 2.0)]
    """

    __slots__ = ()

    def __new__(cls, spec="top", **options):
        return super().__new__(cls, spec, **options)

    def most_common(self, n=10, at_least=0):
        """The keys that occur most often, with their counts, which are never too low.

        at_least: only keys that occur so often (an iceberg query).

        Keys are str, or bytes if the filter has keys=bytes or the key is not UTF-8.
        """
        return [(self._text(key), count) for key, count, _ in self._top(max(n, 0), at_least)[1]]

    @property
    def watermark(self):
        """A key that is not kept occurs at most so often."""
        return self._top(0, 0)[0]

    def _text(self, key):
        if self.keys == "bytes":
            return key
        try:
            return key.decode()
        except UnicodeDecodeError:
            return key


def dedup(items, memory="64M", *, key=None, spec=None):
    """Items of an iterable that were not there before, one after the other: for endless streams.

    memory is all that is ever used.  key: a function that says what an item is known by.  spec: another
    filter (default: lru:fpr=1.2e-6, as the command has it), or a Filter to go on with.

    >>> list(dedup(["to", "be", "or", "not", "to", "be"], memory="1M"))
    ['to', 'be', 'or', 'not']
    >>> list(dedup([("a", 1), ("b", 2), ("a", 3)], "1M", key=lambda item: item[0]))
    [('a', 1), ('b', 2)]
    """
    if isinstance(spec, _everbloom.Filter):
        known = spec
    else:
        known = Filter(spec or "lru:fpr=1.2e-6", memory=memory)
    add = known._add_one
    return _itertools.filterfalse(add if key is None else lambda item: add(key(item)), items)


def predict(spec, items=0, *, distinct=0, zipf=0, gap=0, rate=0, value=0):
    """What mathematics says of a filter after so many keys (default: an endless stream).

    distinct: different keys among the items; zipf: exponent of their frequencies; gap: distinct keys between a key
    and its repeat; rate: items in a unit of time; value: importance of the repeated key.

    >>> p = predict("bloom:memory=1M,k=7", items=1e6)
    >>> 0.01 < p.fpr < 0.03
    True

    items may be ascending positions in one stream: the answer then holds arrays.

    >>> curve = predict("bloom:memory=1M,k=7", items=[1e5, 5e5, 1e6])
    >>> len(curve.fpr)
    3
    """
    curve = hasattr(items, "__iter__")
    points = tuple(items) if curve else ()
    if curve and not points:
        raise ValueError("items must be a number or ascending positions, not an empty collection")
    last = points[-1] if points else items
    found = _everbloom._predict(spec, (last, distinct, zipf, gap, rate, value, 0), points)
    if not curve:
        return found[0]
    return Prediction(tuple(map(_arrays.floats, zip(*found))))


_ORDERS = {None: 0, "shuffled": 1, "recent": 2, "passes": 3}
_PREFER = {"smallest": 1, "fewest_misses": 2, "fewest_false": 3}


def plan(items=0, *, distinct=0, zipf=0, gap=0, rate=0, order=None, memory=0, fpr=0, fnr=0, window=0, prefer=None,
         all_kinds=False, **options):  # fmt: skip
    """Filters that keep these bounds, the best of each kind, best first.

    memory: at most so many bytes ("64M"); fpr: new keys that are reported as seen; fnr: repeats that are reported as
    new; window: nothing is forgotten so long.  order: "shuffled" or "recent" repeats, or "passes", the same keys again
    and again (default: any).  prefer: "smallest" (default without memory), "fewest_misses" (default with it) or
    "fewest_false".  Other options go into every spec: seed=7.

    >>> offers = plan(items=2000, distinct=1000, fpr=0.01, fnr=0.01)
    >>> offers[0].bytes < 10000, Filter(offers[0].spec).add("a")
    (True, False)
    """
    try:
        where = _ORDERS[order]
        how = _PREFER[prefer or ("fewest_misses" if memory else "smallest")]
    except KeyError as e:
        raise ValueError(f"{e} is not one of {[*_ORDERS, *_PREFER]}") from None
    more = ",".join(f"{key}={value}" for key, value in options.items()) or None
    return _everbloom._plan(
        (items, distinct, zipf, gap, rate, 0, where), _size(memory), fpr, fnr, window, 0, how, all_kinds, more
    )


def _size(text):
    if not isinstance(text, str):
        return text
    parts = _re.fullmatch(r"([0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)([KMGTkmgt]?)", text)
    if not parts:
        raise ValueError(f"memory must be a size such as 64M, not {text!r}")
    return float(parts[1]) * 1024 ** " KMGT".index(parts[2].upper() or " ")
