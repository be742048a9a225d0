"""Collectives of torch's process groups, on ranks of this machine."""

import os
import pathlib
import subprocess
import sys

import pytest

import tuwtree

RANKS = pathlib.Path(__file__).with_name("programs") / "torch_ranks.py"


def _interpreter(folder):
    """An interpreter that has torch, and the environment in which it finds this package, but its own NumPy."""
    (folder / "tuwtree").symlink_to(pathlib.Path(tuwtree.__file__).parent)
    environment = {**os.environ, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}
    for interpreter in filter(None, [os.environ.get("TUWTREE_TORCH_PYTHON"), sys.executable]):
        command = [interpreter, "-c", "import numpy, torch.distributed, tuwtree.torch"]
        if subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 0:
            return interpreter, environment
    return pytest.skip("torch is not there")


@pytest.mark.parametrize("count", [1, 2, 5])
def test_blocks_of_torch_arrive(count, tmp_path):
    interpreter, environment = _interpreter(tmp_path)
    ranks = [
        subprocess.Popen(
            [interpreter, str(RANKS), str(rank), str(count), str(tmp_path / "meeting")],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(count)
    ]
    said = [rank.communicate(timeout=120)[0] for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0] * count, said
    assert said[0].split() == ["good"]
