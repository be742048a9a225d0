# Copyright Spack Project Developers. See COPYRIGHT file for details.
#
# SPDX-License-Identifier: (Apache-2.0 OR MIT)

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PyTuwtree(PythonPackage):
    """Optimal trees and schedules for irregular MPI collectives: the wheel of a release, with
    program, executor and the MPI libraries for each binary interface."""

    homepage = "https://github.com/tuwtree/tuwtree"
    url = "https://github.com/tuwtree/tuwtree/releases/download/v@VERSION@/@WHEEL@"

    # ./release writes version, file and checksum.
    version("@VERSION@", sha256="@SHA256@", expand=False)

    license("MIT OR Apache-2.0")

    requires("platform=linux target=x86_64:", msg="the wheel is for Linux on x86-64")

    depends_on("python@3.9:", type=("build", "run"))
    depends_on("py-pip", type="build")
    depends_on("py-numpy", type=("build", "run"))
