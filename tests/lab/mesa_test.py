#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Binaries of `kiln build --virtual mesa:...` by trixie's Mesa, for two of AMD's GPUs.

Each model builds a program by a process of its own, and the pack must say that no such GPU has
launched a binary. The same device without --virtual, in the root and with the shim loaded, must
have the same key and take the pack as exact, and must not call what it builds itself final. A pack
made by one Mesa is not exact on the next one, and the load report says what changed. arm64's Mesa,
which alone has Mali's driver, builds for a Mali and an Adreno under qemu-user.
"""

import argparse
import os
import shutil
import sys
import time
from pathlib import Path

import registry
from fleet import call
from suite import Skipped, Suite, expect

EXIT_SKIPPED = 77
SUITE = "trixie"
MODELS = ("vangogh", "navi31")
PROGRAMS = ("convolution", "dot", "block_match_sad")  # on an idle device their outputs may change
# An update of Mesa, from suite to suite, as one GPU of AMD and one of Qualcomm.
UPDATE = ("forky", "sid")
UPDATED = {"vangogh": ("radeonsi", "libamdgpu_noop_drm_shim.so", "AMDGPU_GPU_ID", "vangogh"),
           "fd740": ("freedreno", "libfreedreno_noop_drm_shim.so", "FD_GPU_ID", "740")}
# Models of arm64's Mesa. Translating libclc under emulation takes most of the time.
EMULATED_SUITE, EMULATED, UNLAUNCHED = "trixie-arm64", ("g57",), ("fd630",)
TOO_SLOW = "gave no answer in time"
DIED = "launching it: "
NEVER, WHY = "not launched", "loaded by its driver without hardware"
ICD = "/etc/OpenCL/vendors/rusticl.icd"


def in_root(kiln, folder, model, *arguments, suite=SUITE):
    """Kiln in the suite's root, with the model as its device; the exit code must be 0."""
    root = registry.folder(suite)
    gallium, shim, variable, value = UPDATED.get(model) or (*UPDATED["vangogh"][:3], model)
    line = ["bwrap", "--die-with-parent", "--ro-bind", root / "usr", "/usr", "--ro-bind",
            root / "etc", "/etc", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
            "--dev", "/dev", "--bind", "/proc", "/proc", "--tmpfs", "/tmp", "--ro-bind", kiln,
            "/.kiln/kiln", "--bind", folder, "/fleet", "--chdir", "/fleet"]
    for name, value in (("HOME", "/tmp"), ("TMPDIR", "/tmp"), ("OCL_ICD_VENDORS", ICD),
                        ("LD_PRELOAD", shim), (variable, value), ("RUSTICL_ENABLE", gallium)):
        line += ["--setenv", name, value]
    done = call([*line, "--", "/.kiln/kiln", *arguments], folder)
    return done.expect_code(0, " ".join(map(str, arguments)))


def targets_of(kiln, folder, pack):
    """What `kiln pack inspect` says of the pack's targets."""
    done = call([kiln, "pack", "inspect", pack, "--json"], folder)
    return done.expect_code(0, "kiln pack inspect").json()["targets"]


def finish_of(binary):
    """What the pack says of the launch of a binary: whether final, and why not."""
    finish = binary["provenance"]["finish"]
    return finish["final"], finish["why_not_final"]


