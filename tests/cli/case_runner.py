# SPDX-License-Identifier: Apache-2.0
"""Carries out the steps of one case in a folder of its own."""

import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading

import scripted
from case_file import CaseError, Result
from damage import bad_golden_packs, damage
from png import write_png

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SECONDS = 120  # that a command may take
# What a command tells after half a minute, which it takes on a busy machine alone.
PROGRESS = re.compile(r"^kiln: \[\d+/\d+\].*\n", re.MULTILINE)
NOBODY = 65534


SEEDING = threading.Lock()


class Skip(Exception):
    """Why a case cannot run here."""


@dataclasses.dataclass
class Settings:
    kiln: pathlib.Path
    pocl_icd: pathlib.Path


def seed_tiny(kiln, variables):
    """The variable with which builds of fixtures/tiny, of which most device cases have some, begin with
    what PoCL makes of its source. The documents' commands build from nothing."""
    with SEEDING, tempfile.TemporaryDirectory(prefix="kiln-case-") as folder:
        pack = pathlib.Path(folder) / "tiny.kiln"
        if not scripted.SEEDED:
            subprocess.run([kiln, "compile", HERE / "fixtures/tiny/tiny.toml", "-o", pack],
                           env=variables, stdout=subprocess.DEVNULL, check=True)
        return scripted.seed(kiln, pack, variables, ("copy/plain", "threshold/spare"))


class Runner:
    """`work` is where commands run; what they must not see lies beside it."""

    def __init__(self, settings, folder):
        self.settings = settings
        self.work = folder / "work"
        self.drivers = folder / "drivers"
        self.home = folder / "home"
        self.user = {}
        self.seed = {}
        for place in (self.work, self.drivers, self.home, self.home / "pocl"):
            place.mkdir()

    def environment(self):
        """No variable of the caller's but those of paths; no driver but those of `needs`."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.home),
            "TMPDIR": str(self.home),
            "LC_ALL": "C.UTF-8",
            "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", ""),
            "OCL_ICD_VENDORS": str(self.drivers),
            "POCL_CACHE_DIR": str(self.home / "pocl"),
            "KILN_STORE": "none",
            **self.seed,
        }

    def become_plain_user(self):
        """What follows runs as a user whom permissions hold back, if this is root: on a copy
        of the executable, since its folder may be closed to others."""
        if os.geteuid() != 0:
            return
        copy = self.work.parent / "kiln"
        # By another process: children that other threads fork would hold the file open for
        # writing, and it could not be run.
        subprocess.run(["cp", "-p", self.settings.kiln, copy], check=True)
        self.settings = dataclasses.replace(self.settings, kiln=copy)
        self.work.parent.chmod(0o755)
        for place in (self.work, self.drivers, self.home, self.home / "pocl"):
            os.chown(place, NOBODY, NOBODY)
        self.user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}

    def run(self, step):
        """Runs a command; `> NAME` at its end sends its output to that file."""
        kiln = self.settings.kiln
        words = [str(kiln) if word == "kiln" else word for word in step.words]
        target = None
        if len(words) > 2 and words[-2] == ">":
            target = open(self.work / words[-1], "wb")
            words = words[:-2]
        try:
            done = subprocess.run(words, cwd=self.work, env=self.environment(), timeout=SECONDS,
                                  stdin=subprocess.DEVNULL, stdout=target or subprocess.PIPE,
                                  stderr=subprocess.PIPE, check=False, **self.user)
        except subprocess.TimeoutExpired as error:
            raise CaseError(f"{step.lines[0]}: no end after {SECONDS} seconds") from error
        except OSError as error:
            raise CaseError(f"{step.lines[0]}: {error}") from error
        finally:
            if target:
                target.close()
        out = (done.stdout or b"").decode("utf-8", "backslashreplace")
        err = PROGRESS.sub("", done.stderr.decode("utf-8", "backslashreplace"))
        return Result(out, err, done.returncode, json_faults(step, out))

    # The directives.

    def file(self, step, name):
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(step.body, encoding="utf-8")

    def copy(self, _, source, name=None):
        """From fixtures/, or with a leading slash from the project's root."""
        origin = ROOT / source[1:] if source.startswith("/") else HERE / "fixtures" / source
        target = self.work / (name or origin.name)
        (shutil.copytree if origin.is_dir() else shutil.copyfile)(origin, target)

    def folder(self, _, name, mode="755"):
        (self.work / name).mkdir()
        (self.work / name).chmod(int(mode, 8))

    def bytes(self, _, name, source, *changes):
        data = (self.work / source).read_bytes() if source != "-" else b""
        (self.work / name).write_bytes(damage(data, changes))

    def bad(self, _, name, row):
        (self.work / name).write_bytes(bad_golden_packs()[row][0])

    def png(self, _, name, width, height, bits="8"):
        write_png(self.work / name, int(width), int(height), int(bits))

    def needs(self, _, what):
        if what == "pocl":
            if not self.settings.pocl_icd.is_file():
                raise Skip(f"PoCL is not here: no {self.settings.pocl_icd}")
            shutil.copy(self.settings.pocl_icd, self.drivers / "pocl.icd")
            self.seed = seed_tiny(self.settings.kiln, self.environment())
        elif what == "user":
            self.become_plain_user()
        elif shutil.which(what) is None:
            raise Skip(f"{what} is not in PATH")

    def direct(self, step):
        names = ("file", "copy", "folder", "bytes", "bad", "png", "needs")
        if step.words[0] not in names:
            raise CaseError(f"unknown directive {step.words[0]}; there are: {', '.join(names)}")
        try:
            getattr(self, step.words[0])(step, *step.words[1:])
        except (TypeError, ValueError, KeyError) as error:
            raise CaseError(f"{step.lines[0]}: {error}") from error


def json_faults(step, text):
    """Whatever a command prints with --json must be JSON of schema 1."""
    if "--json" not in step.words or not text:
        return []
    try:
        schema = json.loads(text).get("schema")
    except (ValueError, AttributeError) as error:
        return [f"{step.lines[0]}: not a JSON object: {error}"]
    return [] if schema == 1 else [f"{step.lines[0]}: schema is {schema}, not 1"]


def run_case(steps, settings, folder):
    """The results of the commands, in order."""
    runner = Runner(settings, folder)
    results = []
    for step in steps:
        if step.is_command:
            results.append(runner.run(step))
        elif step.words:
            runner.direct(step)
    return results
