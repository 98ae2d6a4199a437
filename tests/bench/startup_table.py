#!/usr/bin/env python3
"""One start-up table over several devices of the laboratory.

Each device measures itself with `kiln bench startup`; this prints the rows together. With
--pyopencl the same programs are loaded through PyOpenCL's cache too (Debian's
python3-pyopencl), with --launch what a launch costs is measured where kernels execute.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "lab"))

import registry  # noqa: E402

LAB = TESTS / "lab" / "lab.py"
PYOPENCL = TESTS / "bench" / "pyopencl_start.py"
COLUMNS = ("source_ms", "floor_ms", "kiln_ms", "ratio_to_floor",
           "microseconds_above_floor_per_program")


def host_devices():
    """The registry's devices that this system's own packages give, without the checker."""
    return [d for d in registry.devices()
            if d["suite"] == "host" and d["way"] == "host" and not registry.unavailable(d)]


def run_on(device, folder, *command, **options):
    """Runs a command on a device with `folder` as its working directory."""
    return subprocess.run([sys.executable, str(LAB), "run", device["id"], "--dir", str(folder),
                           "--", *command], text=True, **options)


def measure(device, kiln, pack, rounds, program):
    """The rows of `kiln bench startup --json` on one device; raises on failure."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy2(kiln, Path(folder) / "kiln")
        shutil.copy2(pack, Path(folder) / "pack.kiln")
        command = ["./kiln", "bench", "startup", "--pack", "pack.kiln", "--device",
                   device["select"], "--rounds", str(rounds), "--json"]
        if program:
            command += ["--program", program]
        done = run_on(device, folder, *command, stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)["devices"]


def measure_pyopencl(device, kiln, pack, rounds):
    """The median milliseconds of PyOpenCL's warm cache in fresh processes, or None."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([kiln, "extract", pack, "-o", f"{folder}/parts"], check=True,
                       stdout=subprocess.DEVNULL)
        shutil.copy2(PYOPENCL, folder)
        command = ["/usr/bin/python3", PYOPENCL.name, "parts", "cache"]
        times = []
        for _ in range(rounds + 1):
            done = run_on(device, folder, *command, capture_output=True)
            if done.returncode != 0:
                print(f"PyOpenCL on {device['id']}: {done.stderr.strip()[-200:]}", file=sys.stderr)
                return None
            times.append(float(done.stdout))
        return statistics.median(times[1:])  # the first filled the cache


def measure_launch(device, kiln, pack):
    """What `kiln bench launch` says on that device."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy2(kiln, Path(folder) / "kiln")
        shutil.copy2(pack, Path(folder) / "pack.kiln")
        done = run_on(device, folder, "./kiln", "bench", "launch", "--pack", "pack.kiln",
                      "--device", device["select"], stdout=subprocess.PIPE, check=True)
        return done.stdout.strip()


def table(rows, rounds):
    """The rows as text."""
    lines = [f"Milliseconds until every kernel exists; medians of {rounds} fresh processes, "
             "empty driver caches.",
             f"{'device':17} {'programs':>8} {'source':>9} {'floor':>9} {'kiln':>9} "
             f"{'kiln/floor':>10} {'us/program':>10} {'overlay':>9} {'overlay/floor':>13} "
             f"{'pyopencl':>9} {'kiln/source':>11}"]
    for name, row in rows:
        if "error" in row:
            lines.append(f"{name:17} no figures: {row['error']}")
            continue
        source, floor, kiln, ratio, above = (row[column] for column in COLUMNS)
        lines.append(f"{name:17} {row['programs']:8} {source:9.2f} {floor:9.3f} {kiln:9.3f} "
                     f"{ratio:10.2f} {above:10.1f} {row['overlay_ms']:9.3f} "
                     f"{row['overlay_ratio_to_floor']:13.2f} {row.get('pyopencl_ms') or '-':>9.9} "
                     f"{kiln / source:11.4f}")
    lines.append("source: the driver compiles the source. floor: the driver is given its binaries "
                 "from memory.\nkiln: the pack is opened, the device identified, every binary found, "
                 "checked and loaded.\nus/program: microseconds of Kiln above the floor.\noverlay: the second "
                 "start of an application whose pack has no binary. pyopencl: PyOpenCL with a warm "
                 "cache.")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kiln", required=True, type=Path)
    parser.add_argument("--pack", required=True, type=Path)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--program", help="only this program; default: all")
    parser.add_argument("--pyopencl", action="store_true", help="PyOpenCL's cache too")
    parser.add_argument("--launch", action="store_true", help="what a launch costs, too")
    parser.add_argument("devices", nargs="*", help="registry ids; default: the host's devices")
    options = parser.parse_args()
    devices = ([registry.find_device(name) for name in options.devices] if options.devices
               else host_devices())
    rows = []
    for device in devices:
        print(f"measuring {device['id']}", file=sys.stderr)
        for row in measure(device, options.kiln, options.pack, options.rounds, options.program):
            if options.pyopencl:
                time = measure_pyopencl(device, options.kiln, options.pack, options.rounds)
                row["pyopencl_ms"] = None if time is None else f"{time:.3f}"
            rows.append((device["id"], row))
    print(table(rows, options.rounds))
    for device in devices if options.launch else []:
        if device["executes"]:
            print(f"\n{device['id']}: {measure_launch(device, options.kiln, options.pack)}")
    return 1 if any("error" in row for _, row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
