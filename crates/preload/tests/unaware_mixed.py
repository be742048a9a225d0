"""A script that knows nothing of tuwtree, and does the same as unaware_mixed.c."""

from array import array
from itertools import accumulate

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
kinds = [
    (size // 2, [1 + other % 3 for other in range(size)]),
    (0, [5 if other == size - 1 else 0 for other in range(size)]),
]
wrong = 0
for step in range(10):
    for root, counts in kinds:
        first = [0, *accumulate(counts)][rank]
        own = array("i", [1000 * step + first + index for index in range(counts[rank])])
        everything = array("i", [0] * sum(counts))
        comm.Gatherv([own, MPI.INT], [everything, counts, None, MPI.INT], root=root)
        if rank == root:
            wrong += list(everything) != [1000 * step + index for index in range(sum(counts))]
        back = array("i", [0] * counts[rank])
        comm.Scatterv([everything, counts, None, MPI.INT], [back, MPI.INT], root=root)
        wrong += back != own
wrong = comm.allreduce(wrong)
if rank == 0:
    print(f"10 rounds, {wrong} wrong", flush=True)
assert wrong == 0
