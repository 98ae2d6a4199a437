#!/usr/bin/env python3
"""What PyOpenCL's own cache makes of a start: one process, the variants of an extracted pack.

    pyopencl_start.py PARTS CACHE 

PARTS is what `kiln extract` wrote, CACHE the folder of PyOpenCL's cache. Prints milliseconds
until every kernel exists; loading OpenCL and making the context are not counted, as in `kiln
bench startup`. Needs Debian's python3-pyopencl.
"""

import json
import sys
import time
from pathlib import Path

import pyopencl as cl


def main():
    """Builds everything through the cache; prints the time."""
    parts, cache = Path(sys.argv[1]), sys.argv[2]
    index = json.loads((parts / "index.json").read_text(encoding="utf-8"))
    wanted = [(variant["options"].split(), variant["kernels"],
               (parts / variant["source"]).read_text(encoding="utf-8"))
              for variant in index["variants"]]
    device = cl.get_platforms()[0].get_devices()[0]
    context = cl.Context([device])
    start = time.perf_counter()
    kept = []
    for options, kernels, source in wanted:
        program = cl.Program(context, source).build(options, devices=[device], cache_dir=cache)
        kept += [cl.Kernel(program, name) for name in kernels]
    print((time.perf_counter() - start) * 1000)


if __name__ == "__main__":
    main()
