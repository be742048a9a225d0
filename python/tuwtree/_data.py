"""Block sizes: from arrays, files and distributions."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple, Union

from tuwtree import _native

if TYPE_CHECKING:
    import numpy
    from numpy.typing import ArrayLike

#: The largest size of a block, and of all together.
LARGEST = 2**64 - 1

Path = Union[str, "os.PathLike[str]"]


def operations() -> Tuple[str, ...]:
    """The names of all operations, such as ``gather``; MPI's names (``MPI_Gatherv``) are understood, too."""
    return tuple(_native.names("operations"))


def distributions() -> Tuple[str, ...]:
    """The names of all distributions of block sizes, such as ``spikes``."""
    return tuple(_native.names("distributions"))


def constructions() -> Tuple[str, ...]:
    """The names of all constructions of trees and schedules, such as ``adaptive``."""
    return tuple(_native.names("constructions"))


def published_tables() -> io.StringIO:
    """Open Tables 1 to 3 of Träff, "On Optimal Trees for Irregular Gather and Scatter Collectives", as CSV.

    A row for each completion time: table, alpha, beta, gamma, distribution, root and construction as printed.

    >>> published_tables().readline().split(",")[:4]
    ['table', 'alpha', 'beta', 'gamma']
    """
    return io.StringIO(_native.published_tables())


def block_sizes(
    distribution: str,
    *,
    processes: int = 2000,
    block: int = 1000,
    rho: int = 5,
    exponent: float = 1.0,
    sigma: float = 1.0,
    seed: int = 1,
    generator: str = "glibc",
) -> numpy.ndarray:
    """The block sizes in bytes of a distribution, as an array of ``processes`` unsigned integers.

    ``block`` is the mean in bytes, ``rho`` how rare and large spikes are, ``exponent`` how fast a power law falls,
    ``sigma`` the deviation of log-normal blocks. ``generator`` is ``glibc`` (with seed 1 as in the papers) or
    ``xoshiro``.

    Raises ``ValueError`` for an unknown name or a parameter out of range.

    >>> block_sizes("skewed", processes=4, block=10, rho=2)
    array([20, 20,  1,  1], dtype=uint64)
    """
    import numpy

    sizes = _native.block_sizes(
        distribution,
        whole("processes", processes),
        whole("block", block),
        whole("rho", rho),
        number("exponent", exponent),
        number("sigma", sigma),
        whole("seed", seed),
        generator,
    )
    return numpy.array(sizes, dtype=numpy.uint64)


def read_sizes(path: Path, *, element_size: Optional[int] = None) -> numpy.ndarray:
    """The block sizes in bytes that a file has: text, CSV, JSON or NumPy's ``.npy``.

    With ``element_size``, the file's numbers count elements of so many bytes.

    Raises ``ValueError`` for a file that cannot be read, with the place of what is wrong.
    """
    import numpy

    element = None if element_size is None else whole("element_size", element_size)
    return numpy.array(_native.read_sizes(os.fspath(path), element), dtype=numpy.uint64)


def whole(name: str, value: Any, largest: int = LARGEST) -> int:
    """The argument as an integer from 0 to ``largest``."""
    import operator

    try:
        integer = operator.index(value)
    except TypeError:
        raise ValueError(f"{name}: {value!r}; allowed: an integer from 0 to {largest}") from None
    if not 0 <= integer <= largest:
        raise ValueError(f"{name}: {integer}; allowed: 0 to {largest}")
    return integer


def number(name: str, value: Any) -> float:
    """The argument as a number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: {value!r}; allowed: a number") from None


def sizes_of(name: str, values: ArrayLike) -> List[int]:
    """The sizes in an array or sequence of one dimension, each checked."""
    array = array_of(name, values)
    if array.ndim != 1:
        raise ValueError(f"{name}: an array of {array.ndim} dimensions; allowed: one size for each rank")
    return checked(name, array)


def matrix_of(name: str, values: ArrayLike) -> List[int]:
    """The sizes in a square array, row after row, each checked."""
    array = array_of(name, values)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        shape = " x ".join(str(length) for length in array.shape)
        raise ValueError(f"{name}: an array of {shape or 'no'} numbers; allowed: p rows of p sizes, row = sender")
    return checked(name, array)


def array_of(name: str, values: ArrayLike) -> numpy.ndarray:
    """The array that the values are."""
    import numpy

    try:
        return numpy.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name}: {error}; allowed: rows of equal length") from None


def checked(name: str, array: numpy.ndarray) -> List[int]:
    """The numbers of an array in row order, which are whole and in range."""
    import numpy

    if array.dtype.kind == "f":
        # Counts that went through a table often come as floating-point numbers.
        faulty = ~((array >= 0) & (array < 2.0**64) & (array == numpy.floor(array)))
        if faulty.any():
            refuse(name, array, faulty)
        return [int(size) for size in array.ravel().tolist()]
    if array.dtype.kind == "O":
        items: Sequence[Any] = array.ravel().tolist()
        return [whole(f"{name}[{place_of(array, at)}]", size) for at, size in enumerate(items)]
    if array.dtype.kind not in "iu" and array.size:
        raise ValueError(f"{name}: {array.dtype} values; allowed: integers from 0 to {LARGEST}")
    if array.dtype.kind == "i" and (array < 0).any():
        refuse(name, array, array < 0)
    return array.ravel().tolist()


def refuse(name: str, array: numpy.ndarray, faulty: numpy.ndarray) -> None:
    """Raises ``ValueError`` with the first number that is faulty."""
    at = int(faulty.ravel().argmax())
    value = array.ravel()[at].item()
    raise ValueError(f"{name}[{place_of(array, at)}]: {value}; allowed: integers from 0 to {LARGEST}")


def place_of(array: numpy.ndarray, at: int) -> str:
    """The indices of an entry."""
    import numpy

    return ", ".join(str(index) for index in numpy.unravel_index(at, array.shape))
