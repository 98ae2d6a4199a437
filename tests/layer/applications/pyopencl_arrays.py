# SPDX-License-Identifier: Apache-2.0
"""The kinds of programs that PyOpenCL makes by itself and that its users write; prints results."""

import pathlib

import numpy as np
import pyopencl as cl
import pyopencl.array as array
import pyopencl.clmath as clmath
import pyopencl.clrandom as clrandom
from pyopencl.elementwise import ElementwiseKernel
from pyopencl.reduction import ReductionKernel
from pyopencl.scan import InclusiveScanKernel

OWN = """
#include "own/shift.h"
kernel void scale(global float *out, global const float *in, float by) {
  const size_t i = get_global_id(0);
  out[i] = in[i] * by + SHIFT + MORE;
}
"""
COMPLEX = """
#include <pyopencl-complex.h>
kernel void turn(global cfloat_t *values) {
  const size_t i = get_global_id(0);
  values[i] = cfloat_mul(values[i], cfloat_new(0, 1));
}
"""


def own_programs(context, queue, values):
    """Sources of the application, with a header of its own and one of PyOpenCL's."""
    folder = pathlib.Path.cwd() / "headers" / "own"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "shift.h").write_text("#define SHIFT 1.0f\n", encoding="utf-8")
    out = array.empty_like(values)
    options = f"-DMORE=0.5f -I {folder.parent}"
    program = cl.Program(context, OWN).build(options)
    program.scale(queue, values.shape, None, out.data, values.data, np.float32(2))
    print("scale", float(out.get().sum()))
    turned = array.to_device(queue, np.arange(64).astype(np.complex64))
    cl.Program(context, COMPLEX).build().turn(queue, turned.shape, None, turned.data)
    print("turn", turned.get()[:4].tolist())


def arrays(queue, values):
    """What numpy's users write."""
    print("sum of both", float((values + 2 * values).get().sum()))
    waves = array.to_device(queue, np.exp(1j * np.arange(64)).astype(np.complex64))
    print("complex", np.round((waves * waves).get()[:3], 5).tolist())
    print("sine", round(float(clmath.sin(values[:64]).get().sum()), 3))
    print("greatest", float(array.max(values[:1000]).get()))
    numbers = clrandom.PhiloxGenerator(queue.context, seed=15).uniform(queue, 64, np.float32)
    print("random", bool((numbers.get() >= 0).all()))


def kernels(context, values):
    """Kernels whose sources PyOpenCL makes of expressions."""
    out = array.empty_like(values)
    square = ElementwiseKernel(context, "float *x, float *y", "y[i] = x[i] * x[i]", "square")
    square(values, out)
    print("square", float(out.get()[:100].sum()))
    total = ReductionKernel(context, np.float32, neutral="0", reduce_expr="a + b",
                            map_expr="x[i]", arguments="__global float *x")
    print("total", float(total(values[:1024]).get()))
    running = InclusiveScanKernel(context, np.float32, "a+b", neutral="0")
    running(values, out)
    print("running", out.get()[-2:].tolist())


def main():
    context = cl.create_some_context(interactive=False)
    queue = cl.CommandQueue(context)
    values = array.to_device(queue, np.arange(2048, dtype=np.float32))
    own_programs(context, queue, values)
    arrays(queue, values)
    kernels(context, values)


if __name__ == "__main__":
    main()
