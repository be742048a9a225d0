"""All-gather and reduce-scatter of uneven blocks for process groups of PyTorch on CPUs.

>>> import torch, torch.distributed as dist                            # doctest: +SKIP
>>> from tuwtree.torch import all_gather_v
>>> blocks = [torch.empty(count) for count in counts]
>>> all_gather_v(blocks, own)

``torch.distributed`` refuses uneven blocks with Gloo. Each function has several algorithms: a schedule that is planned
for the sizes, and collectives that the backend has. Every rank of the group calls the function with equal sizes and
options, in the same order as its other collectives.

With ``algorithm="auto"`` the first calls with given sizes try the algorithms, four calls each, and later calls with
these sizes take the one that was the fastest on the slowest rank. So sizes that come only a few times are never planned
for. An all-gather of ranks on one host is not planned for, either: there broadcasts are the fastest. Sums of
floating-point numbers may be rounded differently by different algorithms: state one where that matters.
"""

from __future__ import annotations

import os
import socket
import time
import weakref
import zlib
from collections import Counter, OrderedDict
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple

import torch
import torch.distributed as dist

from tuwtree._plans import optimize
from tuwtree._problem import Problem

__all__ = ["all_gather_v", "reduce_scatter_v"]

#: Calls of each algorithm with given sizes before one is chosen. The first one is not counted: it may plan.
_TRIALS = 4

#: Sizes whose algorithms are kept for a group.
_MOST_KEPT = 256

#: Tags of schedules' messages begin here, above those that programs use.
_FIRST_TAG = 0x54570000


def all_gather_v(
    outputs: Sequence[torch.Tensor],
    tensor: torch.Tensor,
    group: Optional[dist.ProcessGroup] = None,
    *,
    algorithm: str = "auto",
    machine: Optional[str] = None,
) -> None:
    """Gather blocks of any sizes at every rank.

    ``outputs``
        A tensor for the block of each rank, of that block's size; equal sizes at all ranks.
    ``tensor``
        This rank's block.
    ``algorithm``
        ``auto``, ``plan`` (a schedule for these sizes), ``broadcasts`` (one for each block, all at once) or ``padding``
        (the backend's ``all_gather`` of blocks as large as the largest one).
    ``machine``
        The name or file of the machine that is planned for, as for :class:`tuwtree.Machine`; equal at all ranks. The
        default is the value of ``TUWTREE_MACHINE``, or else ``ethernet``.

    Raises ``ValueError`` for tensors of other sizes, of different types or not on a CPU, and for an unknown algorithm
    or machine, the machine when it is first planned for; ``RuntimeError`` if the backend fails, or if ranks make
    different plans in the same call. Ranks with different sizes may wait for ever if some have made theirs before.
    """
    group, rank = _check(group, "outputs", outputs, "tensor", tensor)
    sizes = tuple(output.numel() * output.element_size() for output in outputs)
    outputs[rank].detach().copy_(tensor.detach())
    tried = dict(_GATHERS)
    if algorithm == "auto":
        if _hosts(group) == 1:
            tried = {"broadcasts": _gather_by_broadcasts}
        elif len(sizes) * max(sizes) > 2 * sum(sizes):
            del tried["padding"]
    _kept(group, "allgather", sizes, 1, tried, algorithm, machine).perform(outputs)


def reduce_scatter_v(
    output: torch.Tensor,
    inputs: Sequence[torch.Tensor],
    op: Any = dist.ReduceOp.SUM,
    group: Optional[dist.ProcessGroup] = None,
    *,
    algorithm: str = "auto",
    machine: Optional[str] = None,
) -> None:
    """Combine the blocks that all ranks have for each rank, blocks of any sizes; each rank gets its own result.

    ``output``
        This rank's result, of the size of its block.
    ``inputs``
        A block for each rank; equal sizes at all ranks.
    ``op``
        ``SUM``, ``PRODUCT``, ``MIN`` or ``MAX`` of ``torch.distributed.ReduceOp``.
    ``algorithm``
        ``auto``, ``plan`` (a schedule for these sizes), ``reduces`` (one for each block, all at once) or ``all-reduce``
        (of all blocks).
    ``machine``
        As for :func:`all_gather_v`.

    Raises ``ValueError`` and ``RuntimeError`` as :func:`all_gather_v` does, and ``ValueError`` for another ``op``.
    """
    group, rank = _check(group, "inputs", inputs, "output", output)
    if op not in _OPERATORS:
        raise ValueError(f"op: {op}; allowed: SUM, PRODUCT, MIN, MAX")
    element = output.element_size()
    sizes = tuple(block.numel() * element for block in inputs)
    _kept(group, "reduce-scatter", sizes, element, _REDUCTIONS, algorithm, machine).perform(output, inputs, op)


