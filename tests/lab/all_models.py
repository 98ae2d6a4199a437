#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One pack for all that this machine can be or compile for, and a row for each model.

Every model of every backend of `kiln build --virtual`, by each version of its driver or compiler
that the laboratory has, and the laboratory's devices that execute kernels. What a backend does not
know, or a root has no driver for, gives no row. A row counts the base pack's programs that have a
binary, and tells why each of the others has none. The seconds are of the whole build, beside the
others at work; the bytes are of its pack. The packs are merged, and the result is sliced for a
target of each vendor, signed and verified. With a store, a run that was interrupted goes on where
it was.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import threading
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import absent
import making
import registry
from fleet import Fleet
from suite import Failed, Skipped, expect

NO_DEVICE = 5
DESCRIPTIONS = Path(__file__).parents[2] / "manifests" / "virtual"


def mesa_models(kiln):
    """Kiln's models of Mesa, from the message about an unknown one."""
    done = subprocess.run([kiln, "build", "x", "--virtual", "mesa:?", "--dry-run"],
                          capture_output=True, text=True, check=False)
    return re.search(r"expected one of: ([^;\n]*)", done.stderr)[1].split(", ")


def described_models(name):
    """The models that a description lists by name."""
    with open(DESCRIPTIONS / name, "rb") as file:
        listed = tomllib.load(file)["models"]
    return sorted({model for entry in listed for model in entry["names"] if "*" not in model})


def ways(kiln, kiln_aarch64, work):
    """How binaries are made without a device: name, backend, models and variables of each way."""
    for version, (place, products) in absent.NEO.items():
        root = {} if place == "host" else {"KILN_NEO_ROOT": str(registry.folder(place))}
        yield f"NEO {version}", "neo", products.split(","), root
    yield "ocloc 22.43", "ocloc-22.43.toml", described_models("ocloc-22.43.toml"), {}
    yield "ocloc 26.27", "ocloc.toml", absent.OCLOC, absent.later_ocloc(work)
    yield "ptxas 11.8", "nvidia.toml", absent.NVIDIA, absent.PTXAS
    yield "clang 15", "amd.toml", absent.AMD, {}
    for version, suite in absent.MESA_SUITES.items():
        yield (f"Mesa {version}", "mesa", mesa_models(kiln),
               {"KILN_MESA_ROOT": str(registry.folder(suite))})
    if kiln_aarch64:
        yield ("Mesa 25.0, emulated", "mesa",
               [model for model in mesa_models(kiln) if model.startswith(("g5", "fd"))],
               {"KILN_MESA_ROOT": str(registry.folder("trixie-arm64")),
                "KILN_MESA_PROGRAM": str(kiln_aarch64)})


