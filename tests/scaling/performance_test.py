#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/operate/scaling/performance.sh on trees that stand for sysfs: no Adreno, no Mali and no phone was here.

    performance_test.py

Each test runs under dash, busybox's shell and mksh, which is Android's. Exit codes: 0 passed, 1
failed, 77 one of the shells is not here.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
import skips  # pylint: disable=wrong-import-position

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "operate" / "scaling" / "performance.sh"
SHELLS = (["dash"], ["busybox", "sh"], ["mksh"])
PATIENCE = 60  # seconds until something that must happen counts as a failure
KGSL = "sys/class/kgsl/kgsl-3d0"
BOOT = "proc/sys/kernel/random/boot_id"
CPUS = {f"sys/devices/system/cpu/cpu{i}/cpufreq/scaling_governor": ("walt", "performance")
        for i in (0, 4, 10)}

# By node, what it says and what it is set to.
A3X = CPUS | {f"{KGSL}/pwrscale/trustzone/governor": ("ondemand", "performance"),
              f"{KGSL}/idle_timer": ("83", "1000000")}
A5X = CPUS | {f"{KGSL}/{name}": values for name, values in {
    "force_rail_on": ("0", "1"), "force_bus_on": ("0", "1"), "force_clk_on": ("0", "1"),
    "bus_split": ("1", "0"), "idle_timer": ("80", "1000000"),
    "devfreq/governor": ("msm-adreno-tz", "performance")}.items()}
A6X = A5X | {f"{KGSL}/{name}": values for name, values in {
    "force_no_nap": ("0", "1"), "max_pwrlevel": ("1", "0"), "min_pwrlevel": ("6", "0")}.items()}
MALI = CPUS | {"sys/class/devfreq/1c500000.mali/governor": ("quickstep", "performance"),
               "sys/class/misc/mali0/device/power_policy": ("coarse_demand", "always_on")}
# Of these nothing is to be touched.
OTHERS = {f"{KGSL}/gpuclk": "257000000", f"{KGSL}/thermal_pwrlevel": "0",
          "sys/class/thermal/thermal_zone0/mode": "enabled",
          "sys/class/devfreq/soc:qcom,gpubw/governor": "bw_vbif",
          "sys/devices/system/cpu/cpufreq/boost": "0"}
# A node of the system's own that takes a number and says another one: 0 stands for a default.
OTHER_VALUE = "/proc/self/timerslack_ns"


class Tree:
    """A folder that stands for a device, with the state beside it."""

    def __init__(self, folder, nodes):
        self.folder = folder
        self.root = folder / "root"
        self.state = folder / "state"
        self.nodes = nodes
        for path, text in ({BOOT: "first"} | OTHERS | {p: v[0] for p, v in nodes.items()}).items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text + "\n", encoding="utf-8")
        self.before = self.read()

    def read(self):
        """The bytes of every node."""
        return {path: (self.root / path).read_bytes() for path in self.nodes | OTHERS}

    def wanted(self, left=()):
        """The same once performance mode is set, but for nodes that are left as they were."""
        return self.before | {path: (values[1] + "\n").encode()
                              for path, values in self.nodes.items() if path not in left}

    def replace(self, path, target):
        """Makes a node a link to another file."""
        (self.root / path).unlink()
        (self.root / path).symlink_to(target)