_Algorithm = Callable[..., None]
_Operator = Callable[..., torch.Tensor]
_Arrival = Tuple[Any, Optional[torch.Tensor], "_Action"]

_OPERATORS: Dict[Any, _Operator] = {
    dist.ReduceOp.SUM: torch.add,
    dist.ReduceOp.PRODUCT: torch.mul,
    dist.ReduceOp.MIN: torch.minimum,
    dist.ReduceOp.MAX: torch.maximum,
}


def _check(
    group: Optional[dist.ProcessGroup], name: str, blocks: Sequence[torch.Tensor], own_name: str, own: torch.Tensor
) -> Tuple[dist.ProcessGroup, int]:
    """The group and this rank in it, if the tensors suit it."""
    group = dist.group.WORLD if group is None else group
    ranks, rank = dist.get_world_size(group), dist.get_rank(group)
    if rank < 0:
        raise ValueError("group: this process is not in it; allowed: a group of this process")
    if len(blocks) != ranks:
        raise ValueError(f"{name}: {len(blocks)} tensors; allowed: {ranks}, one for each rank")
    named = [(f"{name}[{index}]", block) for index, block in enumerate(blocks)]
    for label, tensor in [(own_name, own), *named]:
        if tensor.device.type != "cpu":
            raise ValueError(f"{label}: on {tensor.device}; allowed: a tensor on a CPU")
        if tensor.dtype != own.dtype:
            raise ValueError(f"{label}: {tensor.dtype}; allowed: {own.dtype}, the type of {own_name}")
    if own.shape != blocks[rank].shape:
        shape = tuple(blocks[rank].shape)
        raise ValueError(f"{own_name}: shape {tuple(own.shape)}; allowed: {shape}, as {name}[{rank}] has")
    return group, rank


