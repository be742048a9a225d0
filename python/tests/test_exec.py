"""The choice of ``tuwtree-exec`` among those of a wheel."""

import os
from pathlib import Path

import pytest

from tuwtree import _exec


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wheel's programs for two interfaces, and MPI libraries with launchers, each in a folder of its own."""
    monkeypatch.setattr(_exec, "PROGRAMS", tmp_path / "programs")
    for interface in ("openmpi", "debian"):
        folder = tmp_path / "programs" / interface
        folder.mkdir(parents=True)
        (folder / "tuwtree-exec").touch()
    for name, library, said in (
        ("open", "libmpi.so.40", "mpirun (Open MPI) 5.0.3"),
        ("hydra", "libmpich.so.12", "HYDRA build details:"),
    ):
        (tmp_path / name / "lib").mkdir(parents=True)
        (tmp_path / name / "lib" / library).touch()
        launcher = tmp_path / name / "bin" / "mpirun"
        launcher.parent.mkdir()
        launcher.write_text(f"#!/bin/sh\necho '{said}'\n")
        launcher.chmod(0o755)
    # Whatever this machine has: nothing of it is found.
    monkeypatch.setattr(_exec, "folders", lambda start, environment: [start.parent.parent / "lib"] if start else [])
    return tmp_path


def test_the_launcher_in_the_command_decides(place: Path) -> None:
    for name, interface in (("open", "openmpi"), ("hydra", "debian")):
        launcher = str(place / name / "bin" / "mpirun")
        arguments = ["run", "--record", "calls.json", "--", launcher, "-n", "4", "./program"]
        assert _exec.chosen(arguments, {}) == (interface, place / name / "lib")


def test_a_rank_of_open_mpi_is_known_by_its_variables(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{place / 'open' / 'bin'}:{os.environ['PATH']}")
    assert _exec.chosen(["bench"], {"OMPI_COMM_WORLD_RANK": "3"})[0] == "openmpi"


def test_a_rank_of_mpich_is_known_by_its_variables(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_exec, "folders", lambda start, environment: [place / "open/lib", place / "hydra/lib"])
    assert _exec.chosen(["bench"], {"PMI_RANK": "3"}) == ("debian", place / "hydra" / "lib")


def test_a_stated_interface_is_taken_and_an_unknown_one_refused(place: Path) -> None:
    assert _exec.chosen(["/no/mpirun"], {"TUWTREE_INTERFACE": "debian"})[0] == "debian"
    with pytest.raises(LookupError, match="TUWTREE_INTERFACE=mpich: one of openmpi, debian is there"):
        _exec.chosen([], {"TUWTREE_INTERFACE": "mpich"})


def test_without_programs_the_package_says_so(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_exec, "PROGRAMS", place / "nothing")
    with pytest.raises(LookupError, match="built without MPI libraries"):
        _exec.chosen(["selftest"], {})


def test_a_library_without_a_program_is_named(place: Path) -> None:
    (place / "hydra" / "lib" / "libmpich.so.12").unlink()
    with pytest.raises(LookupError, match=r"no MPI library was found \(libmpich.so.12\)"):
        _exec.chosen([str(place / "hydra" / "bin" / "mpirun")], {})
