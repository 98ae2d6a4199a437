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
try:
    import yaml
except ImportError:
    yaml = None
for name in ("cmake/release", "tests/lab"):
    sys.path.insert(0, str(SOURCE / name))
import bare  # pylint: disable=wrong-import-position
import needs  # pylint: disable=wrong-import-position
import registry  # pylint: disable=wrong-import-position
import release  # pylint: disable=wrong-import-position

# Drivers of Debian's other versions, of which each has its own C library, and one under qemu.
DEVICES = {"neo-20.44-skl": MACHINE, "pocl-6.0": MACHINE, "pocl-3.1-aarch64": "aarch64"}
# In which apt installs the packages.
DEBIAN = ("bookworm", "trixie")
# Where pip installs the wheel, from the oldest Python that it is for to the newest PyOpenCL that Debian
# has, and where the action runs; with what a user has there besides Kiln.
PYTHON = ("bookworm", "trixie", "sid", "bullseye")
OLD_LOADER = "bullseye"  # whose OpenCL library takes no layers, and gets what the others record
USERS = ("python3-pyopencl", "python3-venv", "pocl-opencl-icd", "curl", "zstd")
GOLDEN = SOURCE / "packs/golden/good-v1.kiln"
ACTION = SOURCE / ".github/actions/kiln/action.yml"


def promised():
    """The oldest glibc that install.md names."""
    text = (SOURCE / "docs/install.md").read_text(encoding="utf-8")
    return tuple(map(int, re.search(r"glibc (\d+)\.(\d+)", text).groups()))


