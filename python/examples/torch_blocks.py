"""Times of ``tuwtree.torch`` beside collectives of the backend, for blocks of several distributions.

Each rank runs it, as by ``torchrun --nnodes=8 --nproc-per-node=1 torch_blocks.py``, or by Open MPI's ``mpirun`` where
``MASTER_ADDR`` and ``MASTER_PORT`` are set; sizes in bytes may follow. Calls begin at a time that all ranks have agreed
on, by clocks that are compared with rank 0's. A call's time is the slowest rank's; rank 0 prints the median of each
algorithm in milliseconds, and last that of ``auto`` when it has chosen.
"""

import os
import statistics
import sys
import time

import torch
import torch.distributed as dist

from tuwtree import block_sizes
from tuwtree.torch import all_gather_v, reduce_scatter_v

CALLS, WARM_UP = 9, 14


def clock_offset():
    """Seconds by which rank 0's clock is ahead of this rank's, from the fastest of some messages there and back."""
    best = (float("inf"), 0.0)
    for other in range(1, dist.get_world_size()):
        for _ in range(20 * (dist.get_rank() in (0, other))):
            said = torch.zeros(1, dtype=torch.float64)
            if dist.get_rank() == 0:
                dist.recv(said, other)
                said[0] = time.monotonic()
                dist.send(said, other)
            else:
                sent = time.monotonic()
                dist.send(said, 0)
                dist.recv(said, 0)
                took = time.monotonic() - sent
                best = min(best, (took, float(said[0]) - sent - took / 2))
        dist.barrier()
    return best[1]


def milliseconds(call, offset):
    """The median of the slowest rank's times."""
    times = []
    for _ in range(CALLS):
        start = torch.tensor([time.monotonic() + offset + 0.05], dtype=torch.float64)
        dist.all_reduce(start, dist.ReduceOp.MAX)
        while time.monotonic() + offset < start[0]:
            pass
        call()
        took = torch.tensor([time.monotonic() + offset - start[0]], dtype=torch.float64)
        dist.all_reduce(took, dist.ReduceOp.MAX)
        times.append(1e3 * float(took[0]))
    return statistics.median(times)


def main():
    """Prints a row for each operation, size and distribution."""
    for name, value in {"RANK": "OMPI_COMM_WORLD_RANK", "WORLD_SIZE": "OMPI_COMM_WORLD_SIZE"}.items():
        os.environ.setdefault(name, os.environ.get(value, ""))
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    offset = clock_offset()
    for size in map(int, sys.argv[1:] or ["1024", "65536"]):
        for name in ["same", "log-normal", "spikes", "one block"]:
            if name == "one block":
                sizes = [4 * size * (place == ranks // 2) for place in range(ranks)]
            else:
                sizes = block_sizes(name, processes=ranks, block=size, seed=1)
            blocks = [torch.zeros(-(-int(one) // 4)) for one in sizes]
            own = torch.zeros_like(blocks[rank])
            for operation, make, algorithms in OPERATIONS:
                words = []
                for algorithm in algorithms:
                    call = make(blocks, own, algorithm)
                    for _ in range(WARM_UP if algorithm == "auto" else 1):
                        call()
                    words.append(f"{algorithm} {milliseconds(call, offset):.1f}")
                if rank == 0:
                    print(f"{operation:14} {size:8} bytes {name:10} {', '.join(words)}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


def all_gather(blocks, own, algorithm):
    """An all-gather of these blocks."""
    return lambda: all_gather_v(blocks, own, algorithm=algorithm)


def reduce_scatter(blocks, own, algorithm):
    """A reduce-scatter of these blocks."""
    return lambda: reduce_scatter_v(own, blocks, algorithm=algorithm)


OPERATIONS = [
    ("all-gather", all_gather, ["broadcasts", "padding", "plan", "auto"]),
    ("reduce-scatter", reduce_scatter, ["reduces", "all-reduce", "plan", "auto"]),
]
main()
