"""Gather and scatter along trees for programs that use mpi4py.

>>> from mpi4py import MPI                                             # doctest: +SKIP
>>> from tuwtree.mpi import gatherv
>>> gatherv(MPI.COMM_WORLD, own, [everything, counts, displs, MPI.DOUBLE], root=0)

Arguments are those of ``Comm.Gatherv`` and ``Comm.Scatterv``: a buffer, or a list of a buffer with counts,
displacements and datatype, all but the buffer optional. Counts may exceed 2^31; memory is the host's. All ranks of a
communicator call these functions in the same order, as with MPI.

The work is done by the library for C, ``libtuwtree_mpi``, built for the MPI library of mpi4py (docs/executor-c.md). It
is the file that ``TUWTREE_LIBRARY`` names, else what the system's loader finds (``LD_LIBRARY_PATH``), else where
pkg-config says it is, else the one of the wheel. Importing this module raises ``ImportError`` if it is in none of these places, or built for
another MPI library.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

from mpi4py import MPI

from tuwtree._exec import LIBRARIES, PROGRAMS

__all__ = ["gatherv", "scatterv", "set_option"]

_NAME = "libtuwtree_mpi.so.0"


def gatherv(comm: MPI.Intracomm, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
    """Gather blocks of any sizes at the root, as ``comm.Gatherv(sendbuf, recvbuf, root)`` does, along a tree.

    ``sendbuf`` is this rank's block, or ``MPI.IN_PLACE`` at the root; ``recvbuf`` matters at the root only.

    Raises ``ValueError`` for arguments of another form, ``MPI.Exception`` for what MPI or the library refuses.
    """
    is_root = _check(comm, root) == root
    blocks = _vector("recvbuf", recvbuf, comm.size, writable=True) if is_root else _NO_BLOCKS
    own = _own("sendbuf", sendbuf, writable=False, may_be_in_place=is_root)
    code = _library.tuwtree_gatherv_c(
        own.address,
        own.items,
        _handle(own.datatype),
        blocks.address,
        blocks.counts,
        blocks.displacements,
        _handle(blocks.datatype),
        root,
        _handle(comm),
    )
    _raise_for(code)


def scatterv(comm: MPI.Intracomm, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
    """Scatter blocks of any sizes from the root, as ``comm.Scatterv(sendbuf, recvbuf, root)`` does, along a tree.

    ``sendbuf`` matters at the root only; ``recvbuf`` is this rank's block, or ``MPI.IN_PLACE`` at the root.

    Raises ``ValueError`` for arguments of another form, ``MPI.Exception`` for what MPI or the library refuses.
    """
    is_root = _check(comm, root) == root
    blocks = _vector("sendbuf", sendbuf, comm.size, writable=False) if is_root else _NO_BLOCKS
    own = _own("recvbuf", recvbuf, writable=True, may_be_in_place=is_root)
    code = _library.tuwtree_scatterv_c(
        blocks.address,
        blocks.counts,
        blocks.displacements,
        _handle(blocks.datatype),
        own.address,
        own.items,
        _handle(own.datatype),
        root,
        _handle(comm),
    )
    _raise_for(code)


def set_option(comm: MPI.Intracomm, name: str, value: str) -> None:
    """Change how operations on this communicator are performed from now on; all ranks say the same.

    Names and values are those of ``tuwtree_set``: ``algorithm`` (``auto``, ``adaptive``, ``native``, ...), ``machine``
    (the file of a machine document), ``schedule``, and others.

    Raises ``MPI.Exception`` for a name or value that is not known.
    """
    _raise_for(_library.tuwtree_set(_handle(comm), name.encode(), value.encode()))


class _Block(NamedTuple):
    """A rank's own block."""

    address: Optional[int]
    items: int
    datatype: MPI.Datatype


class _Blocks(NamedTuple):
    """The blocks of all ranks."""

    address: Optional[int]
    counts: Any
    displacements: Any
    datatype: MPI.Datatype


_NO_BLOCKS = _Blocks(None, None, None, MPI.BYTE)


def _check(comm: MPI.Intracomm, root: int) -> int:
    """This rank, if the root is one."""
    if not 0 <= root < comm.size:
        raise ValueError(f"root: {root}; allowed: 0 to {comm.size - 1}")
    return comm.rank