class Models:
    """The packs, and the table that grows while they are made."""

    def __init__(self, options):
        self.kiln, self.kiln_aarch64 = options.kiln, options.kiln_aarch64
        self.base, self.jobs = options.base, options.jobs
        self.words = ["--jobs", "1"]
        os.environ["KILN_STORE"] = options.store
        if options.no_finish:
            self.words.append("--no-finish")
        self.limits = {}
        if options.timeout:
            self.words += ["--timeout", options.timeout]
            self.limits = {"seconds": None}  # the builder limits each of its steps
        self.fleet = Fleet(options.kiln, options.kiln_aarch64, options.work)
        self.packs = []
        self._lock = threading.Lock()

    def run(self, only, chosen):
        """Builds everything, several at once, or only what is made by `only`, as the models chosen."""
        print("| made by | as | programs | seconds | pack's bytes | without a binary |")
        print("| --- | --- | --- | --- | --- | --- |", flush=True)
        with ThreadPoolExecutor(self.jobs) as pool:
            for how, backend, models, variables in ways(self.kiln, self.kiln_aarch64,
                                                         self.fleet.work):
                for model in chosen or models:
                    if model in models and (not only or only in how):
                        pool.submit(self._say, self._absent, how, backend, model, variables)
            for device in registry.devices():
                if device["executes"] and not chosen and (not only or only in device["driver"]):
                    pool.submit(self._say, self._device, device["id"])

    def _say(self, build, *arguments):
        """Prints what a build gives."""
        try:
            row = build(*arguments)
        except (Failed, Skipped) as reason:
            row = (*arguments[:3], str(reason).split("\n", maxsplit=1)[0])
        except Exception as error:  # pylint: disable=broad-except
            row = (*arguments[:3], f"{type(error).__name__}: {error}")
        if row:
            with self._lock:
                print(f"| {' | '.join(map(str, row))} |", flush=True)

    def _absent(self, how, backend, model, variables):
        """By a driver or a compiler, for a device that is not there."""
        pack = self.fleet.work / f"{how}-{model}.kiln".replace(" ", "-").replace(":", "_")
        start = time.monotonic()
        done = self.fleet.host("build", self.base, "--preferred", "--json", "-o", pack, "--virtual",
                               f"{backend}:{model}", *self.words, variables=variables, **self.limits)
        if done.code == NO_DEVICE:
            return None
        expect(done.out, done.err.strip())
        return self._row(how, model, done.json(), start, pack)

    def _device(self, name):
        """By a device of the laboratory that executes kernels."""
        start = time.monotonic()
        self.fleet.open_station(name)
        station = self.fleet.stations[name]
        station.bring(self.base, "base.kiln")
        built = station.build("base.kiln", "made.kiln")
        return self._row(name, "itself", built, start, station.folder / "made.kiln")

    def _row(self, how, model, built, start, pack):
        """One row; the pack is merged if it has a binary."""
        inspected = making.inspect(self.fleet, pack)
        programs = [program["name"] for program in inspected["programs"]]
        made = {binary["variant"].partition("/")[0] for target in inspected["targets"]
                for binary in target["binaries"] + target["intermediates"]}
        if made:
            self.packs.append(pack)
        why = {one["job"].partition("/")[0]: " ".join(one[key].split())[:160]
               for listed, key in (("failures", "error"), ("left_out", "reason"))
               for one in built[listed]}
        refused = [f"{name}: {why.get(name, 'the device meets the needs of no variant')}"
                   for name in programs if name not in made]
        return (how, model, f"{len(made)} of {len(programs)}", f"{time.monotonic() - start:.0f}",
                f"{pack.stat().st_size:,}", "; ".join(refused))

    def finish(self):
        """Merges, slices, signs and verifies; what came of it, as lines."""
        host = self.fleet.host
        pack, key = self.fleet.work / "all.kiln", self.fleet.work / "signer"
        host("pack", "merge", *sorted(self.packs), "--compress", "fleet", "-o",
             pack).expect_code(0, "kiln pack merge")
        subprocess.run(["minisign", "-G", "-W", "-f", "-p", f"{key}.pub", "-s", f"{key}.key"],
                       check=True, capture_output=True)
        host("pack", "sign", pack, "--secret-key", f"{key}.key").expect_code(0, "kiln pack sign")
        host("pack", "verify", "--deep", pack, "--key", f"{key}.pub").expect_code(
            0, "kiln pack verify")
        targets = making.inspect(self.fleet, pack)["targets"]
        yield (f"{len(self.packs)} packs make one of {len(targets)} targets and "
               f"{pack.stat().st_size:,} bytes, signed and verified")
        of_vendor = {}
        for target in targets:
            of_vendor.setdefault(absent.vendor(target), []).append(target)
        for name, those in sorted(of_vendor.items()):
            sliced = self.fleet.work / "slice.kiln"
            host("pack", "slice", pack, "--target", those[0]["key"], "-o", sliced).expect_code(
                0, "kiln pack slice")
            host("pack", "verify", "--deep", sliced).expect_code(0, "kiln pack verify")
            kept = making.inspect(self.fleet, sliced)["targets"]
            if [target["key"] for target in kept] != [those[0]["key"]]:
                raise Failed(f"the slice for {those[0]['key']} holds {len(kept)} targets")
            yield f"{name}: {len(those)} targets; the slice of one has {sliced.stat().st_size:,} bytes"


def main():
    """Prints the table, and what is known of the pack."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kiln", type=lambda text: Path(text).absolute(), required=True)
    parser.add_argument("--kiln-aarch64", type=lambda text: Path(text).absolute(),
                        help="for arm64's drivers, which qemu-user runs")
    parser.add_argument("--base", type=lambda text: Path(text).absolute(), required=True,
                        help="pack by `kiln compile`; of each program a preferred variant is built")
    parser.add_argument("--work", type=lambda text: Path(text).absolute(), required=True,
                        help="a folder that is made anew; the pack is all.kiln in it")
    parser.add_argument("--only", help="what is made by this alone, as in the table's first column")
    parser.add_argument("--models", type=lambda text: text.split(","), default=[],
                        help="build as these alone, in this order, and on no device")
    parser.add_argument("--store", default="none", help="the variable KILN_STORE; default: none")
    parser.add_argument("--timeout", help="what `kiln build` is told")
    parser.add_argument("--no-finish", action="store_true", help="tell it to `kiln build`")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="builds at once")
    options = parser.parse_args()
    start = time.monotonic()
    models = Models(options)
    models.run(options.only, options.models)
    print()
    if models.packs:
        print("\n".join(models.finish()))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{(time.monotonic() - start) / 60:.1f} minutes, "
          f"{(used.ru_utime + used.ru_stime) / 60:.1f} of a processor")
    return 0


if __name__ == "__main__":
    sys.exit(main())
