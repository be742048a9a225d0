"""Trees, what each rank does along them, and when."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple, Union

from tuwtree import _native
from tuwtree._data import Path, whole
from tuwtree._machine import Machine

if TYPE_CHECKING:
    import numpy
    import pandas

    from tuwtree._plans import Plan
    from tuwtree._problem import Problem


class Tree:
    """Who sends to whom, and the problem that the tree was made for."""

    def __init__(self, native: _native.Tree) -> None:
        self._native = native

    @property
    def processes(self) -> int:
        """The number of ranks."""
        return self._native.processes()

    @property
    def root(self) -> int:
        """The root's rank."""
        return self._native.root()

    @property
    def depth(self) -> int:
        """Messages on the longest way to the root."""
        return self._native.depth()

    @property
    def parents(self) -> numpy.ndarray:
        """The parent of each rank; -1 for the root."""
        import numpy

        return numpy.array(self._native.parents(), dtype=numpy.int64)

    def children(self, rank: int) -> Tuple[int, ...]:
        """The children of a rank, in the order in which it serves them; raises ``ValueError`` for no rank."""
        return tuple(self._native.children(whole("rank", rank)))

    @property
    def completion_time(self) -> float:
        """When the operation is done, by the planner, in time units of the costs.

        Raises ``ValueError`` if the tree came from a file without block sizes.
        """
        return self._native.completion_time()

    def with_problem(self, problem: Problem) -> Tree:
        """The tree for another problem; raises ``ValueError`` for one of another number of ranks."""
        return Tree(self._native.with_problem(problem._native))

    def to_dict(self) -> Dict[str, Any]:
        """The document that ``tuwtree optimize -o`` writes."""
        return json.loads(self._native.document())

    def save(self, path: Path) -> None:
        """Writes the document, which the program and the executor read; raises ``OSError`` if that fails."""
        _save(path, self._native.document() + "\n")

    def svg(self, *, colour: str = "critical-path", rows: int = 64, depth: int = 12) -> str:
        """A picture; ``colour`` is ``critical-path``, ``wait`` or ``volume``, at most ``rows`` lines are drawn.

        Raises ``ValueError`` for anything out of range.
        """
        return self._native.svg(colour, whole("rows", rows), whole("depth", depth))

    def __repr__(self) -> str:
        return f"Tree(root {self.root}, {self.processes} ranks, depth {self.depth})"

    def _repr_svg_(self) -> str:
        return self.svg()


class Schedule:
    """What each rank does, action by action."""

    def __init__(self, native: _native.Schedule) -> None:
        self._native = native

    @property
    def processes(self) -> int:
        """The number of ranks."""
        return self._native.processes()

    @property
    def operation(self) -> str:
        """The operation's name."""
        return self._native.operation()

    @property
    def most_actions(self) -> int:
        """The most actions of a rank."""
        return self._native.most_actions()

    @property
    def fault(self) -> Optional[str]:
        """What is wrong with the schedule; ``None`` if it does what its operation asks for."""
        return self._native.fault()

    def to_dict(self) -> Dict[str, Any]:
        """The document that ``tuwtree export --format json`` writes."""
        return json.loads(self._native.document())

    def save(self, path: Path) -> None:
        """Writes the document, which the program and the executor read; raises ``OSError`` if that fails."""
        _save(path, self._native.document())

    def __repr__(self) -> str:
        return f"Schedule({self.operation} over {self.processes} ranks)"

    def _repr_svg_(self) -> str:
        return simulate(self).svg()


class Simulation:
    """When each rank does what in a schedule; times are in the unit of the costs."""

    def __init__(self, native: _native.Simulation) -> None:
        self._native = native

    @property
    def completion_time(self) -> float:
        """When the last rank has ended."""
        return self._native.completion_time()

    @property
    def critical_path(self) -> List[Dict[str, Any]]:
        """The actions that determine the completion time, the first one first."""
        return self.to_dict()["critical_path"]

    def events(self) -> Dict[str, numpy.ndarray]:
        """All actions, rank after rank, as arrays of equal length.

        ``rank``, ``kind`` (copy, send, receive, exchange), ``to`` and ``from`` (ranks, -1 for none),
        ``bytes``, and ``ready``, ``start`` and ``end`` (times).
        """
        import numpy

        names = ("rank", "kind", "to", "from", "bytes", "ready", "start", "end")
        return {name: numpy.array(column) for name, column in zip(names, self._native.columns())}

    def to_frame(self) -> pandas.DataFrame:
        """The events as a DataFrame; raises ``ModuleNotFoundError`` without pandas."""
        import pandas

        return pandas.DataFrame(self.events())

    def to_dict(self) -> Dict[str, Any]:
        """The document that ``tuwtree simulate --json`` prints."""
        return json.loads(self._native.document())

    def svg(self, *, rows: int = 64) -> str:
        """The timeline as a picture of at most so many rows, 8 to 2000."""
        return self._native.svg(whole("rows", rows))

    def __str__(self) -> str:
        return self._native.text().rstrip()

    def __repr__(self) -> str:
        return f"Simulation(completion time {self.completion_time:g})"

    def _repr_svg_(self) -> str:
        return self.svg()


def read(path: Path) -> Union[Tree, Schedule]:
    """The tree or the schedule in a file that this package or the program has written.

    Raises ``ValueError`` for a file that cannot be read, with the place of what is wrong.
    """
    tree, schedule = _native.read(os.fspath(path))
    if tree is not None:
        return Tree(tree)
    assert schedule is not None, "it is one or the other"
    return Schedule(schedule)


def schedule(plan: Union[Plan, Tree, Schedule, Path]) -> Schedule:
    """What each rank does in a plan, along a tree, or in a file that holds either.

    Raises ``ValueError`` for a tree without block sizes, and for files that cannot be read.
    """
    if isinstance(plan, (str, os.PathLike)):
        plan = read(plan)
    if isinstance(plan, Schedule):
        return plan
    if isinstance(plan, Tree):
        return Schedule(plan._native.schedule())
    return plan.schedule()


def simulate(
    plan: Union[Plan, Tree, Schedule, Path],
    machine: Optional[Union[Machine, str]] = None,
    *,
    sends: str = "synchronous",
    posts: str = "pre-posted",
) -> Simulation:
    """When each rank does what, as ``tuwtree simulate`` has it.

    The costs are those of ``machine``, else those that the plan was made for. ``sends`` is ``synchronous`` (senders wait
    for their receivers) or ``eager``; ``posts`` is ``pre-posted`` or ``strict``, which matters where latency overlaps.

    Raises ``ValueError`` for unknown names, a machine with room for fewer ranks, and schedules that deadlock.
    """
    costs = Machine(machine) if isinstance(machine, str) else machine
    native = None if costs is None else costs._native
    return Simulation(_native.simulate(schedule(plan)._native, native, sends, posts))


def _save(path: Path, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