def _own(name: str, message: Any, writable: bool, may_be_in_place: bool) -> _Block:
    """What a rank's own argument describes."""
    if message is MPI.IN_PLACE:
        if not may_be_in_place:
            raise ValueError(f"{name}: MPI.IN_PLACE; allowed: at the root only")
        return _Block(int(MPI.IN_PLACE), 0, MPI.BYTE)
    if message is None:
        return _Block(None, 0, MPI.BYTE)
    data, items, displacement, kind = _parts(name, message, (tuple, list))
    address, length, datatype = _memory(name, data, kind, writable)
    extent = datatype.Get_extent()[1]
    offset = 0 if displacement is None else _whole(name, displacement) * extent
    if items is None:
        items = _items(name, max(0, length - offset), datatype)
    return _Block(address and address + offset, _whole(name, items), datatype)


def _vector(name: str, message: Any, ranks: int, writable: bool) -> _Blocks:
    """What the root's argument describes."""
    data, counts, displacements, kind = _parts(name, message, (tuple,))
    address, length, datatype = _memory(name, data, kind, writable)
    if counts is None:
        share, more = divmod(_items(name, length, datatype), ranks)
        counts = [share + (rank < more) for rank in range(ranks)]
    elif hasattr(counts, "__index__") and not hasattr(counts, "__len__"):
        counts = [counts] * ranks
    counts = _list(name, "counts", counts, ranks)
    if displacements is None:
        starts, start = [], 0
        for count in counts:
            starts.append(start)
            start += count
        displacements = starts
    elif hasattr(displacements, "__index__") and not hasattr(displacements, "__len__"):
        displacements = [rank * int(displacements) for rank in range(ranks)]
    displacements = _list(name, "displacements", displacements, ranks)
    starts_c = (ctypes.c_ssize_t * ranks)(*displacements)
    return _Blocks(address, (ctypes.c_longlong * ranks)(*counts), starts_c, datatype)


def _parts(name: str, message: Any, pairs: Tuple[type, ...]) -> Tuple[Any, Any, Any, Any]:
    """Buffer, counts, displacements and datatype of a message in one of mpi4py's forms; `None` for what is left out.

    Counts and displacements may come as one pair, of these types.
    """
    if not isinstance(message, (list, tuple)):
        return message, None, None, None
    counts: Any = None
    displacements = kind = None
    if len(message) == 2:
        data, counts = message
        if isinstance(counts, (MPI.Datatype, str)):
            counts, kind = None, counts
    elif len(message) == 3:
        data, counts, kind = message
    elif len(message) == 4:
        data, counts, displacements, kind = message
        return data, counts, displacements, kind
    else:
        raise ValueError(f"{name}: a list of {len(message)}; allowed: [data, counts, displs, type] or a part of it")
    is_pair = isinstance(counts, pairs)
    if is_pair and len(counts) == 2:
        counts, displacements = counts
    return data, counts, displacements, kind


def _memory(name: str, data: Any, kind: Any, writable: bool) -> Tuple[Optional[int], int, MPI.Datatype]:
    """Where the data is, its length in bytes, and its datatype."""
    if data is None or data is MPI.BOTTOM:
        if kind is None:
            raise ValueError(f"{name}: no buffer and no datatype; allowed: [data, counts, displs, type]")
        return (None if data is None else int(MPI.BOTTOM)), 0, _datatype(name, kind)
    try:
        view = memoryview(data)
    except TypeError:
        raise ValueError(f"{name}: {type(data).__name__}; allowed: a buffer, or a list that begins with one") from None
    if writable and view.readonly:
        raise ValueError(f"{name}: a buffer that is read-only; allowed: one that can be written to")
    memory = _BUFFER.frombuffer(data, readonly=not writable)
    return memory.address or None, memory.nbytes, _datatype(name, view.format if kind is None else kind)


#: mpi4py's view of a buffer, under the name that its version has.
_BUFFER = getattr(MPI, "buffer", None) or MPI.memory