class Models:
    """The packs, in one folder."""

    def __init__(self, kiln, kiln_aarch64, base, work):
        self.kiln, self.kiln_aarch64, self.work = kiln, kiln_aarch64, work
        for name, programs in (("base.kiln", PROGRAMS), ("one.kiln", PROGRAMS[1:2])):
            command = [kiln, "pack", "slice", base, "-o", work / name]
            for program in programs:
                command += ["--program", program]
            call(command, work).expect_code(0, "kiln pack slice")

    def build(self, model):
        """Every binary is marked as not launched, and is of that model."""
        pack = f"{model}.kiln"
        done = call([self.kiln, "build", "base.kiln", "--preferred", "-o", pack,
                     "--virtual", f"mesa:{model}"], self.work,
                    {"KILN_MESA_ROOT": str(registry.folder(SUITE)), "OCL_ICD_VENDORS": "/nonexistent"})
        done.expect_code(0, "kiln build --virtual")
        (target,) = targets_of(self.kiln, self.work, pack)
        expect(f"radeonsi, {model}, " in target["key"], f"the key is {target['key']}")
        expect(" DRM " not in target["key"], "the kernel's driver is in the key")
        for binary in target["binaries"]:
            expect(finish_of(binary) == (NEVER, WHY), f"it says {finish_of(binary)}")
            finisher = binary["provenance"]["finish"]["finisher"]
            expect(finisher == f"virtual-mesa 1 as {model}, mesa-shader-cache 1", finisher)
            expect(binary.get("cache_entries"), "there is no code for the GPU")
            told = binary["provenance"]["statistics"]
            expect(len(told) == len(binary["provenance"]["kernels"]), f"of kernels it tells {told}")
            for kernel in told:
                expect(kernel["registers"] > 0 and kernel["waves"] > 0 and "spills" in kernel,
                       f"of a kernel it tells {kernel}")
        expect(len(target["binaries"]) == len(PROGRAMS), f"{len(target['binaries'])} binaries")
        again = call([self.kiln, "build", "base.kiln", "--preferred", "-o", pack,
                      "--virtual", f"mesa:{model}", "--json"], self.work,
                     {"KILN_MESA_ROOT": str(registry.folder(SUITE))}).json()
        expect(again["up_to_date"], f"built again: {again}")
        return f"{len(target['binaries'])} binaries"

    def load(self, model):
        """The device with the shim loaded, without --virtual, takes the pack as exact."""
        (target,) = targets_of(self.kiln, self.work, f"{model}.kiln")
        program, _, variant = target["binaries"][0]["variant"].partition("/")
        report = in_root(self.kiln, self.work, model, "explain", program, "--variant", variant,
                         "--pack", f"{model}.kiln", "--json").json()
        seen = (report["rung"], report["recompiled"])
        expect(seen == ("exact", False), f"it is loaded as {seen}")

    def build_plainly(self, model):
        """A build that does not know that the GPU is not there finds it out."""
        in_root(self.kiln, self.work, model, "build", "base.kiln", "--no-check",
                "-o", "plain.kiln")
        (target,) = targets_of(self.kiln, self.work, "plain.kiln")
        (virtual,) = targets_of(self.kiln, self.work, f"{model}.kiln")
        expect(target["key"] == virtual["key"], "the keys differ")
        for binary in target["binaries"]:
            seen = finish_of(binary)[0]
            expect(seen == NEVER, f"{binary['variant']} is called {seen}")
        return f"{len(target['binaries'])} binaries"


    def update(self, model):
        """The pack of one Mesa misses on the next, and the report names both versions."""
        for suite in UPDATE:
            done = registry.completed(suite)
            if not done or "mesa-drm-shim" not in done["packages"]:
                raise Skipped(f"not available: {suite} is not fetched")
        before, after = (registry.completed(suite)["packages"]["mesa-opencl-icd"] for suite in UPDATE)
        if before == after:
            raise Skipped(f"both suites have Mesa {before}")
        pack = f"update-{model}.kiln"
        done = call([self.kiln, "build", "one.kiln", "--preferred", "--no-finish",
                     "-o", pack, "--virtual", f"mesa:{model}"], self.work,
                    {"KILN_MESA_ROOT": str(registry.folder(UPDATE[0]))})
        done.expect_code(0, "kiln build --virtual")
        (target,) = targets_of(self.kiln, self.work, pack)
        program, _, variant = target["binaries"][0]["variant"].partition("/")
        report = in_root(self.kiln, self.work, model, "explain", program, "--variant", variant,
                         "--pack", pack, "--json", suite=UPDATE[1]).json()
        differs = {field["field"]: (field["pack"], field["device"])
                   for field in report["nearest"]["differs"]}
        expect(report["rung"] != "exact" and differs.get("driver_version") == (before, after),
               f"it is loaded as {report['rung']}, and {differs}")
        return f"{before} and {after}: {', '.join(differs)}"

    def emulate(self, model, *arguments):
        """Builds one program by the driver of another architecture; what it did, and the seconds."""
        if not (self.kiln_aarch64 and self.kiln_aarch64.is_file()):
            raise Skipped(f"no builder for its architecture: {self.kiln_aarch64}")
        if not registry.completed(EMULATED_SUITE):
            raise Skipped(f"{EMULATED_SUITE} is not fetched")
        start = time.monotonic()
        done = call([self.kiln, "build", "one.kiln", "--preferred", "--json", "-o",
                     f"{model}.kiln", "--virtual", f"mesa:{model}", *arguments], self.work,
                    {"OCL_ICD_VENDORS": "/nonexistent",
                     "KILN_MESA_ROOT": str(registry.folder(EMULATED_SUITE)),
                     "KILN_MESA_PROGRAM": str(self.kiln_aarch64)})
        seconds = f"{time.monotonic() - start:.0f} s"
        if done.code and TOO_SLOW in done.err:
            raise Skipped(f"this machine is too slow or too busy: no answer in {seconds}")
        return done.expect_code(0, "kiln build").json(), seconds

    def emulated(self, model):
        """Mali's driver builds, and the pack says that it died at the launch, and what the compiler,
        which ran before that, said of the kernel."""
        _, seconds = self.emulate(model)
        (target,) = targets_of(self.kiln, self.work, f"{model}.kiln")
        (binary,) = target["binaries"]
        final, why = finish_of(binary)
        expect(final == NEVER and why.startswith(f"{WHY}; {DIED}"), f"it says {final}, {why}")
        told = binary["provenance"]["statistics"]
        expect(len(told) == 1 and told[0]["instructions"] > 0 and "spills" in told[0],
               f"of the kernel it tells {told}")
        return f"{seconds}, {told[0]['instructions']} instructions"

    def unlaunched(self, model):
        """The driver of another architecture builds, without a launch."""
        _, seconds = self.emulate(model, "--no-finish")
        (target,) = targets_of(self.kiln, self.work, f"{model}.kiln")
        (binary,) = target["binaries"]
        seen = finish_of(binary)[0]
        expect(seen == NEVER, f"it says {seen}")
        return f"{seconds}, {binary['blob']['raw_size']} bytes"


