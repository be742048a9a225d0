# Copyright Spack Project Developers. See COPYRIGHT file for details.
#
# SPDX-License-Identifier: (Apache-2.0 OR MIT)

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class TuwtreeHeader(CMakePackage):
    """Plans of irregular MPI gathers, scatters, allgathers and reduce-scatters in one C header."""

    homepage = "https://github.com/tuwtree/tuwtree"
    git = "https://github.com/tuwtree/tuwtree.git"

    version("main", branch="main")

    license("MIT OR Apache-2.0")

    depends_on("cmake@3.15:", type="build")

    root_cmakelists_dir = "c"
