"""gatherv and scatterv under mpirun, against mpi4py's own calls."""

import os
import pathlib
import shutil
import subprocess
import sys

import numpy
import pytest

import tuwtree

RANKS = pathlib.Path(__file__).with_name("programs") / "ranks.py"


def _interpreter():
    """An interpreter that has mpi4py, and the path by which it finds this package."""
    folders = {str(pathlib.Path(module.__file__).parents[1]): None for module in (tuwtree, numpy)}
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    for interpreter in filter(None, [os.environ.get("TUWTREE_MPI_PYTHON"), sys.executable]):
        command = [interpreter, "-c", "import mpi4py, numpy, tuwtree"]
        if subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 0:
            return interpreter, environment
    return pytest.skip("mpi4py is not there")


def _ranks(count, *arguments, **settings):
    """Runs the ranks' program."""
    launcher = os.environ.get("TUWTREE_MPIRUN", "mpirun")
    if shutil.which(launcher) is None:
        pytest.skip(f"{launcher} is not there")
    interpreter, environment = _interpreter()
    if not os.environ.get("TUWTREE_LIBRARY"):
        pytest.skip("TUWTREE_LIBRARY does not name libtuwtree_mpi")
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    root["OMPI_MCA_rmaps_base_oversubscribe"] = "1"
    command = [launcher, "-n", str(count), interpreter, "-m", "mpi4py", str(RANKS), *arguments]
    return subprocess.run(
        command,
        env={**environment, **root, **settings},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("algorithm", ["adaptive", "linear", "native"])
def test_blocks_arrive_as_with_mpi4py(algorithm):
    done = _ranks(4, algorithm)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["good"]


def test_a_library_that_is_not_there_is_named():
    done = _ranks(1, "adaptive", TUWTREE_LIBRARY="/nowhere/libtuwtree_mpi.so")
    assert done.returncode != 0
    assert "ImportError: libtuwtree_mpi is not found: /nowhere/libtuwtree_mpi.so" in done.stderr
