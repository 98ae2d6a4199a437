#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A build on what earlier builds left gives what a build from nothing gives, whatever changed.

    changes_test.py KILN TEST-DRIVER [--count N] [--seed S] [--jobs J] [--units U]

The manifest has U units, each of two programs with sources, headers and references of their own. A
unit changes in WALKED of its fields, chosen at random. A round changes one of these in each unit, or
one thing that all have: an option of the command, a variable of the environment, a tool, the driver.
After each round `kiln build` writes to the pack of the round before,
with a store that has seen them all. The jobs that failed or were left out, the programs and the
device's binaries with all that is said of them must be those of `kiln build --fresh` without a store,
which builds each state of a program once. One device is PoCL's, the other a described compiler, which tells
how many registers a kernel uses.

In every third round each program is also run on a second device of that driver, for which no pack has
a binary, from a manifest that asks a proof of the variant that the device would take. From a pack
that is built from nothing it must take the same variant, and give the same output, as after a further
build without references, and after merging, in both orders, with a pack of the same texts whose
manifest asks for less and whose build compared nothing.

TEST-DRIVER is the scripted driver, with PoCL behind it. Prints each difference with the last change
of the unit. J walks run side by side, N changes in all.

Exit codes: 0 no difference, 1 some, 77 a driver or a tool is not installed.
"""

import argparse
import array
import concurrent.futures
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import scripted

SOURCE = """#include "part.h"
#include <more.h>
struct pair { int first; float second; };

kernel void scale_UNIT(global const uint *in, global uint *out, uint width, uint factor) {
  uint x = get_global_id(0);
  if (x < width) out[x] = in[x] * factor + PART;
}

kernel void right_UNIT(global const uint *in, global uint *out, uint width, uint factor) {
  uint x = get_global_id(0);
  if (x < width) out[x] = in[x] * (factor * RIGHT) + PART;
}

kernel void again_UNIT(global uint *out, uint width) {
  uint x = get_global_id(0);
  if (x < width) out[x] += MORE;
}

kernel void sum_UNIT(global float *out, uint width, struct pair pair) {
  uint x = get_global_id(0);
  if (x < width) out[x] = (float)pair.first + pair.second + SHARED;
}

kernel void five_UNIT(global float *out, uint width, struct pair pair) {
  uint x = get_global_id(0);
  if (x < width) out[x] = 5.0f + SHARED;
}
"""
WALKED = 3  # so few that a walk comes back to states that its pack and store have seen
# The values of each field of a unit; the first is where a walk begins.
FIELDS = {
    "source": ["", "// a comment\n", "kernel void unused(global int *out) { out[0] = 1; }\n"],
    "header": ["#define PART 1\n", "#define PART 2\n",
               "#ifdef TOOL\n#define PART 3\n#else\n#define PART 1\n#endif\n",
               # Wrong with an option, so that a workaround is sought.
               "#if defined(__FAST_RELAXED_MATH__) && !defined(SAFE)\n#define PART 4\n#else\n"
               "#define PART 1\n#endif\n"],
    "more": ["0", "1"],  # what the header in the folder "more" says; "other" says 0
    "include_dirs": [["more", "other"], ["other", "more"], ["other"]],
    "right": ["1", "2"],
    "shared": ["0.0f", "1.0f"],
    "scale_options": [[], ["-cl-mad-enable"], ["-cl-fast-relaxed-math"]],
    "language": [[], ["-cl-std=CL1.2"], ["-cl-std=CL2.0"]],
    "called": ["scale", "quick"],  # the variant with the kernel "scale"
    "scale_reference": ["variant:right", "", "file:{unit}/right.raw:8", "variant:{called}"],
    "mix_reference": ["variant:five", ""],
    "file": [2, 3],  # each element of right.raw
    "factor": [3, 4],
    "struct": [["int", "float"], ["int", "int"], ["float", "float"]],
    "tolerance": [0, 1000],
    "extent": ["width", "width+1"],
    "range": ["width", "width+8", "width/2"],
    "stages": [0, 1],
    "limits": ["", "spills = 0", "registers = 17", "registers = 18"],  # the compiler tells 16 to 19
    "workarounds": [[], ["-DSAFE"]],
    "local_size": [None, [4, 1], [8, 1]],
    "local_sizes": [[], [[16, 1]]],
    "sizes": [None, [[64, 1]], [[32, 1]]],
    "prefer": [[], ["right"]],
    "baseline": [None, "right"],
    "requires": [[], ["proof"], ["fp64"], ["vendor:adreno"]],
    "il": [True, False],
}
# The same of what all units have.
COMMON = {
    "address_bits": [[64], [32, 64]],
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
[[platform.device]]
forward = true
name = "Another scripted GPU"
driver_version = "{version}"
"""
COMPILER = """schema = 1
name = "described"
tools = "described 1"
command = ["sh", "-c", '''
(cat "$1"; echo "$2") > "$0"
registers=$(($(cksum < "$0" | cut -d" " -f1) % 4 + 16))
for kernel in $(grep -o "kernel void [a-z_0-9]*" "$1" | cut -d" " -f3); do
  echo "ptxas info : Compiling entry function '$kernel' for 'sm_90'"
  echo "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"
  echo "ptxas info : Used $registers registers, used 0 barriers"
done''', "{output}", "{input}", "{option_text}"]
[identity]
platform_name = "Described"
device_name = "Described"
device_vendor = "Nobody"
driver_version = "1"
address_bits = "64"
"""
# What a manifest asks of the variants that a device would take first, and a manifest that asks for less.
MORE = {r"(variant\.(right|five)\])": r'\1\nrequires = ["proof"]'}
LESS = {r"^(requires|limits) = .*\n?": "", r"^tolerance = .*": "tolerance = 100000"}


