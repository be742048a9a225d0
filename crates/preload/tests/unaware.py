"""A script that knows nothing of tuwtree: gathers and scatters blocks of different sizes."""

from array import array

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
root = size - 1
counts = [(7 * other) % 5 for other in range(size)]
own = array("d", [rank + index / 10 for index in range(counts[rank])])
everything = array("d", [0.0] * sum(counts))
comm.Gatherv([own, MPI.DOUBLE], [everything, counts, None, MPI.DOUBLE], root=root)
if rank == root:
    expected = [other + index / 10 for other in range(size) for index in range(counts[other])]
    assert list(everything) == expected, everything
back = array("d", [0.0] * counts[rank])
comm.Scatterv([everything, counts, None, MPI.DOUBLE], [back, MPI.DOUBLE], root=root)
assert back == own, (rank, back, own)
if rank == root:
    print(f"gathered {len(everything)} numbers with mpi4py", flush=True)
