"""Plans irregular MPI collectives: the best tree for your counts on your machine, and its schedule.

>>> import tuwtree
>>> plan = tuwtree.optimize(tuwtree.Problem([5, 1, 1, 5000, 1, 1, 1, 5], tuwtree.Machine("vsc3"), root=0))
>>> plan.construction
'optimal'
>>> plan.tree.parents
array([-1,  2,  0,  0,  0,  6,  4,  4])

Results, defaults and names are those of the program ``tuwtree``, which comes with this package. Sizes are in bytes;
times are in the unit of the costs: seconds with a machine or with costs that have units, else the unit of alpha.

Arguments that cannot be are a ``ValueError`` that names the argument, what it was and what is allowed; work that fails
is a ``RuntimeError``. Planning leaves the interpreter to other threads, and Ctrl-C ends it.

``tuwtree.mpi`` has gatherv and scatterv along trees for programs that use mpi4py; ``tuwtree.torch`` has an all-gather
and a reduce-scatter of uneven blocks for process groups of PyTorch.
"""

from tuwtree._data import block_sizes, constructions, distributions, operations, published_tables, read_sizes
from tuwtree._machine import Machine, machines
from tuwtree._native import version as _version
from tuwtree._plans import Advice, Comparison, Plan, advise, compare, optimize
from tuwtree._problem import Problem
from tuwtree._schedules import Schedule, Simulation, Tree, read, schedule, simulate
from tuwtree._sweep import sweep

__version__: str = _version()

__all__ = [
    "Advice",
    "Comparison",
    "Machine",
    "Plan",
    "Problem",
    "Schedule",
    "Simulation",
    "Tree",
    "advise",
    "block_sizes",
    "compare",
    "constructions",
    "distributions",
    "machines",
    "operations",
    "optimize",
    "published_tables",
    "read",
    "read_sizes",
    "schedule",
    "simulate",
    "sweep",
]
