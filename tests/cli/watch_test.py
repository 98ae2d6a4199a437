#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kiln fleet watch with a scripted driver that is updated: what asks the devices, what is fetched or
built, and faults: each is named, and the old pack stays. Prints the time with nothing to do.

    watch_test.py KILN TEST-DRIVER

Exit codes: 0 passed, 1 failed, 77 a driver or a tool is not installed.
"""

import http.server
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from functools import partial
from pathlib import Path

import scripted

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
import skips  # pylint: disable=wrong-import-position

KILN, DRIVER = sys.argv[-2:]
TINY = Path(__file__).resolve().parent / "fixtures/tiny/tiny.toml"
JOBS = 4  # of a build
AT_ONCE = 2
STARTS = 31
SCRIPT = 'log = "{folder}/calls"\n' + scripted.DEVICE
DIES = '[[fault]]\nat = "clGetDeviceIDs"\ndo = "segv"\n'


BASES = {}  # base packs by the number of jobs


class Machine:
    """A folder with a base pack, a pack that the first driver made, and the driver."""

    def __init__(self, jobs=JOBS, driver=DRIVER):
        self.temporary = tempfile.TemporaryDirectory(prefix="kiln-watch-")
        self.folder = Path(self.temporary.name)
        self.variables = scripted.use(self.folder, driver, SCRIPT)
        scripted.write_jobs(self.folder, jobs)
        base = self.folder / "base.kiln"
        if jobs not in BASES:
            self.run(KILN, "compile", "one.toml", "-o", base)
            BASES[jobs] = base.read_bytes()
        base.write_bytes(BASES[jobs])
        if driver == DRIVER:
            self.variables.update(scripted.seed(KILN, base, self.variables,
                                                [f"all.{number}" for number in range(jobs)]))

    def update_driver(self, version, faults=""):
        """The same driver in another version, as its ICD file's date shows, too."""
        scripted.use(self.folder, DRIVER,
                     SCRIPT + f'driver_version = "{version}"\n' + faults)
        icd = self.folder / "icd/one.icd"
        icd.unlink()
        icd.write_text(DRIVER + "\n")

    def start(self, *words, before=()):
        return subprocess.Popen([*before, *map(str, words)], cwd=self.folder, text=True,
                                env=self.variables, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *words, code=0, before=()):
        """What a command prints to both; it must end with that code."""
        with self.start(*words, before=before) as process:
            out, err = process.communicate()
        if process.returncode == 5 and "clang" in err:
            scripted.skip(err.strip())
        if process.returncode != code:
            raise AssertionError(f"{words}: exit {process.returncode}: {err}{out}")
        return out, err

    @staticmethod
    def words(*more, speed=("--full-speed",)):
        return (KILN, "fleet", "watch", "--state", "state", "--pack", "app.kiln", "-j", str(AT_ONCE),
                "--json", *speed, *more)

    def watch(self, *more, code=0):
        """The report, and what standard error holds."""
        out, err = self.run(*self.words(*more), code=code)
        return json.loads(out), err

    def calls(self, word=""):
        path = self.folder / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        return sum(word in line for line in lines)

    def compiled(self):
        return self.calls(" clBuildProgram source ")

    def pack(self):
        return (self.folder / "app.kiln").read_bytes()

    def targets(self):
        out, _ = self.run(KILN, "pack", "inspect", "app.kiln", "--json")
        return json.loads(out)["targets"]

    def rungs(self):
        """What a start of an application loads the programs from."""
        return {json.loads(self.run(KILN, "explain", f"all.{number}", "--pack", "app.kiln",
                                    "--json")[0])["rung"] for number in range(JOBS)}


def outcome(report):
    (device,) = report["devices"]
    return device["outcome"]


