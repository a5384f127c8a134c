# SPDX-License-Identifier: BSD-3-Clause
"""The wheel has a library that CMake built: it is of one Python and one platform."""

from setuptools import Distribution, setup


class WithLibrary(Distribution):
    def has_ext_modules(self) -> bool:
        return True


setup(distclass=WithLibrary)