class Performance(unittest.TestCase):
    """Runs the script of one shell on trees."""

    shell = SHELLS[0]

    def tree(self, nodes):
        """A new tree."""
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        return Tree(Path(place.name), nodes)

    def words(self, *words):
        """The command line of the script."""
        return [*self.shell, str(SCRIPT), *words]

    def environment(self, tree):
        """What it is told of the tree."""
        return dict(os.environ, KILN_ROOT=str(tree.root), KILN_STATE=str(tree.state))

    def run_script(self, tree, *words, code=0):
        """Runs it to its end; what it printed to standard error."""
        done = subprocess.run(self.words(*words), env=self.environment(tree), check=False,
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, code, f"{words}: {done.stderr}{done.stdout}")
        self.printed = done.stdout
        return done.stderr

    def each(self, check):
        """Calls it for each shell."""
        for shell in SHELLS:
            with self.subTest(shell=shell[0]):
                self.shell = shell
                check()

    def test_what_is_set_is_restored_byte_by_byte(self):
        def check():
            for nodes in (A3X, A5X, A6X, MALI, CPUS):
                tree = self.tree(nodes)
                self.assertEqual(self.run_script(tree, "set"), "")
                self.assertEqual(tree.read(), tree.wanted())
                self.assertEqual(self.run_script(tree, "restore"), "")
                self.assertEqual(tree.read(), tree.before)
                self.assertFalse(tree.state.exists())
                self.assertEqual(self.run_script(tree, "restore"), "")
        self.each(check)

    def test_set_twice_and_restored_once_is_as_before(self):
        def check():
            tree = self.tree(A6X)
            self.run_script(tree, "set")
            saved = tree.state.read_bytes()
            self.run_script(tree, "set")
            self.assertEqual(tree.state.read_bytes(), saved)
            self.run_script(tree, "restore")
            self.assertEqual(tree.read(), tree.before)
        self.each(check)

    def test_a_command_finds_it_set_and_leaves_it_restored(self):
        def check():
            tree = self.tree(A5X)
            look = f"cat {tree.root}/{KGSL}/idle_timer; cat; exit 7"
            done = subprocess.run(self.words("run", "sh", "-c", look), check=False, text=True,
                                  env=self.environment(tree), capture_output=True, input="given")
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (7, "1000000\ngiven", ""))
            self.assertEqual(tree.read(), tree.before)
            self.assertFalse(tree.state.exists())
        self.each(check)

    def test_a_node_that_takes_nothing_is_named_and_the_others_are_set(self):
        def check():
            tree = self.tree(A6X)
            refusing = f"{KGSL}/force_bus_on"
            tree.replace(refusing, "/proc/version")
            before = tree.read()
            said = self.run_script(tree, "set", code=1)
            version = before[refusing].decode().strip()
            self.assertEqual(said, f"performance.sh: /{refusing} did not take 1: it says "
                                   f"{version}\n")
            self.assertEqual(tree.read() | {refusing: b""},
                             tree.wanted() | {refusing: b""})
            self.assertEqual(self.run_script(tree, "restore"), "")
            self.assertEqual(tree.read(), before)
            said = self.run_script(tree, "run", "true")  # the command's exit code
            self.assertIn(f"{refusing} did not take 1", said)
            self.assertNotIn("did not stay", said)
        self.each(check)

    def test_a_node_that_says_another_value_is_named(self):
        def check():
            tree = self.tree(A5X)
            tree.replace(f"{KGSL}/bus_split", OTHER_VALUE)
            said = self.run_script(tree, "set", code=1)
            default = Path(OTHER_VALUE).read_text(encoding="utf-8").strip()
            self.assertEqual(said, f"performance.sh: /{KGSL}/bus_split did not take 0: it says "
                                   f"{default}\n")
            self.assertEqual(self.run_script(tree, "restore"), "")
        self.each(check)

    def test_a_node_that_cannot_be_read_is_left(self):
        def check():
            tree = self.tree(A5X)
            path = f"{KGSL}/force_clk_on"
            (tree.root / path).unlink()
            (tree.root / path).mkdir()
            said = self.run_script(tree, "set", code=1)
            self.assertEqual(said, f"performance.sh: /{path} cannot be read\n"
                                   f"performance.sh: /{path} was not saved, and is left as it is\n")
            self.run_script(tree, "restore")
        self.each(check)

    def test_a_device_where_nothing_can_be_set_runs_nothing(self):
        def check():
            tree = self.tree({f"{KGSL}/bus_split": ("1", "0")})
            tree.replace(f"{KGSL}/bus_split", "/proc/version")
            made = tree.folder / "made"
            said = self.run_script(tree, "run", "touch", str(made), code=3)
            self.assertIn("nothing could be set; is this root?", said)
            self.assertFalse(made.exists() or tree.state.exists())
        self.each(check)

    def test_nothing_is_set_where_nothing_can_be_saved(self):
        def check():
            tree = self.tree(A5X)
            tree.state.mkdir()
            (tree.state / "in the way").touch()
            said = self.run_script(tree, "set", code=3)
            self.assertIn(f"{tree.state} cannot be written; nothing was set", said)
            self.assertEqual(tree.read(), tree.before)
        self.each(check)

    def start(self, tree, **more):
        """Starts a command that never ends, and waits until it runs."""
        running = tree.folder / "running"
        process = subprocess.Popen(
            self.words("run", "sh", "-c", f"echo $$ >{running}.new; mv {running}.new {running};"
                       "exec sleep 1000"), env=self.environment(tree), text=True,
            stderr=subprocess.PIPE, start_new_session=True, **more)
        self.addCleanup(self.end, process)
        end = time.monotonic() + PATIENCE
        while not running.exists():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        self.assertEqual(tree.read(), tree.wanted())
        return process, int(running.read_text(encoding="utf-8"))

    @staticmethod
    def end(process):
        """Kills what is left of its session."""
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        process.stderr.close()

    def test_an_interrupt_ends_the_command_and_restores(self):
        def check():
            for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
                for send in (os.kill, os.killpg):
                    tree = self.tree(A6X)
                    process, command = self.start(tree)
                    send(process.pid, number)
                    self.assertEqual(process.wait(PATIENCE), code)
                    self.assertEqual(tree.read(), tree.before)
                    self.assertFalse(tree.state.exists())
                    with self.assertRaises(ProcessLookupError):
                        os.kill(command, 0)
        self.each(check)

    def test_after_a_kill_restore_brings_back_what_was(self):
        def check():
            tree = self.tree(A6X)
            process, _ = self.start(tree)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            self.assertEqual(tree.read(), tree.wanted())
            said = self.run_script(tree, "run", "true")  # takes over what was saved
            self.assertEqual((said, tree.read()), ("", tree.before))
        self.each(check)

    def test_a_kill_at_any_node_is_undone(self):
        def check():
            for stop in (f"{KGSL}/force_rail_on", f"{KGSL}/max_pwrlevel"):
                for verb in ("set", "restore"):
                    self.check_killed(verb, stop)
        self.each(check)

    def check_killed(self, verb, stop):
        """Kills it at a node that is a pipe, where it waits."""
        tree = self.tree(A6X)
        node = tree.root / stop
        self.run_script(tree, "set")  # the state is there, and whole
        node.unlink()
        os.mkfifo(node)
        process = subprocess.Popen(self.words(verb), env=self.environment(tree), text=True,
                                   stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(self.end, process)
        opened = os.open(node, os.O_WRONLY if verb == "restore" else os.O_RDONLY)  # it is there
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(opened)
        node.unlink()
        node.write_text("1\n", encoding="utf-8")
        self.assertNotEqual(tree.read(), tree.before)
        self.run_script(tree, "restore")
        self.assertEqual(tree.read(), tree.before)

    def test_a_node_that_is_not_restored_keeps_what_was_saved(self):
        def check():
            tree = self.tree(A5X)
            self.run_script(tree, "set")
            path = f"{KGSL}/devfreq/governor"
            tree.replace(path, "/proc/version")
            said = self.run_script(tree, "restore", code=1)
            self.assertIn(f"/{path} was not restored to msm-adreno-tz: it says Linux", said)
            (tree.root / path).unlink()
            (tree.root / path).write_text("performance\n", encoding="utf-8")
            self.assertEqual(self.run_script(tree, "restore"), "")
            self.assertEqual(tree.read(), tree.before)
        self.each(check)

    def test_a_restart_of_the_device_is_what_restored_it(self):
        def check():
            for then in ("restore", "set"):
                tree = self.tree(A5X)
                self.run_script(tree, "set")
                tree = Tree(tree.folder, A5X | {f"{KGSL}/idle_timer": ("64", "1000000")})
                (tree.root / BOOT).write_text("second\n", encoding="utf-8")
                said = self.run_script(tree, then)
                if then == "restore":
                    self.assertIn("the device was restarted since", said)
                else:
                    self.assertEqual(tree.read(), tree.wanted())
                    self.run_script(tree, "restore")
                self.assertEqual(tree.read(), tree.before)
        self.each(check)

    def test_what_moved_meanwhile_is_named(self):
        def check():
            tree = self.tree(A6X)
            said = self.run_script(tree, "run", "sh", "-c",
                                   f"echo 3 >{tree.root}/{KGSL}/min_pwrlevel")
            self.assertEqual(said, f"performance.sh: /{KGSL}/min_pwrlevel did not stay at 0: it "
                                   "says 3\n")
            self.assertEqual(tree.read(), tree.before)
        self.each(check)

    def test_of_a_list_the_word_in_brackets_counts(self):
        def check():
            tree = self.tree(MALI)
            policy = tree.root / "sys/class/misc/mali0/device/power_policy"
            policy.write_text("[coarse_demand] always_on\n", encoding="utf-8")
            self.run_script(tree, "set")
            self.assertEqual(policy.read_text(encoding="utf-8"), "always_on\n")
            self.run_script(tree, "restore")
            self.assertEqual(policy.read_text(encoding="utf-8"), "coarse_demand\n")
        self.each(check)

    def test_a_state_that_names_other_files_writes_none_of_them(self):
        def check():
            tree = self.tree(CPUS)
            self.run_script(tree, "set")
            cpu = "/sys/devices/system/cpu/cpu0/cpufreq"
            victim = tree.root / "victim"
            with open(tree.state, "a", encoding="utf-8") as state:
                state.write(f"/victim owned\n{cpu}/../../../../../../victim owned\n"
                            "/sys/devices/system/cpu/cpu0/../../../../../victim/cpufreq/"
                            "scaling_governor owned\n")
            self.run_script(tree, "restore")
            self.assertFalse(victim.exists())
            self.assertEqual(tree.read(), tree.before)
        self.each(check)

    def test_the_status_says_what_was(self):
        def check():
            tree = self.tree(CPUS)
            self.run_script(tree, "status")
            self.assertTrue(self.printed.startswith("not set\n"), self.printed)
            self.run_script(tree, "set")
            self.run_script(tree, "status")
            self.assertIn("cpu4/cpufreq/scaling_governor: performance, was walt\n", self.printed)
            for words in ((), ("set", "more"), ("run",), ("up",)):
                self.assertIn("usage: performance.sh", self.run_script(tree, *words, code=2))
        self.each(check)

    def test_shellcheck_finds_nothing(self):
        if shutil.which("shellcheck") is None:
            self.skipTest("shellcheck is not here")
        subprocess.run(["shellcheck", "-s", "sh", SCRIPT], check=True)


if __name__ == "__main__":
    for each in SHELLS:
        if shutil.which(each[0]) is None:
            print(f"SKIP: {each[0]} is not here")
            raise SystemExit(77)
    skips.run_cases()