class Watch(unittest.TestCase):
    def setUp(self):
        self.machine = Machine()
        self.first = self.machine.watch("--base", "base.kiln")[0]
        self.addCleanup(self.machine.temporary.cleanup)

    def test_with_nothing_to_do_no_driver_is_opened(self):
        self.assertEqual((outcome(self.first), self.first["missing"]), ("built", 0))
        before = self.machine.calls()
        times = []
        for _ in range(STARTS):
            start = time.perf_counter()
            report, _ = self.machine.watch("--base", "base.kiln")
            times.append(time.perf_counter() - start)
            self.assertEqual((report["changed"], report["written"]), ("", False))
        self.assertEqual(self.machine.calls(), before)
        print(f"nothing to do: median {statistics.median(times) * 1000:.1f} ms of {STARTS}")

    def test_each_change_asks_the_devices_and_an_update_is_built_before_a_start(self):
        machine = self.machine
        for change, why in ((lambda: os.utime(machine.folder / "icd/one.icd"), "one.icd has changed"),
                            (lambda: os.utime(machine.folder / "app.kiln"), "app.kiln has changed"),
                            (lambda: machine.variables.update(POCL_DEBUG=""), "POCL_DEBUG is new")):
            change()
            report, _ = machine.watch()
            self.assertIn(why, report["changed"] + " " + str(report))
            self.assertEqual((outcome(report), report["written"]), ("served", False))
        machine.update_driver("2")
        self.assertNotIn("exact", machine.rungs())
        start = time.perf_counter()
        report, _ = machine.watch()
        served = time.perf_counter() - start
        self.assertEqual((outcome(report), report["missing"]), ("built", 0))
        compiled = machine.compiled()
        self.assertEqual(machine.rungs(), {"exact"})
        self.assertEqual(machine.compiled(), compiled)
        self.assertEqual(len(machine.targets()), 2)  # the driver may be rolled back
        start = time.perf_counter()
        machine.run(KILN, "build", "base.kiln", "-o", "plain.kiln", "-j", AT_ONCE)
        print(f"update to served: {served:.2f} s, kiln build: {time.perf_counter() - start:.2f} s")

    def test_two_at_once_build_once(self):
        machine = self.machine
        machine.update_driver("2")
        before = machine.compiled()
        both = [machine.start(*machine.words()) for _ in range(2)]
        for process in both:
            with process:
                out, err = process.communicate()
            self.assertEqual((process.returncode, json.loads(out)["missing"]), (0, 0), err)
        self.assertEqual(machine.compiled(), before + JOBS)

    def test_a_killed_run_leaves_the_old_pack_and_the_next_one_resumes(self):
        machine = self.machine
        old, before = machine.pack(), machine.compiled()
        machine.update_driver("2")
        kills = 0
        for wanted in range(1, JOBS, 2):
            with machine.start(*machine.words()) as process:
                while machine.compiled() - before < wanted + AT_ONCE * kills and process.poll() is None:
                    time.sleep(0.001)
                if process.poll() is None:
                    kills += 1
                    process.kill()
                    self.assertEqual(machine.pack(), old)
        self.assertGreater(kills, 0)
        report, _ = machine.watch()
        self.assertEqual((report["missing"], len(machine.targets())), (0, 2))
        self.assertLessEqual(machine.compiled() - before, JOBS + AT_ONCE * kills)
        self.assertEqual(machine.rungs(), {"exact"})

    def replace_during_a_build(self, name, *more, code=0):
        """Moves release.kiln to a name while a driver's update is built for; standard error."""
        machine = self.machine
        before = machine.compiled()
        machine.update_driver("2")
        with machine.start(*machine.words(*more)) as process:
            while machine.compiled() == before and process.poll() is None:
                time.sleep(0.001)
            self.assertIsNone(process.poll(), "it ended before the replacement")
            os.replace(machine.folder / "release.kiln", machine.folder / name)
            _, err = process.communicate()
        self.assertEqual(process.returncode, code, err)
        return err

    def test_a_release_of_the_application_meanwhile_is_not_overwritten(self):
        machine = self.machine
        scripted.write_jobs(machine.folder, JOBS + 1)
        machine.run(KILN, "compile", "one.toml", "-o", "release.kiln")
        release = (machine.folder / "release.kiln").read_bytes()
        err = self.replace_during_a_build("app.kiln", code=1)
        self.assertIn("app.kiln: replaced by another pack meanwhile", err)
        self.assertEqual(machine.pack(), release)
        report, _ = machine.watch()
        self.assertEqual((outcome(report), report["missing"]), ("built", 0))

    def test_a_base_that_is_replaced_meanwhile_is_seen_by_the_next_run(self):
        machine = self.machine
        scripted.write_jobs(machine.folder, JOBS + 1)
        machine.run(KILN, "compile", "one.toml", "-o", "release.kiln")
        self.replace_during_a_build("base.kiln", "--base", "base.kiln")
        report, _ = machine.watch("--base", "base.kiln")
        self.assertIn("base.kiln has changed", report["changed"])
        self.assertEqual((outcome(report), report["missing"]), ("built", 0))

    def test_a_build_has_the_lowest_priority(self):
        self.machine.update_driver("2")
        with self.machine.start(*self.machine.words(speed=())) as process:
            while 19 not in _priorities(process.pid) and process.poll() is None:
                time.sleep(0.001)
            self.assertIsNone(process.poll())
            process.kill()

    def test_a_full_disk_keeps_the_old_pack(self):
        scripted.need_small_folders(self)
        machine = self.machine
        (machine.folder / "small").mkdir()
        machine.update_driver("2")
        size = len(machine.pack()) + (24 << 10)  # too small for a second target
        small = ("bwrap", "--dev-bind", "/", "/", "--size", str(size), "--tmpfs",
                 machine.folder / "small")
        script = (f"cp app.kiln small/app.kiln && {KILN} fleet watch --state state --pack small/app.kiln;"
                  " echo code $?; cmp app.kiln small/app.kiln && ls small")
        out, err = machine.run("sh", "-c", script, before=map(str, small))
        self.assertIn("No space left on device", err)
        self.assertEqual(out.split(), ["code", "1", "app.kiln"])

    def test_a_state_that_cannot_be_written_or_is_damaged_is_named(self):
        machine = self.machine
        (machine.folder / "file").write_text("")
        _, err = machine.run(KILN, "fleet", "watch", "--state", "file/state", "--pack", "app.kiln", code=1)
        self.assertIn("file/state: Not a directory", err)
        (machine.folder / "state/state.json").write_text('{"schema": 1')
        report, err = machine.watch()
        self.assertIn("state/state.json: damaged; the devices are asked", err)
        self.assertEqual(outcome(report), "served")
        self.assertEqual(machine.watch()[0]["changed"], "")

    def test_a_driver_that_dies_while_it_is_asked_costs_nothing(self):
        machine = self.machine
        old = machine.pack(), (machine.folder / "state/state.json").read_bytes()
        machine.update_driver("2", DIES)
        _, err = machine.run(*machine.words(), code=5)
        self.assertIn("listing the OpenCL devices: crashed with signal 11", err)
        self.assertEqual((machine.pack(), (machine.folder / "state/state.json").read_bytes()), old)

    def test_a_damaged_pack_is_not_replaced(self):
        machine = self.machine
        broken = machine.pack()[:-1]
        (machine.folder / "app.kiln").write_bytes(broken)
        _, err = machine.run(*machine.words(), code=4)
        self.assertIn("it is not replaced", err)
        self.assertEqual(machine.pack(), broken)


