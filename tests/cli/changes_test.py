#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A build on what earlier builds left gives what a build from nothing gives, whatever changed.

    changes_test.py KILN TEST-DRIVER [--count N] [--seed S] [--jobs J]

Changes N times one thing at random: a field of a manifest, a source, a header, a file of a
reference, an option of the command, a variable of the environment, a tool, the driver. After each
change `kiln build` writes to the pack of the change before, with a store that has seen them all.
Its exit code, the programs and the device's binaries with all that is said of them must be those of
`kiln build --fresh` without a store. TEST-DRIVER is the scripted driver, with PoCL behind it. Prints
each difference with the last change. J walks run side by side, N changes in all.

Exit codes: 0 no difference, 1 some, 77 a driver or a tool is not installed.
"""

import argparse
import array
import concurrent.futures
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import scripted

SOURCE = """#include "part.h"
struct pair { int first; float second; };

kernel void scale(global const uint *in, global uint *out, uint width, uint factor) {
  uint x = get_global_id(0);
  if (x < width) out[x] = in[x] * factor + PART;
}

kernel void right(global const uint *in, global uint *out, uint width, uint factor) {
  uint x = get_global_id(0);
  if (x < width) out[x] = in[x] * (factor * RIGHT) + PART;
}

kernel void sum(global float *out, uint width, struct pair pair) {
  uint x = get_global_id(0);
  if (x < width) out[x] = (float)pair.first + pair.second + SHARED;
}

