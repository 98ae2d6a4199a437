#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Binaries of `kiln build --virtual neo:...` beside those of the same driver in the laboratory.

For each device Intel's driver builds the case studies twice: in the laboratory, which enters the
driver's root with bubblewrap, and by --virtual, which needs neither that nor privileges. The binary
keys and all binaries must be the same, byte for byte, the laboratory's device must load the pack as
exact, and the pack must say that no device of this kind has launched it. Where ocloc of that
version is installed, its binaries must be the same, too. The binaries lack the SPIR-V that the
driver puts into its own; all else of those must be in them.
"""

import argparse
import json
import os
import shutil
import struct
import sys
import tempfile
from pathlib import Path

import registry
from fleet import Station, call
from suite import Failed, Skipped, Suite, expect

EXIT_SKIPPED = 77
# What the laboratory sets for a device, for the driver to be what --virtual takes it for.
DEVICES = {"neo-22.43-skl": {}, "neo-22.43-tgllp": {"OverrideRevision": "1"},
           "neo-20.44-skl": {}, "neo-24.35-icllp": {}}
OCLOC = ("neo-22.43-skl", "neo-22.43-tgllp")  # the host has it in this version
NEVER = "not launched"
WHY = "loaded by its driver without hardware"
SPIRV = 0xff000009  # Intel's type of an ELF section
COMPARED = "bezier"  # the program whose binaries are also built with their SPIR-V


class Comparison:
    """The packs of one device."""

    def __init__(self, kiln, base, work, name):
        self.kiln, self.base, self.name = kiln, base, name
        self.device = registry.find_device(name)
        self.folder = work / name
        self.product = self.device["neo"]
        self.variables = {}  # of builds elsewhere

    def build_in_laboratory(self):
        """The device's pack, by the laboratory."""
        reason = registry.unavailable(self.device)
        if reason:
            raise (Skipped if self.device["moving"] else Failed)(f"not available: {reason}")
        self.station = Station(self.device, self.folder, self.kiln)
        self.station.bring(self.base, "base.kiln")
        done = self.station.kiln("build", "base.kiln", "--preferred", "-o",
                                 "lab.kiln", "--device", self.device["select"],
                                 settings=DEVICES[self.name])
        expect(done.code in (0, 1), f"kiln build in the laboratory ended with {done.code}: {done.err}")
        self.code = done.code  # 20.44 refuses a variant

    def build_elsewhere(self, output, *how, code=0):
        """The same by the builder alone; what it leaves behind is a fault."""
        place = Path(tempfile.mkdtemp(prefix="kiln-virtual-test-"))
        (place / "tmp").mkdir()
        done = call([self.kiln, "build", self.base, "--preferred", "-o",
                     self.folder / output, "--json", *how], place,
                    {"OCL_ICD_VENDORS": "/nonexistent", "TMPDIR": str(place / "tmp"), **self.variables})
        left = [str(path) for path in place.rglob("*") if path != place / "tmp"]
        shutil.rmtree(place)
        expect(not left, f"it leaves {left}")
        return done.expect_code(code, "kiln build").json()

    def compare(self, output):
        """Both packs' keys and binaries; the number of binaries."""
        (lab,), (other,) = (self._targets(name) for name in ("lab.kiln", output))
        expect(lab["key"] == other["key"], f"the keys differ: {lab['key']} and {other['key']}")
        theirs, ours = (_binaries(target) for target in (lab, other))
        differ = [name for name in theirs.keys() & ours.keys() if theirs[name] != ours[name]]
        expect(not differ, f"these differ from the laboratory's: {', '.join(sorted(differ))}")
        return len(theirs.keys() & ours.keys()), theirs.keys() ^ ours.keys()

    def expect_marked(self):
        """The pack says how each binary was made, and that no such device launched it."""
        (target,) = self._targets("virtual.kiln")
        for binary in target["binaries"]:
            finish = binary["provenance"]["finish"]
            said = (finish["final"], finish["why_not_final"], finish["finisher"])
            expect(said == (NEVER, WHY, f"virtual-neo 1 as {self.product}, "
                            "intel-without-spirv 1"), f"it says {said}")

    def expect_only_spirv_missing(self, how):
        """Binaries with their SPIR-V are longer by it, and the same otherwise."""
        done = call([self.kiln, "pack", "slice", self.base, "--program", COMPARED, "-o",
                     "one.kiln"], self.folder)
        done.expect_code(0, "kiln pack slice")
        whole, self.base = self.base, self.folder / "one.kiln"
        self.build_elsewhere("whole.kiln", "--no-finish", *how)
        self.base = whole
        plain, ours = (self._sections(name) for name in ("whole.kiln", "virtual.kiln"))
        expect(plain, "nothing was built with its SPIR-V")
        for name, sections in plain.items():
            kinds = [kind for kind, _ in sections]
            expect(kinds.count(SPIRV) == 1, f"{name} has these sections: {kinds}")
            without = [(kind, b"" if kind == SPIRV else text) for kind, text in sections]
            expect(ours[name] == without, f"{name} differs in more than its SPIR-V")

    def _sections(self, pack):
        """The sections of each of the program's binaries, as pairs of type and bytes."""
        files = self.folder / f"{pack}-files"
        done = call([self.kiln, "pack", "inspect", pack, "--extract", files], self.folder)
        done.expect_code(0, "kiln pack inspect --extract")
        index = json.loads((files / "index.json").read_text(encoding="utf-8"))
        return {variant["variant"]: _elf_sections((files / variant["binaries"][0]["file"]).read_bytes())
                for variant in index["variants"]
                if variant["program"] == COMPARED and variant["binaries"]}

    def load(self):
        """The laboratory's device takes the pack as exact, natively."""
        (target,) = self._targets("virtual.kiln")
        program, _, variant = target["binaries"][0]["variant"].partition("/")
        report = self.station.explain("virtual.kiln", program, variant)
        seen = (report["rung"], report["recompiled"])
        expect(seen == ("exact", False), f"it is loaded as {seen}")

    def _targets(self, name):
        done = call([self.kiln, "pack", "inspect", name, "--json"], self.folder)
        return done.expect_code(0, "kiln pack inspect").json()["targets"]


