#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files that call kiln fleet watch after a driver's update, with dpkg, rpm and systemd themselves; a
script stands for kiln.

    watch_files_test.py SOURCE

Exit codes: 0 passed, 1 failed, 77 a tool is not here (all else was right).
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from commands import run

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
import skips  # pylint: disable=wrong-import-position

SOURCE = Path(sys.argv[1]).resolve()
FILES = SOURCE / "cmake" / "watch"
UNITS = SOURCE / "cmake" / "systemd"
CALL = "fleet watch --state /var/lib/app --pack a file.kiln"
CONTROL = """Package: {name}
Version: {version}
Architecture: all
Maintainer: Nobody <nobody@localhost.invalid>
Description: test
"""


class Files(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="kiln-watch-")
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.root = self.folder / "root"
        conf = self.root / "etc/kiln/watch.d/app.conf"
        conf.parent.mkdir(parents=True)
        conf.write_text("# An application.\n--state /var/lib/app\n--pack 'a file.kiln'\n")
        self.calls = self.folder / "calls"
        os.mkfifo(self.calls)
        tools = self.folder / "tools"
        tools.mkdir()
        self.script(tools / "kiln", f'echo "$*" >{self.calls}')
        self.script(tools / "systemctl", "exit 1")  # no systemd runs
        self.variables = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}:/usr/sbin:/sbin"}

    @staticmethod
    def script(path, text):
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)

    def called(self):
        """The words of the next call of kiln, which is waited for."""
        return run("timeout", "60", "cat", self.calls).strip()

    def need(self, *programs):
        for program in programs:
            if shutil.which(program, path=self.variables["PATH"]) is None:
                self.skipTest(f"{program} is not installed")

    def deb(self, name, version, control):
        """Makes a package of the folder `name`; its path."""
        folder = self.folder / name
        (folder / "DEBIAN").mkdir(parents=True, exist_ok=True)
        (folder / "DEBIAN/control").write_text(CONTROL.format(name=name, version=version))
        for path in control:
            shutil.copy(path, folder / "DEBIAN")
        run("dpkg-deb", "--root-owner-group", "-b", folder, self.folder / f"{name}.deb")
        return self.folder / f"{name}.deb"

    def dpkg(self, *words):
        run("dpkg", f"--root={self.root}", "--force-script-chrootless", "--force-not-root", *words,
            env=self.variables)

    def test_a_driver_that_dpkg_installs_or_updates_triggers_the_watch(self):
        self.need("dpkg", "dpkg-deb")
        for name in ("updates", "info"):
            (self.root / "var/lib/dpkg" / name).mkdir(parents=True)
        for name in ("status", "available"):
            (self.root / "var/lib/dpkg" / name).touch()
        (self.folder / "kiln-fleet/usr/share/kiln").mkdir(parents=True)
        shutil.copytree(FILES, self.folder / "kiln-fleet/usr/share/kiln/watch")
        self.dpkg("-i", self.deb("kiln-fleet", "1", (SOURCE / "cmake/debian/kiln-fleet").iterdir()))
        icd = self.folder / "driver/etc/OpenCL/vendors/driver.icd"
        icd.parent.mkdir(parents=True)
        icd.write_text("libdriver.so.1\n")
        for version in ("1", "2"):  # with the same ICD file
            self.dpkg("-i", self.deb("driver", version, ()))
            self.assertEqual(self.called(), CALL)

    def test_a_driver_that_rpm_installs_triggers_the_watch(self):
        self.need("rpmbuild", "rpm", "bwrap")
        # The driver's file lies in a folder that only the commands within see.
        within = ("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--bind", self.folder,
                  self.folder, "--tmpfs", "/etc/OpenCL", "--tmpfs", "/var/lib/rpm",
                  "--tmpfs", "/var/tmp")
        watch = (FILES / "kiln-watch.spec").read_text(encoding="utf-8").replace(
            "/usr/share/kiln/watch/run.sh", f"{FILES}/run.sh {self.root}/etc/kiln/watch.d")
        head = "Version: 1\nRelease: 1\nSummary: test\nLicense: none\nBuildArch: noarch\n"
        specs = {"kiln": f"Name: kiln\n{head}%description\ntest\n%files\n{watch}",
                 "driver": f"Name: driver\n{head}%description\ntest\n%install\n"
                           "mkdir -p %{buildroot}/etc/OpenCL/vendors\n"
                           "echo libdriver.so.1 >%{buildroot}/etc/OpenCL/vendors/driver.icd\n"
                           "%files\n/etc/OpenCL/vendors/driver.icd\n"}
        for name, text in specs.items():
            spec = self.folder / f"{name}.spec"
            spec.write_text(text, encoding="utf-8")
            run("rpmbuild", "-bb", "--define", f"_topdir {self.folder}/rpm", spec,
                env=self.variables)
            package = self.folder / f"rpm/RPMS/noarch/{name}-1-1.noarch.rpm"
            run(*within, "rpm", "--dbpath", self.folder / "db", "--nodeps",
                "--define", f"_install_script_path {self.variables['PATH']}", "-i", package)
        self.assertEqual(self.called(), CALL)

    def test_systemd_accepts_the_units(self):
        self.need("systemd-analyze")
        for unit in (FILES / "kiln-watch.service", FILES / "kiln-watch.path", *UNITS.iterdir()):
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit],
                                  capture_output=True, text=True, check=False)
            told = [line for line in done.stderr.splitlines() if unit.stem in line]
            self.assertEqual((done.returncode, told), (0, []))

    def test_at_boot_each_application_has_its_own_file_and_owner(self):
        (self.root / "etc/kiln/watch.d/note.txt").write_text("--state none\n")
        with subprocess.Popen(["sh", FILES / "run.sh", self.root / "etc/kiln/watch.d"],
                              env=self.variables) as process:
            self.assertEqual(self.called(), CALL)
        self.assertEqual(process.returncode, 0)
        if os.getuid() != 0 or shutil.which("runuser") is None:
            return
        shutil.chown(self.root / "etc/kiln/watch.d/app.conf", "nobody")
        self.folder.chmod(0o755)
        self.script(self.folder / "tools/kiln", 'id -un; echo "$HOME"; exit 3')
        done = subprocess.run(["sh", FILES / "run.sh", self.root / "etc/kiln/watch.d"],
                              env=self.variables, stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.stdout.split(), done.returncode), (["nobody", "/nonexistent"], 1))


if __name__ == "__main__":
    skips.run_cases()