def with_changes(texts, changes):
    """The texts of programs after replacing each pattern."""
    for pattern, text in changes.items():
        texts = {name: re.sub(pattern, text, one, flags=re.M) for name, one in texts.items()}
    return texts


def programs(unit, world):
    """Two, with two variants each: the text of each, by its name."""
    all_of = {}

    def program(name, kernels, arguments):
        out = []
        folders = [f"{unit}/{folder}" for folder in world["include_dirs"]]
        out.append(f'[program.{name}_{unit}]\nsource = "{unit}/one.cl"\n'
                   f'include_dirs = {folders}\narguments = [{arguments}]')
        if reference := world[f"{name}_reference"].format(unit=unit, called=world["called"]):
            out.append(f'reference = "{reference}"')
        if name == "scale":
            out.extend(f"{key} = {json.dumps(world[key])}"
                       for key in ("sizes", "prefer", "baseline") if world[key])
        for kernel in kernels:
            options = [f"-DRIGHT={world['right']}" if kernel == "right" else "-DRIGHT=1",
                       f"-DSHARED={world['shared']}", *world["language"]]
            if kernel == "scale":
                options += world["scale_options"]
            threads = world["range"] if kernel == "scale" else "width"
            called = world["called"] if kernel == "scale" else kernel
            out.append(f'[program.{name}_{unit}.variant.{called}]\n'
                       f'kernel = "{kernel}_{unit}"\n'
                       f'range = ["{threads}"]\noptions = {json.dumps(options)}')
            if kernel == "scale":
                out.extend(f"{key} = {json.dumps(world[key])}"
                           for key in ("tolerance", "workarounds", "local_size", "local_sizes")
                           if world[key])
                if world["limits"]:
                    out.append(f"limits = {{ {world['limits']} }}")
                if world["stages"]:
                    out.append(f'stages = [{{ kernel = "again_{unit}", range = ["width"], '
                               'arguments = ['
                               '{ role = "output", type = "uint", extent = ["width"] }, '
                               '{ role = "width" }] }]')
                if not world["il"]:
                    out.append("il = false")
            if kernel == "sum" and world["requires"] and world["mix_reference"]:
                out.append(f"requires = {world['requires']}")
        all_of[f"{name}_{unit}"] = "\n".join(out)

    extent = f'extent = ["{world["extent"]}"]'
    program("scale", ("scale", "right"),
            f'{{ role = "input", type = "uint", {extent} }}, '
            f'{{ role = "output", type = "uint", extent = ["width"] }}, {{ role = "width" }}, '
            f'{{ role = "parameter", name = "factor", value = {world["factor"]} }}')
    program("mix", ("sum", "five"),
            '{ role = "output", type = "float", extent = ["width"] }, { role = "width" }, '
            f'{{ role = "parameter", name = "pair", fields = {json.dumps(world["struct"])}, '
            'value = [3, 2] }')
    return all_of


