#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The laboratory: real OpenCL drivers for machines that have no GPU. See README.md."""

import argparse
import json
import sys

import fetch
import registry
import sandbox

EXIT_FAILED, EXIT_NOT_RUN, EXIT_INTERRUPTED = 1, 125, 130


def main(arguments):
    """Runs one subcommand and returns the exit code."""
    parser = _parser()
    ours, command = _split(arguments)
    options = parser.parse_args(ours)
    if bool(command) != (options.action is do_run):
        parser.error("`run`, and it alone, takes `-- COMMAND ARGS...`")
    options.command = command
    try:
        return options.action(options)
    except registry.LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return EXIT_NOT_RUN if options.action is do_run else EXIT_FAILED
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _split(arguments):
    """The arguments before and after the first `--`."""
    if "--" not in arguments:
        return arguments, []
    place = arguments.index("--")
    return arguments[:place], arguments[place + 1:]


def do_fetch(options):
    """`lab.py fetch`; not where no root could be entered afterwards."""
    fault = registry.sandbox_fault()
    if fault:
        raise registry.LabError(fault)
    return fetch.fetch_all(options.suites, options.check, options.stable_only, options.refresh)


def do_list(options):
    """`lab.py list`"""
    rows = [_row(device) for device in registry.devices()]
    if options.json:
        print(json.dumps({"schema": 1, "devices": rows}, indent=1))
        return 0
    for row in rows:
        kind = "moving" if row["moving"] else "stable"
        state = "available" if row["available"] else f"not available: {row['reason']}"
        print(f"{row['id']:18} {row['suite']:15} {kind:7} "
              f"{row['driver'] + ' ' + row['version']:14} {state}")
    return 0


def do_run(options):
    """`lab.py run`"""
    device = registry.find_device(options.device)
    settings = dict(setting.partition("=")[::2] for setting in options.env)
    return sandbox.run(device, options.command, options.dir, settings, options.own_libc)


def do_path(options):
    """`lab.py path`"""
    print(registry.folder(*options.place.split("/", 1)) if options.place else registry.lab_dir())
    return 0


def _row(device):
    """What `list` says about one device."""
    reason = registry.unavailable(device)
    keys = ("id", "suite", "moving", "driver", "version", "platform", "device", "select",
            "executes", "il")
    return {**{key: device[key] for key in keys}, "available": reason is None, "reason": reason}


def _parser():
    """The command line."""
    parser = argparse.ArgumentParser(prog="lab.py", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    one = commands.add_parser("fetch", help="bring the suites into the laboratory's folder")
    one.add_argument("suites", nargs="*", metavar="SUITE", help="these alone")
    one.add_argument("--check", metavar="GROUP",
                     help="those that this group of `bootstrap.sh check` alone uses; "
                          "default: those that no group has for itself")
    one.add_argument("--stable-only", action="store_true", help="leave the moving suites out")
    one.add_argument("--refresh", action="store_true", help="fetch the moving suites anew")
    one.set_defaults(action=do_fetch)

    one = commands.add_parser("list", help="the devices, and which of them can be run now")
    one.add_argument("--json", action="store_true")
    one.set_defaults(action=do_list)

    one = commands.add_parser("run", help="run a command on a device",
                              usage="lab.py run DEVICE [--dir D] [--env N=V] [--own-libc] "
                                    "-- COMMAND ARGS...")
    one.add_argument("device", metavar="DEVICE")
    one.add_argument("--dir", metavar="D",
                     help="working directory, /fleet inside; default: a new one")
    one.add_argument("--env", metavar="NAME=VALUE", action="append", default=[],
                     help="set a variable for the command")
    one.add_argument("--own-libc", action="store_true",
                     help="leave an older suite its own C library, for programs that were built for it")
    one.set_defaults(action=do_run)

    one = commands.add_parser("path", help="where a part of the laboratory lies")
    one.add_argument("place", nargs="?", metavar="SUITE[/PART]")
    one.set_defaults(action=do_path)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
