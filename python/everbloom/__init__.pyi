import os
from typing import (
    Any,
    BinaryIO,
    Callable,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Type,
    TypeVar,
    Union,
    overload,
)

__version__: str

Key = Union[str, bytes, bytearray, int]
# Lists and tuples of keys, numpy arrays, Arrow columns, polars and pandas series.
Keys = Any
# A number, a date, or one for each key.
Numbers = Any
# A numpy array, or a list where numpy is not installed.
Array = Any
_F = TypeVar("_F", bound="Filter")
_T = TypeVar("_T")

class Error(ValueError):
    status: str
    at: Optional[int]

class BusyError(RuntimeError): ...

class Stats(NamedTuple):
    adds: int
    new_keys: Optional[int]
    bytes: int
    clock: int
    capacity: Optional[int]
    parts: int
    halflife: float
    too_low: float
    too_high: float
    window: float
    cells: Optional[int]
    cells_used: Optional[int]
    saturated: Optional[int]
    fpr: float

class Estimate(NamedTuple):
    count: float  # type: ignore[assignment]
    lower: float
    upper: float
    confidence: float

class Sum(NamedTuple):
    sum: float
    error: float
    median: float
    upper: float

class Range(NamedTuple):
    lower: float
    upper: float

class Quantile(NamedTuple):
    value: int
    lower: int
    upper: int

class Join(NamedTuple):
    join: float
    error: float
    upper: float

class Prediction(NamedTuple):
    items: Any
    fpr: Any
    fnr: Any
    fill: Any
    mean_fpr: Any
    mean_fnr: Any
    fpr_low: Any
    fpr_high: Any
    fnr_low: Any
    fnr_high: Any
    settles_after: Any
    wrong: Any
    error: Any
    error_bound: Any
    bits: Any

class Offer(NamedTuple):
    spec: str
    kind: str
    bytes: float
    mean_fpr: float
    mean_fnr: float
    lines: float
    error: float

class Option(NamedTuple):
    key: str
    type: str
    default: Optional[str]
    min: Optional[str]
    max: Optional[str]
    help: str

class Kind(NamedTuple):
    name: str
    question: Optional[str]
    summary: str
    paper: Optional[str]
    caps: FrozenSet[str]
    options: List[Option]

class Spec(NamedTuple):
    canonical: str
    kind: str
    bytes: int
    snapshot_bytes: int
    shards: int
    caps: FrozenSet[str]

class Filter:
    def __new__(cls: Type[_F], spec: str, **options: Any) -> _F: ...
    @overload
    def add(self, key: Key, value: Numbers = None, time: Numbers = None) -> bool: ...
    @overload
    def add(self, key: Keys, value: Numbers = None, time: Numbers = None) -> Array: ...
    def update(self, keys: Union[Keys, Iterable[Key]], value: Numbers = None, time: Numbers = None) -> None: ...
    def __contains__(self, key: Key, /) -> bool: ...
    @overload
    def seen(self, key: Key, value: Numbers = None, time: Numbers = None) -> bool: ...
    @overload
    def seen(self, key: Keys, value: Numbers = None, time: Numbers = None) -> Array: ...
    @overload
    def count(self, key: Key, time: Numbers = None) -> float: ...
    @overload
    def count(self, key: Keys, time: Numbers = None) -> Array: ...
    @overload
    def estimate(self, key: Key, time: Numbers = None) -> Estimate: ...
    @overload
    def estimate(self, key: Keys, time: Numbers = None) -> List[Estimate]: ...
    def sum(self, keys: Keys, time: Numbers = None) -> Sum: ...
    def remove(self, key: Union[Key, Keys], value: Numbers = None, time: Numbers = None) -> None: ...
    def merge(self, other: "Filter", weight: int = 1) -> None: ...
    def clear(self) -> None: ...
    def advance(self, time: Numbers) -> None: ...
    def stats(self, cells: bool = True) -> Stats: ...
    def hashes(self, keys: Union[Key, Keys]) -> Array: ...
    def copy(self: _F) -> _F: ...
    def __copy__(self: _F) -> _F: ...
    def __deepcopy__(self: _F, memo: Any, /) -> _F: ...
    def convert(self: _F, changes: str) -> _F: ...
    def diff(self, base: "Filter") -> bytes: ...
    def patch(self: _F, delta: bytes) -> _F: ...
    def dumps(self) -> bytes: ...
    def save(self, path: Union[str, "os.PathLike[str]"]) -> None: ...
    @classmethod
    def loads(cls: Type[_F], snapshot: Any) -> _F: ...
    @classmethod
    def load(cls: Type[_F], path: Union[str, "os.PathLike[str]"]) -> _F: ...
    @classmethod
    def view(cls: Type[_F], source: Union[str, "os.PathLike[str]", BinaryIO, Any], trust: bool = False) -> _F: ...
    @property
    def spec(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def keys(self) -> str: ...
    @property
    def caps(self) -> FrozenSet[str]: ...
    @property
    def shards(self) -> int: ...

class Ranges(Filter):
    def __new__(cls: Type[_F], spec: str = "dyadic", **options: Any) -> _F: ...
    def range(self, first: int, last: int) -> Range: ...
    def quantile(self, q: float) -> Quantile: ...

class Top(Filter):
    def __new__(cls: Type[_F], spec: str = "top", **options: Any) -> _F: ...
    def most_common(self, n: int = 10, at_least: float = 0) -> List[Tuple[Union[str, bytes], float]]: ...
    @property
    def watermark(self) -> float: ...

def load(path: Union[str, "os.PathLike[str]"]) -> Filter: ...
def view(source: Union[str, "os.PathLike[str]", BinaryIO, Any], trust: bool = False) -> Filter: ...
def describe(spec: str) -> Spec: ...
def kinds() -> List[Kind]: ...
def join(a: Filter, b: Filter) -> Join: ...
def dedup(
    items: Iterable[_T],
    memory: Union[str, int] = "64M",
    *,
    key: Optional[Callable[[_T], Key]] = None,
    spec: Union[str, Filter, None] = None,
) -> Iterator[_T]: ...
def predict(
    spec: str,
    items: Any = 0,
    *,
    distinct: float = 0,
    zipf: float = 0,
    gap: float = 0,
    rate: float = 0,
    value: float = 0,
) -> Prediction: ...
def plan(
    items: float = 0,
    *,
    distinct: float = 0,
    zipf: float = 0,
    gap: float = 0,
    rate: float = 0,
    order: Optional[str] = None,
    memory: Union[str, float] = 0,
    fpr: float = 0,
    fnr: float = 0,
    window: float = 0,
    prefer: Optional[str] = None,
    all_kinds: bool = False,
    **options: Any,
) -> List[Offer]: ...