class Walk:
    """One pack and one store, and the changes that they have seen."""

    def __init__(self, kiln, driver, folder, seed, units):
        self.kiln, self.folder, self.random = kiln, folder, random.Random(seed)
        self.variables = scripted.use(folder, driver, DRIVER.format(version="1.0"))
        self.units = [{name: values[0] for name, values in FIELDS.items()} for _ in range(units)]
        self.walked = [self.random.sample(sorted(FIELDS), WALKED) for _ in range(units)]
        self.common = {name: values[0] for name, values in COMMON.items()}
        self.walked_common = self.random.sample(sorted(COMMON), 2)
        self.changed = {unit: "nothing" for unit in range(units)}  # the last change of each
        self.fresh = {}  # what a state of a program gives when it is built from nothing
        self.rounds = 0
        for tool, more in (("plain", ""), ("defines", " -DTOOL")):
            file = folder / f"clang-{tool}"
            file.write_text(f'#!/bin/sh\nexec "{shutil.which("clang-15")}" "$@"{more}\n')
            file.chmod(0o755)
        (folder / "compiler.toml").write_text(COMPILER)

    def change(self, most):
        """Changes a field of each unit, or one of all; returns how many changes these are."""
        if self.random.randrange(12) == 0:
            changed = self.change_in(self.common, COMMON, self.walked_common)
            self.changed = dict.fromkeys(self.changed, changed)
            return 1
        for unit, world in enumerate(self.units[:most]):
            self.changed[unit] = self.change_in(world, FIELDS, self.walked[unit])
        return min(most, len(self.units))

    def change_in(self, world, fields, walked):
        name = self.random.choice(walked)
        world[name] = self.random.choice([value for value in fields[name] if value != world[name]])
        return f"{name} = {world[name]!r}"

    def write(self):
        """Writes the files of all units; returns the text of each program and its whole state."""
        folder, texts, states = self.folder, {}, {}
        for unit, world in enumerate(self.units):
            own = folder / str(unit)
            for include, more in (("more", world["more"]), ("other", "0")):
                (own / include).mkdir(parents=True, exist_ok=True)
                (own / include / "more.h").write_text(f"#define MORE {more}\n")
            source = SOURCE.replace("UNIT", str(unit)) + world["source"]
            (own / "one.cl").write_text(source)
            (own / "part.h").write_text(world["header"])
            (own / "right.raw").write_bytes(array.array("I", [world["file"]] * 8).tobytes())
            for name, text in programs(unit, world).items():
                texts[name] = text
                states[name] = json.dumps([text, source, world["header"], world["more"],
                                           world["file"], self.common])
        (folder / "script.toml").write_text(DRIVER.format(version=self.common["driver"]))
        return texts, states

    def call(self, *words, **variables):
        """Runs kiln in the folder."""
        return subprocess.run([self.kiln, *words], cwd=self.folder, env={**self.variables, **variables},
                              capture_output=True, text=True, check=False)

    def build(self, texts, output, *options, store="none"):
        """What the build said of each program, and what the pack holds of it for the device."""
        spirv = f"[spirv]\naddress_bits = {self.common['address_bits']}"
        (self.folder / "m.toml").write_text("\n".join(["schema = 1", spirv, *texts.values(), ""]))
        also = [one for one in self.common["options"]
                if one != "--require-proof" or "--no-check" not in options]
        done = self.call("build", "m.toml", "-o", output, "--json", "--device", "0",
                         "--virtual", "compiler.toml", *also, *options, **self.common["variable"],
                         KILN_STORE=store,
                         KILN_CLANG=str(self.folder / f"clang-{self.common['tool']}"))
        if done.returncode not in (0, 1):  # nothing was compared
            raise RuntimeError(f"exit code {done.returncode}: {done.stderr}")
        said = json.loads(done.stdout)
        if done.returncode != (1 if said["failures"] else 0):
            raise RuntimeError(f"exit code {done.returncode}: {done.stdout}{done.stderr}")
        pack = without_places(json.loads(self.call("pack", "inspect", "--json", output).stdout))
        self.add_inputs(output, pack["targets"])
        all_of = {program["name"]: {"program": program, "binaries": {}, "intermediates": {},
                                    "notes": []}
                  for program in pack["programs"]}
        for note in pack["known_bad"]["notes"]:
            # A note may be about the driver of an earlier round, too.
            if note.pop("driver_from") <= self.common["driver"] < note.pop("driver_below"):
                all_of[note["program"]]["notes"].append(note)
        for target in pack["targets"]:
            device = target["identity"]["device_name"]
            if device != "Described" and target["identity"]["driver_version"] != self.common["driver"]:
                continue  # of the device as it was
            for kind in ("binaries", "intermediates"):
                for binary in target[kind]:
                    name, variant = binary["variant"].split("/")
                    all_of[name][kind][f"{variant} of {device}"] = binary
                    all_of[name][f"target {device}"] = {  # a pack without any binary has no target
                        key: value for key, value in target.items()
                        if key not in ("binaries", "intermediates")}
        for outcome in ("failures", "left_out"):
            for one in all_of.values():
                one[outcome] = []
            for job in said[outcome]:
                job = job["job"] if isinstance(job, dict) else job
                all_of[job.split("/")[0]][outcome].append(job)
        return all_of

    def add_inputs(self, pack, targets):
        """Replaces each binary's bytes, which PoCL never makes alike, by what the driver got."""
        parts = self.folder / "parts"
        shutil.rmtree(parts, ignore_errors=True)
        self.call("pack", "inspect", pack, "--extract", parts)
        for number, target in enumerate(targets):
            for binary in target["binaries"]:
                file = parts / f"{binary['variant']}.{number}.bin"
                data = file.read_bytes()
                binary["blob"] = (data.decode() if target["identity"]["device_name"] == "Described"
                                  else inputs_in(data))

    def differences(self):
        """Between both builds of the units, as lines."""
        texts, states = self.write()
        new = {name: text for name, text in texts.items() if states[name] not in self.fresh}
        if new:
            (self.folder / "fresh.kiln").unlink(missing_ok=True)
            for name, one in self.build(new, "fresh.kiln", "--fresh").items():
                self.fresh[states[name]] = one
        lines = []
        for name, one in self.build(texts, "out.kiln", store="jobs.sqlite").items():
            unit = int(name.split("_")[1])
            if found := compared(one, self.fresh[states[name]], name):
                lines += [f"after {self.changed[unit]}, {self.common}:", *found, texts[name]]
        self.rounds += 1
        return lines if lines or self.rounds % 3 else self.differences_elsewhere(texts)

    def taken(self, pack, names):
        """The variant that the second device takes of each program from the pack, and its output."""
        taken = {}
        for name in names:
            done = self.call("run", name, "--pack", pack, "--device", "1", "--size", "8x1",
                             "--no-check", "--json", "--output", "taken.raw")
            if done.returncode != 0:
                taken[name] = "nothing"
                continue
            taken[name] = [json.loads(done.stdout)["report"]["variant"],
                           (self.folder / "taken.raw").read_bytes().hex()]
        return taken

    def differences_elsewhere(self, texts):
        """Between what a device without binaries takes from a pack built from nothing, and from
        others, as lines."""
        provable = {name: text for name, text in texts.items() if "\nreference" in text}
        more = {**texts, **with_changes(provable, MORE)}
        self.build(more, "whole.kiln", "--fresh")
        shutil.copy(self.folder / "whole.kiln", self.folder / "later.kiln")
        self.build(more, "later.kiln", "--no-check")
        self.build(with_changes(texts, LESS), "less.kiln", "--fresh", "--no-check")
        merges = [("whole.kiln", "less.kiln"), ("less.kiln", "whole.kiln")]
        if (self.folder / "before.kiln").exists():
            base = ("--base", "whole.kiln")
            merges += [(*base, "whole.kiln", "before.kiln"), (*base, "before.kiln", "whole.kiln")]
        packs = ["later.kiln"]
        for number, words in enumerate(merges):
            done = self.call("pack", "merge", *words, "-o", f"merged{number}.kiln")
            if done.returncode != 0:
                return [f"{words} cannot be merged: {done.stderr}"]
            packs.append(f"merged{number}.kiln")
        wanted = self.taken("whole.kiln", texts)
        shutil.copy(self.folder / "less.kiln", self.folder / "before.kiln")
        lines = [f"from {pack}: {line}" for pack in packs
                 for line in compared(self.taken(pack, texts), wanted, "taken")]
        return [f"on another device, after {self.changed}, {self.common}:", *lines] if lines else []


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


def walk(kiln, driver, count, seed, units):
    """Makes the changes; how many rounds gave another pack."""
    differ = made = 0
    with tempfile.TemporaryDirectory(prefix="kiln-changes-") as folder:
        one = Walk(kiln, driver, Path(folder), seed, units)
        while True:
            if lines := one.differences():
                differ += 1
                print(f"seed {seed}, change {made}:", *lines, sep="\n  ", flush=True)
                (Path(folder) / "out.kiln").unlink(missing_ok=True)  # each fault once
                (Path(folder) / "jobs.sqlite").unlink(missing_ok=True)
            if made >= count:
                return differ
            made += one.change(count - made)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("kiln", type=os.path.abspath)
    parser.add_argument("driver", type=os.path.abspath)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--units", type=int, default=10)
    arguments = parser.parse_args()
    scripted.need("libpocl.so.2")
    if shutil.which("clang-15") is None:
        scripted.skip("no clang-15 here")
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        walks = [pool.submit(walk, arguments.kiln, arguments.driver,
                             arguments.count // arguments.jobs, arguments.seed + job, arguments.units)
                 for job in range(arguments.jobs)]
        differ = sum(one.result() for one in walks)
    print(f"{arguments.count} changes; {differ} rounds of them gave another pack")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
