# SPDX-License-Identifier: Apache-2.0
"""Launching from packs: the pixels, on every device that executes."""

import png
from suite import expect

# Emulated, or slow for being checked: these get a corner of the photo.
SLOW_WAYS = ("qemu", "oclgrind")
CROP = (96, 64)
CHECKER_LOG = "oclgrind.log"
FAULTS = ("race", "invalid", "error")


def prepare(suite, fleet, photo):
    """The corner of the photo, and the reference's pictures of both; whether they are there."""
    with suite.phase("reference pictures"):
        return suite.check("the C++ references give their pictures", _references, fleet, photo)


def il_and_source(suite, fleet):
    """The lower rungs give the right pixels."""
    with suite.phase("pixels from IL and from source"):
        suite.check_each(["pocl-6.0", "rusticl-25.0"], "{} without a binary takes IL, and the "
                         "pixels are right", lambda name: _run_all(fleet, name, "base.kiln", "il"))
        suite.check_each(["pocl-3.1"], "{} with neither binary nor IL takes source, and the "
                         "pixels are right",
                         lambda name: _run_all(fleet, name, "base.kiln", "source"))


def exact(suite, fleet):
    """The fleet's pack gives the right pixels on every device that executes."""
    with suite.phase("pixels from the fleet's pack"):
        suite.check("Oclgrind's log names a race and a write outside, where there are some",
                    _faults_are_seen, fleet)
        suite.check_each(fleet.named(executes=True), "{} runs every variant from the fleet's pack, "
                         "and the pixels are right",
                         lambda name: _run_all(fleet, name, "fleet.kiln", "exact"))


def checker_log(station):
    """How to have the checker's findings, and what they are after a run.

    They go to a file: the builder keeps what its worker processes print.
    """
    if station.device["way"] != "oclgrind":
        return {}, lambda: ""
    path = station.folder / CHECKER_LOG
    path.unlink(missing_ok=True)
    return ({"KILN_OCLGRIND_ARGS": f"--log {CHECKER_LOG} --uniform-writes"},
            lambda: path.read_text(encoding="utf-8", errors="replace") if path.exists() else "")


def expect_no_faults(findings, label):
    """Fails on any finding of the checker."""
    found = [line for line in findings.splitlines()
             if any(word in line.lower() for word in FAULTS)]
    expect(not found, f"{label}: {'; '.join(found[:3])}")


def _references(fleet, photo):
    """Pictures by (variant, "photo" or "crop")."""
    fleet.photo, fleet.crop = photo, fleet.work / "crop.png"
    png.write(png.read(photo, rows=CROP[1]).cropped(*CROP), fleet.crop)
    folder = fleet.work / "reference"
    folder.mkdir()
    fleet.references = {}
    for program, variant in fleet.variants:
        for size, image in (("photo", fleet.photo), ("crop", fleet.crop)):
            stem = f"{program}-{variant}-{size}"
            done = fleet.host("run", program, "--variant", variant, "--pack", fleet.base,
                              "--image", image, "--device", "none", "--output", folder / f"{stem}.png")
            done.expect_code(0, f"kiln run --device none {program}/{variant}")
            pictures = {path.name[len(stem):]: path for path in folder.glob(f"{stem}*.png")}
            expect(pictures, f"{program}/{variant}: no picture was written")
            fleet.references[program, variant, size] = pictures


def _run_all(fleet, name, pack, rung):
    """Every variant that the device has a binary of, or of the base pack one of each program, since
    `lab_kernels` takes all from there; each compared with the reference."""
    station = fleet.need(name)
    station.bring(fleet.base if pack == "base.kiln" else fleet.pack)
    size = "crop" if station.device["way"] in SLOW_WAYS else "photo"
    station.bring(fleet.crop if size == "crop" else fleet.photo, f"{size}.png")
    worst = 0
    some = pack == "base.kiln" and not station.small
    for pair in (fleet.some if some else fleet.variants):
        if pair not in station.left_out + station.refused:
            worst = max(worst, _run(fleet, station, pack, rung, (*pair, size)))
    return f"within {worst} level of the reference" if worst else "byte for byte"


def _run(fleet, station, pack, rung, subject):
    """Runs one variant; the largest difference in levels."""
    program, variant, size = subject
    label, stem = f"{program}/{variant}", f"{program}-{variant}-{rung}"
    environment, findings = checker_log(station)
    done = station.warm_kiln("run", program, "--variant", variant, "--pack", pack, "--device",
                             station.device["select"], "--image", f"{size}.png", "--output",
                             f"{stem}.png", "--report", f"{stem}.json", environment=environment)
    done.expect_code(0, f"kiln run {label}")
    expect_no_faults(findings() + done.err, label)
    report = fleet.read_json(station.folder / f"{stem}.json")
    expect(report["rung"] == rung, f"{label} was loaded as {report['rung']}")
    allowed = 1 if _computes_in_float(fleet, program, variant) else 0
    said = "equals the reference byte for byte" in done.out
    expect(said or allowed, f"{label}: {done.out.strip().splitlines()[-1]}")
    worst = max(png.worst_difference(station.folder / f"{stem}{plane}", reference)
                for plane, reference in fleet.references[subject].items())
    expect(worst <= allowed, f"{label} is {worst} levels away from the reference")
    expect(said == (worst == 0), f"{label}: kiln run says otherwise than the pictures")
    return worst


def _computes_in_float(fleet, program, variant):
    """Image variants read floating-point values, and may differ by a level."""
    (found,) = [v for p in fleet.programs if p["name"] == program
                for v in p["variants"] if v["name"] == variant]
    return any(argument.get("storage") == "image" for argument in found["arguments"])


def _faults_are_seen(fleet):
    """The proof that silence means something: two kernels with a fault each."""
    station = fleet.need("oclgrind")
    pack = station.folder / "faulty.kiln"
    done = fleet.host("compile", fleet.faulty_manifest, "-o", pack)
    done.expect_code(0, "kiln compile")
    station.bring(fleet.crop, "crop.png")
    for variant, word in (("race", "race"), ("outside", "Invalid write")):
        environment, findings = checker_log(station)
        station.kiln("run", "faulty", "--variant", variant, "--pack", "faulty.kiln", "--image",
                     "crop.png", environment=environment).expect_code(0, "kiln run faulty")
        expect(word.lower() in findings().lower(), f"the log of {variant} does not say '{word}'")