class Apart(unittest.TestCase):
    def test_each_program_says_if_the_other_is_not_beside_it(self):
        machine = Machine(jobs=1)
        self.addCleanup(machine.temporary.cleanup)
        for name in ("kiln", "kiln-fleet"):
            (machine.folder / name).mkdir()
            shutil.copy(Path(KILN).with_name(name), machine.folder / name / name)
        for words in (("fleet", "watch", "--state", "state"), ("fleet",), ("help", "fleet")):
            _, err = machine.run(machine.folder / "kiln/kiln", *words,
                                 code=0 if words[0] == "help" else 5)
            if words[0] != "help":
                self.assertIn("kiln-fleet is not beside kiln", err)
        _, err = machine.run(machine.folder / "kiln-fleet/kiln-fleet", "watch", "--state", "state",
                             "--pack", "app.kiln", "--base", "base.kiln", code=5)
        self.assertIn("there is no kiln beside kiln-fleet", err)


class Kept(unittest.TestCase):
    def test_the_targets_of_few_old_keys_stay(self):
        machine = Machine(jobs=1)
        self.addCleanup(machine.temporary.cleanup)
        for version in range(1, 8):
            machine.update_driver(version)
            machine.watch("--base", "base.kiln")
        self.assertEqual(len(machine.targets()), 5)
        machine.update_driver(5)
        report, _ = machine.watch("--base", "base.kiln")
        self.assertEqual((outcome(report), report["written"]), ("served", False))


