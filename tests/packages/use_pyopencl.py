#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An application of PyOpenCL: `use_pyopencl.py [PACK]`. With a pack, prints where its program is from."""

import sys

import numpy
import pyopencl

if len(sys.argv) > 1:
    import kiln.pyopencl
    kiln.pyopencl.install(sys.argv[1])

context = pyopencl.Context([pyopencl.get_platforms()[0].get_devices()[0]])
queue = pyopencl.CommandQueue(context)
program = pyopencl.Program(context, """
    kernel void add_one(global int *values) { values[get_global_id(0)] += 1; }""").build()
values = numpy.arange(8, dtype=numpy.int32)
buffer = pyopencl.Buffer(context, pyopencl.mem_flags.COPY_HOST_PTR, hostbuf=values)
program.add_one(queue, values.shape, None, buffer)
pyopencl.enqueue_copy(queue, values, buffer)
assert list(values) == list(range(1, 9)), values
if len(sys.argv) > 1:
    (found,) = kiln.pyopencl.report()
    print(found["outcome"], found["rung"], found["reason"], "PyOpenCL", pyopencl.VERSION_TEXT, "Python",
          sys.version.split()[0])