class Root:
    """A version of Debian where nothing of Kiln is, without a network; skips the test if it is missing."""

    def __init__(self, codename, packages=()):
        try:
            archive = bare.archive(codename, packages)
        except registry.LabError as error:
            raise unittest.SkipTest(f"{codename}: {error}") from error
        self.folder = WORK / "roots" / "+".join([codename, *packages])
        if not self.folder.exists():
            self.folder.mkdir(parents=True)
            run("tar", "-C", self.folder, "--exclude=./dev/*", "-xf", archive)

    def run(self, script, places, code=0, **environment):
        """What a script for bash prints; `places` are the root's folders and the host's behind them."""
        words = []
        for place, folder in {"/dist": DIST, **places}.items():
            words += ["--bind", folder, place]
        for name, value in {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root",
                            "PYOPENCL_NO_CACHE": "1", "KILN_STORE": "none", **environment}.items():
            words += ["--setenv", name, value]
        return run("bwrap", "--bind", self.folder, "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs",
                   "/tmp", "--ro-bind", "/sys", "/sys", "--unshare-net", "--die-with-parent", "--clearenv",
                   *words, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script, code=code)


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

    def test_it_works_on_other_systems(self):
        for name, machine in DEVICES.items():
            with self.subTest(name):
                self.use_on(registry.find_device(name), self.trees[machine], WORK / name)

    def use_on(self, device, tree, place):
        """Builds for a device of the laboratory and loads what was built."""
        fault = registry.unavailable(device)
        if fault:
            self.skipTest(f"{device['id']}: {fault}")
        shutil.copytree(tree, place / "kiln", symlinks=True)
        run(self.tree / "bin/kiln", "compile", SOURCE / "tests/consumer/add_one.cl",
            "-o", place / "base.kiln")

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
        release.Release(signed, {}, {}, []).sign(WORK / "key")
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

    def test_the_image_runs_with_nothing_but_its_files(self):
        name = f"oci:{DIST}/image:{self.tree.name.split('-')[1]}"
        shown = json.loads(run("skopeo", "inspect", name))
        self.assertEqual(shown["Os"], "linux")
        config = json.loads(run("skopeo", "inspect", "--config", name))["config"]
        root = self.image()
        (root / "workspace").mkdir()
        shutil.copy(GOLDEN, root / "workspace/app.kiln")
        words = [word for pair in config["Env"] for word in ("--setenv", *pair.split("=", 1))]

        def kiln(*arguments):
            return run("bwrap", "--bind", root, "/", "--proc", "/proc", "--dev", "/dev", "--unshare-all",
                       "--clearenv", *words, "--chdir", "/workspace", *config["Entrypoint"], *arguments)

        self.assertRegex(kiln("--version"), r"^kiln \d")
        self.assertIn("blur", kiln("pack", "inspect", "app.kiln"))
        self.assertIn("fetch", kiln("fleet", "--help"))

    def image(self):
        """The image's files, as a container has them."""
        root = WORK / "image-root"
        if not root.exists():
            name = f"oci:{DIST}/image:{self.tree.name.split('-')[1]}"
            run("skopeo", "copy", "-q", name, f"dir:{WORK}/image")
            root.mkdir()
            for layer in json.loads(run("skopeo", "inspect", name))["Layers"]:
                run("tar", "-C", root, "-xzf", WORK / "image" / layer.split(":")[1])
        return root

    def test_an_init_container_fetches_by_the_image(self):
        pod = yaml.safe_load((SOURCE / "examples/kubernetes.yml").read_text(encoding="utf-8"))
        (fetch,) = pod["spec"]["template"]["spec"]["initContainers"]
        kiln, volume, keys = self.tree / "bin/kiln", WORK / "volume", WORK / "keys"
        for folder in (volume, keys):
            folder.mkdir()
        root = Root("bookworm", ("jq", "ocl-icd-libopencl1", "pocl-opencl-icd", "skopeo"))
        places = {"/opt/kiln": self.image() / "opt/kiln", "/kiln": volume, "/keys": keys}
        path = {"PATH": "/opt/kiln/bin:/usr/bin:/bin"}
        run(kiln, "compile", SOURCE / "tests/consumer/add_one.cl", "-o", volume / "base.kiln")
        root.run("kiln build /kiln/base.kiln -o /kiln/app.kiln", places, **path)
        run("minisign", "-G", "-W", "-p", keys / "keys", "-s", WORK / "release.key")
        run(kiln, "fleet", "publish", volume / "app.kiln", "--to", volume / "published",
            "--secret-key", WORK / "release.key", "--expires", "2999-01-01")
        (script,) = fetch["args"]
        root.run(f"cd {fetch['workingDir']}\n{script}", places, REPOSITORY="/kiln/published", **path)
        self.assertIn("exact", root.run("kiln explain --pack /kiln/pack.kiln", places, **path))

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

    def test_pip_takes_the_wheel_in_new_environments(self):
        (wheel,) = DIST.glob(f"kiln-*-py3-none-manylinux_*_{MACHINE}.whl")
        home = WORK / "records"
        home.mkdir()
        for codename in PYTHON:
            with self.subTest(codename):
                text = Root(codename, USERS).run(f"""
                    python3 -m venv --system-site-packages /tmp/environment
                    . /tmp/environment/bin/activate
                    pip install -q --no-index --disable-pip-version-check /dist/{wheel.name}
                    cd /tmp
                    [ {codename} = {OLD_LOADER} ] ||
                        kiln record -o /home/app.spool -- python /tests/use_pyopencl.py
                    kiln compile /home/app.spool -o base.kiln
                    kiln build base.kiln -o app.kiln
                    python /tests/use_pyopencl.py app.kiln""",
                    {"/tests": SOURCE / "tests/packages", "/home": home})
                self.assertRegex(text, r"\nserved exact .*\n$")
                print(codename, text.splitlines()[-1])

    def test_apt_installs_the_signed_packages_in_a_bare_debian(self):
        home, apt = WORK / "gpg", WORK / "apt"
        home.mkdir(mode=0o700)
        shutil.copytree(DIST / "apt", apt)
        os.environ["GNUPGHOME"] = str(home)
        self.addCleanup(os.environ.pop, "GNUPGHOME")
        self.addCleanup(run, "gpgconf", "--kill", "all")
        run("gpg", "--batch", "--passphrase", "", "--quick-generate-key", "kiln@example.org")
        release.Release(WORK, {}, {}, []).sign_packages("kiln@example.org")
        changed = WORK / "changed"
        shutil.copytree(apt, changed)
        with (changed / "Packages").open("ab") as packages:
            packages.write(b"\n")
        for codename in DEBIAN:
            with self.subTest(codename):
                root = Root(codename)
                (root.folder / "etc/apt/sources.list").write_text(
                    "deb [signed-by=/apt/kiln.gpg] file:/apt ./\n", encoding="utf-8")
                get = "apt-get -q -y -o APT::Sandbox::User=root -o APT::Update::Error-Mode=any"
                root.run(f"{get} update", {"/apt": changed}, code=100)
                text = root.run(f"""
                    {get} update
                    {get} install --no-install-recommends kiln kiln-fleet libkiln0
                    kiln --version
                    kiln fleet --help
                    kiln pack inspect /packs/good-v1.kiln
                    kiln serve --print-env sh --overlay /tmp/o""", {"/apt": apt, "/packs": GOLDEN.parent})
                self.assertIn("libkiln_layer.so", text)

    def test_the_action_runs_step_by_step(self):
        root, home = Root("bookworm", USERS), WORK / "workspace"
        places = {"/workspace": home, "/opt/kiln": self.tree, "/tests": SOURCE / "tests/packages"}
        home.mkdir()
        gate = "python3 /tests/use_pyopencl.py"
        root.run(f"cd /workspace; /opt/kiln/bin/kiln record -o app.spool -- {gate}", places)
        version = self.tree.name.split("-")[1]
        given = {"version": version, "kernels": "app.spool", "gate": gate, "release": "/dist"}
        act(root, home, {**given, "release": "file:///dist", "build": "--device Portable*"})
        text = act(root, home, given, code=1)  # which builds nothing
        self.assertIn("kiln build", text)
        damaged = WORK / "damaged"
        damaged.mkdir()
        name = f"{self.tree.name}.tar.zst"
        shutil.copy(DIST / "SHA256SUMS", damaged)
        (damaged / name).write_bytes((DIST / name).read_bytes() + b"!")
        text = act(root, home, given, {"/dist": damaged}, code=1, last="Install")
        self.assertIn("FAILED", text)


def act(root, home, given, places=None, code=0, last="Gate"):
    """Runs the action's steps with these inputs in a root, up to the named one, which ends with `code`."""
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    inputs = {name: one.get("default", "") for name, one in action["inputs"].items()} | given
    (home / "path").write_text("", encoding="utf-8")
    for step in action["runs"]["steps"]:
        if not all(inputs[name] for name in re.findall(r"inputs\.(\w+) != ''", step.get("if", ""))):
            continue
        environment = {name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], value)
                       for name, value in step["env"].items()}
        added = (home / "path").read_text(encoding="utf-8").split()
        text = root.run(
            "cd /workspace\n" + step["run"],
            {"/workspace": home, "/tests": SOURCE / "tests/packages", **(places or {})},
            code=code if step["name"] == last else 0, RUNNER_TEMP="/workspace/temporary",
            GITHUB_PATH="/workspace/path", PATH=":".join([*added, "/usr/bin:/bin"]), **environment)
        if step["name"] == last:
            return text
    raise AssertionError(f"no step {last}")


if __name__ == "__main__":
    run_tests([name for name in ("bwrap", "zstd", "objdump", "pkg-config", "skopeo", "minisign",
                                "apt-ftparchive", "gpg") if shutil.which(name) is None]
              + ([] if yaml else ["python3-yaml"]))