class Fetch(unittest.TestCase):
    """The fleet has a target for the second driver; here is a pack of the first."""

    def setUp(self):
        self.machine = Machine()
        self.addCleanup(self.machine.temporary.cleanup)
        machine = self.machine
        machine.watch("--base", "base.kiln")
        machine.update_driver("2")
        machine.run(KILN, "build", "base.kiln", "-o", "fleet.kiln")
        self.before = machine.compiled()

    def publish(self, *more):
        self.machine.run(KILN, "fleet", "publish", "fleet.kiln", "--to", "published", *more)

    def test_a_target_comes_from_a_published_folder_or_a_folder_of_packs_and_nothing_is_compiled(self):
        machine = self.machine
        self.publish()
        (machine.folder / "packs").mkdir()
        shutil.copy(machine.folder / "fleet.kiln", machine.folder / "packs")
        old = machine.pack()
        for source in ("published", "packs"):
            (machine.folder / "app.kiln").write_bytes(old)
            report, err = machine.watch("--from", source)
            self.assertEqual((outcome(report), report["missing"]), ("fetched", 0), err)
            self.assertEqual(len(machine.targets()), 2)
        self.assertEqual(machine.compiled(), self.before)

    def test_known_bad_notes_arrive_when_asked_for(self):
        machine = self.machine
        self.publish()
        machine.watch("--from", "published")
        (machine.folder / "notes.toml").write_text(
            'version = 1\n[[note]]\nprogram = "all.0"\nrungs = ["exact"]\nreason = "wrong"\n')
        machine.run(KILN, "pack", "merge", "fleet.kiln", "notes.toml", "-o",
                    "fleet.kiln")
        self.publish()
        machine.watch("--from", "published")
        self.assertEqual(machine.rungs(), {"exact"})
        report, err = machine.watch("--from", "published", "--ask")
        self.assertEqual((outcome(report), machine.compiled()), ("served", self.before), err)
        self.assertEqual(machine.rungs(), {"exact", "source"})

    def test_by_http_only_what_changed_is_fetched(self):
        if shutil.which("curl") is None:
            self.skipTest("curl is not installed")
        machine = self.machine
        self.publish()
        with _Web(machine.folder) as web:
            report, err = machine.watch("--from", web.url)
            self.assertEqual(outcome(report), "fetched", err)
            self.assertEqual(machine.compiled(), self.before)
            first = web.parts()
            machine.update_driver("3")
            machine.run(KILN, "build", "base.kiln", "-o", "fleet.kiln")
            self.publish()
            report, err = machine.watch("--from", web.url)
            self.assertEqual(outcome(report), "fetched", err)
            second = web.parts()
            self.assertEqual((len(first), len(second)), (3, 2), "index, programs and delta")

    def test_without_the_network_it_is_built_here(self):
        machine = self.machine
        report, err = machine.watch("--from", "http://127.0.0.1:9/kiln")
        self.assertIn("not fetched: curl: ", err)
        self.assertEqual((outcome(report), report["missing"]), ("built", 0))
        self.assertEqual(machine.rungs(), {"exact"})

    def test_what_may_not_be_built_stays_missing_and_is_tried_again(self):
        machine = self.machine
        old = machine.pack()
        for _ in range(2):
            report, _ = machine.watch("--from", "published", "--no-build", code=1)
            self.assertEqual((outcome(report), report["missing"]), ("not served", JOBS))
            self.assertEqual(machine.pack(), old)
        self.publish()
        report, _ = machine.watch("--from", "published", "--no-build")
        self.assertEqual((outcome(report), report["missing"]), ("fetched", 0))

    def test_a_wrong_signature_is_refused_and_a_right_one_is_kept_if_asked_for(self):
        if shutil.which("minisign") is None:
            self.skipTest("minisign is not installed")
        machine = self.machine
        for name in ("ours", "theirs"):
            machine.run("minisign", "-GW", "-p", f"{name}.pub", "-s", f"{name}.key")
        expires = ("--expires", "2999-01-01")
        self.publish("--secret-key", "theirs.key", *expires)
        old = machine.pack()
        words = ("--from", "published", "--keys", "ours.pub")
        report, err = machine.watch(*words, "--no-build", code=1)
        self.assertIn("the index is not signed by a trusted key", err)
        self.assertEqual((report["missing"], machine.pack()), (JOBS, old))
        self.publish("--secret-key", "ours.key", *expires)
        report, err = machine.watch(*words, "--signed")
        self.assertEqual((outcome(report), machine.compiled()), ("fetched", self.before), err)
        machine.run(KILN, "pack", "verify", "app.kiln", "--key", "ours.pub", "--min-revision", "2")
        # The same for a folder of packs, each with its own signature.
        (machine.folder / "packs").mkdir()
        for signer, wanted in (("theirs", "not served"), ("ours", "fetched")):
            (machine.folder / "app.kiln").write_bytes(old)
            machine.run(KILN, "pack", "sign", "fleet.kiln", "--secret-key", f"{signer}.key",
                        "--revision", "3", "-o", "packs/fleet.kiln")
            report, err = machine.watch("--from", "packs", "--keys", "ours.pub", "--no-build",
                                        code=0 if wanted == "fetched" else 1)
            self.assertEqual(outcome(report), wanted, err)


    def test_a_signed_release_is_taken_once_and_one_without_this_device_is_told(self):
        if shutil.which("minisign") is None:
            self.skipTest("minisign is not installed")
        machine, first = self.machine, self.machine.pack()
        machine.run("minisign", "-GW", "-p", "ours.pub", "-s", "ours.key")
        sign = ("--secret-key", "ours.key", "--expires", "2999-01-01")
        words = ("--keys", "ours.pub", "--ask", "--signed", "--from")
        self.publish(*sign)
        report, _ = machine.watch(*words, "published")
        self.assertEqual((outcome(report), report["written"]), ("fetched", True))

        def written():
            found = (machine.folder / "app.kiln").stat()
            return found.st_ino, found.st_mtime_ns

        before = written()
        report, err = machine.watch(*words, "published")
        self.assertEqual((outcome(report), report["written"], err), ("served", False, ""))
        # The next release is for the first driver alone.
        hash_ = report["devices"][0]["key_hash"]
        (machine.folder / "fleet.kiln").write_bytes(first)
        self.publish(*sign)
        (machine.folder / "packs").mkdir()
        machine.run(KILN, "pack", "sign", "fleet.kiln", "--secret-key", "ours.key",
                    "--revision", "3", "-o", "packs/fleet.kiln")
        for source in ("published", "packs"):
            report, err = machine.watch(*words, source, code=1)
            said = f"{source}: the release has no target {hash_} for this device"
            self.assertEqual((outcome(report), report["devices"][0]["not_fetched"],
                              report["missing"], report["written"]),
                             ("not fetched", said, 0, False))
            self.assertRegex(err, f"^kiln: .*: not fetched: {said}; app.kiln stays as it is\n$")
        self.assertEqual(written(), before)
        # The pack that stays serves its own programs.
        report, err = machine.watch("--from", source, "--keys", "ours.pub")
        self.assertEqual((report["changed"], err), ("", ""))


