#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What PyOpenCL's own cache makes of a start: one process, the programs that Kiln started.

    pyopencl_start.py ITEMS CACHE

ITEMS is what `kiln bench startup --items` wrote for one device: sources, options, memory,
arguments, and the work-group sizes that Kiln's runtime chose. CACHE is the folder of PyOpenCL's
caches; the driver's own are left as they are. Prints {"kernels_ms", "results_ms"}: until every
kernel exists, and until the first launch of every program is done, as `kiln bench startup`
counts them: loading OpenCL, making the context and the memory are in neither. Needs Debian's
python3-pyopencl; exit 77 where that is missing.
"""

import json
import os
import sys
import time
from pathlib import Path


class Item:
    """A program to start; its memory is made at once, its kernels by build()."""

    def __init__(self, cl, context, row, launches):
        self.cl, self.context, self.row = cl, context, row
        self.memories = [self.make(memory) for memory in row["memories"]] if launches else []
        self.kernels = []

    def make(self, memory):
        """A buffer or an image, filled as Kiln fills it."""
        cl, content = self.cl, bytearray([memory["fill"]]) * memory["bytes"]
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        image = memory.get("image")
        if image is None:
            return cl.Buffer(self.context, flags, hostbuf=content)
        pixels = cl.ImageFormat(image["channel_order"], image["channel_type"])
        return cl.Image(self.context, flags, pixels, shape=(image["width"], image["height"]),
                        hostbuf=content)

    def build(self, cache):
        """The kernels, through PyOpenCL's cache."""
        cl, row = self.cl, self.row
        program = cl.Program(self.context, row["source"])
        program = program.build(row["options"].split(), cache_dir=cache)
        self.kernels = [cl.Kernel(program, stage["kernel"]) for stage in row["stages"]]

    def launch(self, queue):
        """Binds and launches every stage; returns when all is done."""
        for kernel, stage in zip(self.kernels, self.row["stages"]):
            for index, argument in enumerate(stage["arguments"]):
                kernel.set_arg(index, self.memories[argument["memory"]] if "memory" in argument
                               else bytes(argument["value"]))
            self.cl.enqueue_nd_range_kernel(queue, kernel, stage["global"], stage["local"])
        queue.finish()


def start(cl, rows, launches, cache):
    """Starts all items; milliseconds to the kernels and to the results."""
    context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
    items = [Item(cl, context, row, launches) for row in rows]
    launching = 0.0
    begin = time.perf_counter()
    queue = cl.CommandQueue(context)
    for item in items:
        item.build(cache)
        if launches:
            first = time.perf_counter()
            item.launch(queue)
            launching += time.perf_counter() - first
    whole = time.perf_counter() - begin
    return {"kernels_ms": 1000 * (whole - launching),
            "results_ms": 1000 * whole if launches else None}


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    cache = Path(sys.argv[2]).resolve()
    cache.mkdir(parents=True, exist_ok=True)
    # PyOpenCL keeps what it generates beside the binaries in the user's cache folder, where Mesa
    # has its own: that one stays.
    users = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    os.environ.setdefault("MESA_SHADER_CACHE_DIR", users)
    os.environ["XDG_CACHE_HOME"] = str(cache / "generated")
    try:
        import pyopencl as cl
    except ImportError as error:
        print(f"SKIP: {error}")
        return 77
    device = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["devices"][0]
    print(json.dumps(start(cl, device["items"], device["executes"], str(cache / "binaries"))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
