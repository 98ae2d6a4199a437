#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Kiln's best variants beside OpenCV's own OpenCL kernels, on one device in one run.

Each operation is first shown to be the same one: OpenCV's result of a picture equals the C++
reference, and OpenCV's program for the device appears in an empty cache, so that it did run
there. Then OpenCV and `kiln-bench kernels` take turns, round by round.

Two times of each, medians over the rounds. A call: from before the first enqueue until the
device is done, by the host's clock on both sides. In a row: of OpenCV many calls before one wait,
divided by their number, because its Python package tells no device time; of Kiln the device's own
clock, where that is sensible. Needs Debian's python3-opencv.
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

CHECK_SIZE = (641, 479)


def median(values):
    return statistics.median(values)


def kiln_json(kiln, *words):
    """What a kiln command prints; raises with its complaint where it fails."""
    done = subprocess.run([kiln, *words, "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{os.path.basename(kiln)} {' '.join(words)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def find_device(kiln, selector):
    """The first device that the selector names."""
    return kiln_json(kiln, "devices", "--device", selector)["devices"][0]


def open_opencv(device, cache):
    """The cv2 module on that device, its programs kept in `cache`; raises where it is not."""
    identity = device["identity"]
    os.environ["OPENCV_OPENCL_DEVICE"] = f"{identity['platform_name']}::{identity['device_name']}"
    os.environ["OPENCV_OPENCL_CACHE_DIR"] = str(cache)
    import cv2
    cv2.ocl.setUseOpenCL(True)
    if not cv2.ocl.useOpenCL():
        raise RuntimeError("OpenCV uses no OpenCL here")
    name = cv2.ocl.Device_getDefault().name()
    if name != identity["device_name"]:
        raise RuntimeError(f"OpenCV took {name}")
    return cv2


class Operation:
    """One thing that both can do. `calls` makes OpenCV's calls and gives the planes."""

    def __init__(self, name, program, channels, size, calls, note="", same=True, tolerance=0):
        self.name = name
        self.program = program      # Kiln's
        self.channels = channels
        self.size = size
        self.calls = calls
        self.note = note
        self.same = same            # OpenCV's result is Kiln's, but for the border
        self.tolerance = tolerance  # levels


def operations(cv2, numpy):
    """The operations, with the sizes of the guides."""
    laplacian = -numpy.ones((3, 3), numpy.float32)
    laplacian[1, 1] = 9

    def sobel(source, planes):
        return [cv2.Sobel(source, cv2.CV_16S, 1, 0, dst=planes[0]),
                cv2.Sobel(source, cv2.CV_16S, 0, 1, dst=planes[1])]

    def sobel_absolute(source, planes):
        signed = sobel(source, planes[2:])
        return [cv2.convertScaleAbs(signed[0], dst=planes[0]),
                cv2.convertScaleAbs(signed[1], dst=planes[1])] + signed

    def filter2d(source, planes):
        return [cv2.filter2D(source, -1, laplacian, dst=planes[0])]

    def blur(source, planes):
        return [cv2.blur(source, (8, 8), dst=planes[0], borderType=cv2.BORDER_REPLICATE)]

    return [
        Operation("Sobel", "sobel", 1, (3264, 2448), sobel_absolute,
                  "two Sobel to 16 bits and two convertScaleAbs"),
        Operation("Sobel, signed", "sobel", 1, (3264, 2448), sobel,
                  "two Sobel to 16 bits alone: less than Kiln's variant does", same=False),
        Operation("filter2D", "laplace", 3, (2560, 1600), filter2d, "9 amid -1, three channels"),
        Operation("blur", "box", 4, (1920, 1080), blur, "8 x 8, replicated border",
                  tolerance=1),  # OpenCV rounds halves to even
    ]


def picture(numpy, size, channels):
    """Slopes, edges and noise; the same each time."""
    width, height = size
    y, x = numpy.mgrid[0:height, 0:width]
    planes = [(x // (5 + c) + y // 3) % 128 + (x // 96 + y // 64) % 2 * 90 for c in range(channels)]
    noise = numpy.random.default_rng(1).integers(0, 24, (height, width, channels))
    result = (numpy.stack(planes, axis=-1) + noise).astype(numpy.uint8)
    return result[:, :, 0].copy() if channels == 1 else result


def start(cv2, operation, source):
    """The source on the device, and planes that later calls write again."""
    on_device = cv2.UMat(source)
    planes = operation.calls(on_device, [None] * 4)
    cv2.ocl.finish()
    return on_device, planes + [None] * 4


def largest_difference(cv2, numpy, kiln, pack, operation, folder):
    """OpenCV's result against Kiln's C++ reference, without the border; in levels."""
    source = picture(numpy, CHECK_SIZE, operation.channels)
    cv2.imwrite(f"{folder}/in.png", source)
    subprocess.run([kiln, "run", operation.program, "--pack", pack, "--image", f"{folder}/in.png",
                    "--reference-only", "--output", f"{folder}/out.png"], check=True)
    _, planes = start(cv2, operation, source)
    names = ["out-x.png", "out-y.png"] if operation.program == "sobel" else ["out.png"]
    worst = 0
    for name, plane in zip(names, planes):
        expected = cv2.imread(f"{folder}/{name}", cv2.IMREAD_UNCHANGED).astype(int)
        got = plane.get().astype(int)
        worst = max(worst, int(abs(got - expected)[8:-8, 8:-8].max()))
    return worst


def time_opencv(cv2, operation, on_device, planes, calls):
    """Nanoseconds of a call with a wait, and of one of many before a wait."""
    single = []
    for _ in range(calls):
        begin = time.perf_counter_ns()
        operation.calls(on_device, planes)
        cv2.ocl.finish()
        single.append(time.perf_counter_ns() - begin)
    begin = time.perf_counter_ns()
    for _ in range(calls):
        operation.calls(on_device, planes)
    cv2.ocl.finish()
    return median(single), (time.perf_counter_ns() - begin) / calls


def kiln_rows(kiln, pack, device, operation, *words):
    """The rows with figures of `kiln-bench kernels` for that operation."""
    width, height = operation.size
    document = kiln_json(kiln + "-bench", "kernels", "--pack", pack, "--device",
                         str(device["index"]), "--program", operation.program, "--size",
                         f"{width}x{height}", *words)
    rows = document["devices"][0]["programs"][0]["sizes"][0]["variants"]
    return [row for row in rows if "nanoseconds" in row]


def compare(cv2, numpy, options, device, operation):
    """One row of the table."""
    row = {"operation": operation.name, "size": operation.size, "program": operation.program,
           "note": operation.note}
    before = set(options.cache.rglob("*.bin"))
    with tempfile.TemporaryDirectory() as folder:
        if operation.same:
            worst = largest_difference(cv2, numpy, options.kiln, options.pack, operation, folder)
            row["largest_difference"] = worst
            if worst > operation.tolerance:
                raise RuntimeError(f"{operation.name} differs by {worst}: another operation")
    on_device, planes = start(cv2, operation, picture(numpy, operation.size, operation.channels))
    row["opencv_programs"] = sorted(
        path.name.split("_")[0] for path in set(options.cache.rglob("*.bin")) - before)
    if operation.same and not row["opencv_programs"]:
        row["note"] += "; no program of OpenCV's was seen: not proven to run on the device"
    rows = kiln_rows(options.kiln, options.pack, device, operation, "--budget", options.budget)
    best = min(rows, key=lambda found: found["nanoseconds"])
    row["variant"] = best["variant"]
    times = []
    for _ in range(options.rounds):
        call, in_a_row = time_opencv(cv2, operation, on_device, planes, options.calls)
        ours = kiln_rows(options.kiln, options.pack, device, operation, "--variant",
                         best["variant"], "--rounds", str(options.calls))[0]
        times.append((call, in_a_row, ours["wall_nanoseconds"], ours["nanoseconds"]))
    names = ("opencv_call", "opencv_in_a_row", "kiln_call", "kiln_in_a_row")
    row.update({name: median(column) for name, column in zip(names, zip(*times))})
    row["ratio_call"] = median([t[0] / t[2] for t in times])
    row["ratio_call_least"] = min(t[0] / t[2] for t in times)
    row["ratio_in_a_row"] = median([t[1] / t[3] for t in times])
    row["kiln_timer"] = best["timer"]
    return row


def table(device, version, rows):
    """The rows as Markdown."""
    lines = [f"{device['label']}; OpenCV {version}; microseconds.", "",
             "| operation | size | OpenCV, a call | Kiln, a call | OpenCV / Kiln (least) | "
             "OpenCV, in a row | Kiln, device | OpenCV / Kiln | Kiln's variant |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for row in rows:
        width, height = row["size"]
        lines.append(
            f"| {row['operation']}: {row['note']} | {width}x{height}"
            f" | {row['opencv_call'] / 1e3:.1f} | {row['kiln_call'] / 1e3:.1f}"
            f" | {row['ratio_call']:.2f} ({row['ratio_call_least']:.2f})"
            f" | {row['opencv_in_a_row'] / 1e3:.1f} | {row['kiln_in_a_row'] / 1e3:.1f}"
            f" | {row['ratio_in_a_row']:.2f} | {row['variant']} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kiln", required=True, type=os.path.realpath)
    parser.add_argument("--pack", required=True, type=os.path.realpath)
    parser.add_argument("--device", default="", help="as kiln's; the first that it names")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=15, help="of each in a round")
    parser.add_argument("--budget", default="20s", help="of finding each best variant")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        import numpy
        with tempfile.TemporaryDirectory() as cache:
            options.cache = Path(cache)
            device = find_device(options.kiln, options.device)
            cv2 = open_opencv(device, options.cache)
            rows = [compare(cv2, numpy, options, device, operation)
                    for operation in operations(cv2, numpy)]
    except ImportError as error:
        print(f"SKIP: {error}", file=sys.stderr)
        return 77
    except (RuntimeError, subprocess.CalledProcessError) as error:
        print(f"opencv_compare: {error}", file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps({"schema": 1, "device": device["label"], "opencv": cv2.__version__,
                          "rows": rows}, indent=2))
    else:
        print(table(device, cv2.__version__, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
