#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""silx's median filter and convolution, as an X-ray pipeline calls them."""
import numpy
from silx.opencl.convolution import Convolution
from silx.opencl.medfilt import MedianFilter2D

IMAGE = (numpy.arange(128 * 128, dtype=numpy.float32).reshape(128, 128) * 7919) % 251
FILTERED = MedianFilter2D(IMAGE.shape).medfilt2d(IMAGE, 5)
SMOOTHED = Convolution(IMAGE.shape, numpy.ones(5, dtype=numpy.float32))(FILTERED)
print(float(FILTERED.sum()), float(SMOOTHED.sum()))
