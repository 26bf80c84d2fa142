from spack.package import *


class Drx(CMakePackage):
    """Differentiable MapReduce for C++20: programs over placed values, their derivatives, and running them on
    Kokkos and MPI. Header-only."""

    # Set git (and homepage) to where your copy lives; `spack develop --path . drx@main` needs neither.
    license("Apache-2.0")

    version("main", branch="main")

    variant("run", default=True, description="Run programs on Kokkos (without: the compile-time core)")
    variant("mpi", default=True, when="+run", description="Run them on many processes")
    variant("eigen", default=True, description="Adapter for Eigen")
    variant("hana", default=True, description="Adapter for Boost.Hana structures")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("kokkos@4.5:", when="+run")
    depends_on("mpi", when="+mpi")
    depends_on("eigen@3.4:", when="+eigen")
    depends_on("boost", when="+hana")
    conflicts("%gcc@:11", msg="drx needs g++ 12 or newer")
    conflicts("%clang@:13", msg="drx needs clang 14 or newer")

    def cmake_args(self):
        return [
            self.define_from_variant("DRX_ENABLE_RUN", "run"),
            self.define_from_variant("DRX_ENABLE_MPI", "mpi"),
            self.define("DRX_BUILD_TESTS", False),
            self.define("DRX_BUILD_EXAMPLES", False),
            self.define("DRX_BUILD_BENCH", False),
        ]
