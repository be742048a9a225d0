"""Comparisons over ranges of parameters, as one table."""

from __future__ import annotations

import importlib.util
import itertools
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union

from tuwtree._machine import Machine
from tuwtree._plans import compare
from tuwtree._problem import Problem

if TYPE_CHECKING:
    import pandas


def sweep(
    distribution: Union[str, Sequence[str]],
    *,
    processes: Union[int, Sequence[int]] = (16, 32, 64, 128, 256, 512, 1024),
    block: Union[int, Sequence[int]] = 1000,
    rho: Union[int, Sequence[int]] = 5,
    seed: Union[int, Sequence[int]] = 1,
    machine: Union[None, Machine, str, Sequence[Union[Machine, str]]] = None,
    operation: str = "gather",
    root: Optional[Union[int, str]] = None,
    ports: int = 1,
    **options: Any,
) -> Union[pandas.DataFrame, List[Dict[str, Any]]]:
    """A row for each construction of each combination of parameters, with the parameters in front.

    A DataFrame where pandas is installed, else a list of dicts; the columns are those of ``tuwtree sweep``. Every
    parameter is a value or a sequence of values, of which the last one changes fastest. Sizes are in bytes, times in the
    unit of the costs; without a machine these are the papers'. Takes the options of :func:`compare` besides.

    Raises ``ValueError`` as :class:`Problem` and :func:`compare` do.

    >>> table = sweep("spikes", processes=[16, 32], algorithm=["linear", "adaptive"], root=0)
    >>> len(table)
    4
    """
    machines: Sequence[Union[None, Machine, str]]
    machines = [machine] if machine is None else _all(machine)
    ranges: Tuple[Sequence[Any], ...] = (_all(distribution), _all(processes), _all(block), _all(rho), _all(seed), machines)
    rows = []
    for name, ranks, mean, spikes, start, costs in itertools.product(*ranges):
        problem = Problem.of_distribution(
            name,
            costs,
            operation=operation,
            root=root,
            ports=ports,
            processes=ranks,
            block=mean,
            rho=spikes,
            seed=start,
        )
        comparison = compare(problem, **options)
        parameters = {
            "distribution": name,
            "processes": problem.processes,
            "mean_block_bytes": mean,
            "rho": spikes,
            "seed": start,
            **_latencies(problem.machine),
        }
        rows += [{**parameters, **row} for row in comparison.rows()]
    if importlib.util.find_spec("pandas") is None:
        return rows
    import pandas

    return pandas.DataFrame(rows)


def _all(values: Any) -> Sequence[Any]:
    """The values, of which there may be one without a list."""
    is_one = isinstance(values, (str, Machine)) or not hasattr(values, "__iter__")
    return [values] if is_one else list(values)


def _latencies(machine: Machine) -> Dict[str, Any]:
    """The columns on costs: the machine's name, or alpha and overhead."""
    alpha, overhead = machine._native.latencies()
    return {"machine": machine.name, "alpha": alpha, "overhead": overhead}
