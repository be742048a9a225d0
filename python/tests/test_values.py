"""Arrays in and out, and what is said of values that cannot be."""

import re
import threading
import time

import numpy
import pytest

import tuwtree
from tuwtree import Machine, Problem

COSTS = Machine.of_costs(100, 1, 1)


def test_trees_and_problems_come_as_arrays():
    sizes = numpy.array([2, 1, 4], dtype=numpy.uint16)
    plan = tuwtree.optimize(Problem(sizes, COSTS, root=1), algorithm="linear")
    assert plan.tree.parents.tolist() == [1, -1, 1]
    assert plan.tree.children(1) == (0, 2)
    assert plan.completion_time == 100 + 2 + 1 + 100 + 4
    assert (plan.comparison.problem.sizes == sizes).all()
    assert plan.schedule().fault is None


def test_events_have_every_message():
    simulation = tuwtree.optimize(Problem.of_distribution("same", processes=5, root=0)).simulate()
    events = simulation.events()
    received = events["kind"] == "receive"
    assert received.sum() == 4
    assert events["end"].max() == simulation.completion_time
    assert simulation.critical_path[-1]["end"] == simulation.completion_time


def test_matrices_of_costs_go_in_and_out():
    alpha = numpy.array([[0, 1e-6, 2e-6], [3e-6, 0, numpy.inf], [4e-6, 5e-6, 0]])
    machine = Machine.of_matrices(alpha, numpy.full((3, 3), 1e-9), 1e-10, name="small")
    costs = machine.matrices()
    assert (costs.alpha == alpha).all()
    assert costs.beta[0, 1] == 1e-9
    assert costs.gamma.tolist() == [1e-10] * 3
    assert Machine.of_dict(machine.to_dict()).to_dict() == machine.to_dict()
    assert tuwtree.optimize(Problem([10, 10, 10], machine, root=0)).tree.root == 0


def test_pictures_show_in_notebooks():
    comparison = tuwtree.compare(Problem.of_distribution("spikes", "vsc3", processes=16, root=0))
    advice = tuwtree.advise(comparison.problem)
    plan = comparison.recommended
    for shown in [comparison, advice, plan, plan.tree, plan.schedule(), plan.simulate()]:
        picture = shown._repr_svg_()
        assert picture.startswith("<svg") and picture.rstrip().endswith("</svg>"), shown
    allgather = Problem.of_distribution("spikes", processes=5, operation="allgather")
    assert tuwtree.optimize(allgather)._repr_svg_().startswith("<svg")
    assert "</html>" in comparison.report()


