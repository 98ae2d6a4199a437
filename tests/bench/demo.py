#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `./bootstrap.sh demo` shows: packs for this system's drivers, the case studies run
from them on a photograph, and what a start costs until the first results.

Exit 1 where a driver fails, a device gave no figures, or compiles anything at a first launch from the
pack."""

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import startup_table
from contact_sheet import contact_sheet
from startup_table import TESTS, host_devices, registry, run_on

MANIFEST = TESTS.parent / "manifests" / "case-studies.toml"
PHOTO = TESTS / "data" / "raccoon.png"
REFERENCES = "libkiln_case_references.so"  # what checks them, beside kiln
PROGRAMS = ("laplace", "sobel", "epsilon", "box", "bicubic")
# Of the contact sheet: a part of the photograph, and the pictures with their scale.
PART = (500, 250, 160, 120)
SHEET = (("photo.png", 1), ("laplace-{}.png", 1), ("sobel-{}-x.png", 1), ("sobel-{}-y.png", 1),
         ("epsilon-{}.png", 1), ("box-{}.png", 1), ("bicubic-{}.png", 2))
NO_DEVICE = 5  # kiln's exit code
ROUNDS = 3  # of fresh processes each way; more in docs/understand/measurements.md


class DriverFailed(Exception):
    """A command did not end well on a device; a sentence for the user."""


def must(device, work, *command, **options):
    """Runs a command on a device; DriverFailed unless it ends with 0."""
    done = run_on(device, work, *command, **options)
    if done.returncode:
        how = (f"died of {signal.Signals(done.returncode - 128).name}" if done.returncode > 128
               else f"ended with exit code {done.returncode}")
        where = ("; `build/release/bin/kiln devices` shows whether the driver works here"
                 if done.returncode == NO_DEVICE else "")
        raise DriverFailed(f"{device['id']}: {' '.join(command[:2])} {how}{where}")
    return done


def say(text):
    print(f"\n== {text}", flush=True)


def build_packs(kiln, work, devices):
    """One pack a device, of the variants that it is given, then all of them in one; what is there
    already is reused."""
    subprocess.run([kiln, "compile", MANIFEST, "-o", work / "base.kiln"], check=True)
    for device in devices:
        must(device, work, "./kiln", "build", "base.kiln", "--device", device["select"], "--preferred",
             "-o", f"{device['id']}.kiln")
    packs = [work / f"{device['id']}.kiln" for device in devices]
    subprocess.run([kiln, "pack", "merge", *packs, "-o", work / "demo.kiln"], check=True)


def run_programs(work, devices):
    """Runs every case study on every device that executes; returns the pictures."""
    pictures = []
    for device in devices:
        if not device["executes"]:
            print(f"{device['id']}: builds and loads here, but has no hardware to run on")
            continue
        for program in PROGRAMS:
            name = f"{program}-{device['id']}"
            done = must(device, work, "./kiln", "run", program, "--pack", "demo.kiln",
                        "--device", device["select"], "--image", "photo.png",
                        "--output", f"{name}.png", "--report", f"{name}.json",
                        stdout=subprocess.PIPE)
            report = json.loads((work / f"{name}.json").read_text())
            print(f"{device['id']}: {program}/{report['variant']} from rung {report['rung']}, "
                  f"{done.stdout.strip().splitlines()[-1]}")
            pictures += sorted(work.glob(f"{name}*.png"))
    return pictures


def devices_to_measure(devices):
    """Those that execute, and the first of each driver that executes nothing here."""
    others = {(device["driver"], device["version"]): device
              for device in reversed(devices) if not device["executes"]}
    return [device for device in devices if device["executes"] or device in others.values()]


def measured_rows(tool, work, devices):
    """The rows of the start-up table; those of an earlier run when tool and pack are unchanged."""
    stamp = hashlib.sha256(tool.read_bytes() + (work / "demo.kiln").read_bytes()).hexdigest()
    saved = work / "startup.json"
    if saved.exists():
        earlier = json.loads(saved.read_text())
        if earlier["stamp"] == stamp:
            print(f"(measured by an earlier run with the same tool and pack; remove {saved} to "
                  "measure again)")
            return earlier["rows"]
    rows = []
    for device in devices:
        print(f"measuring {device['id']}", file=sys.stderr, flush=True)
        rows += [(device["id"], row)
                 for row in startup_table.measure(device, tool, work / "demo.kiln", ROUNDS)]
    saved.write_text(json.dumps({"stamp": stamp, "rounds": ROUNDS, "rows": rows}))
    return rows


def count_targets(kiln, pack):
    done = subprocess.run([kiln, "pack", "inspect", pack, "--json"], stdout=subprocess.PIPE, check=True)
    return len(json.loads(done.stdout)["targets"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kiln", required=True, type=Path, help="with kiln_startup beside it")
    parser.add_argument("--work", required=True, type=Path)
    options = parser.parse_args()
    if registry.os_codename() != registry.registry()["host"]["codename"]:
        os.environ["KILN_LAB_ANY_HOST"] = "1"
        print("This is not Debian 12: the driver versions in the devices' names are not this "
              "system's.")
    os.environ["KILN_STORE"] = "none"  # it shows what compiling takes
    kiln, work = options.kiln.resolve(), options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    shutil.copy2(kiln, work / "kiln")
    shutil.copy2(kiln.with_name(REFERENCES), work)
    shutil.copy2(PHOTO, work / "photo.png")
    devices = host_devices()
    if not devices:
        print("no driver of the laboratory is installed on this system", file=sys.stderr)
        return 5
    for device in registry.devices():
        reason = registry.unavailable(device)
        if reason and device["suite"] == "host" and device["way"] == "host":
            print(f"{device['id']} is left out: {reason}")
    say("Packs for the drivers of this system")
    build_packs(kiln, work, devices)
    say("The case studies, from the pack, on the photograph")
    pictures = run_programs(work, devices)
    first = next((device["id"] for device in devices if device["executes"]), None)
    if first:
        sheet = [(work / name.format(first), scale) for name, scale in SHEET]
        contact_sheet(sheet, work / "contact-sheet.png", PART, 4)
        pictures.append(work / "contact-sheet.png")
    say("What a start costs")
    rows = measured_rows(kiln.with_name("kiln_startup"), work, devices_to_measure(devices))
    print(startup_table.table(rows, ROUNDS))
    targets = count_targets(kiln, work / "demo.kiln")
    say(f"Pack: {work / 'demo.kiln'}, {targets} targets")
    print("Pictures:\n  " + "\n  ".join(str(picture) for picture in pictures))
    bad = [name for name, row in rows if "error" in row or startup_table.compiling_late(row)]
    for name in bad:
        print(f"{name}: no figures, or programs that compile at their first launch",
              file=sys.stderr)
    return 0 if targets == len(devices) and not bad else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (DriverFailed, RuntimeError) as error:  # kiln_startup's, too
        sys.exit(f"demo: {error}")
