# SPDX-License-Identifier: Apache-2.0
"""Kiln for applications in Python: kiln.pyopencl, and `python -m kiln` for the program kiln."""

from kiln._native import Error

__version__ = "0.1.0"  # runtime/recorded/CMakeLists.txt holds it against the project's
__all__ = ["Error", "__version__"]