kernel void five(global float *out, uint width, struct pair pair) {
  uint x = get_global_id(0);
  if (x < width) out[x] = 5.0f + SHARED;
}
"""
# The values of each field; the first is where a walk begins.
FIELDS = {
    "source": ["", "// a comment\n", "kernel void unused(global int *out) { out[0] = 1; }\n"],
    "header": ["#define PART 1\n", "#define PART 2\n",
               "#ifdef TOOL\n#define PART 3\n#else\n#define PART 1\n#endif\n",
               # Wrong with an option, so that a workaround is sought.
               "#if defined(__FAST_RELAXED_MATH__) && !defined(SAFE)\n#define PART 4\n#else\n"
               "#define PART 1\n#endif\n"],
    "right": ["1", "2"],
    "shared": ["0.0f", "1.0f"],
    "scale_options": [[], ["-cl-mad-enable"], ["-cl-fast-relaxed-math"]],
    "scale_reference": ["variant:right", "", "file:right.raw:8", "file:absent.raw:8"],
    "mix_reference": ["variant:five", ""],
    "file": [2, 3],  # each element of right.raw
    "factor": [3, 4],
    "struct": [["int", "float"], ["int", "int"], ["float", "float"]],
    "tolerance": [0, 1000],
    "extent": ["width", "width + 1"],
    "workarounds": [[], ["-DSAFE"]],
    "local_size": [None, [4, 1], [8, 1]],
    "local_sizes": [[], [[16, 1]]],
    "sizes": [None, [[64, 1]], [[32, 1]]],
    "prefer": [[], ["right"]],
    "requires": [[], ["proof"]],
    "il": [True, False],
    "options": [["--no-finish"], [], ["--no-finish", "--require-proof"],
                ["--no-finish", "--preferred"], ["--no-finish", "-j2"]],
    "variable": [{}, {"POCL_EXTRA_BUILD_FLAGS": "-DPART=9"}, {"CPATH": "elsewhere"},
                 {"LC_ALL": "C"}],
    "tool": ["plain", "defines"],
    "driver": ["1.0", "2.0"],
}
DRIVER = """[[platform]]
name = "Scripted platform"
[[platform.device]]
forward = true
name = "Scripted GPU"
driver_version = "{version}"
"""


def manifest(world):
    """Of two programs with two variants each."""
    out = ["schema = 1", f"[spirv]\naddress_bits = {[64] if world['il'] else []}"]

    def program(name, kernels, arguments):
        out.append(f'[program.{name}]\nsource = "one.cl"')
        if world[f"{name}_reference"]:
            out.append(f'reference = "{world[f"{name}_reference"]}"')
        if name == "scale" and world["sizes"]:
            out.append(f"sizes = {world['sizes']}")
        if name == "scale" and world["prefer"]:
            out.append(f"prefer = {world['prefer']}")
        out.append(f"arguments = [{arguments}]")
        for kernel in kernels:
            options = [f"-DRIGHT={world['right']}" if kernel == "right" else "-DRIGHT=1",
                       f"-DSHARED={world['shared']}"]
            if kernel == "scale":
                options += world["scale_options"]
            out.append(f'[program.{name}.variant.{kernel}]\nkernel = "{kernel}"\n'
                       f'range = ["width"]\noptions = {json.dumps(options)}')
            if kernel == "scale":
                out.append(f"tolerance = {world['tolerance']}")
                out.append(f"workarounds = {json.dumps(world['workarounds'])}")
                if world["local_size"]:
                    out.append(f"local_size = {world['local_size']}")
                if world["local_sizes"]:
                    out.append(f"local_sizes = {world['local_sizes']}")
            if kernel == "sum" and world["requires"]:
                out.append(f"requires = {world['requires']}")

    extent = f'extent = ["{world["extent"]}"]'
    program("scale", ("scale", "right"),
            f'{{ role = "input", type = "uint", {extent} }}, '
            f'{{ role = "output", type = "uint", extent = ["width"] }}, {{ role = "width" }}, '
            f'{{ role = "parameter", name = "factor", value = {world["factor"]} }}')
    program("mix", ("sum", "five"),
            '{ role = "output", type = "float", extent = ["width"] }, { role = "width" }, '
            f'{{ role = "parameter", name = "pair", fields = {json.dumps(world["struct"])}, '
            'value = [3, 2] }')
    return "\n".join(out) + "\n"


class Walk:
    """One pack and one store, and the changes that they have seen."""

    def __init__(self, kiln, driver, folder, seed):
        self.kiln, self.folder, self.random = kiln, folder, random.Random(seed)
        self.variables = scripted.use(folder, driver, DRIVER.format(version="1.0"))
        self.world = {name: values[0] for name, values in FIELDS.items()}
        self.fresh = {}  # what a world gives; the same again
        self.keys = {}   # of the devices that were seen, by the driver's version
        for tool, more in (("plain", ""), ("defines", " -DTOOL")):
            file = folder / f"clang-{tool}"
            file.write_text(f'#!/bin/sh\nexec "{shutil.which("clang-15")}" "$@"{more}\n')
            file.chmod(0o755)

    def change(self):
        """Changes a field, and tells which."""
        name = self.random.choice(sorted(FIELDS))
        others = [value for value in FIELDS[name] if value != self.world[name]]
        self.world[name] = self.random.choice(others)
        return f"{name} = {self.world[name]!r}"

    def write(self):
        world, folder = self.world, self.folder
        (folder / "one.cl").write_text(SOURCE + world["source"])
        (folder / "part.h").write_text(world["header"])
        (folder / "m.toml").write_text(manifest(world))
        (folder / "script.toml").write_text(DRIVER.format(version=world["driver"]))
        (folder / "right.raw").write_bytes(array.array("I", [world["file"]] * 8).tobytes())

    def build(self, output, *options, store="none"):
        """The exit code, what was printed, and the pack."""
        variables = {**self.variables, **self.world["variable"], "KILN_STORE": store,
                     "KILN_CLANG": str(self.folder / f"clang-{self.world['tool']}")}
        done = subprocess.run(
            [self.kiln, "build", "m.toml", "-o", output, *self.world["options"], *options],
            cwd=self.folder, env=variables, capture_output=True, text=True, check=False)
        shown = {"programs": [], "targets": []}
        if (self.folder / output).exists():
            inspected = subprocess.run([self.kiln, "pack", "inspect", "--json", output],
                                       cwd=self.folder, env=variables, capture_output=True,
                                       text=True, check=True)
            shown = without_places(json.loads(inspected.stdout))
            self.add_inputs(output, shown["targets"])
        return done.returncode, done.stderr, shown

    def add_inputs(self, pack, targets):
        """Replaces each binary's bytes, which PoCL never makes alike, by what the driver got."""
        parts = self.folder / "parts"
        shutil.rmtree(parts, ignore_errors=True)
        subprocess.run([self.kiln, "pack", "inspect", pack, "--extract", parts], check=True,
                       cwd=self.folder, stdout=subprocess.DEVNULL)
        for number, target in enumerate(targets):
            for binary in target["binaries"]:
                file = parts / f"{binary['variant']}.{number}.bin"
                binary["blob"] = inputs_in(file.read_bytes())

    def differences(self):
        """Between both builds of the world, as lines."""
        self.write()
        name = json.dumps(self.world)
        if name not in self.fresh:
            (self.folder / "fresh.kiln").unlink(missing_ok=True)
            code, said, pack = self.build("fresh.kiln", "--fresh")
            self.fresh[name] = code, said, {"programs": pack["programs"],
                                            "targets": pack["targets"]}
        code, said, fresh = self.fresh[name]
        for target in fresh["targets"]:
            self.keys[self.world["driver"]] = target["key"]
        got, complaint, pack = self.build("out.kiln", store="jobs.sqlite")
        here = self.keys.get(self.world["driver"])
        own = [target for target in pack["targets"] if target["key"] == here]
        lines = []
        if got != code:
            lines += [f"exit code {got} instead of {code}", complaint, said]
        if code not in (0, 1):  # the manifest is refused, and the pack of before stays
            return lines
        lines += compared(pack["programs"], fresh["programs"], "programs")
        lines += compared(own, fresh["targets"], "targets")
        return lines


