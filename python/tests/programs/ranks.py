"""What each rank of the tests of ``tuwtree.mpi`` does: every form of argument, against mpi4py's own calls."""

import sys

import numpy
from mpi4py import MPI

from tuwtree.mpi import gatherv, scatterv, set_option

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
set_option(comm, "algorithm", sys.argv[1])
counts = [3 * one % 5 for one in range(size)]
starts = [7 * one for one in range(size)]
own = numpy.arange(counts[rank], dtype="d") + 100 * rank


def same(ours, theirs, root):
    """Ours and mpi4py's arrays at the root are equal."""
    assert rank != root or (ours == theirs).all(), (ours, theirs)


for root in range(size):
    room = [numpy.full(7 * size, -1.0) for _ in range(2)]
    for form in [
        lambda data: [data, counts, starts, MPI.DOUBLE],
        lambda data: [data, (counts, starts), MPI.DOUBLE],
        lambda data: [data, (counts, starts)],
        lambda data: [data, counts, "d"],
        lambda data: [data, counts],
    ]:
        gatherv(comm, own, form(room[0]) if rank == root else None, root)
        comm.Gatherv(own, form(room[1]) if rank == root else None, root)
        same(*room, root)
        back = [numpy.full(len(own), -2.0) for _ in range(2)]
        scatterv(comm, form(room[0]) if rank == root else None, back[0], root)
        comm.Scatterv(form(room[1]) if rank == root else None, back[1], root)
        assert (back[0] == back[1]).all()
    # Equal blocks need no counts, and a part of a buffer goes by its count.
    equal = [numpy.full(2 * size, -3, dtype="i") for _ in range(2)]
    gatherv(comm, [numpy.full(5, rank, dtype="i"), 2, MPI.INT], equal[0], root)
    comm.Gatherv([numpy.full(5, rank, dtype="i"), 2, MPI.INT], equal[1], root)
    same(*equal, root)
    # In place.
    if rank == root:
        gatherv(comm, MPI.IN_PLACE, [room[0], counts, starts, MPI.DOUBLE], root)
        comm.Gatherv(MPI.IN_PLACE, [room[1], counts, starts, MPI.DOUBLE], root)
        same(*room, root)
        scatterv(comm, [room[0], counts, starts, MPI.DOUBLE], MPI.IN_PLACE, root)
    else:
        gatherv(comm, own, None, root)
        comm.Gatherv(own, None, root)
        back = numpy.full(len(own), -2.0)
        scatterv(comm, None, back, root)
        assert (back == own).all()

# A derived datatype, and bytes.
pair = MPI.DOUBLE.Create_contiguous(2).Commit()
pairs = numpy.full((rank + 1, 2), float(rank))
total = size * (size + 1) // 2
everything = numpy.zeros((total, 2))
gatherv(comm, [pairs, rank + 1, pair], [everything, list(range(1, size + 1)), None, pair], 0)
if rank == 0:
    assert everything[:, 1].tolist() == [float(one) for one in range(size) for _ in range(one + 1)]
pair.Free()
letters = bytearray(size)
gatherv(comm, bytes([65 + rank]), letters, 0)
if rank == 0:
    assert letters == bytes(range(65, 65 + size))

# What is wrong is said before anything is sent.
for wrong, message in [
    (lambda: gatherv(comm, own, room[0], size), f"root: {size}; allowed: 0 to {size - 1}"),
    (lambda: gatherv(comm, [own, -1], [room[0], counts], rank), "sendbuf: count -1; allowed: an integer from 0"),
    (lambda: gatherv(comm, own, [room[0], [1]], rank), f"recvbuf: 1 counts; allowed: {size}"),
    (lambda: gatherv(comm, own, [room[0], counts, "?!"], rank), "recvbuf: datatype '?!'; allowed: an MPI.Datatype"),
    (lambda: gatherv(comm, own, bytes(8), rank), "recvbuf: a buffer that is read-only"),
    (lambda: gatherv(comm, 5, [room[0], counts], rank), "sendbuf: int; allowed: a buffer"),
]:
    try:
        wrong()
    except ValueError as error:
        assert message in str(error), error
    else:
        raise AssertionError(message)
try:
    set_option(comm, "colour", "red")
except MPI.Exception as error:
    assert "colour" in str(error.__cause__), error.__cause__
else:
    raise AssertionError("colour is no option")
if rank == 0:
    print("good")