class _Call:
    """A collective of a group with given sizes: its algorithms, or the fastest one when that is known."""

    def __init__(self, plan: _Plan, algorithms: Dict[str, _Algorithm]) -> None:
        self.plan = plan
        self.algorithms = list(algorithms.values())
        #: How long the calls have taken here, until one is chosen.
        self.seconds: List[float] = []

    def perform(self, *data: Any) -> None:
        """Performs the collective by the algorithm whose turn it is, or by the fastest."""
        if not any(self.plan.sizes):
            return
        if len(self.algorithms) == 1:
            self.algorithms[0](self.plan, *data)
            return
        start = time.perf_counter()
        self.algorithms[len(self.seconds) // _TRIALS](self.plan, *data)
        self.seconds.append(time.perf_counter() - start)
        if len(self.seconds) == _TRIALS * len(self.algorithms):
            # A rank that begins early because another algorithm has ended early waits in its first call.
            trials = torch.tensor(self.seconds).view(-1, _TRIALS)[:, 1:]
            seconds = trials.median(1).values
            dist.all_reduce(seconds, dist.ReduceOp.MAX, self.plan.group)
            self.algorithms = [self.algorithms[int(seconds.argmin())]]


class _Plan:
    """The schedule for a collective of a group, and this rank's part of it: planned when it is first needed."""

    def __init__(
        self, group: dist.ProcessGroup, operation: str, sizes: Tuple[int, ...], element: int, machine: str
    ) -> None:
        # What is kept for a group must not keep the group.
        self._group = weakref.ref(group)
        self.rank = dist.get_rank(group)
        #: The group's ranks as the world numbers them.
        self.ranks = [dist.get_global_rank(group, rank) for rank in range(len(sizes))]
        self.sizes = sizes
        #: Bytes of an element that is never cut.
        self.element = element
        self._operation = operation
        self._machine = machine
        self._part: Optional[_Part] = None

    @property
    def group(self) -> dist.ProcessGroup:
        """The group, which the caller has."""
        return self._group()

    def part(self) -> _Part:
        """This rank's part of the schedule. Raises ``RuntimeError`` where ranks make different ones in this call."""
        if self._part is None:
            element = None if self._operation == "allgather" else self.element
            problem = Problem(self.sizes, self._machine, operation=self._operation, element_size=element)
            schedule = optimize(problem).schedule().to_dict()
            check = zlib.crc32(repr(schedule["actions"]).encode())
            checks = torch.tensor([check, -check])
            dist.all_reduce(checks, dist.ReduceOp.MAX, self.group)
            if int(checks[0]) != -int(checks[1]):
                raise RuntimeError("ranks have different plans; allowed: equal sizes, machine and version of tuwtree")
            self._part = _Part(schedule, self)
        return self._part


class _Place:
    """Elements of one of a rank's buffers, in pieces."""

    def __init__(self, document: List[Any], element: int) -> None:
        self.buffer: str = document[0]
        numbers = [number // element for number in document[1:]]
        self.pieces = list(zip(numbers[::2], numbers[1::2]))

    def views(self, buffers: Dict[str, torch.Tensor]) -> List[torch.Tensor]:
        """The pieces themselves."""
        return [buffers[self.buffer].narrow(0, start, length) for start, length in self.pieces]


class _Action:
    """An action of a rank: it sends, receives, or does both; or it copies."""

    def __init__(self, document: Dict[str, Any], element: int, counts: Counter[Tuple[str, int, int]]) -> None:
        #: Elements to send or copy.
        self.source = _Place(document["from"], element) if "from" in document else None
        #: The room for received or copied elements.
        self.target = _Place(document["into"], element) if "into" in document else None
        self.combines = "combine" in document
        #: The receiver and the sender, each with the message's tag.
        self.send = self._end("send", document, counts)
        self.receive = self._end("receive", document, counts)

    def _end(
        self, end: str, document: Dict[str, Any], counts: Counter[Tuple[str, int, int]]
    ) -> Optional[Tuple[int, int]]:
        """The rank at the other end and a tag of the message's own: equal tags match in the order of the lists."""
        if end not in document:
            return None
        peer, tag = document[end], document.get(f"{end}_tag", 0)
        counts[end, peer, tag] += 1
        return peer, _FIRST_TAG + (tag << 16) + counts[end, peer, tag]

    def store(self, data: torch.Tensor, buffers: Dict[str, torch.Tensor], combine: Optional[_Operator]) -> None:
        """Puts received or copied elements into their room, or combines them with the present ones."""
        assert self.target is not None, "it receives or copies"
        views = self.target.views(buffers)
        for view, piece in zip(views, data.split([len(view) for view in views])):
            if self.combines and combine is not None:
                combine(view, piece, out=view)
            else:
                view.copy_(piece)


class _Part:
    """A rank's part of a schedule, performed by messages of the group.

    All receives begin before anything is sent, and no send is waited for before the end: along schedules for duplex
    ports, ranks that wait for each send wait for each other.
    """

    def __init__(self, schedule: Dict[str, Any], plan: _Plan) -> None:
        counts: Counter[Tuple[str, int, int]] = Counter()
        self.plan = plan
        self.actions = [_Action(action, plan.element, counts) for action in schedule["actions"][plan.rank]]
        self.segment: int = schedule["segment_bytes"][plan.rank] // plan.element

    def perform(self, buffers: Dict[str, torch.Tensor], combine: Optional[_Operator] = None) -> None:
        """Performs the actions on one-dimensional tensors; ``combine`` is the reduction's operator."""
        arriving = [self._receive(action, buffers, combine is None) for action in self.actions if action.receive]
        listed, stored = 0, 0
        sent = []
        for action in self.actions:
            if action.source is not None:
                if action.source.buffer != "input":
                    self._store(arriving[stored:listed], buffers, combine)
                    stored = listed
                views = action.source.views(buffers)
                # Combining must not change a message on its way.
                data = views[0] if len(views) == 1 and combine is None else torch.cat(views)
                if action.send:
                    peer, tag = action.send
                    sent.append((dist.isend(data, self.plan.ranks[peer], self.plan.group, tag), data))
                else:
                    action.store(data, buffers, combine)
            listed += action.receive is not None
        self._store(arriving[stored:], buffers, combine)
        for work, _ in sent:
            work.wait()

    def _receive(self, action: _Action, buffers: Dict[str, torch.Tensor], replaces: bool) -> _Arrival:
        """Begins to receive: where it is to be if that is one piece that is replaced, else in memory of its own."""
        assert action.target is not None and action.receive is not None, "it receives"
        views = action.target.views(buffers)
        in_place = replaces and len(views) == 1
        data = views[0] if in_place else views[0].new_empty(sum(len(view) for view in views))
        peer, tag = action.receive
        return dist.irecv(data, self.plan.ranks[peer], self.plan.group, tag), None if in_place else data, action

    def _store(self, arriving: List[_Arrival], buffers: Dict[str, torch.Tensor], combine: Optional[_Operator]) -> None:
        """Waits for messages and puts each into its room."""
        for work, data, action in arriving:
            work.wait()
            if data is not None:
                action.store(data, buffers, combine)


def _kept(
    group: dist.ProcessGroup,
    operation: str,
    sizes: Tuple[int, ...],
    element: int,
    algorithms: Dict[str, _Algorithm],
    algorithm: str,
    machine: Optional[str],
) -> _Call:
    """The collective with these sizes and options, as it is kept for the group; the oldest are forgotten."""
    if algorithm != "auto" and algorithm not in algorithms:
        raise ValueError(f"algorithm: {algorithm!r}; allowed: auto, {', '.join(algorithms)}")
    machine = machine or os.environ.get("TUWTREE_MACHINE") or "ethernet"
    calls = _CALLS.setdefault(group, OrderedDict())
    key = operation, sizes, element, algorithm, machine
    if key not in calls:
        plan = _Plan(group, operation, sizes, element, machine)
        tried = algorithms if algorithm == "auto" else {algorithm: algorithms[algorithm]}
        calls[key] = _Call(plan, tried)
        if len(calls) > _MOST_KEPT:
            calls.popitem(last=False)
    return calls[key]


def _hosts(group: dist.ProcessGroup) -> int:
    """The number of hosts that the group's ranks run on; asked for once."""
    if group not in _HOSTS:
        names: List[Any] = [None] * dist.get_world_size(group)
        dist.all_gather_object(names, socket.gethostname(), group)
        _HOSTS[group] = len(set(names))
    return _HOSTS[group]


def _gather_by_plan(plan: _Plan, outputs: Sequence[torch.Tensor]) -> None:
    everything = torch.empty(sum(plan.sizes), dtype=torch.uint8)
    blocks = everything.split(plan.sizes)
    own = _flat(outputs[plan.rank]).view(torch.uint8)
    blocks[plan.rank].copy_(own)
    part = plan.part()
    buffers = {"input": own, "output": everything, "segment": everything.new_empty(part.segment)}
    part.perform(buffers)
    for rank, (block, output) in enumerate(zip(blocks, outputs)):
        if rank != plan.rank and len(block):
            # A block need not begin where its type may.
            output.copy_(block.clone().view(output.dtype).view(output.shape))


def _gather_by_broadcasts(plan: _Plan, outputs: Sequence[torch.Tensor]) -> None:
    blocks = [_flat(output) for output in outputs]
    _wait(
        dist.broadcast(block, root, plan.group, async_op=True) for block, root in zip(blocks, plan.ranks) if len(block)
    )
    for block, output in zip(blocks, outputs):
        _copy_back(block, output)


def _gather_by_padding(plan: _Plan, outputs: Sequence[torch.Tensor]) -> None:
    largest = max(output.numel() for output in outputs)
    own = outputs[plan.rank].new_empty(largest)
    own[: outputs[plan.rank].numel()] = _flat(outputs[plan.rank])
    padded = [torch.empty_like(own) for _ in outputs]
    dist.all_gather(padded, own, plan.group)
    for block, output in zip(padded, outputs):
        output.copy_(block[: output.numel()].view(output.shape))


def _reduce_by_plan(plan: _Plan, output: torch.Tensor, inputs: Sequence[torch.Tensor], op: Any) -> None:
    own = torch.cat([_flat(block) for block in inputs])
    result = own.clone()
    part = plan.part()
    part.perform({"input": own, "output": result, "segment": own[: part.segment].clone()}, _OPERATORS[op])
    block = result.split([block.numel() for block in inputs])[plan.rank]
    output.copy_(block.view(output.shape))


def _reduce_by_reduces(plan: _Plan, output: torch.Tensor, inputs: Sequence[torch.Tensor], op: Any) -> None:
    blocks = [_flat(block).clone() for block in inputs]
    _wait(
        dist.reduce(block, root, op, plan.group, async_op=True) for block, root in zip(blocks, plan.ranks) if len(block)
    )
    output.copy_(blocks[plan.rank].view(output.shape))


def _reduce_by_all_reduce(plan: _Plan, output: torch.Tensor, inputs: Sequence[torch.Tensor], op: Any) -> None:
    everything = torch.cat([_flat(block) for block in inputs])
    dist.all_reduce(everything, op, plan.group)
    block = everything.split([block.numel() for block in inputs])[plan.rank]
    output.copy_(block.view(output.shape))


def _flat(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor's elements one after the other: its own memory, or a copy if they lie apart."""
    return tensor.detach().contiguous().view(-1)


def _copy_back(block: torch.Tensor, tensor: torch.Tensor) -> None:
    """Fills the tensor that :func:`_flat` has copied."""
    if block.data_ptr() != tensor.data_ptr():
        tensor.copy_(block.view(tensor.shape))


def _wait(works: Iterable[Any]) -> None:
    """Waits for collectives that all begin first."""
    for work in list(works):
        work.wait()


_GATHERS: Dict[str, _Algorithm] = {
    "broadcasts": _gather_by_broadcasts,
    "plan": _gather_by_plan,
    "padding": _gather_by_padding,
}
_REDUCTIONS: Dict[str, _Algorithm] = {
    "reduces": _reduce_by_reduces,
    "plan": _reduce_by_plan,
    "all-reduce": _reduce_by_all_reduce,
}

#: The number of hosts of each group.
_HOSTS: weakref.WeakKeyDictionary[dist.ProcessGroup, int] = weakref.WeakKeyDictionary()

#: The collectives that are kept for each group.
_CALLS: weakref.WeakKeyDictionary[dist.ProcessGroup, OrderedDict[Any, _Call]] = weakref.WeakKeyDictionary()
