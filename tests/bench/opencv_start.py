#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the first calls of OpenCV's T-API cost in a fresh process: nine operations on a UMat.

    opencv_start.py [--rounds N] [--width W --height H]

Each round runs a process whose OpenCV cache is empty, and one that finds what the first of them
left: OpenCV keeps the driver's binaries (OPENCV_OPENCL_CACHE_DIR). Prints JSON: the medians of
every operation's first call until its result is there, and of their sums, in milliseconds. Opening
the device and the upload of the image are in neither, and the driver's own cache is always empty or
off, as in `kiln_startup`. OPENCV_OPENCL_DEVICE chooses the device. Exit 77 where cv2 or an
OpenCL device is missing.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SKIP = 77


def operations(cv2, numpy):
    """Name and call, on an image of one byte a pixel."""
    sharpen = numpy.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]], numpy.float32)
    return (("Sobel", lambda image: cv2.Sobel(image, cv2.CV_16S, 1, 0)),
            ("blur", lambda image: cv2.blur(image, (5, 5))),
            ("filter2D", lambda image: cv2.filter2D(image, -1, sharpen)),
            ("medianBlur", lambda image: cv2.medianBlur(image, 3)),
            ("resize", lambda image: cv2.resize(image, (400, 300),
                                                interpolation=cv2.INTER_LINEAR)),
            ("Canny", lambda image: cv2.Canny(image, 50, 150)),
            ("GaussianBlur", lambda image: cv2.GaussianBlur(image, (7, 7), 1.5)),
            ("threshold", lambda image: cv2.threshold(image, 90, 255, cv2.THRESH_BINARY)[1]),
            ("erode", lambda image: cv2.erode(image, numpy.ones((3, 3), numpy.uint8))))


def start(width, height):
    """In a fresh process: prints what each first call took, as JSON; SKIP where it cannot be."""
    try:
        import cv2
        import numpy
    except ImportError as error:
        print(f"SKIP: {error}")
        return SKIP
    cv2.ocl.setUseOpenCL(True)
    if not cv2.ocl.haveOpenCL() or not cv2.ocl.useOpenCL():
        print(f"SKIP: OpenCV {cv2.__version__} finds no OpenCL device")
        return SKIP
    ramp = numpy.add.outer(3 * numpy.arange(height), 5 * numpy.arange(width))
    image = cv2.UMat((ramp % 251).astype(numpy.uint8))
    cv2.ocl.finish()
    times, kept = {}, []
    for name, call in operations(cv2, numpy):
        begin = time.perf_counter()
        kept.append(call(image))
        cv2.ocl.finish()
        times[name] = 1000 * (time.perf_counter() - begin)
    device = cv2.ocl.Device_getDefault()
    print(json.dumps({"opencv": cv2.__version__, "device": device.name(),
                      "driver": device.driverVersion(), "times": times}))
    return 0


def fresh(options, cache):
    """A start in a process of its own whose OpenCV cache is that folder, the driver's empty."""
    command = [sys.executable, __file__, "--start", "--width", str(options.width), "--height",
               str(options.height)]
    with tempfile.TemporaryDirectory(prefix="opencv-start-") as drivers:
        caches = {"OPENCV_OPENCL_CACHE_DIR": cache, "POCL_CACHE_DIR": drivers,
                  "MESA_SHADER_CACHE_DIR": drivers, "CUDA_CACHE_DISABLE": "1",
                  "NEO_CACHE_PERSISTENT": "0"}
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False,
                              env={**os.environ, **caches})


def summary(samples):
    """The medians of every operation and of the sums."""
    names = samples[0]["times"]
    return {"sum_ms": statistics.median(sum(s["times"].values()) for s in samples),
            "first_calls_ms": {n: statistics.median(s["times"][n] for s in samples)
                               for n in names}}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--height", type=int, default=768)
    parser.add_argument("--start", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.start:
        return start(options.width, options.height)
    empty, warm = [], []
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory(prefix="opencv-start-") as cache:
            for samples in (empty, warm):
                done = fresh(options, cache)
                if done.returncode != 0:
                    print(done.stdout.strip() or f"the start ended with {done.returncode}")
                    return SKIP if done.returncode == SKIP else 1
                samples.append(json.loads(done.stdout.strip().splitlines()[-1]))
            cached = sum(1 for path in Path(cache).rglob("*.bin") if path.is_file())
    print(json.dumps({"schema": 1, "rounds": options.rounds,
                      **{name: warm[0][name] for name in ("opencv", "device", "driver")},
                      "programs_in_cache": cached, "empty_cache": summary(empty),
                      "warm_cache": summary(warm)}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
