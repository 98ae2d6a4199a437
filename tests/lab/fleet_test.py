#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The laboratory's devices as one fleet: build on each, merge, load and run from one pack.

Exits with 0 when all passed (moving devices may be skipped), 1 when a scenario failed or a
stable device did not run, 2 on misuse, and 77 when nothing of the laboratory is fetched and
KILN_LAB_OPTIONAL=1 is set.
"""

import argparse
import os
import sys
from pathlib import Path

import absent
import final
import harvest
import kernels
import loading
import making
import pixels
import registry
import updates
from fleet import Fleet
from suite import Suite

EXIT_FAILED, EXIT_SKIPPED = 1, 77
HERE = Path(__file__).resolve().parent
# Not in this fleet, for their time: the first opens in half a minute without a cache, and is in the
# group of kernels and in lab_mesa; the others are further models of drivers that are here, and among
# the devices that are not there.
LEFT_OUT = ("rusticl-26.2", "neo-22.43-icllp", "neo-22.43-dg1", "neo-20.44-tgllp",
            "neo-24.35-icllp")
PHOTO = HERE.parent / "data" / "raccoon.png"


def main(arguments):
    """Runs the chosen groups; the exit code."""
    options = _options(arguments)
    fetched = any(registry.completed(suite) for suite in registry.suites())
    if not fetched and os.environ.get("KILN_LAB_OPTIONAL") == "1":
        print("SKIP  the laboratory is not fetched; `tests/lab/lab.py fetch` brings it")
        return EXIT_SKIPPED
    suite = Suite(options.jobs, options.verbose)
    ran = set()
    summary = []
    if options.only in (None, "fleet"):
        ran |= _run_fleet(suite, options, summary)
    if options.kernel_check and options.only in (None, "kernels"):
        ran |= _run_kernels(suite, options, kernels.SOME)
    if options.only == "all_kernels":
        ran |= _run_kernels(suite, options, kernels.ALL)
    if options.only == "emulated":
        ran |= _run_emulated(suite, options)
    if options.only == "builds":
        kernels.build(suite, Fleet(options.kiln, None, options.work / "builds"), options.manifest,
                      options.base)
    suite.summarise()
    summary += _devices(ran)
    print("\n".join(summary))
    (options.work / "summary.txt").write_text("\n".join(summary) + "\n", encoding="utf-8")
    return EXIT_FAILED if suite.failed else 0


def _run_fleet(suite, options, summary):
    """The group `fleet`; the devices that ran. What was counted is added to `summary`."""
    fleet = Fleet(options.kiln, options.kiln_aarch64, options.work / "fleet")
    fleet.summary = summary
    fleet.faulty_manifest = HERE / "faulty" / "faulty.toml"
    names = [device["id"] for device in registry.devices() if device["id"] not in LEFT_OUT]
    if not making.base_pack(suite, fleet, options.manifest):
        return fleet.ran
    making.device_packs(suite, fleet, names)
    if not making.fleet_pack(suite, fleet) or not pixels.prepare(suite, fleet, PHOTO):
        return fleet.ran
    for scenarios in (loading.exact, loading.not_exact, loading.errors,
                      pixels.il_and_source, pixels.exact, final.launches):
        scenarios(suite, fleet)
    if options.forge_pack:
        updates.stale(suite, fleet, options.forge_pack)
        harvest.rounds(suite, fleet, options.forge_pack)
    absent.many_targets(suite, fleet)
    return fleet.ran


def _run_kernels(suite, options, how):
    """The group `kernels` or `all_kernels`; the devices that ran."""
    fleet = Fleet(options.kiln, options.kiln_aarch64, options.work / "kernels")
    kernels.check(suite, fleet, options.manifest, options.base, options.kernel_check, how)
    return fleet.ran


def _run_emulated(suite, options):
    """The group `emulated`; the devices that ran."""
    fleet = Fleet(options.kiln, options.kiln_aarch64, options.work / "emulated")
    kernels.check_emulated(suite, fleet, options.manifest, options.kernel_check)
    return fleet.ran


def _devices(ran):
    """Which devices of the laboratory ran, and which did not, as lines."""
    rest = [device["id"] for device in registry.devices() if device["id"] not in ran]
    return [f"devices that ran ({len(ran)}): {', '.join(sorted(ran)) or 'none'}",
            f"devices that did not ({len(rest)}): {', '.join(rest) or 'none'}"]


def _options(arguments):
    """The command line; every path absolute, every file there."""
    parser = argparse.ArgumentParser(prog="fleet_test.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kiln", type=_file, required=True, help="the builder")
    parser.add_argument("--kiln-aarch64", type=lambda text: Path(text).absolute(),
                        help="the builder for AArch64; without it such a device does not run")
    parser.add_argument("--kernel-check", type=_file, help="kiln_kernel_check, for that group")
    parser.add_argument("--forge-pack", type=_file,
                        help="kiln_forge_pack; without it no stale packs are made")
    parser.add_argument("--manifest", type=_file, required=True, help="of the case studies")
    parser.add_argument("--base", type=_file,
                        help="base pack of the manifest, for the groups `kernels` and `builds`")
    parser.add_argument("--work", type=lambda text: Path(text).absolute(), required=True,
                        help="folder for everything that is written")
    parser.add_argument("--only", choices=("fleet", "kernels", "all_kernels", "emulated", "builds"),
                        help="this group alone")
    parser.add_argument("--jobs", type=int, default=2, help="devices at work at once")
    parser.add_argument("--verbose", action="store_true", help="name what passed, too")
    options = parser.parse_args(arguments)
    if options.only in ("kernels", "all_kernels", "emulated") and not options.kernel_check:
        parser.error(f"the group `{options.only}` needs --kernel-check")
    return options


def _file(text):
    """An absolute path of a file that is there."""
    path = Path(text).absolute()
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"no such file: {text}")
    return path


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
