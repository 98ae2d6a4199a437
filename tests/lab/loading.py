# SPDX-License-Identifier: Apache-2.0
"""Loading packs: which rung a device takes, and what the report says about the others."""

from making import inspect
from suite import expect

# The pack of the first, given to the second, is not exact.
UPDATES = (("neo-22.43-skl", "neo-24.35-skl"), ("neo-22.43-skl", "neo-20.44-skl"),
           ("pocl-3.1", "pocl-6.0"), ("rusticl-22.3", "rusticl-25.0"))
RUNGS = ["overlay", "exact", "il", "source"]
NONE = ("--without", "binary,il,source")
BINARY_ONLY = ("--without", "il,source")
DAMAGED = ("epsilon", "buffer")
SOUND = ("laplace", "vec4_short")
LINKER_LOG = "linker"
# A variable that this loader alone knows, and so a text in its library.
MARKS = {"ocl-icd": b"OCL_ICD_PLATFORM_SORT", "Khronos": b"OCL_ICD_FILENAMES"}
# Interprets bitcode, and writes it anew when asked for its binary.
REWRITES = ("Oclgrind",)


def exact(suite, fleet):
    """Every device loads its own binaries from the one pack."""
    with suite.phase("exact"):
        suite.check_each(list(fleet.stations),
                         "{} loads its own binary of every variant, natively",
                         lambda name: _loads_exactly(fleet, name))
        suite.check_each(fleet.on_host(), "{} runs under ocl-icd",
                         lambda name: _loader(fleet, name, "ocl-icd"))
        suite.check_each(["pocl-3.1-khronos"], "{} runs under the Khronos loader",
                         lambda name: _loader(fleet, name, "Khronos"))


def not_exact(suite, fleet):
    """Binaries of another model or driver version are not taken."""
    with suite.phase("not exact"):
        suite.check("a pack of skl alone, given to tgllp, is not exact, and the report names skl "
                    "and the IP version", _another, fleet, "neo-22.43-skl", "neo-22.43-tgllp",
                    "ip_version")
        for made_by, given_to in UPDATES:
            suite.check(f"a pack of {made_by}, given to {given_to}, is not exact, and the report "
                        "names the driver version", _another, fleet, made_by, given_to,
                        "driver_version")


def errors(suite, fleet):
    """What is said when no rung is left."""
    with suite.phase("no rung left"):
        suite.check_each(list(fleet.stations),
                         "{} with every rung switched off gives a whole error report",
                         lambda name: _all_off(fleet, name))
        suite.check("a pack of another device alone, without IL and source, gives a whole error "
                    "report", _only_another, fleet)
        _damage(suite, fleet)


def target_of(fleet, name):
    """The fleet pack's target for a device."""
    return fleet.targets[fleet.need(name).key]


def _damage(suite, fleet):
    """Blobs that rotted, on a device that takes binaries, IL and source."""
    suite.check("a damaged binary is never used: the report names the fault, and IL serves",
                _damaged_binary, fleet)
    suite.check("where the damaged binary is the only rung, the report is a whole error",
                _damaged_only, fleet)
    suite.check("where binary, IL and source are all damaged, every rung fails by itself and the "
                "report is a whole error", _all_damaged, fleet)


def _loads_exactly(fleet, name):
    """Every variant but those whose requirements the device lacks."""
    station = fleet.need(name)
    station.bring(fleet.pack)
    blobs = {binary["variant"]: binary["blob"]["hash"]
             for binary in target_of(fleet, name)["binaries"]}
    for program, variant in fleet.variants:
        if (program, variant) in station.left_out + station.refused:
            continue
        report = station.explain("fleet.kiln", program, variant)
        label = f"{program}/{variant}"
        expect(report["rung"] == "exact", f"{label} is loaded as {report['rung']}")
        expect(report["recompiled"] is False or station.device["driver"] in REWRITES,
               f"{label} was recompiled by the driver")
        rung = _rung(report, "exact")
        expect(rung["outcome"] == "loaded" and rung["blob"] == blobs[label],
               f"{label} is not the device's own binary: {rung}")
    remarks = [f"but for {'/'.join(pair)}, which it did not build"
               for pair in station.left_out + station.refused]
    if station.device["driver"] in REWRITES:
        remarks.append("that it was not recompiled is not asked: it writes its bitcode anew")
    return "; ".join(remarks)


def _loader(fleet, name, wanted):
    """The dynamic linker's own word for which libOpenCL was opened."""
    station = fleet.need(name)
    log = {"LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": LINKER_LOG}
    station.kiln("devices", settings=log).expect_code(0, "kiln devices")
    text = "".join(path.read_text() for path in station.folder.glob(f"{LINKER_LOG}.*"))
    opened = {line.split()[-1] for line in text.splitlines()
              if "calling init" in line and "libOpenCL.so" in line}
    expect(len(opened) == 1, f"opened: {', '.join(opened) or 'no libOpenCL'}")
    (path,) = opened
    with open(path, "rb") as library:
        text = library.read()
    found = [loader for loader, mark in MARKS.items() if mark in text]
    expect(found == [wanted], f"{path} is {' and '.join(found) or 'another loader'}")