class Mesa(unittest.TestCase):
    """Mesa makes other entries for another number of CPUs."""

    def setUp(self):
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            self.skipTest("this machine has one CPU")
        self.on_one_cpu = ("taskset", "-c", str(cpus[0]))
        self.machine = Machine(driver="libRusticlOpenCL.so.1")
        self.addCleanup(self.machine.temporary.cleanup)
        self.machine.variables["RUSTICL_ENABLE"] = "llvmpipe"
        self.machine.run(KILN, "compile", TINY, "-o", "base.kiln")

    def test_a_build_makes_them_again(self):
        compiled = []
        for before in (self.on_one_cpu, (), ()):
            out = self.machine.run(KILN, "build", "base.kiln", "-o", "mesa.kiln", "--json",
                                   before=before)[0]
            compiled.append(json.loads(out)["compiled"])
        self.assertGreater(compiled[0], 0)
        self.assertEqual(compiled, [compiled[0], compiled[0], 0])

    def test_a_watch_makes_them_again(self):
        machine = self.machine
        words = machine.words("--base", "base.kiln", "--folder", "cache/mesa")
        made = []
        for before in (self.on_one_cpu, ()):
            report = json.loads(machine.run(*words, before=before)[0])
            self.assertEqual((outcome(report), report["missing"]), ("built", 0))
            self.assertEqual(report["devices"][0]["not_final"], [])
            self.assertGreater(report["mesa_entries"], 0)
            made.append({path.parent for path in machine.folder.rglob("kiln.foz")})
        self.assertEqual([len(places) for places in made], [1, 2])
        self.assertIn("usable CPUs has changed", report["changed"])


class _Web:
    """A web server with the machine's folder, which notes what was asked for."""

    def __init__(self, folder):
        self.asked = []

        class Handler(http.server.SimpleHTTPRequestHandler):
            """One request."""

            def log_message(handler, *_):  # the name that http.server wants
                self.asked.append(handler.path.rsplit("/", 1)[1])

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                      partial(Handler, directory=folder))
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/published"
        self.thread = threading.Thread(target=self.server.serve_forever)

    def parts(self):
        """What was asked for since the last call, but the manifest."""
        asked, self.asked = [name for name in self.asked if name != "manifest.json"], []
        return asked

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def _priorities(pid):
    """The nice values of a process's descendants."""
    found, left = set(), [pid]
    while left:
        try:
            for tasks in Path(f"/proc/{left.pop()}/task").glob("*/children"):
                for child in tasks.read_text().split():
                    left.append(child)
                    stat = Path(f"/proc/{child}/stat").read_text()
                    found.add(int(stat.rsplit(")", 1)[1].split()[16]))
        except OSError:  # it has ended
            pass
    return found


if __name__ == "__main__":
    scripted.need("libpocl.so.2", "libRusticlOpenCL.so.1")
    skips.run_cases(sys.argv[1:-2])
