"""The program ``tuwtree-exec`` for the MPI library at hand: a wheel has one for each binary interface of MPI."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

PROGRAMS = Path(__file__).with_name("_mpi")
"""Folder of the programs, a folder for each binary interface."""

LIBRARIES = {
    "openmpi": "libmpi.so.40",
    "mpich": "libmpi.so.12",
    "debian": "libmpich.so.12",
    "standard": "libmpi_abi.so.1",
}
"""The MPI library of each interface."""

LAUNCHERS = ("mpirun", "mpiexec", "orterun", "prterun", "srun")

VARIABLE = "TUWTREE_INTERFACE"


def launcher(arguments: Iterable[str]) -> Path | None:
    """Find the launcher of MPI programs: the one among these arguments, else ``mpirun``."""
    named = (word for word in arguments if Path(word).name.startswith(LAUNCHERS))
    found = shutil.which(next(named, "mpirun"))
    return Path(found).resolve() if found else None


def family(start: Path | None, environment: Mapping[str, str], is_preloaded: bool) -> list[str]:
    """List the interfaces of the library whose rank this is, or whose launcher this is; all if that is unknown.

    Programs that are run with a preloaded library are seldom built for the standard interface, which else comes first.
    """
    hydra = ["mpich", "debian", "standard"] if is_preloaded else ["standard", "mpich", "debian"]
    if "OMPI_COMM_WORLD_RANK" in environment:
        return ["openmpi"]
    if "PMI_RANK" in environment:
        return hydra
    if start is None or "srun" in start.name:
        return list(LIBRARIES)
    try:
        output = subprocess.run([start, "--version"], capture_output=True, text=True, check=False)
        said = output.stdout + output.stderr
    except OSError:
        return list(LIBRARIES)
    is_open_mpi = re.search(r"open-mpi|Open MPI", said)
    return ["openmpi"] if is_open_mpi else hydra


def folders(start: Path | None, environment: Mapping[str, str]) -> list[Path]:
    """List the folders in which a library may be: those of the environment, of the launcher, of the system."""
    listed = [Path(one) for one in environment.get("LD_LIBRARY_PATH", "").split(":") if one]
    beside = [start.parent.parent / name for name in ("lib", "lib64")] if start else []
    program = shutil.which("ldconfig", path="/sbin:/usr/sbin:" + environment.get("PATH", ""))
    known = subprocess.run([program, "-p"], capture_output=True, text=True, check=False).stdout if program else ""
    paths = re.findall(r"=> (\S+/lib(?:mpi|mpich|mpi_abi)\.so\.\d+)$", known, re.MULTILINE)
    return [*listed, *beside, *(Path(one).parent for one in paths)]


def chosen(arguments: Sequence[str], environment: Mapping[str, str]) -> tuple[str, Path | None]:
    """Choose the interface, and the folder of its library if that is known.

    Raises:
        LookupError: There is no MPI library for which there is a program, or TUWTREE_INTERFACE names none.
    """
    available = [one for one in LIBRARIES if (PROGRAMS / one / "tuwtree-exec").exists()]
    if not available:
        raise LookupError("this package was built without MPI libraries; build tuwtree-exec from its repository")
    stated = environment.get(VARIABLE)
    if stated and stated not in available:
        raise LookupError(f"{VARIABLE}={stated}: one of {', '.join(available)} is there")
    start = launcher(arguments)
    interfaces = [stated] if stated else family(start, environment, arguments[:1] == ["run"])
    wanted = [one for one in interfaces if one in available]
    for folder in folders(start, environment):
        for one in wanted:
            if (folder / LIBRARIES[one]).exists():
                return one, folder
    if stated:
        return stated, None
    names = ", ".join(LIBRARIES[one] for one in wanted or available)
    raise LookupError(f"no MPI library was found ({names}); LD_LIBRARY_PATH may name its folder")


def main() -> None:
    """Become the program ``tuwtree-exec`` of the MPI library at hand."""
    try:
        interface, folder = chosen(sys.argv[1:], os.environ)
    except LookupError as error:
        sys.exit(f"tuwtree-exec: {error}")
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    if folder:
        searched = environment.get("LD_LIBRARY_PATH", "")
        environment["LD_LIBRARY_PATH"] = f"{searched}:{folder}" if searched else str(folder)
    program = PROGRAMS / interface / "tuwtree-exec"
    os.execve(program, ["tuwtree-exec", *sys.argv[1:]], environment)


if __name__ == "__main__":
    main()
