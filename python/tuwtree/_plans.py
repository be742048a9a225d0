"""Constructions compared for a problem, and what to use."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, TypedDict, Union

from tuwtree import _native
from tuwtree._data import number, whole
from tuwtree._machine import Machine
from tuwtree._problem import Problem, problem_of
from tuwtree._schedules import Schedule, Simulation, Tree, simulate

if TYPE_CHECKING:
    import pandas
    from numpy.typing import ArrayLike
    from typing_extensions import Unpack


class Options(TypedDict, total=False):
    """The options of :func:`compare`."""

    machine: Optional[Union[Machine, str]]
    operation: str
    root: Optional[Union[int, str]]
    algorithm: Union[str, Sequence[str]]
    order: Optional[str]
    cut: bool
    adaptive_rule: Optional[str]
    library: Optional[str]
    certify: bool
    search_steps: Optional[int]
    search_seed: Optional[int]
    search_seconds: Optional[float]


class Plan:
    """What one construction makes for a problem: a tree, or each rank's program."""

    def __init__(self, comparison: Comparison, index: int) -> None:
        self._index = index
        #: The comparison that the plan is part of.
        self.comparison = comparison

    @property
    def construction(self) -> str:
        """The name of the construction."""
        return self.comparison._native.constructions()[self._index]

    @property
    def completion_time(self) -> float:
        """When the operation is done, in time units of the costs: where latency overlaps, messages share wires."""
        return self.comparison._native.times(self._index)[0]

    @property
    def order(self) -> str:
        """How far blocks keep rank order on their way: ``ordered``, ``direct`` or ``any``."""
        return self.comparison._native.times(self._index)[1]

    @property
    def tree(self) -> Tree:
        """The tree; raises ``ValueError`` for operations that go along none."""
        tree = self.comparison._native.tree(self._index)
        if tree is None:
            raise ValueError(f"{self.construction}: it has no tree; allowed: its schedule()")
        return Tree(tree)

    @property
    def has_tree(self) -> bool:
        """Whether data goes along a tree."""
        return self.comparison._native.tree(self._index) is not None

    def schedule(self) -> Schedule:
        """What each rank does."""
        return Schedule(self.comparison._native.schedule(self._index))

    def simulate(self) -> Simulation:
        """When each rank does it, at the costs of the problem."""
        return simulate(self.schedule(), self.comparison.problem.machine)

    def __repr__(self) -> str:
        return f"Plan({self.comparison._native.line(self._index)})"

    def _repr_svg_(self) -> str:
        return self.tree.svg() if self.has_tree else self.simulate().svg()


class Comparison:
    """Constructions side by side for one problem. Its length is the number of plans, which it iterates over."""

    def __init__(self, native: _native.Comparison, problem: Problem) -> None:
        self._native = native
        #: What they were compared for.
        self.problem = problem

    @property
    def recommended(self) -> Plan:
        """The fastest plan that keeps the order asked for, unpacking at the root included."""
        return Plan(self, self._native.recommended())

    @property
    def lower_bound(self) -> float:
        """A completion time that no tree is faster than, in time units of the costs."""
        return self._native.lower_bound()

    def __len__(self) -> int:
        return len(self._native.constructions())

    def __iter__(self) -> Iterator[Plan]:
        return (Plan(self, index) for index in range(len(self)))

    def __getitem__(self, construction: str) -> Plan:
        """The plan of a construction; raises ``KeyError`` with the names there are."""
        names = self._native.constructions()
        if construction not in names:
            raise KeyError(f"{construction!r}; there are {', '.join(names)}")
        return Plan(self, names.index(construction))

    def to_dict(self) -> Dict[str, Any]:
        """The document that ``tuwtree optimize --json`` prints."""
        return json.loads(self._native.document())

    def rows(self) -> List[Dict[str, Any]]:
        """A row for each construction, as ``tuwtree optimize --format csv`` prints them."""
        return json.loads(self._native.rows())

    def to_frame(self) -> pandas.DataFrame:
        """The rows as a DataFrame, with a column of microseconds where times are in seconds.

        Raises ``ModuleNotFoundError`` without pandas.
        """
        import pandas

        frame = pandas.DataFrame(self.rows())
        if self.problem.machine.in_seconds:
            place = frame.columns.get_loc("completion_time") + 1
            frame.insert(place, "completion_time_us", 1e6 * frame["completion_time"])
        return frame

    def report(self, source: str = "from Python") -> str:
        """A page (HTML, without a network) with the tables, trees and timelines; ``source`` says what is moved."""
        return self._native.page(source)

    def __str__(self) -> str:
        return self._native.text().rstrip()

    def __repr__(self) -> str:
        return f"Comparison({self.problem!r}, recommended {self.recommended.construction})"

    def _repr_svg_(self) -> str:
        return self.recommended._repr_svg_()


