"""What messages and copies cost."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Tuple, Union

from tuwtree import _native
from tuwtree._native import Machine as NativeMachine
from tuwtree._data import Path, number, whole

if TYPE_CHECKING:
    import numpy
    from numpy.typing import ArrayLike


def machines() -> Tuple[str, ...]:
    """The names of the machines that are built in, such as ``vsc3``."""
    return tuple(_native.machines())


class CostMatrices(NamedTuple):
    """Costs of all ordered pairs of ranks, row = sender; in the time unit of the costs."""

    #: Start-up times, p x p; infinite where there is no link.
    alpha: numpy.ndarray
    #: The part of alpha that occupies ports, p x p.
    overhead: numpy.ndarray
    #: Times per byte sent, p x p.
    beta: numpy.ndarray
    #: Times per byte copied, one for each rank.
    gamma: numpy.ndarray


class Machine:
    """What messages and copies cost: a machine that is built in, one in a file, or numbers.

    >>> Machine("vsc3").name
    'VSC-3'
    >>> Machine.of_costs(alpha="2us", beta="12.5GB/s", gamma="10GB/s")
    Machine(alpha = 2 µs, beta = 12.5 GB/s, gamma = 10 GB/s)

    ``Machine(name)`` takes a name of :func:`machines` or the path of a machine document (JSON or TOML); costs of
    machines are in seconds. Raises ``ValueError`` for a name that is neither, with the names that are.
    """

    _native: NativeMachine

    def __init__(self, name: Path) -> None:
        self._native = _native.Machine.named(os.fspath(name))

    @classmethod
    def _of(cls, native: NativeMachine) -> Machine:
        machine = cls.__new__(cls)
        machine._native = native
        return machine

    @classmethod
    def of_costs(
        cls,
        alpha: Union[float, str],
        beta: Union[float, str],
        gamma: Union[float, str],
        *,
        overhead: Optional[Union[float, str]] = None,
    ) -> Machine:
        """Costs that are the same for all ranks.

        ``alpha`` is the start-up time of a message, ``beta`` the time per byte sent, ``gamma`` the time per byte of a
        local copy, ``overhead`` the part of alpha during which ports are busy (all of it by default). Each is a number
        in any unit of time, the same for all, or a text with a unit, as ``"2us"`` or ``"12.5GB/s"``; times are then in
        seconds.

        Raises ``ValueError`` for costs that are negative or not finite, an overhead above alpha, or units with some of
        the costs only.
        """
        of_all = None if overhead is None else _text("overhead", overhead)
        texts = _text("alpha", alpha), _text("beta", beta), _text("gamma", gamma)
        return cls._of(_native.Machine.of_costs(*texts, of_all))

    @classmethod
    def of_matrices(
        cls,
        alpha: ArrayLike,
        beta: ArrayLike,
        gamma: ArrayLike,
        *,
        overhead: Optional[ArrayLike] = None,
        name: str = "matrices",
        date: str = "1970-01-01",
        provenance: str = "given as matrices",
    ) -> Machine:
        """Costs for each ordered pair of ranks, in seconds and bytes, row = sender.

        ``alpha`` and ``beta`` (and ``overhead``) are p x p, ``gamma`` has an entry for each rank, or is one number. An
        infinite alpha says that there is no link. The diagonals do not matter.

        Raises ``ValueError`` for arrays of other shapes, and costs out of range.
        """
        import numpy

        latency = numpy.array(alpha, dtype=float)
        ranks = latency.shape[0] if latency.ndim else 0
        matrices = {"alpha": latency, "beta": numpy.array(beta, dtype=float)}
        if overhead is not None:
            matrices["overhead"] = numpy.array(overhead, dtype=float)
        for what, matrix in matrices.items():
            if matrix.shape != (ranks, ranks):
                raise ValueError(f"{what}: an array of shape {matrix.shape}; allowed: {(ranks, ranks)}, row = sender")
            numpy.fill_diagonal(matrix, 0.0)
        copies = numpy.broadcast_to(numpy.asarray(gamma, dtype=float), (ranks,)).tolist()
        fields: Dict[str, Any] = {"alpha_seconds": _latencies(latency)}
        if overhead is not None:
            fields["overhead_seconds"] = _latencies(matrices["overhead"])
        fields["beta_seconds_per_byte"] = matrices["beta"].tolist()
        fields["gamma_seconds_per_byte"] = copies
        return cls.of_dict(
            {
                "format": "tuwtree-machine",
                "version": 1 if overhead is None else 2,
                "name": name,
                "date": date,
                "provenance": provenance,
                "matrix": fields,
            }
        )

    @classmethod
    def of_dict(cls, document: Dict[str, Any]) -> Machine:
        """The machine in a document, as :meth:`to_dict` makes them and ``json.load`` reads them.

        Raises ``ValueError`` for what is no machine document.
        """
        try:
            text = json.dumps(document, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"machine: {error}; allowed: a machine document") from None
        return cls._of(_native.Machine.of_document(text))

    def to_dict(self) -> Dict[str, Any]:
        """The machine document; raises ``ValueError`` if the costs are numbers without a machine."""
        document = self._native.document()
        if document is None:
            raise ValueError("machine: costs that are numbers have no document; allowed: a machine")
        return json.loads(document)

    @property
    def name(self) -> Optional[str]:
        """What people call it; ``None`` if the costs are numbers without a machine."""
        return self._native.name()

    @property
    def in_seconds(self) -> bool:
        """Whether times are in seconds: for machines, and for costs with units."""
        return self._native.in_seconds()

    @property
    def processes(self) -> Optional[int]:
        """For how many ranks the costs are at most; ``None`` for any number."""
        return self._native.processes()

    def matrices(self, processes: Optional[int] = None) -> CostMatrices:
        """The costs of all pairs of so many ranks (of all that the machine has room for), as arrays.

        Raises ``ValueError`` for more ranks than it has room for, and for costs that are not linear in the size of a
        message: see :meth:`linearised_at`.
        """
        import numpy

        ranks = self.processes if processes is None else whole("processes", processes)
        if ranks is None:
            raise ValueError("processes: None; allowed: a number, since these costs hold for any number of ranks")
        arrays = [numpy.array(values) for values in self._native.matrices(ranks)]
        alpha, latency, beta = (array.reshape(ranks, ranks) for array in arrays[:3])
        return CostMatrices(alpha, latency, beta, arrays[3])

    def linearised_at(self, size: int) -> Machine:
        """The machine with costs linear in the size of a message: those of messages of ``size`` bytes."""
        return Machine._of(self._native.linearised_at(whole("size", size)))

    def __str__(self) -> str:
        return self._native.text().rstrip()

    def __repr__(self) -> str:
        return f"Machine({self.name or self})"


def _text(name: str, cost: Union[float, str]) -> str:
    """A cost as the program takes it."""
    return cost if isinstance(cost, str) else repr(number(name, cost))


def _latencies(matrix: numpy.ndarray) -> List[List[Union[float, str]]]:
    """The rows of a matrix, where documents have a word for infinite numbers."""
    return [["inf" if entry == float("inf") else entry for entry in row] for row in matrix.tolist()]
