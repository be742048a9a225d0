"""What each rank of the tests of ``tuwtree.torch`` does: blocks of any sizes and types, and errors."""

import random
import sys

import torch
import torch.distributed as dist

from tuwtree import torch as planned
from tuwtree.torch import all_gather_v, reduce_scatter_v

rank, size, meeting = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=size)
other = dist.new_group(list(range(size)))
draw = random.Random(1)
GATHERS = ["auto", "plan", "broadcasts", "padding"]
REDUCTIONS = ["auto", "plan", "reduces", "all-reduce"]


def blocks_of(counts, kind, whose):
    """Blocks that rank ``whose`` has for each rank: their elements tell both, and where they are."""
    return [(torch.arange(count) % 5 + 3 * whose + to + 1).to(kind) for to, count in enumerate(counts)]


def refused(call, message, kind=ValueError):
    """The call raises an error with this message."""
    try:
        call()
    except kind as error:
        assert message in str(error), error
    else:
        raise AssertionError(message)


for counts in [
    [0] * size,
    [1] * size,
    [1 + 7 * one for one in range(size)],
    [0] * (size - 1) + [1001],
    [draw.randrange(400) for _ in range(size)],
    [int(10 ** (4 * draw.random())) for _ in range(size)],
]:
    for kind in [torch.float64, torch.uint8]:
        for algorithm in GATHERS:
            own = blocks_of(counts, kind, 2)[rank]
            outputs = [torch.full((count,), 77).to(kind) for count in counts]
            all_gather_v(outputs, own, other if kind == torch.uint8 else None, algorithm=algorithm)
            for output, expected in zip(outputs, blocks_of(counts, kind, 2)):
                assert torch.equal(output, expected), (algorithm, counts, output, expected)
    for op, reference in [(dist.ReduceOp.SUM, torch.sum), (dist.ReduceOp.MAX, torch.amax)]:
        everything = [blocks_of(counts, torch.int32, whose)[rank] for whose in range(size)]
        expected = reference(torch.stack(everything), 0).to(torch.int32)
        for algorithm in REDUCTIONS:
            output = torch.zeros(counts[rank], dtype=torch.int32)
            reduce_scatter_v(output, blocks_of(counts, torch.int32, rank), op, algorithm=algorithm)
            assert torch.equal(output, expected), (algorithm, counts, output, expected)

# Repeated calls try all algorithms and keep one of them; the data is right all along.
counts = ([3, 5000] + [17] * size)[:size]
for turn in range(20):
    outputs = [torch.zeros(count) for count in counts]
    all_gather_v(outputs, blocks_of(counts, torch.float32, turn)[rank])
    assert all(map(torch.equal, outputs, blocks_of(counts, torch.float32, turn)))
    output = torch.zeros(counts[rank])
    reduce_scatter_v(output, blocks_of(counts, torch.float32, turn))
    assert torch.equal(output, size * blocks_of(counts, torch.float32, turn)[rank])
sizes = tuple(4 * count for count in counts)
(kept,) = [
    call for key, call in planned._CALLS[dist.group.WORLD].items() if sizes in key and key[0] == "reduce-scatter"
]
assert len(kept.algorithms) == 1
# Ranks on one node have no network, and gather by broadcasts.
assert planned._hosts(dist.group.WORLD) == 1
(kept,) = [call for key, call in planned._CALLS[dist.group.WORLD].items() if sizes in key and key[0] == "allgather"]
assert kept.algorithms == [planned._gather_by_broadcasts]

# Tensors of any shape, and such whose elements lie apart.
counts = [rank + 1 for rank in range(size)]
outputs = [torch.zeros(3, count).t() for count in counts]
all_gather_v(outputs, torch.full((3, counts[rank]), float(rank)).t(), algorithm="broadcasts")
all_gather_v(outputs, torch.full((3, counts[rank]), float(rank)).t(), algorithm="plan")
assert all((output == one).all() and output.shape == (one + 1, 3) for one, output in enumerate(outputs))

# A smaller group, whose ranks have other numbers in the world.
if size > 2:
    part = dist.new_group([size - 1, 0])
    if rank in (0, size - 1):
        outputs = [torch.zeros(2), torch.zeros(5)]
        place = dist.get_rank(part)
        all_gather_v(outputs, torch.full((2 + 3 * place,), 1.0 + place), part, algorithm="plan")
        assert outputs[0].tolist() == [1.0] * 2 and outputs[1].tolist() == [2.0] * 5

# Errors come before anything is sent.
one = [torch.zeros(1) for _ in range(size)]
refused(lambda: all_gather_v(one[1:], one[0]), f"outputs: {size - 1} tensors; allowed: {size}, one for each rank")
refused(lambda: all_gather_v(one, torch.zeros(2)), f"tensor: shape (2,); allowed: (1,), as outputs[{rank}] has")
refused(lambda: all_gather_v(one, torch.zeros(1).int()), "outputs[0]: torch.float32; allowed: torch.int32")
refused(lambda: all_gather_v(one, one[0], algorithm="magic"), "algorithm: 'magic'; allowed: auto, broadcasts, plan")
refused(lambda: all_gather_v(one, one[0], algorithm="plan", machine="tardis"), "tardis")
refused(lambda: reduce_scatter_v(one[0], one, dist.ReduceOp.BAND), "allowed: SUM, PRODUCT, MIN, MAX")
if size > 1:
    uneven = [torch.zeros(2001 + rank) for _ in range(size)]
    differ = "ranks have different plans; allowed: equal sizes, machine and version of tuwtree"
    refused(lambda: all_gather_v(uneven, uneven[rank], algorithm="plan"), differ, RuntimeError)
dist.barrier()
dist.destroy_process_group()
if rank == 0:
    print("good")
