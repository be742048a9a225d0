"""What several tests need."""

import json
import subprocess
import sys

import pytest


@pytest.fixture
def program(tmp_path):
    """Runs the program ``tuwtree`` of the package in a folder of its own; yields what it printed."""

    def run(*arguments, code=0):
        command = [sys.executable, "-m", "tuwtree", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.returncode == code, done.stderr
        return done.stdout

    return run


@pytest.fixture
def document(program):
    """Runs the program; yields the JSON that it printed."""
    return lambda *arguments: json.loads(program(*arguments))
