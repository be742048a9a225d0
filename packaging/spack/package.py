# Copyright Spack Project Developers. See COPYRIGHT file for details.
#
# SPDX-License-Identifier: (Apache-2.0 OR MIT)

from spack_repo.builtin.build_systems.cargo import CargoPackage

from spack.package import *


class Tuwtree(CargoPackage):
    """Optimal trees and schedules for irregular MPI collectives: plans gather and scatter whose
    blocks differ in size, for the counts and the machine at hand, and performs them."""

    homepage = "https://github.com/tuwtree/tuwtree"
    git = "https://github.com/tuwtree/tuwtree.git"

    # Packagers of a release add its archive of sources, which builds without a network, here:
    # url with its address, and the version with the checksum in SHA256SUMS.
    version("main", branch="main")

    license("MIT OR Apache-2.0")

    variant("png", default=False, description="Draw PNG beside SVG")
    variant("pdf", default=False, description="Draw PDF beside SVG")
    variant("mpi", default=False, description="Executor, library for C and preloaded library")

    depends_on("c", type="build")
    depends_on("rust@1.88:", type="build")
    with when("+mpi"):
        depends_on("mpi", type=("build", "link", "run"))
        # Bindings to MPI are made by libclang.
        depends_on("llvm +clang", type="build")

    @property
    def build_directory(self):
        """The program's; the top of the workspace is no package."""
        return join_path(self.stage.source_path, "crates", "cli")

    @property
    def build_args(self):
        features = [one for one in ("pdf", "png") if self.spec.satisfies(f"+{one}")]
        return ["--locked"] + (["--features", ",".join(features)] if features else [])

    @run_after("install")
    def install_pages(self):
        """Manual pages and completions, which the program writes itself."""
        tuwtree = Executable(self.prefix.bin.tuwtree)
        mkdirp(self.prefix.share.man.man1)
        tuwtree("man", "--output", self.prefix.share.man.man1)
        for shell, folder, name in [
            ("bash", "bash-completion/completions", "tuwtree"),
            ("fish", "fish/vendor_completions.d", "tuwtree.fish"),
            ("zsh", "zsh/site-functions", "_tuwtree"),
        ]:
            target = join_path(self.prefix.share, folder)
            mkdirp(target)
            with open(join_path(target, name), "w") as file:
                tuwtree("completions", shell, output=file)

    @run_after("install", when="+mpi")
    def install_mpi(self):
        """The executor and the libraries, for the MPI library of this spec."""
        packages = ["tuwtree-cluster", "tuwtree-mpi", "tuwtree-preload"]
        with working_dir(self.stage.source_path):
            with set_env(
                MPICC=self.spec["mpi"].mpicc,
                LIBCLANG_PATH=self.spec["llvm"].prefix.lib,
                PREFIX=self.prefix,
                LIBRARIES=join_path("target", "release"),
            ):
                cargo = which("cargo", required=True)
                cargo("build", "--release", "--locked", *[f"--package={one}" for one in packages])
                Executable(join_path("crates", "mpi", "install"))()
            install(join_path("target", "release", "tuwtree-exec"), self.prefix.bin)
