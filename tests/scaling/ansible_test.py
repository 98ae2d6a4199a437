#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/operate/scaling/provision.yml: Ansible over ssh, with a host that is off and one that vanishes.

    ansible_test.py KILN

Each host is an sshd of the test's own at a port of loopback, with a folder and a driver of its own:
Intel's as two GPUs, and PoCL. The daemons and the connections are those of the user who runs the
test. Exit codes: 0 passed, 1 failed, 77 there is no Ansible, no sshd or no driver.
"""

import concurrent.futures
import json
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import common

SSHD = """\
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
PidFile none
StrictModes no
UsePAM {use_pam}
PasswordAuthentication no
PermitRootLogin yes
Subsystem sftp internal-sftp
"""


class Hosts(common.Scaling):
    """Hosts by name, each with the port of its sshd."""

    def setUp(self):
        super().setUp()
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)  # as the package's service does
        for name in ("host_key", "user_key"):
            self.run_command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", name)
        # Without PAM sshd lets no one in whose password is locked, as root's may be.
        locked = os.geteuid() == 0 and "root:!" in Path("/etc/shadow").read_text(encoding="utf-8")
        (self.folder / "sshd_config").write_text(SSHD.format(
            folder=self.folder, use_pam="yes" if locked else "no"), encoding="utf-8")
        shutil.copy(common.RECIPES / "provision.yml", self.folder)
        (self.folder / "kiln").symlink_to(common.KILN)
        self.ports = {}
        self.hosts = {}
        self.environment.update(ANSIBLE_HOME=str(self.folder / "ansible"), ANSIBLE_NOCOLOR="1",
                                ANSIBLE_SSH_CONTROL_PATH_DIR=str(self.folder / "c"))

    def start_host(self, name, environment, **more):
        """A host that is on. `more` are variables of the inventory."""
        port = self.ports.setdefault(name, common.free_port())
        sshd = self.daemon(shutil.which("sshd"), "-D", "-e", "-f", self.folder / "sshd_config",
                           "-p", port)
        common.wait_until(f"{name} answers", lambda: answers(port))
        self.add_host(name, port, environment, **more)
        return sshd

    def add_host(self, name, port, environment, **more):
        """A host of the inventory."""
        self.hosts[name] = {"ansible_host": "127.0.0.1", "ansible_port": port,
                            "kiln_folder": str(self.folder / name),
                            "kiln_environment": environment, **more}

    def provision(self):
        """Runs the playbook; its exit code, and by host what its recap counts."""
        inventory = {"all": {"hosts": self.hosts, "vars": {
            "ansible_user": pwd.getpwuid(os.geteuid()).pw_name, "ansible_ssh_private_key_file": str(self.folder / "user_key"),
            "ansible_pipelining": True,
            "ansible_remote_tmp": str(self.folder / "remote"),
            "ansible_python_interpreter": "/usr/bin/python3",
            "ansible_ssh_common_args":
                "-o UserKnownHostsFile=/dev/null -o StrictHostKeyChecking=no -o ConnectTimeout=2 "
                "-o ServerAliveInterval=1 -o ServerAliveCountMax=1"}}}
        (self.folder / "hosts.yml").write_text(json.dumps(inventory), encoding="utf-8")
        provision = common.block("ansible-playbook").splitlines()[0].split()
        done = subprocess.run(provision, cwd=self.folder, env=self.environment, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.said = done.stdout
        return done.returncode, {
            name: {key: int(count) for key, count in re.findall(r"(\w+)=(\d+)", counts)}
            for name, counts in re.findall(r"^(\S+) +: (ok=.*)$", self.said, re.MULTILINE)}

    def test_a_dead_host_costs_itself_alone_and_the_next_run_goes_on(self):
        self.start_host("skl", common.neo("skl"))
        failing = self.program("failing", self.once(
            "failed", f"{common.KILN} \"$@\"; echo 'one job failed' >&2; exit 1"))
        self.start_host("pocl", {"OCL_ICD_VENDORS": str(common.POCL)}, kiln_program=failing)
        self.add_host("off", common.free_port(), {})
        slow = self.program("slow", self.once("hung", "sleep infinity"))
        vanishing = self.start_host("tgllp", common.neo("tgllp"), kiln_program=slow)

        with concurrent.futures.ThreadPoolExecutor() as background:
            run = background.submit(self.provision)
            common.wait_until("a host is building", (self.folder / "hung").exists)
            # It keeps its connection and says nothing more, as after a power failure.
            common.signal_each(common.descendants(vanishing.pid), signal.SIGSTOP)
            code, recap = run.result()
        self.check_lost({"off", "tgllp", "pocl"}, code, recap)
        self.assertIn("one job failed", self.said)
        self.assertEqual(self.packs(), {"skl", "pocl"})

        self.end(vanishing)
        self.start_host("tgllp", common.neo("tgllp"), kiln_program=slow)
        code, recap = self.provision()
        self.check_lost({"off"}, code, recap)
        self.assertEqual({name for name in recap if recap[name]["changed"]}, {"tgllp"},
                         "the others compile nothing")
        self.assertEqual(self.packs(), {"skl", "pocl", "tgllp"})
        for gpu in ("skl", "tgllp"):
            self.check_same(f"packs/{gpu}.kiln", self.whole(gpu))
        self.run_command("sh", "-c", common.block("ansible-playbook").splitlines()[1])
        self.assertEqual(self.binaries("fleet.kiln"), [common.VARIANTS] * 3)

    def test_a_host_is_tuned_with_its_clocks_held_up_also_where_that_fails(self):
        if os.geteuid() != 0:
            self.skipTest("the clocks need root")
        governor = self.folder / "root/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
        governor.parent.mkdir(parents=True)
        governor.write_text("schedutil\n", encoding="utf-8")
        shutil.copy(common.RECIPES / "performance.sh", self.folder)
        environment = {"OCL_ICD_VENDORS": str(common.POCL), "KILN_ROOT": str(self.folder / "root"),
                       "KILN_STATE": str(self.folder / "state")}
        seen = self.folder / "seen"
        for word, end, ends in (("tuned", "true", 0), ("broken", "exit 4", 2)):
            looking = self.program(f"{word}-kiln", f'if [ "$1" = tune ]; then cat {governor} >{seen}; '
                                         f"{end}; fi")
            self.hosts.clear()
            self.start_host(word, environment, kiln_program=looking, kiln_performance=True,
                            kiln_tune=["--budget", "6s", "--size", "64x1"])
            code, recap = self.provision()
            self.assertEqual(code, ends, self.said)
            self.assertEqual(seen.read_text(encoding="utf-8"), "performance\n")
            self.assertEqual(governor.read_text(encoding="utf-8"), "schedutil\n")
            self.assertFalse((self.folder / "state").exists())
            self.assertEqual(recap[word]["failed"], int(ends != 0))
            seen.unlink()
        self.assertEqual(self.packs(), {"tuned"})  # which is fetched after it was tuned

    def test_the_example_sets_what_the_playbook_reads(self):
        shutil.copy(common.RECIPES / "hosts.example", self.folder / "hosts.yml")
        listed = json.loads(self.run_command("ansible-inventory", "-i", "hosts.yml", "--list"))
        given = set().union(*listed["_meta"]["hostvars"].values())
        read = re.findall(r"kiln_\w+", (self.folder / "provision.yml").read_text(encoding="utf-8"))
        self.assertEqual({name for name in given if name.startswith("kiln_")}, set(read))

    def program(self, name, shell):
        """A kiln that does something before."""
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{shell}\nexec {common.KILN} \"$@\"\n", encoding="utf-8")
        return str(path)

    def check_lost(self, names, code, recap):
        """Whether exactly these hosts were not there, or not until the end."""
        self.assertNotEqual(code, 0)
        self.assertEqual({name for name, counts in recap.items()
                          if counts["unreachable"] or counts["failed"]}, names, self.said)

    def packs(self):
        """The hosts whose packs are here."""
        return {path.stem for path in (self.folder / "packs").iterdir()}


def answers(port):
    """Whether an ssh server greets there."""
    try:
        with socket.create_connection(("127.0.0.1", port), 1) as connection:
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False


if __name__ == "__main__":
    if not common.POCL.exists():
        common.skip("PoCL is not here")
    common.main("ansible-playbook", "sshd", "ssh", "ssh-keygen")