def _datatype(name: str, kind: Any) -> MPI.Datatype:
    """The datatype, or that of a code such as ``d``."""
    if isinstance(kind, MPI.Datatype):
        return kind
    code = kind.lstrip("@=<") if isinstance(kind, str) else kind
    known = MPI._typedict.get(code)
    if known is None:
        raise ValueError(f"{name}: datatype {kind!r}; allowed: an MPI.Datatype, or a code such as 'i' or 'd'")
    return known


def _items(name: str, length: int, datatype: MPI.Datatype) -> int:
    """How many elements of a datatype there are in so many bytes."""
    extent = datatype.Get_extent()[1]
    if length and (extent <= 0 or length % extent):
        raise ValueError(f"{name}: {length} bytes; allowed: a multiple of the datatype's extent, {extent}, or counts")
    return length // extent if length else 0


def _list(name: str, what: str, values: Sequence[Any], ranks: int) -> List[int]:
    """So many integers."""
    if len(values) != ranks:
        raise ValueError(f"{name}: {len(values)} {what}; allowed: {ranks}, one for each rank")
    if what == "counts":
        return [_whole(name, value) for value in values]
    return [int(value) for value in values]


def _whole(name: str, value: Any) -> int:
    if int(value) != value or value < 0:
        raise ValueError(f"{name}: count {value!r}; allowed: an integer from 0")
    return int(value)


def _handle(item: Any) -> Any:
    """The handle of an object of mpi4py, as C has it."""
    kind = ctypes.c_void_p if MPI._sizeof(item) == ctypes.sizeof(ctypes.c_void_p) else ctypes.c_int
    return kind.from_address(MPI._addressof(item))


def _raise_for(code: int) -> None:
    """Raises ``MPI.Exception`` for an error code, with what the library says."""
    if code != MPI.SUCCESS:
        text = _library.tuwtree_error_text().decode(errors="replace")
        raise MPI.Exception(code) from (RuntimeError(text) if text else None)


def _places() -> List[str]:
    """Where the library may be, the first one first."""
    named = os.environ.get("TUWTREE_LIBRARY")
    if named:
        return [named]
    command = ["pkg-config", "--variable=libdir", "tuwtree_mpi"]
    loaded = _mpi_libraries()
    own = [
        str(PROGRAMS / interface / "libtuwtree_mpi.so")
        for interface, library in LIBRARIES.items()
        if any(file.startswith(library) for file in loaded)
    ]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return [_NAME, *own]
    return [_NAME, os.path.join(found.stdout.strip(), _NAME), *own]


def _load() -> ctypes.CDLL:
    """The library for C.

    Raises ``ImportError`` with the places where it is not.
    """
    faults = []
    for place in _places():
        try:
            library = ctypes.CDLL(place)
        except OSError as error:
            faults.append(str(error))
            continue
        others = _mpi_libraries()
        if len(others) > 1:
            raise ImportError(f"{place} is built for another MPI library than mpi4py: {', '.join(others)} are loaded")
        library.tuwtree_error_text.restype = ctypes.c_char_p
        pointer, count = ctypes.c_void_p, ctypes.c_longlong
        datatype, communicator = type(_handle(MPI.BYTE)), type(_handle(MPI.COMM_WORLD))
        own: List[Any] = [pointer, count, datatype]
        blocks: List[Any] = [pointer, pointer, pointer, datatype]
        end: List[Any] = [ctypes.c_int, communicator]
        library.tuwtree_gatherv_c.argtypes = own + blocks + end
        library.tuwtree_scatterv_c.argtypes = blocks + own + end
        library.tuwtree_set.argtypes = [communicator, ctypes.c_char_p, ctypes.c_char_p]
        return library
    raise ImportError(
        f"libtuwtree_mpi is not found: {'; '.join(faults)}. TUWTREE_LIBRARY names its file; docs/executor-c.md says how "
        "to build it"
    )


def _mpi_libraries() -> List[str]:
    """The MPI libraries that this process has loaded, as far as the system tells."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            files = {os.path.basename(line.split()[-1]) for line in maps if "/lib" in line}
    except OSError:
        return []
    return sorted(name for name in files if name.startswith(("libmpi.so", "libmpich.so", "libmpi_abi.so")))


_library = _load()
