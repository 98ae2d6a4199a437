#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kernels_table.py WORK: Markdown of what gpu_kernels.sh measured into that folder.

Reads kernels.json, and tune.json, opencv.json and checks.txt where they are.
"""

import datetime
import json
import sys
from pathlib import Path


def read(path):
    """The document, or None where there is no such file."""
    return json.loads(path.read_text()) if path.exists() and path.stat().st_size else None


def number(value, digits=2, unit=""):
    return "" if value is None else f"{value:.{digits}f}{unit}"


def size_name(size):
    width, height, depth = size
    return f"{width}x{height}" + (f"x{depth}" if depth > 1 else "")


def local_name(local):
    return ", ".join("x".join(str(n) for n in (sizes if sizes[2] > 1 else sizes[:2]))
                     for sizes in local)


def table(head, rows):
    """Markdown of the rows, each a list of texts."""
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def published(variant, size):
    """The ratio that was published for this variant at this size, or an empty text."""
    found = [p["ratio"] for p in variant["published"] if p["size"] == size]
    return number(found[0], 1) if found else ""


def result(variant, size):
    """What the check said, and what was published."""
    text = variant["check"]
    if variant.get("check_size", size) != size:
        text += f" at {size_name(variant['check_size'])}"
    ratio = published(variant, size)
    return f"{text}, published {ratio}" if ratio else text


def with_figures(size):
    return [v for v in size["variants"] if "nanoseconds" in v]


def summary(programs):
    """One row for each program and size: the best variant beside the first."""
    rows = []
    for program in programs:
        for size in program["sizes"]:
            rows_here = {v["variant"]: v for v in with_figures(size)}
            best = next((v for v in rows_here.values() if v["best"]), None)
            if best is None:
                rows.append([program["program"], size_name(size["size"]), "none"] + [""] * 8)
                continue
            first = rows_here.get(program["baseline"])
            chosen = rows_here.get(size["chosen"])
            loss = chosen["nanoseconds"] / best["nanoseconds"] if chosen else None
            highest = max((p["ratio"] for v in size["variants"] for p in v["published"]
                           if p["size"] == size["size"]), default=None)
            rows.append([
                program["program"], size_name(size["size"]), best["variant"],
                local_name(best["local"]), number(best["nanoseconds"] / 1e3, 1),
                number(best["gigabytes_per_second"], 1), number(best["copy_share"]),
                f"{program['baseline']} {number(first['nanoseconds'] / 1e3, 1)}" if first else "",
                number(best["speedup"]), number(highest, 1),
                f"{size['chosen']} {number(loss)}" if chosen else str(size["chosen"])])
    return table(["program", "size", "best variant", "work-group", "us", "GB/s", "of copy",
                  "first variant, us", "best / first", "published best", "the runtime's, x best"],
                 rows)


def every_variant(programs):
    """One row for each variant, at the program's largest size."""
    rows = []
    for program in programs:
        size = max(program["sizes"], key=lambda s: s["bytes"])
        for variant in size["variants"]:
            name = [f"{program['program']}/{variant['variant']}", size_name(size["size"])]
            if not variant["available"]:
                rows.append(name + [""] * 6 + [f"not available: {variant['reason']}"])
            elif "nanoseconds" not in variant:
                rows.append(name + [""] * 6 + [f"no figures: {variant['reason']}"])
            else:
                rows.append(name + [
                    local_name(variant["local"]) + " " + variant["local_from"],
                    number(variant["nanoseconds"] / 1e3, 1),
                    number(100 * variant["spread"], 1, "%"),
                    number(variant["gigabytes_per_second"], 1), number(variant["copy_share"]),
                    number(variant["speedup"]),
                    result(variant, size["size"])])
        if "nanoseconds" in (fill := size.get("fill") or {}):
            rows.append([f"{program['program']}, clEnqueueFillBuffer", size_name(size["size"]), "",
                         number(fill["nanoseconds"] / 1e3, 1), "",
                         number(fill["gigabytes_per_second"], 1), number(fill["copy_share"]), "",
                         f"a constant {fill['pattern_bytes']}-byte pattern"])
    return table(["variant", "size", "work-group", "us", "spread", "GB/s", "of copy", "speed-up",
                  "result"], rows)


def gains(tuning):
    """One row for each kernel of a best variant: what tuning gained over the driver's default."""
    rows = []
    for program in [p for device in tuning["devices"] for p in device.get("programs", [])]:
        best = next((v for v in program["variants"] if v["variant"] == program["best"]), {})
        for kernel in best.get("kernels", []):
            default, tuned = kernel.get("default_nanoseconds"), kernel["nanoseconds"]
            rows.append([f"{program['program']}/{best['variant']}", size_name(program["size"]),
                         kernel["kernel"], local_name([kernel["local"]]),
                         number(default and default / 1e3, 1), number(tuned / 1e3, 1),
                         number(default / tuned if default and tuned else None)])
    return table(["variant", "size", "kernel", "work-group", "driver's default, us", "tuned, us",
                  "gain"], rows)


def against_opencv(document):
    rows = [[f"{r['operation']}: {r['note']}", size_name(r["size"] + [1]),
             number(r["opencv_call"] / 1e3, 1), number(r["kiln_call"] / 1e3, 1),
             number(r["ratio_call"]), number(r["opencv_in_a_row"] / 1e3, 1),
             number(r["kiln_in_a_row"] / 1e3, 1), number(r["ratio_in_a_row"]), r["variant"]]
            for r in document["rows"]]
    return table(["operation", "size", "OpenCV, a call, us", "Kiln, a call, us", "OpenCV / Kiln",
                  "OpenCV, in a row, us", "Kiln, device, us", "OpenCV / Kiln", "Kiln's variant"],
                 rows)


def main():
    work = Path(sys.argv[1])
    kernels = read(work / "kernels.json")
    device = kernels["devices"][0]
    programs = device.get("programs", [])
    copy = device.get("copy_bandwidth")
    parts = [f"{device['device']}; {datetime.date.today()}; "
             f"{'device' if device.get('timer') == 'device' else 'host'} clock; "
             + (f"the driver copies {copy:.0f} GB/s, bytes read and written."
                if copy else "no copy bandwidth."), kernels["conditions"] + "."]
    if "error" in device:
        parts.append(f"No figures: {device['error']}.")
    checks = work / "checks.txt"
    if checks.exists():
        lines = checks.read_text().splitlines()
        good = sum(" 0 mismatches" in line for line in lines)
        skipped = sum(": skipped" in line for line in lines)
        bad = len(lines) - good - skipped
        parts.append(f"Against the C++ references: {good} variants without a mismatch, {bad} "
                     f"with, {skipped} not for this device.")
    parts += [summary(programs), every_variant(programs)]
    if tuning := read(work / "tune.json"):
        parts += ["What tuning gained over the driver's own work-group sizes:", gains(tuning)]
    if opencv := read(work / "opencv.json"):
        parts += [f"Beside OpenCV {opencv['opencv']}'s OpenCL kernels:", against_opencv(opencv)]
    print("\n\n".join(parts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
