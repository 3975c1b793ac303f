# Spack recipe. In a checkout:
#
#     spack repo add packaging/spack
#     spack install supple@main
#
# Released versions need their tag in the checkout (scripts/release makes it).
# Not tried: it was written without Spack, from the recipes of spack-packages.
# OpenBLAS is its build with OpenMP, with LAPACKE inside. Spack's default (threads=none) has no locks and would give wrong
# numbers to our threads; meson.build refuses it.
import os

from spack.package import *


class Supple(MesonPackage):
    """Reduced-order deformable simulation from the command line: finite element meshes, modes, modal derivatives,
    cubature, polynomials and contact."""

    # Spack builds the sources in which this recipe is.
    git = "file://" + os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "..", ".."))

    license("MIT")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("pictures", default=False, description="shadows and smooth texts in pictures (Embree, FreeType)")
    variant("sound", default=False, description="sound files of simsound (libsndfile)")
    variant("yang2015", default=True, description="the methods of Yang et al. 2015, subject of US patent 10,474,927")

    depends_on("c", type="build")
    depends_on("meson@1.0:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("py-numpy@1.21:", type="run")

    depends_on("openblas threads=openmp")
    depends_on("suite-sparse")
    depends_on("metis")
    depends_on("arpack-ng")
    depends_on("libarchive")
    depends_on("zlib-api")
    depends_on("jansson")
    depends_on("nettle")
    depends_on("libpng")
    depends_on("embree@3:", when="+pictures")
    depends_on("freetype", when="+pictures")
    depends_on("fontconfig", when="+pictures")
    depends_on("libsndfile", when="+sound")

    def meson_args(self):
        pictures = "enabled" if self.spec.satisfies("+pictures") else "disabled"
        sound = "enabled" if self.spec.satisfies("+sound") else "disabled"
        yang = "true" if self.spec.satisfies("+yang2015") else "false"
        return [
            "-Dpage=disabled",
            "-Dstatic=false",
            "-Dembree=" + pictures,
            "-Dfreetype=" + pictures,
            "-Dsndfile=" + sound,
            "-Dslepc=disabled",
            "-Dyang2015=" + yang,
        ]
