#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is told of a build while it runs: events for programs, lines for people.

    events_test.py KILN TEST-DRIVER

TEST-DRIVER is the scripted driver, behind which PoCL compiles. The events are held against the
tables of docs/operate/events.md. Exit codes: 0 passed, 1 failed, 77 a driver or a tool is not installed.
"""

import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import scripted

KILN, DRIVER = sys.argv[1:3]
PAGE = Path(__file__).resolve().parents[2] / "docs" / "operate" / "events.md"
TYPES = {"number": (int,), "string": (str,), "array": (list,), "boolean": (bool,)}
JOB = {"job": "number", "program": "string", "variant": "string", "device": "string"}
HANG = 34  # seconds: more than the half minute after which a pipe gets a line

MANIFEST = """schema = 1
[spirv]
address_bits = [64]
"""
PROGRAM = """[program.{name}]
source = "{name}.cl"
kernels = "all"
"""
SOURCE = "kernel void fill(global int *out) {{ int {name} = 1; out[get_global_id(0)] = {name}; }}\n"
SCRIPT = scripted.DEVICE + """[[fault]]
at = "clBuildProgram"
text = "dies"
do = "segv"
[[fault]]
at = "clBuildProgram"
text = "hangs"
do = "hang"
"""


def members_of_events():
    """By event: each member with its type and whether it is optional."""
    events, name = {}, ""
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            name = line[3:]
        row = re.fullmatch(r"\| (`.*`) \| ([a-z, ]*) ?\| .* \|", line)
        if row is None:
            continue
        for member in re.findall(r"`([a-z_]+)`", row[1]):
            kind = row[2].strip() or JOB[member]
            events.setdefault(name, {})[member] = kind
    for own in events.values():
        own.update(events[""])
    del events[""]
    return events


class Place:
    """A folder with a base pack, and one driver that crashes and hangs."""

    def __init__(self, *names):
        self.temporary = tempfile.TemporaryDirectory(prefix="kiln-events-")
        self.folder = Path(self.temporary.name)
        self.variables = {**scripted.use(self.folder, DRIVER, SCRIPT), "TERM": "xterm"}
        manifest = MANIFEST
        for name in names:
            manifest += PROGRAM.format(name=name)
            (self.folder / f"{name}.cl").write_text(SOURCE.format(name=name))
        (self.folder / "all.toml").write_text(manifest)
        made = self.run("compile", "all.toml", "-o", "base.kiln")
        if made.returncode == 5:
            scripted.skip(made.stderr.strip())

    def run(self, *words, **options):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.run([KILN, *words], cwd=self.folder, text=True, env=self.variables,
                              stdin=subprocess.DEVNULL, check=False, **{**pipes, **options})

    def build(self, *words, output="out.kiln", **options):
        return self.run("build", "base.kiln", "-o", output, "-j", "2", "--no-finish",
                        "--timeout", str(HANG), *words, **options)

    def events(self):
        lines = (self.folder / "events").read_text().splitlines()
        return [json.loads(line) for line in lines]


class Events(unittest.TestCase):
    def check(self, events):
        """That they are as the page says, each job with one end."""
        page = members_of_events()
        last = 0
        for event in events:
            members = dict(page[event["event"]])
            for member, value in event.items():
                kind = members.pop(member)  # a KeyError: the page does not have it
                self.assertIn(type(value), TYPES[kind.split(",")[0]], f"{member} of {event}")
            for member, kind in members.items():
                self.assertIn("optional", kind, f"{member} is missing in {event}")
            self.assertEqual(event["schema"], 1)
            self.assertGreaterEqual(event["at"], last)
            last = event["at"]
        self.assertEqual((events[0]["event"], events[-1]["event"]), ("begin", "end"))
        ends = [event["job"] for event in events if event["event"] in ("done", "failed")]
        self.assertEqual(len(ends), events[0]["compile"] + events[0]["reuse"])
        self.assertEqual(len(set(ends)), len(ends))

    def test_a_build_with_faults_is_told_as_the_page_says(self):
        place = Place("a", "b", "dies", "hangs")
        (place.folder / "events").write_text("of a build before\n")
        done = place.build("--events", "events")
        self.assertEqual(done.returncode, 1, done.stderr)
        events = place.events()
        self.check(events)
        self.assertEqual(
            {key: events[0][key] for key in ("jobs", "compile", "reuse", "skip", "workers")},
            {"jobs": 4, "compile": 4, "reuse": 0, "skip": 0, "workers": 2})
        by_name = {"done": {}, "failed": {}}
        for event in events:
            if event["event"] in by_name:
                by_name[event["event"]][event["program"]] = event
        self.assertEqual(sorted(by_name["done"]), ["a", "b"])
        for event in by_name["done"].values():
            self.assertEqual(event["how"], "compiled")
            self.assertRegex(event["device"], "^Scripted platform: Scripted GPU ")
        died, hung = by_name["failed"]["dies"], by_name["failed"]["hangs"]
        self.assertEqual((died["code"], hung["code"]), ("process", "process"))
        self.assertRegex(died["reason"], "^crashed with signal 11")
        self.assertRegex(hung["reason"], "^gave no answer in time and was killed")
        self.assertGreaterEqual(hung["milliseconds"], HANG * 1000)
        # While one job hangs the others go on, and it is seen to hang.
        alone = [event["running"] for event in events if event["event"] == "heartbeat"
                 and [one["job"] for one in event["running"]] == [hung["job"]]]
        self.assertGreaterEqual(len(alone), HANG // 5 - 2)
        times = [running[0]["milliseconds"] for running in alone]
        self.assertEqual(times, sorted(times))
        # People see a line of it each half minute, and nothing that moves a cursor; a workaround hangs,
        # too.
        self.assertNotRegex(done.stdout + done.stderr, "[\\x00-\\x09\\x0b-\\x1f]")
        lines = [line for line in done.stderr.splitlines() if line.startswith("kiln: [")]
        self.assertIn(len(lines), (1, 2, 3), done.stderr)
        self.assertRegex(lines[0], r"^kiln: \[3/4\] .*1 failed: hangs/.* for Scripted platform")
        self.check_later_builds(place)

    def check_later_builds(self, place):
        """The store has what went well, and then so does the pack."""
        place.run("build", "base.kiln", "-o", "again.kiln", "--no-finish", "--timeout", "0.5",
                  "--events", "events")
        first = place.events()
        place.run("build", "base.kiln", "-o", "again.kiln", "--no-finish", "--timeout", "0.5",
                  "--events", "events")
        for events, how in ((first, "stored"), (place.events(), "reused")):
            self.check(events)
            self.assertEqual([event["how"] for event in events if event["event"] == "done"],
                             [how, how])

    def test_on_standard_output_there_is_nothing_but_events(self):
        place = Place("a")
        done = place.build("--events", "-")
        events = [json.loads(line) for line in done.stdout.splitlines()]
        self.check(events)
        self.assertEqual(events[-1]["compiled"], 1)
        self.assertEqual(done.stderr, "")

    def test_events_that_cannot_be_written_are_told_and_cost_no_build(self):
        place = Place("a")
        done = place.build("--events", "/dev/full")
        self.assertEqual(done.stderr,
                         "kiln: /dev/full: no more events: No space left on device\n")
        self.assertEqual(done.returncode, 0)
        done = place.build("--events", "nowhere/events")
        self.assertEqual(done.stderr, "kiln: nowhere/events: No such file or directory\n")
        self.assertEqual(done.returncode, 1)


class Terminal(unittest.TestCase):
    def terminal_output(self, place, **variables):
        place.variables.update(variables)
        ours, its = pty.openpty()
        with subprocess.Popen(
                [KILN, "build", "base.kiln", "-o", "out.kiln", "--no-finish", "--fresh"],
                cwd=place.folder, env=place.variables, stdin=subprocess.DEVNULL, stdout=its,
                stderr=its) as process:
            os.close(its)
            text = b""
            while True:
                try:
                    part = os.read(ours, 65536)
                except OSError:  # the other end is closed
                    break
                text += part
            self.assertEqual(process.wait(), 0)
        os.close(ours)
        return text.decode()

    def test_on_a_terminal_one_line_is_written_over_and_taken_away(self):
        place = Place("a", "b", "c")
        lines = self.terminal_output(place).split("\r\x1b[K")
        self.assertEqual(lines[0], "")
        self.assertRegex(lines[1], r"^\[0/3\] a/.* for Scripted platform: Scripted GPU")
        self.assertRegex(lines[-2], r"^\[3/3\]")
        self.assertRegex(lines[-1], r"^out.kiln: 1 target; binaries: 3 compiled")
        for line in lines[:-1]:
            self.assertLess(len(line), 80)

    def test_a_terminal_that_knows_no_control_characters_gets_none(self):
        place = Place("a")
        self.assertRegex(self.terminal_output(place, TERM="dumb"), "^out.kiln: 1 target")


if __name__ == "__main__":
    scripted.need("libpocl.so.2")
    unittest.main(argv=sys.argv[:1])
