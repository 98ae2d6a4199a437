# SPDX-License-Identifier: Apache-2.0
"""The laboratory's devices as a fleet: a folder each, with the builder and the packs in it."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import registry
from suite import Failed, Skipped, expect

LAB = Path(__file__).with_name("lab.py")
TIMEOUT_SECONDS = 1200
REFERENCES = "libkiln_case_references.so"  # what checks the case studies, beside each executable
STARTUP = "kiln_startup"  # what measures a start, beside the host's executable
# The compiler orders by address: names of files, the number of a process id's digits, and what the
# process did before move the heap.
ORDERED_BY_ADDRESS = ("neo-20.44-tgllp",)
# On a busy machine these gave other bytes once in hundreds of builds: they get three tries.
UNSTEADY = (*ORDERED_BY_ADDRESS, "rusticl-22.3", "rusticl-25.0")
# Cleared for every command: a warm cache or a checker's option would change what is seen.
DROPPED = ("POCL_CACHE_DIR", "KILN_OCLGRIND_ARGS")
os.environ.setdefault("KILN_STORE", "none")
WARM = {"MESA_SHADER_CACHE_DIR": "mesa-kept"}  # in the device's folder


@dataclass(frozen=True)
class Finished:
    """A command that ended."""

    code: int
    out: str
    err: str

    def expect_code(self, code, what):
        """This, when it ended with the code; Failed otherwise."""
        if self.code != code:
            said = (self.err.strip() or self.out.strip())[-1500:]
            raise Failed(f"{what} ended with {self.code}, not {code}\n{said}")
        return self

    def json(self):
        """The JSON on standard output."""
        return json.loads(self.out)


def call(command, folder, environment=None, seconds=TIMEOUT_SECONDS):
    """Runs a program to its end, or to the end of its time, when all that it started ends."""
    variables = {name: value for name, value in os.environ.items() if name not in DROPPED}
    variables.update(environment or {})
    with subprocess.Popen([str(word) for word in command], cwd=folder, env=variables, text=True,
                          errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, start_new_session=True) as process:
        try:
            out, err = process.communicate(timeout=seconds)
        except BaseException as error:
            _end_session(process.pid)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            words = " ".join(str(word) for word in command)
            raise Failed(f"no answer in {seconds} s: {words}") from None
    return Finished(process.returncode, out, err)


def _end_session(session):
    """Ends what is left of a session: workers have process groups of their own."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getsid(int(folder.name)) == session:
                os.kill(int(folder.name), signal.SIGKILL)


class Station:
    """One device and its folder. Several stations may stand for one device."""

    def __init__(self, device, folder, kiln):
        self.device, self.folder = device, folder
        folder.mkdir(parents=True)
        self.program = Path(kiln)
        self.bring(kiln, "kiln")
        self.bring(self.program.with_name("kiln-fleet"), "kiln-fleet")
        self.bring(self.program.with_name(REFERENCES))

    @property
    def id(self):
        """The device's id in the registry."""
        return self.device["id"]

    def bring(self, path, name=None):
        """Copies a file into the folder; its name there."""
        target = self.folder / (name or Path(path).name)
        shutil.copy(path, target)
        return target.name

    def call(self, *command, settings=None, environment=None):
        """Runs a command on the device. `settings` are for the command, the rest for lab.py."""
        line = [sys.executable, LAB, "run", self.id, "--dir", self.folder]
        for name, value in (settings or {}).items():
            line += ["--env", f"{name}={value}"]
        return call([*line, "--", *command], self.folder, environment)

    def kiln(self, *arguments, **variables):
        """Runs the builder on the device."""
        return self.call("./kiln", *arguments, **variables)

    def startup(self, pack, *options):
        """What one start from the pack costs (tests/bench/kiln_startup.cpp): the device's row."""
        self.bring(self.program.with_name(STARTUP))
        done = self.call(f"./{STARTUP}", pack, "--device", self.device["select"], "--rounds", "1",
                         *options)
        (row,) = done.expect_code(0, STARTUP).json()["devices"]
        return row

    def warm_kiln(self, *arguments, **variables):
        """The same where it does not matter what is compiled: Mesa opens in seconds without a cache."""
        return self.kiln(*arguments, settings=WARM, **variables)

    @property
    def emulated(self):
        """Whether every instruction takes ten, compilers' included."""
        return self.device["way"] == "qemu"

    @property
    def small(self):
        """Whether it builds one variant of one program, for its time: stable drivers build all, and
        what a moving one does wrong is reported and fails nothing."""
        return self.emulated or self.device["moving"]

    def build(self, pack, output, *options):
        """`kiln build` of a pack in the folder; its JSON summary, failed jobs included."""
        done = self.kiln("build", pack, "--device", self.device["select"], "-o", output, "--json",
                         *options,
                         *(["--preferred"] if self.small else []),
                         *(["-j", "1"] if self.device["id"] in ORDERED_BY_ADDRESS else []))
        expect(done.code in (0, 1) and done.out, f"kiln build ended with {done.code}: {done.err}")
        summary = done.json()
        return done.expect_code(1 if summary["failures"] else 0, "kiln build").json()

    def explain(self, pack, program, variant, *flags, code=0):
        """The load report of one variant."""
        done = self.warm_kiln("explain", program, "--variant", variant, "--pack", pack, "--device",
                         self.device["select"], "--json", *flags)
        return done.expect_code(code, f"kiln explain {program} --variant {variant}").json()


