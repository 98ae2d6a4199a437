#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/operate/scaling/array.sh: shards as a Slurm array, with a task that dies and a node that is lost.

    slurm_test.py KILN

One node with four slots on loopback, whose munged, slurmctld and slurmd are the test's own. Exit
codes: 0 passed, 1 failed, 77 there is no Slurm, no driver of Intel's, or it does not run as root.
"""

import shutil
import signal
import subprocess
from pathlib import Path

import common

# Beside the page's lines: ports and folders of the test's own, and waits that are short.
CONFIGURATION = """\
SlurmctldPort={controller_port}
SlurmdPort={node_port}
# A task that is tried again waits for as long as a credential is valid; by default 120 seconds.
AuthInfo=socket={folder}/munge.socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SchedulerParameters=sched_interval=1,sched_min_interval=10000,batch_sched_delay=0
ReturnToService=2
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/completed.txt
"""


class Slurm(common.Scaling):
    """A cluster of one node, for one test."""

    def setUp(self):
        super().setUp()
        key = self.folder / "munge.key"
        key.write_bytes(bytes(range(256)) * 4)
        key.chmod(0o400)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        configuration = self.folder / "slurm.conf"
        lines = common.block("ClusterName", "")
        self.assertEqual(lines.count("\n"), 6)
        configuration.write_text(lines + CONFIGURATION.format(
            folder=self.folder, controller_port=common.free_port(),
            node_port=common.free_port()), encoding="utf-8")
        self.environment["SLURM_CONF"] = str(configuration)
        self.addCleanup(lambda: common.signal_each(self.own_processes(), signal.SIGKILL))
        self.folder.chmod(0o755)  # or munged refuses a socket in it
        self.munged = self.start(
            "munged", "--foreground", f"--socket={self.folder}/munge.socket",
                   f"--key-file={key}", f"--pid-file={self.folder}/munged.pid",
                   f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munge.seed",
                   ready=(self.folder / "munge.socket").exists)
        self.controller = self.start("slurmctld", "-D",
                                     ready=lambda: "UP" in self.ask("scontrol", "ping"))
        self.node = self.start_node()

    def start(self, *words, ready):
        """A daemon that is ready; the test is skipped if it cannot run here."""
        process = self.daemon(*words)
        common.wait_until(f"{words[0]} answers", lambda: process.poll() is not None or ready())
        if process.poll() is not None:
            said = (self.folder / f"{words[0]}.out").read_text(encoding="utf-8")
            self.skipTest(f"{words[0]} does not start: {said.strip()}")
        return process

    def start_node(self):
        """The slurmd, once it has work or could have."""
        return self.start("slurmd", "-D", ready=lambda: self.ask(
            "sinfo", "--noheader", "--format=%t").strip() in ("idle", "mix"))

    def ask(self, *words):
        """What a command prints, which may fail."""
        return subprocess.run(words, env=self.environment, cwd=self.folder, capture_output=True,
                              text=True, check=False).stdout

    def own_processes(self):
        """Those that have the name of this test's folder in their environment."""
        own = set()
        for environment in Path("/proc").glob("[0-9]*/environ"):
            try:
                if bytes(self.folder) in environment.read_bytes():
                    own.add(int(environment.parent.name))
            except OSError:
                pass  # it has ended
        return own

    def lose_node(self):
        """As if the node's power failed at one moment, and the controller had noticed."""
        others = {pid for daemon in (self.controller, self.munged)
                  for pid in common.descendants(daemon.pid)}
        stopped = set()
        while more := self.own_processes() - others - stopped:
            common.signal_each(more, signal.SIGSTOP)
            stopped |= more
        common.signal_each(stopped, signal.SIGKILL)
        self.node.wait()
        self.run_command("scontrol", "update", "nodename=localhost", "state=down",
                         "reason=lost")

    def test_a_dead_task_and_a_lost_node_are_made_up_for(self):
        shutil.copy(common.RECIPES / "array.sh", self.folder)
        self.wrap_kiln({"2/4": self.once("died", "kill -KILL $$"),
                        "3/4": self.once("hung", "sleep infinity")})
        self.run_command("sh", "-c", common.block("sbatch"))
        common.wait_until("a task hangs", (self.folder / "hung").exists)
        common.wait_until("another runs beside it", (self.folder / "packs/skl/4.kiln").exists)
        self.lose_node()
        self.node = self.start_node()
        common.wait_until("the packs are merged", (self.folder / "fleet.kiln").exists)
        self.check_same("fleet.kiln", self.whole("skl", "tgllp"))
        ends = self.run_command("sacct", "--completion", "--file=completed.txt", "--noheader",
                                "--format=jobname,state")
        self.assertIn(["kiln", "NODE_FAIL"], [line.split() for line in ends.splitlines()])
        self.assertEqual(ends.count("COMPLETED"), 8 + (1 if "wrap" in ends else 0))


if __name__ == "__main__":
    common.main("sbatch", "slurmctld", "slurmd", "munged", "scontrol", root=True)
