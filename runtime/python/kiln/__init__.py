# SPDX-License-Identifier: Apache-2.0
"""Kiln for applications in Python; kiln.pyopencl is what there is."""