class Fleet:
    """All devices of the registry, one station each, and the host that makes and merges packs."""

    def __init__(self, kiln, kiln_aarch64, work):
        self._kiln = {"qemu": kiln_aarch64}
        self.host_kiln, self.work = kiln, work
        self.stations = {}
        self.ran = set()
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)

    @staticmethod
    def read_json(path):
        """What a JSON file holds."""
        return json.loads(path.read_text(encoding="utf-8"))

    def host(self, *arguments, folder=None, variables=None, **limits):
        """Runs the builder where no device is needed."""
        return call([self.host_kiln, *arguments], folder or self.work, variables, **limits)

    def open_station(self, name):
        """Makes the device's station; says that it is not there, or that its driver fails."""
        device = registry.find_device(name)
        reason = registry.unavailable(device)
        kiln = self._kiln_for(device)
        if not reason and not (kiln and kiln.is_file()):
            reason = f"no builder for its architecture: {kiln or '--kiln-aarch64 was not given'}"
        if reason:
            raise (Skipped if device["moving"] else Failed)(f"not available: {reason}")
        station = Station(device, self.work / name, kiln)
        listed = station.kiln("devices", "--device", device["select"], "--json")
        if listed.code and device["moving"]:
            raise Skipped(f"the moving suite's driver does not start: {listed.err.strip()}")
        found = listed.expect_code(0, "kiln devices").json()["devices"]
        expect(len(found) == 1, f"{len(found)} devices match {device['select']}, not one")
        station.key = found[0]["key"]
        self.stations[name] = station
        self.ran.add(name)

    def another_station(self, name, folder):
        """A station of the same device in another folder."""
        device = registry.find_device(name)
        return Station(device, self.work / folder / name, self._kiln_for(device))

    def need(self, name):
        """The device's station; the scenario is skipped or fails where there is none."""
        if name in self.stations:
            return self.stations[name]
        moving = registry.find_device(name)["moving"]
        raise (Skipped if moving else Failed)(f"{name} did not run")

    def named(self, **wanted):
        """Ids of the devices with a station whose registry entry has these values."""
        return [name for name, station in self.stations.items()
                if all(station.device.get(key) == value for key, value in wanted.items())]

    def on_host(self):
        """Ids of the devices of the host itself that use the host's own loader."""
        return [name for name in self.named(way="host")
                if "loader" not in self.stations[name].device]

    def _kiln_for(self, device):
        """The builder's executable for the device's architecture, or None."""
        return self._kiln.get(device["way"], self.host_kiln)
