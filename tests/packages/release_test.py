#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files of a release, used where nothing of Kiln is.

    release_test.py DIST WORK

DIST is what `./bootstrap.sh release` made; WORK is emptied first. Exit codes: 0 right, 1 wrong, 77
something is missing here (all else was right).
"""

import json
import os
import pathlib
import re
import shutil
import sys
import unittest

from commands import run, run_tests

DIST, WORK = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
SOURCE = pathlib.Path(__file__).resolve().parents[2]
MACHINE = os.uname().machine
for name in ("cmake/release", "tests/lab"):
    sys.path.insert(0, str(SOURCE / name))
import bare  # pylint: disable=wrong-import-position
import needs  # pylint: disable=wrong-import-position
import registry  # pylint: disable=wrong-import-position
import release  # pylint: disable=wrong-import-position

# Programs and drivers of Debian's other versions, of which each has its own C library.
DEVICES = ("neo-20.44-skl", "pocl-6.0")
# In which apt installs the packages.
DEBIAN = ("bookworm", "trixie")


def promised():
    """The oldest glibc that README.md names."""
    text = (SOURCE / "README.md").read_text(encoding="utf-8")
    return tuple(map(int, re.search(r"glibc (\d+)\.(\d+)", text).groups()))


class Release(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)
        cls.trees = {}
        for path in DIST.glob("kiln-*-linux.tar.zst"):
            run("tar", "-C", WORK, "-xf", path)
            machine = path.name.split("-")[2]
            cls.trees[machine] = WORK / path.name.removesuffix(".tar.zst")
        cls.tree = cls.trees[MACHINE]

    def bare(self, *command):
        """Runs a command on this system, where only /opt/kiln is Kiln's."""
        mounts = []
        for name in ("/usr", "/bin", "/lib", "/lib64", "/etc", "/sys"):
            if os.path.islink(name):
                mounts += ["--symlink", os.readlink(name), name]
            else:
                mounts += ["--ro-bind-try", name, name]
        (WORK / "home").mkdir(exist_ok=True)
        return run("bwrap", *mounts, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
                   "--tmpfs", "/usr/local", "--unshare-all", "--die-with-parent", "--clearenv",
                   "--ro-bind", self.tree, "/opt/kiln", "--bind", WORK / "home", "/home/user",
                   "--setenv", "HOME", "/home/user", "--setenv", "PATH", "/opt/kiln/bin:/usr/bin:/bin",
                   "--ro-bind", os.environ.get("OCL_ICD_VENDORS", "/etc/OpenCL/vendors"), "/opt/icd",
                   "--setenv", "OCL_ICD_VENDORS", "/opt/icd",
                   "--chdir", "/home/user", *command)

    def test_it_has_what_a_reader_looks_for(self):
        for machine, tree in self.trees.items():
            for name in ("bin/kiln", "bin/kiln-fleet", "lib/libkiln_layer.so", "lib/libkiln_runtime.a",
                         "lib/libkiln_runtime.so.0", "include/kiln/kiln.hpp", "LICENSE", "README.md",
                         "lib/cmake/kiln/kilnConfig.cmake", "lib/pkgconfig/kiln.pc", "CHANGELOG.md",
                         "share/man/man1/kiln.1", "share/man/man1/kiln-fleet.1"):
                self.assertTrue((tree / name).is_file(), f"{machine}: {name}")

    def test_it_needs_only_the_c_library_that_the_readme_names(self):
        for tree in self.trees.values():
            self.assertEqual(needs.foreign_libraries(tree), [])
            linked = filter(needs.is_linked, tree.rglob("*"))
            self.assertLessEqual(needs.c_library(linked), promised())

    def test_no_file_names_a_folder_of_the_build(self):
        folders = [str(folder).encode() for folder in (SOURCE, registry.lab_dir())]
        for tree in self.trees.values():
            for path in tree.rglob("*"):
                if path.is_file():
                    content = path.read_bytes()
                    self.assertEqual([one for one in folders if one in content], [], path)

    def test_it_works_where_nothing_else_of_kiln_is(self):
        version = self.tree.name.split("-")[1]
        self.assertEqual(self.bare("kiln", "--version"), f"kiln {version}\n")
        shutil.copy(SOURCE / "tests/consumer/add_one.cl", WORK / "home")
        self.bare("kiln", "compile", "add_one.cl", "-o", "base.kiln")
        if "Portable Computing Language" not in self.bare("kiln", "devices"):
            self.skipTest("PoCL is not here")
        self.bare("kiln", "build", "base.kiln", "-o", "app.kiln")
        self.assertIn("exact", self.bare("kiln", "explain", "--pack", "app.kiln"))

    def test_it_works_on_other_versions_of_debian(self):
        place = WORK / "other"
        shutil.copytree(self.tree, place / "kiln", symlinks=True)
        run(place / "kiln/bin/kiln", "compile", SOURCE / "tests/consumer/add_one.cl",
            "-o", place / "base.kiln")
        for name in DEVICES:
            with self.subTest(name):
                self.use_on(registry.find_device(name), place)

    def use_on(self, device, place):
        """Builds for a device of the laboratory and loads what was built."""
        fault = registry.unavailable(device)
        if fault:
            self.skipTest(f"{device['id']}: {fault}")

        def kiln(*words):
            return run(sys.executable, "-B", SOURCE / "tests/lab/lab.py", "run", device["id"],
                       "--dir", place, "--own-libc", "--", "kiln/bin/kiln", *words)

        self.assertIn(device["platform"], kiln("devices"))
        kiln("build", "base.kiln", "-o", "app.kiln", "--device", device["select"])
        self.assertIn("exact", kiln("explain", "--pack", "app.kiln", "--device", device["select"]))

    def test_an_application_builds_with_it_wherever_it_is(self):
        folder = WORK / "makefile"
        shutil.copytree(self.tree / "share/doc/kiln/examples/makefile", folder)
        run("make", "-C", folder, f"KILN={self.tree}/bin/kiln",
            env={**os.environ, "PKG_CONFIG_PATH": f"{self.tree}/lib/pkgconfig"})

    def test_the_digests_are_those_of_each_file(self):
        sums = (DIST / "SHA256SUMS").read_text(encoding="utf-8")
        names = {line.split("  ")[1] for line in sums.splitlines()}
        files = {path.relative_to(DIST).as_posix() for path in DIST.rglob("*") if path.is_file()}
        self.assertEqual(files - names, {"SHA256SUMS"} | {name for name in files if
                                                          name.endswith(".minisig")})
        run("sha256sum", "--quiet", "-c", "SHA256SUMS", cwd=DIST)

    def test_a_key_signs_the_digests(self):
        signed = WORK / "signed"
        signed.mkdir()
        shutil.copy(DIST / "SHA256SUMS", signed)
        run("minisign", "-G", "-W", "-p", WORK / "key.pub", "-s", WORK / "key")
        release.Release(signed, {}, {}, [], None).sign(WORK / "key")
        run("minisign", "-Vm", signed / "SHA256SUMS", "-p", WORK / "key.pub")

    def test_the_spdx_document_has_each_file_and_each_library(self):
        (path,) = DIST.glob("kiln-*.spdx.json")
        document = json.loads(path.read_text(encoding="utf-8"))
        self.assertEqual(document["spdxVersion"], "SPDX-2.3")
        packages = {package["name"]: package for package in document["packages"]}
        linked = (SOURCE / "cmake/linked_libraries.txt").read_text(encoding="utf-8").split()
        self.assertEqual(set(linked) - set(packages), set())
        self.assertIn(f"{self.tree.name}.tar.zst", packages)
        self.assertEqual(packages["libxxhash-dev"]["licenseDeclared"], "BSD-2-Clause")
        self.assertRegex(packages["libzstd-dev"]["versionInfo"], r"^1\.\d")
        names = {"SPDXRef-DOCUMENT", *(package["SPDXID"] for package in packages.values())}
        for relation in document["relationships"]:
            self.assertLessEqual({relation["spdxElementId"], relation["relatedSpdxElement"]}, names)

    def test_skopeo_reads_the_image(self):
        name = f"oci:{DIST}/image:{self.tree.name.split('-')[1]}"
        shown = json.loads(run("skopeo", "inspect", name))
        self.assertEqual(shown["Os"], "linux")
        run("skopeo", "copy", "-q", name, f"dir:{WORK}/image")

    def test_pip_takes_the_wheel_here(self):
        (wheel,) = DIST.glob(f"kiln-*-py3-none-manylinux_*_{MACHINE}.whl")
        oldest = tuple(map(int, re.search(r"manylinux_(\d+)_(\d+)_", wheel.name).groups()))
        site = WORK / "site"
        run(sys.executable, "-m", "pip", "install", "--no-deps", "--no-index",
            "--disable-pip-version-check", "--target", site, wheel)
        linked = [path for path in sorted(site.rglob("*")) if needs.is_linked(path)]
        self.assertLessEqual(needs.c_library(linked), oldest)
        text = run(sys.executable, "-B", "-m", "kiln", "--version",
                   env={**os.environ, "PYTHONPATH": str(site)})
        self.assertRegex(text, r"^kiln \d")

    def test_apt_installs_the_packages_in_a_bare_debian(self):
        for codename in DEBIAN:
            with self.subTest(codename):
                self.install_in(codename)

    def install_in(self, codename):
        """Installs in a new root, without a network."""
        try:
            archive = bare.archive(codename)
        except registry.LabError as error:
            self.skipTest(f"{codename}: {error}")
        root = WORK / codename
        root.mkdir()
        run("tar", "-C", root, "--exclude=./dev/*", "-xf", archive)
        (root / "etc/apt/sources.list").write_text("deb [trusted=yes] file:/mnt ./\n",
                                                   encoding="utf-8")
        text = run("bwrap", "--bind", root, "/", "--ro-bind", DIST / "apt", "/mnt", "--proc", "/proc",
                   "--dev", "/dev", "--tmpfs", "/tmp", "--unshare-net", "--clearenv", "--setenv",
                   "PATH", "/usr/sbin:/usr/bin:/sbin:/bin", "sh", "-ec",
                   "apt='apt-get -q -o APT::Sandbox::User=root -o APT::Update::Error-Mode=any'; "
                   "$apt update && $apt install -y --no-install-recommends kiln kiln-fleet libkiln0; "
                   "kiln --version; kiln fleet --help; kiln serve --print-env sh --overlay /tmp/o")
        self.assertIn("libkiln_layer.so", text)


if __name__ == "__main__":
    run_tests([name for name in ("bwrap", "zstd", "objdump", "pkg-config", "skopeo", "minisign",
                                "apt-ftparchive") if shutil.which(name) is None])
