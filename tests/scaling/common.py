# SPDX-License-Identifier: Apache-2.0
"""What the tests of docs/operate/scaling.md share: Intel's driver as GPUs that are not there, folders, the
files that the page has users copy, a kiln that dies, and processes that are ended with all theirs.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
import skips  # pylint: disable=wrong-import-position

KILN = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RECIPES = ROOT / "docs" / "operate" / "scaling"
PAGE = ROOT / "docs" / "operate" / "scaling.md"
INTEL = Path("/etc/OpenCL/vendors/intel.icd")
POCL = Path("/etc/OpenCL/vendors/pocl.icd")
PATIENCE = 120  # seconds until something that must happen counts as a failure
VARIANTS = 6    # of matrix.toml


def skip(reason):
    """Ends the script."""
    print(f"SKIP: {reason}")
    sys.exit(77)


def main(*tools, root=False):
    """Runs the script's tests, if these tools and Intel's driver are here."""
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    for tool in tools:
        if shutil.which(tool) is None:
            skip(f"{tool} is not here")
    if not INTEL.exists():
        skip("Intel's driver is not here")
    if root and os.geteuid() != 0:
        skip("its daemons need root")
    skips.run_cases()


def neo(gpu):
    """The variables that make Intel's driver this GPU, which builds and launches nothing."""
    return {"OCL_ICD_VENDORS": str(INTEL), "NEOReadDebugKeys": "1", "SetCommandStreamReceiver": "1",
            "ProductFamilyOverride": gpu, "AUBDumpCaptureFileName": "/dev/null",
            "NEO_CACHE_PERSISTENT": "0"}


def block(word, language="sh", page=PAGE):
    """The page's one block of commands, or of another language, that has this word."""
    text = page.read_text(encoding="utf-8")
    return next(found for tag, found in re.findall(r"```(\w*)\n(.*?)```", text, re.DOTALL)
                if tag == language and word in found)


def wait_until(what, ready):
    """Waits for a condition that another process makes true."""
    end = time.monotonic() + PATIENCE
    while not ready():
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {PATIENCE} seconds")
        time.sleep(0.02)


def free_port():
    """A port of loopback that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def descendants(pid):
    """A process and all below it."""
    below = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="latin-1").rsplit(")", 1)[1].split()
        except OSError:
            continue  # it has ended
        below.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found = [pid]
    for each in found:
        found += below.get(each, [])
    return found


def signal_each(pids, number):
    """Signals processes, some of which may have ended."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


class Scaling(unittest.TestCase):
    """A folder with a base pack of VARIANTS programs, and `kiln` on the path."""

    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.base = Path(place.name) / "base.kiln"
        subprocess.run([KILN, "compile", HERE / "matrix.toml", "-o", cls.base], check=True,
                       stdout=subprocess.DEVNULL)
        cls.wholes = {}

    def setUp(self):
        place = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)
        self.tools = self.folder / "tools"
        self.tools.mkdir()
        (self.tools / "kiln").symlink_to(KILN)
        self.environment = dict(os.environ, **neo("skl"), HOME=str(self.folder), LC_ALL="C.UTF-8")
        self.environment["PATH"] = f"{self.tools}:{os.environ['PATH']}"
        shutil.copy(self.base, self.folder / "base.kiln")

    def run_command(self, *words, code=0, gpu=None, cwd=None, **more):
        """Runs a command to its end; what it printed to standard output. `more` are variables."""
        environment = dict(self.environment, **(neo(gpu) if gpu else {}), **more)
        done = subprocess.run([str(word) for word in words], cwd=cwd or self.folder,
                              env=environment, capture_output=True, text=True, check=False,
                              timeout=PATIENCE)
        self.assertEqual(done.returncode, code, f"{words}: {done.stderr}{done.stdout}")
        self.said = done.stderr
        return done.stdout

    def whole(self, *gpus):
        """The bytes of what one build of everything gives, on one GPU after the other."""
        if gpus not in self.wholes:
            path = self.base.with_name("-".join(gpus))
            for gpu in gpus:
                self.run_command("kiln", "build", "base.kiln", "-o", path, gpu=gpu)
            self.wholes[gpus] = path.read_bytes()
        return self.wholes[gpus]

    def check_same(self, name, expected):
        """Whether a pack of the folder has these bytes."""
        if (self.folder / name).read_bytes() == expected:
            return
        (self.folder / "expected").write_bytes(expected)
        done = subprocess.run([KILN, "pack", "diff", name, "expected"], cwd=self.folder, check=False,
                              capture_output=True, text=True)
        self.fail(f"{name} has other bytes than one build of everything: {done.stdout}")

    def binaries(self, name):
        """How many binaries each target of a pack has."""
        shown = json.loads(self.run_command("kiln", "pack", "inspect", name, "--json"))
        return sorted(len(target["binaries"]) for target in shown["targets"])

    def wrap_kiln(self, shells):
        """Puts a kiln on the path that does something before it builds a shard: shell by shard."""
        path = self.tools / "kiln"
        path.unlink(missing_ok=True)
        cases = "".join(f"*' --shard {shard} '*) {shell} ;;\n" for shard, shell in shells.items())
        path.write_text(f'#!/bin/sh\ncase " $* " in\n{cases}esac\nexec {KILN} "$@"\n',
                        encoding="utf-8")
        path.chmod(0o755)

    def once(self, name, shell):
        """Shell that is run once alone, and makes a folder of that name before."""
        return f"if mkdir '{self.folder}/{name}' 2>/dev/null; then {shell}; fi"

    def daemon(self, *words):
        """Starts a process that is ended with all below it when the test is over."""
        log = open(self.folder / f"{Path(words[0]).name}.out", "ab")
        process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=log, env=self.environment, cwd=self.folder)
        self.addCleanup(log.close)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        """Ends a process and all below it."""
        signal_each(descendants(process.pid), signal.SIGKILL)
        process.wait()
