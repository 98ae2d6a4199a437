# SPDX-License-Identifier: Apache-2.0
"""A small pipeline as people write it with PyOpenCL; prints its results."""

import numpy as np
import pyopencl as cl
import pyopencl.array as array
from pyopencl.elementwise import ElementwiseKernel
from pyopencl.reduction import ReductionKernel

SCALE = """
kernel void scale(global float *out, global const float *in, float by) {
  const size_t i = get_global_id(0);
  out[i] = in[i] * by + SHIFT;
}
"""


def main():
    context = cl.create_some_context(interactive=False)
    queue = cl.CommandQueue(context)
    values = array.to_device(queue, np.arange(4096, dtype=np.float32))
    out = array.empty_like(values)
    program = cl.Program(context, SCALE).build(options=["-DSHIFT=1.0f"])
    program.scale(queue, values.shape, None, out.data, values.data, np.float32(2))
    print("scale", float(out.get().sum()))
    square = ElementwiseKernel(context, "float *x, float *y", "y[i] = x[i] * x[i]", "square")
    square(values, out)
    print("square", float(out.get()[:100].sum()))
    total = ReductionKernel(context, np.float32, neutral="0", reduce_expr="a + b",
                            map_expr="x[i]", arguments="__global float *x")
    print("total", float(total(values[:1024]).get()))


if __name__ == "__main__":
    main()