def _binaries(target):
    return {binary["variant"]: binary["blob"]["hash"] for binary in target["binaries"]}


def _elf_sections(file):
    table, = struct.unpack_from("<Q", file, 40)
    count, = struct.unpack_from("<H", file, 60)
    sections = []
    for entry in range(table, table + 64 * count, 64):
        kind, = struct.unpack_from("<I", file, entry + 4)
        place, size = struct.unpack_from("<QQ", file, entry + 24)
        sections.append((kind, file[place:place + size] if kind else b""))
    return sections


def same_as_laboratory(comparison):
    """The scenario of one device."""
    comparison.build_in_laboratory()
    root = registry.device_root(comparison.device)
    how = ["--virtual", f"neo:{comparison.product}"]
    if root != Path("/"):
        comparison.variables = {"KILN_NEO_ROOT": str(root)}
    comparison.build_elsewhere("virtual.kiln", *how, code=comparison.code)
    count, others = comparison.compare("virtual.kiln")
    expect(count > 0 and not others, f"one pack alone has {others}")
    comparison.expect_marked()
    comparison.expect_only_spirv_missing(how)
    comparison.load()
    summary = comparison.build_elsewhere("virtual.kiln", *how, code=comparison.code)
    expect(summary["up_to_date"] and summary["reused"] == count, f"built again: {summary}")
    return f"{count} binaries"


def same_as_ocloc(comparison):
    """What the compiler of the same version makes for that product."""
    if not shutil.which("ocloc"):
        raise Skipped("ocloc is not installed")
    comparison.build_elsewhere("ocloc.kiln", "--virtual", f"ocloc-22.43.toml:{comparison.product}")
    count, _ = comparison.compare("ocloc.kiln")
    expect(count > 0, "nothing was compared")
    return f"{count} binaries"


def main():
    """Runs all devices; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--kiln", "--base", "--work"):
        parser.add_argument(name, type=lambda text: Path(text).absolute(), required=True)
    options = parser.parse_args()
    if not any(registry.completed(suite) for suite in registry.suites()):
        if os.environ.get("KILN_LAB_OPTIONAL") == "1":
            print("SKIP  the laboratory is not fetched; `tests/lab/lab.py fetch` brings it")
            return EXIT_SKIPPED
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    suite = Suite(1)
    all_devices = {name: Comparison(options.kiln, options.base, options.work, name)
                   for name in DEVICES}
    with suite.phase("Intel's driver as GPUs that are not there"):
        suite.check_each(list(DEVICES), "{}: --virtual makes what the laboratory makes",
                         lambda name: same_as_laboratory(all_devices[name]))
        suite.check_each(list(OCLOC), "{}: ocloc makes the same",
                         lambda name: same_as_ocloc(all_devices[name]))
    suite.summarise()
    return 1 if suite.failed else 0


if __name__ == "__main__":
    sys.exit(main())
