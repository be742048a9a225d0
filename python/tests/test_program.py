"""What the package computes is what the program prints, with the same defaults."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy
import pytest

import tuwtree


def test_the_program_comes_with_the_package(program):
    assert program("--version").split() == ["tuwtree", tuwtree.__version__]
    assert "tuwtree optimize" in program("--help")
    program("optimize", code=2)


def test_the_console_script_is_the_program(tmp_path):
    import importlib.metadata

    scripts = importlib.metadata.entry_points()
    chosen = [one for one in _group(scripts, "console_scripts") if one.name == "tuwtree"]
    if not chosen:
        pytest.skip("the package is not installed")
    assert chosen[0].value == "tuwtree._program:main"


def _group(points, name):
    """Entry points of a group, in every version of Python."""
    return points.select(group=name) if hasattr(points, "select") else points.get(name, [])


def test_an_interrupt_ends_the_program_as_it_does_without_python(tmp_path):
    words = ["optimize", "--dist", "random", "-p", "6000", "--algorithm", "adjacent-plain"]
    command = [sys.executable, "-m", "tuwtree", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        while _seconds_of_work(process.pid) < 1.5:
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert said.rstrip().endswith("interrupted")


def _seconds_of_work(process):
    """How long a process has computed."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], {}),
        (["--root", "3"], {"root": 3}),
        (["--op", "scatter", "--ports", "2"], {"operation": "scatter", "ports": 2}),
        (["--op", "allgather"], {"operation": "MPI_Allgatherv"}),
        (["--machine", "vsc3", "--root", "0"], {"machine": "vsc3", "root": 0}),
        (["--alpha", "2us", "--beta", "1ns", "--gamma", "0.1ns"], {"machine": ("2us", "1ns", "0.1ns")}),
    ],
)
def test_optimize_is_that_of_the_program(document, words, options):
    if isinstance(options.get("machine"), tuple):
        options = {**options, "machine": tuwtree.Machine.of_costs(*options["machine"])}
    problem = tuwtree.Problem.of_distribution("spikes", processes=40, **options)
    printed = document("optimize", "--dist", "spikes", "-p", "40", "--json", *words)
    plan = tuwtree.optimize(problem)
    assert plan.comparison.to_dict() == printed
    assert plan.construction == printed["recommended"]


def test_optimize_takes_the_programs_options(document):
    problem = tuwtree.Problem.of_distribution("skewed", processes=30, root=0)
    plan = tuwtree.optimize(problem, algorithm=["linear", "adjacent-plain"], order="any", certify=True)
    words = ["--algorithm", "linear", "adjacent-plain", "--order", "any", "--certify"]
    printed = document("optimize", "--dist", "skewed", "-p", "30", "--root", "0", "--json", *words)
    assert plan.comparison.to_dict() == printed


def test_own_sizes_and_matrices_are_those_of_the_program(document, tmp_path):
    sizes = numpy.arange(12) ** 3
    numpy.save(tmp_path / "sizes.npy", sizes)
    problem = tuwtree.Problem(sizes, "vsc3", root=5)
    words = ["--sizes", "sizes.npy", "--machine", "vsc3", "--root", "5"]
    assert tuwtree.optimize(problem).comparison.to_dict() == document("optimize", *words, "--json")
    assert (tuwtree.read_sizes(tmp_path / "sizes.npy") == sizes).all()
    matrix = numpy.outer(sizes[:4], sizes[:4])
    numpy.save(tmp_path / "matrix.npy", matrix)
    words = ["--op", "alltoall", "--matrix", "matrix.npy", "--alpha", "7"]
    problem = tuwtree.Problem(matrix, tuwtree.Machine.of_costs(7, 1, 1), operation="alltoall")
    assert tuwtree.optimize(problem).comparison.to_dict() == document("optimize", *words, "--json")


def test_vectors_and_groups_are_those_of_the_program(document, program):
    costs = tuwtree.Machine.of_costs(100, 1, 1)
    problem = tuwtree.Problem(9600, costs, operation="reduce", processes=24, element_size=8, root=1)
    words = ["--op", "reduce", "--vector", "9600", "-p", "24", "--element", "8", "--root", "1", "--cut"]
    assert tuwtree.compare(problem, cut=True).to_dict() == document("optimize", *words, "--json")
    program("generate", "--dist", "same", "-p", "3", "-o", "a.txt")
    program("generate", "--dist", "skewed", "-p", "5", "-o", "b.txt")
    sizes = [tuwtree.block_sizes(name, processes=p) for name, p in [("same", 3), ("skewed", 5)]]
    problem = tuwtree.Problem(sizes[0], costs, operation="intergroup-allgather", remote_sizes=sizes[1])
    words = ["--op", "intergroup-allgather", "--sizes", "a.txt", "--sizes-remote", "b.txt"]
    assert tuwtree.compare(problem).to_dict() == document("optimize", *words, "--json")


def test_advice_is_that_of_the_program(document, program):
    problem = tuwtree.Problem.of_distribution("skewed", "vsc3", processes=50, root=49)
    words = ["advise", "--dist", "skewed", "--machine", "vsc3", "-p", "50", "--root", "49"]
    advice = tuwtree.advise(problem)
    assert advice.to_dict() == document(*words, "--json")
    assert str(advice) == program(*words).rstrip()
    assert advice.sentence.startswith(f"Use {advice.construction} (")


def test_trees_schedules_and_times_are_those_of_the_program(document, program, tmp_path):
    problem = tuwtree.Problem.of_distribution("bucket", "vsc3", processes=30, root=2)
    words = ["--dist", "bucket", "--machine", "vsc3", "-p", "30", "--root", "2"]
    program("optimize", *words, "-o", "tree.json")
    tree = tuwtree.optimize(problem).tree
    tree.save(tmp_path / "ours.json")
    assert (tmp_path / "ours.json").read_bytes() == (tmp_path / "tree.json").read_bytes()
    program("export", "tree.json", "--format", "json", "-o", "schedule.json")
    schedule = tuwtree.schedule(tree)
    schedule.save(tmp_path / "ours-schedule.json")
    assert (tmp_path / "ours-schedule.json").read_bytes() == (tmp_path / "schedule.json").read_bytes()
    assert tuwtree.schedule(tmp_path / "schedule.json").to_dict() == schedule.to_dict()
    simulation = tuwtree.simulate(tmp_path / "tree.json")
    assert simulation.to_dict() == document("simulate", "tree.json", "--json")
    assert str(simulation) == program("simulate", "tree.json").rstrip()
    assert tree.svg() == program("draw", "tree.json")
    assert simulation.svg() == program("draw", "tree.json", "--picture", "timeline")


def test_a_sweep_is_that_of_the_program(document):
    rows = tuwtree.sweep(
        ["spikes", "same"], processes=[16, 32], block=[8, 1000], algorithm=["linear", "adaptive"], root=0
    )
    words = ["--dist", "spikes,same", "-p", "16,32", "-b", "8,1000", "--algorithm", "linear,adaptive", "--root", "0"]
    printed = document("sweep", *words, "--format", "json")["rows"]
    frame = rows if isinstance(rows, list) else rows.astype(object).where(rows.notna(), None).to_dict("records")
    assert list(frame[0]) == list(printed[0])
    assert frame == printed
