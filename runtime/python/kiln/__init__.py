# SPDX-License-Identifier: Apache-2.0
"""Kiln for applications in Python.

kiln.pyopencl serves PyOpenCL from a pack. compile(), build(), Pack and explain() make, read and
explain packs by the program kiln, which `python -m kiln` runs.
"""

from kiln._native import Error
from kiln._packs import Binary, Pack, build, compile, explain  # pylint: disable=redefined-builtin

__version__ = "0.1.0"  # runtime/recorded/CMakeLists.txt holds it against the project's
__all__ = ["Binary", "Error", "Pack", "__version__", "build", "compile", "explain"]