class Advice:
    """The recommended plan in sentences."""

    def __init__(self, comparison: Comparison) -> None:
        index, document, text = comparison._native.advice()
        #: What to use.
        self.plan = Plan(comparison, index)
        #: All that were compared.
        self.comparison = comparison
        self._document: Dict[str, Any] = json.loads(document)
        self._text = text

    @property
    def construction(self) -> str:
        """The name of what to use."""
        return self.plan.construction

    @property
    def sentence(self) -> str:
        """The advice in a sentence."""
        return self._document["sentence"]

    def to_dict(self) -> Dict[str, Any]:
        """The document that ``tuwtree advise --json`` prints."""
        return dict(self._document)

    def __str__(self) -> str:
        return self._text.rstrip()

    def __repr__(self) -> str:
        return f"Advice({self.sentence})"

    def _repr_svg_(self) -> str:
        return self.plan._repr_svg_()


def compare(
    problem: Union[Problem, ArrayLike],
    machine: Optional[Union[Machine, str]] = None,
    *,
    operation: Optional[str] = None,
    root: Optional[Union[int, str]] = None,
    algorithm: Union[str, Sequence[str]] = "all",
    order: Optional[str] = None,
    cut: bool = False,
    adaptive_rule: Optional[str] = None,
    library: Optional[str] = None,
    certify: bool = False,
    search_steps: Optional[int] = None,
    search_seed: Optional[int] = None,
    search_seconds: Optional[float] = None,
) -> Comparison:
    """The constructions side by side for a problem, as ``tuwtree optimize`` has them.

    In place of a :class:`Problem`, ``problem`` may be its sizes, with its ``machine``, ``operation`` and ``root``.

    The options are those of the program, with the same defaults: ``algorithm`` names constructions (``"all"`` that suit
    by default), ``order`` says which trees are compared (``ordered``, ``direct``, ``any``), ``cut`` lets the vector of a
    broadcast or reduction go in pieces, ``certify`` proves optimal trees in another way, ``search_seconds`` limits the
    local search.

    Raises ``ValueError`` for an unknown name, with those there are; ``RuntimeError`` for a construction asked for by
    name that cannot be built. Ctrl-C ends it with ``KeyboardInterrupt``.
    """
    problem = problem_of(problem, machine, operation, root)
    names = [algorithm] if isinstance(algorithm, str) else list(algorithm)
    words = [f"--algorithm={name}" for name in names]
    named = {"order": order, "adaptive-rule": adaptive_rule, "library": library}
    words += [f"--{option}={value}" for option, value in named.items() if value is not None]
    words += [f"--{option}" for option, wanted in {"cut": cut, "certify": certify}.items() if wanted]
    if search_steps is not None:
        words.append(f"--search-steps={whole('search_steps', search_steps)}")
    if search_seed is not None:
        words.append(f"--search-seed={whole('search_seed', search_seed)}")
    if search_seconds is not None:
        words.append(f"--search-seconds={number('search_seconds', search_seconds)}")
    return Comparison(_native.compare(problem._native, words), problem)


def optimize(problem: Union[Problem, ArrayLike], **options: Unpack[Options]) -> Plan:
    """The plan to use for a problem, as ``tuwtree optimize`` recommends it; the others are its ``comparison``.

    Takes the options of :func:`compare`, and raises what it raises.

    >>> plan = optimize(Problem.of_distribution("spikes", processes=20, root=0))
    >>> plan.construction, plan.completion_time
    ('optimal', 20416.0)
    >>> optimize([1000, 1, 1, 1, 5000], machine="infiniband", root=0)
    Plan(linear, 3.8 µs, 1.00x the library's, 0.10 % above the bound)
    """
    return compare(problem, **options).recommended


def advise(problem: Union[Problem, ArrayLike], **options: Unpack[Options]) -> Advice:
    """The recommendation of :func:`optimize` in sentences, as ``tuwtree advise`` prints it.

    Takes the options of :func:`compare`, and raises what it raises.
    """
    return Advice(compare(problem, **options))
