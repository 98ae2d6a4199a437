#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the time of sobel, box and epsilon is spent on, on a machine with a real GPU.

  gpu_bounds.py KILN BASE_PACK WORK [--device GLOB] [--budget TIME]

KILN is build/release/bin/kiln, with kiln-bench beside it, BASE_PACK what `kiln compile` made of
tests/bench/bounds/bounds.toml. WORK gets built.kiln, bounds.json and table.md: each kernel beside
itself without memory, without arithmetic, and without either but a copy of as many bytes, and how
many operations of one kind the device does in a second.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

# Operations of one item of bounds/issue.cl.
OPERATIONS = {"float": 4096, "integer": 4096, "bytes": 4096, "half": 4096, "epsilon": 4224}
# Operations for a pixel that the definition asks for: four for 81 neighbours of two pixels.
EPSILON_OPERATIONS = 162


def measure(options, work):
    built = work / "built.kiln"
    subprocess.run([options.kiln, "build", options.pack, "--device", options.device, "-o", built],
                   check=False)
    bench = Path(options.kiln).resolve().with_name("kiln-bench")
    done = subprocess.run([bench, "kernels", "--pack", built, "--device", options.device,
                           "--budget", options.budget, "--no-check", "--json"],
                          stdout=subprocess.PIPE, check=False)
    (work / "bounds.json").write_bytes(done.stdout)
    return json.loads(done.stdout)["devices"][0]


def lines_of_size(device, program, size):
    """One line for each variant: its time, and that by the least time of copying as many bytes."""
    width, height, _ = size["size"]
    copy = device.get("copy_bandwidth")
    bound = size["bytes"] / copy if copy else None  # nanoseconds
    yield f"\n{program['program']} {width}x{height}: {size['bytes'] / 1e6:.1f} MB" + (
        f", {bound / 1e3:.1f} us at the copy's bandwidth" if bound else "")
    yield "\n| variant | us | copy's time by it | work-group |\n| --- | --- | --- | --- |"
    for variant in size["variants"]:
        if "nanoseconds" not in variant:
            yield f"| {variant['variant']} | | | {variant.get('reason', '')} |"
            continue
        share = f"{bound / variant['nanoseconds']:.2f}" if bound else ""
        local = ", ".join("x".join(str(n) for n in sizes[:2]) for sizes in variant["local"])
        yield f"| {variant['variant']} | {variant['nanoseconds'] / 1e3:.1f} | {share} | {local} |"


def rates(program):
    """Operations a second of each kind."""
    size = program["sizes"][0]
    return {v["variant"]: OPERATIONS[v["variant"]] * size["size"][0] / (v["nanoseconds"] * 1e-9)
            for v in size["variants"] if "nanoseconds" in v}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kiln")
    parser.add_argument("pack")
    parser.add_argument("work", type=Path)
    parser.add_argument("--device", default="NVIDIA*")
    parser.add_argument("--budget", default="40s")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    device = measure(options, options.work)
    if "error" in device:
        sys.exit(f"no figures: {device['error']}")
    copy = device.get("copy_bandwidth")
    lines = [device["device"] + (f"; the driver copies {copy:.0f} GB/s" if copy else "")]
    programs = {program["program"]: program for program in device["programs"]}
    for name in ("sobel", "box", "epsilon"):
        for size in programs[name]["sizes"]:
            lines += lines_of_size(device, programs[name], size)
    lines.append("\n| operations | 10^12 a second |\n| --- | --- |")
    done = rates(programs["issue"])
    lines += [f"| {kind} | {rate / 1e12:.2f} |" for kind, rate in done.items()]
    if "epsilon" in done:
        pixels = 3264 * 2448
        lines.append(f"\nepsilon 3264x2448 at that rate of its operations: "
                     f"{pixels * EPSILON_OPERATIONS / done['epsilon'] * 1e6:.1f} us")
    text = "\n".join(lines) + "\n"
    (options.work / "table.md").write_text(text)
    print(text, end="")


if __name__ == "__main__":
    main()
