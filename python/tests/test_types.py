"""The types that the package states are consistent."""

import pathlib
import subprocess
import sys

import pytest

import tuwtree

FOLDER = pathlib.Path(tuwtree.__file__).parent


def test_types_are_consistent(tmp_path):
    pytest.importorskip("mypy")
    settings = pathlib.Path(__file__).parents[1] / "pyproject.toml"
    command = [sys.executable, "-m", "mypy", "--config-file", str(settings), "--package", "tuwtree"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout


def test_the_package_says_that_it_has_types():
    assert (FOLDER / "py.typed").exists()
    assert (FOLDER / "_native.pyi").exists()