def fault():
    """Why the root cannot serve, or None."""
    done = registry.completed(SUITE)
    if not done or "mesa-drm-shim" not in done["packages"]:
        return f"{SUITE} with mesa-drm-shim is not fetched; `tests/lab/lab.py fetch` brings it"
    return registry.sandbox_fault()


def main():
    """Runs all models; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--kiln", "--base", "--work"):
        parser.add_argument(name, type=lambda text: Path(text).absolute(), required=True)
    parser.add_argument("--kiln-aarch64", type=lambda text: Path(text).absolute(),
                        help="the builder for AArch64; without it no such GPU is listed")
    options = parser.parse_args()
    reason = fault()
    if reason and os.environ.get("KILN_LAB_OPTIONAL") == "1":
        print(f"SKIP  {reason}")
        return EXIT_SKIPPED
    if reason:
        print(f"FAIL  {reason}")
        return 1
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    suite = Suite(1)
    models = Models(options.kiln, options.kiln_aarch64, options.base, options.work)
    with suite.phase("Mesa's driver as GPUs that are not there"):
        suite.check_each(list(MODELS), "{}: --virtual builds, and says that nothing ran", models.build)
        suite.check_each(list(MODELS), "{}: the driver takes the pack as exact", models.load)
        suite.check_each(list(UPDATED), "{}: a pack of an earlier Mesa is not exact", models.update)
        suite.check_each(list(EMULATED), "{}: arm64's driver builds under qemu-user", models.emulated)
        suite.check_each(list(UNLAUNCHED), "{}: arm64's driver compiles under qemu-user",
                         models.unlaunched)
        suite.check_each(list(MODELS[:1]), "{}: a plain build calls nothing final", models.build_plainly)
    suite.summarise()
    return 1 if suite.failed else 0


if __name__ == "__main__":
    sys.exit(main())