def _another(fleet, made_by, given_to, field):
    """A pack of one target alone, given to another device: the key decides, whatever the variant."""
    origin, station = fleet.need(made_by), fleet.need(given_to)
    pack = station.bring(origin.pack)
    (target,) = inspect(fleet, origin.pack)["targets"]
    rungs = set()
    for program, variant in fleet.some:
        report = station.explain(pack, program, variant)
        rungs.add(report["rung"])
        expect(report["rung"] in ("il", "source"), f"{variant} is loaded as {report['rung']}")
        expect(_rung(report, "exact")["outcome"] == "missed", str(_rung(report, "exact")))
        nearest = report["nearest"] or {}
        expect(nearest.get("target") == target["label"],
               f"nearest is {nearest.get('target')}, not {target['label']}")
        fields = {difference["field"]: difference for difference in nearest["differs"]}
        expect(field in fields, f"{field} is not among {', '.join(fields)}")
        sides = fields[field]
        expect(sides["pack"] != sides["device"], f"both sides of {field} are the same: {sides}")
    return (f"{' or '.join(sorted(rungs))}; {field}: the pack has {sides['pack']}, "
            f"the device has {sides['device']}")


def _all_off(fleet, name):
    """A device's own pack with nothing allowed."""
    station = fleet.need(name)
    report = station.explain("fleet.kiln", *SOUND, *NONE, code=1)
    _expect_whole_error(report)
    for rung in ("exact", "il", "source"):
        _expect_rung(report, rung, "skipped", "switched off")


def _only_another(fleet):
    """No binary for this device, and nothing else allowed."""
    station = fleet.need("pocl-6.0")
    pack = station.bring(fleet.need("neo-22.43-tgllp").pack)
    report = station.explain(pack, *SOUND, *BINARY_ONLY, code=1)
    _expect_whole_error(report)
    _expect_rung(report, "exact", "missed", "no target")
    expect(report["nearest"] and report["nearest"]["differs"], "it names no nearest target")


def _damaged_binary(fleet):
    """The exact binary is damaged; IL and another program's binary are not."""
    station, variant, binary = _damaged_parts(fleet)
    _write_damaged(fleet, station, "damaged.kiln", [binary])
    report = station.explain("damaged.kiln", *DAMAGED)
    expect(report["rung"] == "il", f"it was loaded as {report['rung']}")
    reason = _expect_rung(report, "exact", "failed", "blob:")
    other = station.explain("damaged.kiln", *SOUND)
    expect(other["rung"] == "exact", f"a sound binary was loaded as {other['rung']}")
    verified = fleet.host("pack", "verify", station.folder / "damaged.kiln", "--json")
    faults = verified.expect_code(4, "kiln pack verify").json()["faults"]
    expect(len(faults) == 1, f"kiln pack verify names {len(faults)} faults, not one")
    return reason


def _damaged_only(fleet):
    """As an application sees it: `kiln explain` and `kiln run` both give the whole report."""
    station, _, binary = _damaged_parts(fleet)
    _write_damaged(fleet, station, "damaged.kiln", [binary])
    report = station.explain("damaged.kiln", *DAMAGED, *BINARY_ONLY, code=1)
    _expect_whole_error(report)
    _expect_rung(report, "exact", "failed", "blob:")
    station.bring(fleet.crop, "crop.png")
    program, variant = DAMAGED
    done = station.kiln("run", program, "--variant", variant, "--pack", "damaged.kiln", "--device",
                        station.device["select"], "--image", "crop.png", "--report",
                        "damaged.json", "--output", "damaged.png", *BINARY_ONLY)
    done.expect_code(1, "kiln run")
    written = fleet.read_json(station.folder / "damaged.json")
    expect({**written, "milliseconds": 0} == {**report, "milliseconds": 0},
           "the report of kiln run differs from that of kiln explain")
    expect(not (station.folder / "damaged.png").exists(), "kiln run wrote a picture")


def _all_damaged(fleet):
    """No flag at all: every rung is tried and fails."""
    station, variant, binary = _damaged_parts(fleet)
    blobs = [binary, variant["il64"], variant["source"]]
    _write_damaged(fleet, station, "all-damaged.kiln", blobs)
    report = station.explain("all-damaged.kiln", *DAMAGED, code=1)
    _expect_whole_error(report)
    reasons = [_expect_rung(report, rung, "failed", "blob:") for rung in ("exact", "il", "source")]
    return "; ".join(reasons)


def _damaged_parts(fleet):
    """The device that damage is shown on, the variant's entry and its binary's blob."""
    station = fleet.need("pocl-6.0")
    program, name = DAMAGED
    (variant,) = [v for p in inspect(fleet, fleet.pack)["programs"] if p["name"] == program
                  for v in p["variants"] if v["name"] == name]
    (blob,) = [binary["blob"] for binary in target_of(fleet, station.id)["binaries"]
               if binary["variant"] == f"{program}/{name}"]
    return station, variant, blob


def _write_damaged(fleet, station, name, blobs):
    """The fleet's pack with one byte changed in the middle of each blob."""
    data = bytearray(fleet.pack.read_bytes())
    for blob in blobs:
        data[blob["offset"] + blob["stored_size"] // 2] ^= 0x10
    (station.folder / name).write_bytes(data)


def _rung(report, name):
    """One rung of a report, or an empty one."""
    return next((rung for rung in report["rungs"] if rung["rung"] == name), {"outcome": "absent"})


def _expect_rung(report, name, outcome, reason):
    """The rung's reason, when its outcome and the reason's start are as expected."""
    rung = _rung(report, name)
    expect(rung["outcome"] == outcome and rung.get("reason", "").startswith(reason),
           f"{name} is not {outcome} with '{reason}...': {rung}")
    return f"{name}: {rung['reason']}"


def _expect_whole_error(report):
    """Every rung is listed in order, none is loaded, and each has a reason."""
    expect(report["rung"] == "error", f"rung is {report['rung']}, not error")
    names = [rung["rung"] for rung in report["rungs"]]
    expect(names == RUNGS, f"the rungs are {names}")
    for rung in report["rungs"]:
        expect(rung["outcome"] in ("skipped", "missed", "failed"), f"{rung}")
        expect(rung.get("reason"), f"{rung['rung']} has no reason")
