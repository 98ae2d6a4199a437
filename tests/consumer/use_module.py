# SPDX-License-Identifier: Apache-2.0
"""The installed Python module finds the libraries of its installation."""

import sys

from kiln import _native

try:
    _native.Kiln("no-such-library", "no-such.kiln")
except _native.Error as error:
    # The next fault after those of the libraries.
    sys.exit(None if "no usable OpenCL library" in str(error) else str(error))
sys.exit("there is no such library")