def inputs_in(data):
    """Device, driver version, options, kernels and source of the scripted driver's binary."""
    at, texts = 24, []  # after its magic and its hash
    for skipped in (0, 0, 12, 0, 0):
        at += skipped
        size, = struct.unpack_from("<I", data, at)
        texts.append(data[at + 4:at + 4 + size].decode())
        at += 4 + size
    return texts


def without_places(value):
    """Without times, and without where blobs are stored."""
    volatile = ("offset", "stored_size", "codec", "finish_microseconds", "base")
    if isinstance(value, dict):
        return {name: without_places(inner) for name, inner in value.items()
                if name not in volatile}
    return [without_places(inner) for inner in value] if isinstance(value, list) else value


def compared(got, wanted, path):
    """Lines for the members that differ."""
    if isinstance(got, dict) and isinstance(wanted, dict):
        return [line for name in sorted(got.keys() | wanted.keys())
                for line in compared(got.get(name), wanted.get(name), f"{path}.{name}")]
    if isinstance(got, list) and isinstance(wanted, list) and len(got) == len(wanted):
        return [line for at, (a, b) in enumerate(zip(got, wanted))
                for line in compared(a, b, f"{path}[{at}]")]
    return [] if got == wanted else [f"{path}: {got!r} instead of {wanted!r}"]


def walk(kiln, driver, count, seed):
    """Makes the changes; how many gave another pack."""
    differ = 0
    with tempfile.TemporaryDirectory(prefix="kiln-changes-") as folder:
        one = Walk(kiln, driver, Path(folder), seed)
        change = "nothing"
        for _ in range(count + 1):
            if lines := one.differences():
                differ += 1
                print(f"after {change}, seed {seed}:", *lines, sep="\n  ", flush=True)
                (Path(folder) / "out.kiln").unlink(missing_ok=True)  # each fault once
                (Path(folder) / "jobs.sqlite").unlink(missing_ok=True)
            change = one.change()
    return differ


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("kiln", type=os.path.abspath)
    parser.add_argument("driver", type=os.path.abspath)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    scripted.need("libpocl.so.2")
    if shutil.which("clang-15") is None:
        scripted.skip("no clang-15 here")
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        walks = [pool.submit(walk, arguments.kiln, arguments.driver,
                             arguments.count // arguments.jobs, arguments.seed + job)
                 for job in range(arguments.jobs)]
        differ = sum(one.result() for one in walks)
    print(f"{differ} of {arguments.count} changes gave another pack")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
