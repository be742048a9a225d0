"""What is to be moved, by which operation and at which costs."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any, Optional, Tuple, Union

from tuwtree import _native
from tuwtree._data import array_of, block_sizes, matrix_of, number, sizes_of, whole
from tuwtree._machine import Machine
from tuwtree._native import Problem as NativeProblem

if TYPE_CHECKING:
    import numpy
    from numpy.typing import ArrayLike

#: What is said to whoever gives sizes and no costs.
_ASSUMED = (
    "no costs are given: those of the papers are assumed, alpha = 100, beta = gamma = 1 (a message costs as much as "
    "100 bytes). What is best depends on them: give a machine"
)


class Problem:
    """An operation with its data, costs and root.

    ``sizes``
        What is moved, in bytes. For gather, scatter, allgather and reduce-scatter a block for each rank, an array of
        p integers. For broadcast, reduce and allreduce the size of the vector, an integer, with ``processes``. For
        alltoall p x p sizes, row = sender.
    ``machine``
        The costs: a :class:`Machine`, or its name or file. Without one those of the papers are assumed (alpha = 100,
        beta = gamma = 1), and a warning says so.
    ``operation``
        One of :func:`operations`, or MPI's name for it.
    ``root``
        A rank, or ``"best"`` for one that each construction chooses, which is the default.
    ``ports``
        How many messages and copies a rank performs at once.
    ``remote_sizes``
        For an intergroup allgather, the blocks of the second group.
    ``element_size``, ``combine``
        For reductions: bytes of an element, and the time per byte of combining two vectors.

    Raises ``ValueError`` for sizes that are not integers from 0 to 2^64 - 1, data of the wrong kind for the operation, a
    root that is no rank, and a machine with room for fewer ranks.
    """

    _native: NativeProblem

    def __init__(
        self,
        sizes: ArrayLike,
        machine: Optional[Union[Machine, str]] = None,
        *,
        operation: str = "gather",
        root: Optional[Union[int, str]] = None,
        ports: int = 1,
        processes: Optional[int] = None,
        remote_sizes: Optional[ArrayLike] = None,
        element_size: Optional[int] = None,
        combine: Optional[float] = None,
    ) -> None:
        if machine is None:
            warnings.warn(_ASSUMED, stacklevel=_outside())
        kind, data = _data(sizes, processes)
        remote = []
        if remote_sizes is not None:
            kind, remote = "groups", sizes_of("remote_sizes", remote_sizes)
        self._native = _native.Problem(
            kind,
            operation,
            data,
            remote,
            _costs(machine),
            *_root(root),
            whole("ports", ports, 65535),
            _operator(element_size, combine),
        )

    @classmethod
    def of_distribution(
        cls,
        distribution: str,
        machine: Optional[Union[Machine, str]] = None,
        *,
        operation: str = "gather",
        root: Optional[Union[int, str]] = None,
        ports: int = 1,
        processes: Optional[int] = None,
        **parameters: Any,
    ) -> Problem:
        """The problem whose blocks a distribution has; ``parameters`` are those of :func:`block_sizes`.

        Without a machine the costs are the papers': alpha = 100, beta = gamma = 1. The number of processes defaults to
        that of the machine, but at most 2000.

        Raises ``ValueError`` as :class:`Problem` and :func:`block_sizes` do.
        """
        costs = Machine._of(_native.Machine.of_papers()) if machine is None else _machine(machine)
        if processes is None:
            processes = min(2000, costs.processes or 2000)
        sizes = block_sizes(distribution, processes=processes, **parameters)
        return cls(sizes, costs, operation=operation, root=root, ports=ports)

    @property
    def operation(self) -> str:
        """The operation's name."""
        return self._native.operation()

    @property
    def processes(self) -> int:
        """The number of ranks."""
        return self._native.processes()

    @property
    def total_bytes(self) -> int:
        """All bytes that are moved; of a vector, its size."""
        return self._native.total_bytes()

    @property
    def root(self) -> Optional[int]:
        """The root's rank; ``None`` if it is open, or the operation has none."""
        return self._native.root()

    @property
    def sizes(self) -> Optional[numpy.ndarray]:
        """The block of each rank in bytes; ``None`` if other data than blocks is moved."""
        import numpy

        blocks = self._native.blocks()
        return None if blocks is None else numpy.array(blocks, dtype=numpy.uint64)

    @property
    def machine(self) -> Machine:
        """The costs."""
        return Machine._of(self._native.machine())

    def __repr__(self) -> str:
        root = "" if self.root is None else f", root {self.root}"
        machine = self.machine
        return (
            f"Problem({self.operation} of {self.total_bytes} bytes over {self.processes} processes{root}; "
            f"{machine.name or machine})"
        )


def problem_of(
    problem: Union[Problem, ArrayLike],
    machine: Optional[Union[Machine, str]],
    operation: Optional[str],
    root: Optional[Union[int, str]],
) -> Problem:
    """The problem itself, or the one of these sizes."""
    if not isinstance(problem, Problem):
        return Problem(problem, machine, operation=operation or "gather", root=root)
    stated = {"machine": machine, "operation": operation, "root": root}
    for name, value in stated.items():
        if value is not None:
            raise ValueError(f"{name}: {value!r}; allowed: None, as the problem states its own")
    return problem


def _outside() -> int:
    """The level of the first frame on the stack that is none of this package, for warnings."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("tuwtree"):
        level, frame = level + 1, frame.f_back
    return level


def _data(sizes: Any, processes: Optional[int]) -> Tuple[str, Any]:
    """What moves, and its kind."""
    array = array_of("sizes", sizes)
    if array.ndim == 2:
        return "messages", matrix_of("sizes", sizes)
    if array.ndim == 0:
        if processes is None:
            raise ValueError("processes: None; allowed: a number, where sizes is the size of a vector")
        return "vector", (whole("processes", processes, 2**31 - 1), whole("sizes", array.item()))
    if processes is not None and processes != array.size:
        raise ValueError(f"processes: {processes}; allowed: {array.size}, as many as there are sizes")
    return "blocks", sizes_of("sizes", sizes)


def _machine(machine: Union[Machine, str]) -> Machine:
    """The machine itself, or the one of this name."""
    return machine if isinstance(machine, Machine) else Machine(machine)


def _costs(machine: Optional[Union[Machine, str]]) -> Optional[_native.Machine]:
    return None if machine is None else _machine(machine)._native


def _root(root: Optional[Union[int, str]]) -> Tuple[Optional[int], bool]:
    """The rank, and whether it is open."""
    if root is None or root == "best":
        return None, root == "best"
    if isinstance(root, str):
        raise ValueError(f"root: {root!r}; allowed: a rank, or 'best'")
    return whole("root", root), False


def _operator(element_size: Optional[int], combine: Optional[float]) -> Optional[Tuple[int, float]]:
    if element_size is None and combine is None:
        return None
    element = 1 if element_size is None else whole("element_size", element_size)
    return element, 0.0 if combine is None else number("combine", combine)