def test_who_gives_no_costs_is_told_which_are_assumed():
    with pytest.warns(UserWarning, match="alpha = 100, beta = gamma = 1"):
        Problem([1, 2, 3])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Problem([1, -2], COSTS), "sizes[1]: -2; allowed: integers from 0 to 18446744073709551615"),
        (lambda: Problem([1, 2.5], COSTS), "sizes[1]: 2.5; allowed: integers"),
        (lambda: Problem([1, float("nan")], COSTS), "sizes[1]: nan; allowed: integers"),
        (lambda: Problem([1, 2**64], COSTS), "sizes[1]: 18446744073709551616; allowed: 0 to"),
        (lambda: Problem(["a"], COSTS), "sizes: <U1 values; allowed: integers"),
        (lambda: Problem([], COSTS), "sizes: "),
        (lambda: Problem([[1, 2], [3]], COSTS), "sizes: "),
        (lambda: Problem([[1, 2, 3]], COSTS), "sizes: an array of 1 x 3 numbers; allowed: p rows"),
        (lambda: Problem([2**63, 2**63], COSTS), "sizes: the block sizes of ranks 0 to 1 add up to more"),
        (lambda: Problem([1, 2], "vsc9"), "machine: vsc9: no such file; built in are asymmetric"),
        (lambda: Problem([1] * 93, "griffon"), "92"),
        (lambda: Problem([1, 2], COSTS, root=7), "root: root 7 is outside 0..2"),
        (lambda: Problem([1, 2], COSTS, root="worst"), "root: 'worst'; allowed: a rank, or 'best'"),
        (lambda: Problem([1, 2], COSTS, operation="gathr"), 'operation: "gathr"; allowed: gather, scatter'),
        (lambda: Problem([1, 2], COSTS, operation="broadcast"), "broadcast"),
        (lambda: Problem([1, 2], COSTS, ports=0), "ports: 0; allowed: 1 to 65535"),
        (lambda: Problem(8, COSTS, operation="broadcast"), "processes: None; allowed: a number"),
        (lambda: Problem(8, COSTS, operation="broadcast", processes=0), "processes: 0; allowed: 1 to"),
        (lambda: Machine.of_costs("2us", 1, 1), "alpha has a unit, and beta has none"),
        (lambda: Machine.of_costs(-1, 1, 1), "alpha is -1; costs are finite numbers of at least 0"),
        (lambda: Machine.of_costs("2 parsec", 1, 1), "alpha: 2 parsec; allowed: "),
        (lambda: Machine.of_costs(1, 1, 1, overhead=2), "overhead"),
        (lambda: Machine.of_matrices([[0, 1]], [[0, 1]], 0), "alpha: an array of shape (1, 2); allowed: (1, 1)"),
        (lambda: Machine.of_dict({"format": "tuwtree-machine"}), "machine: "),
        (lambda: COSTS.to_dict(), "allowed: a machine"),
        (lambda: COSTS.matrices(), "processes: None; allowed: a number"),
        (lambda: tuwtree.block_sizes("spiky"), 'distribution: "spiky"; allowed: same, random'),
        (lambda: tuwtree.block_sizes("spikes", processes=0), "0 processes; 1 to"),
        (lambda: tuwtree.block_sizes("spikes", seed=2**32), "seed: 4294967296; allowed: 0 to 4294967295"),
        (lambda: tuwtree.read_sizes("/nowhere"), "path: /nowhere: "),
        (lambda: tuwtree.read("/nowhere"), "path: /nowhere: "),
    ],
)
def test_values_that_cannot_be_are_named_with_what_is_allowed(wrong, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        wrong()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "optimum"}, 'algorithm: "optimum"; allowed: all, linear'),
        ({"order": "none"}, 'order: "none"; allowed: ordered, direct, any'),
        ({"library": "own"}, 'library: "own"; allowed: '),
        ({"search_seconds": -1}, 'search_seconds: "-1.0"; allowed: '),
        ({"search_steps": 10**9}, 'search_steps: "1000000000"; allowed: '),
        ({"cut": True}, "is for broadcast and reduce"),
    ],
)
def test_options_that_cannot_be_are_named_with_what_is_allowed(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        tuwtree.compare(Problem([1, 2, 3], COSTS), **options)


def test_what_cannot_be_built_is_an_error():
    problem = Problem([1, 2, 3], COSTS, operation="allgather")
    with pytest.raises((RuntimeError, ValueError), match="oblivious"):
        tuwtree.compare(problem, algorithm="oblivious")


def test_planning_leaves_the_interpreter_to_other_threads():
    problem = Problem.of_distribution("random", processes=1000)
    planning = threading.Thread(target=lambda: tuwtree.compare(problem, algorithm="adjacent-plain"))
    planning.start()
    turns = 0
    while planning.is_alive():
        time.sleep(0.001)
        turns += 1
    assert turns > 3


def test_an_interrupt_ends_planning():
    import _thread

    problem = Problem.of_distribution("random", processes=5000)
    threading.Timer(0.3, _thread.interrupt_main).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        tuwtree.compare(problem, algorithm="adjacent-plain")
    assert time.monotonic() - started < 60


def test_sizes_stand_for_a_problem_and_plans_say_their_times_with_units():
    plan = tuwtree.optimize([1000, 1, 1, 1, 5000], machine="infiniband", root=0)
    assert repr(plan) == "Plan(linear, 3.8 µs, 1.00x the library's, 0.10 % above the bound)"
    problem = tuwtree.Problem(numpy.array([1000, 1, 1, 1, 5000]), "infiniband", root=0)
    assert tuwtree.optimize(problem).completion_time == plan.completion_time
    with pytest.raises(ValueError, match="machine: 'vsc3'; allowed: None"):
        tuwtree.compare(problem, "vsc3")
    with pytest.warns(UserWarning, match="alpha = 100") as warned:
        scatter = tuwtree.advise([3, 4, 5], operation="scatter")
    assert warned[0].filename == __file__
    assert scatter.comparison.problem.operation == "scatter"
    assert not scatter.comparison.problem.machine.in_seconds


def test_frames_have_microseconds_where_times_are_seconds():
    pytest.importorskip("pandas")
    frame = tuwtree.compare([1, 2, 3], tuwtree.Machine.of_costs(alpha="2us", beta="1GB/s", gamma="10GB/s")).to_frame()
    assert list(frame["completion_time_us"]) == list(1e6 * frame["completion_time"])
    assert "completion_time_us" not in tuwtree.compare(tuwtree.Problem.of_distribution("same", processes=3)).to_frame()
