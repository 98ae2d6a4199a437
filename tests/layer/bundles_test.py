#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/use/bundles.md: its scripts and manifests make bundles in which an application is served at the
first start with a pack, and at the second by the overlay.

    bundles_test.py KILN LAYER APPLICATION [TEST...]

What the page shows is taken from the page. The flatpak is built, installed and run by flatpak in a
home of its own; its runtime is a tree of this system's files, and PoCL an extension beside it, as a
host's driver. OCL_ICD_VENDORS chooses the driver outside of it.

Exit codes: 0 passed, 1 failed, 77 there is no device, or no flatpak (all else passed).
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from layer_test import (APPLICATION, FOLDER, KILN, LAYER, PLACE, bare, lines_of, must, programs_in,
                        run, run_seeded)

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
import skips  # pylint: disable=wrong-import-position

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "use" / "bundles.md").read_text(encoding="utf-8")
PATIENCE = 120  # seconds until a build that must come counts as a failure
LIBRARIES = Path("lib/x86_64-linux-gnu")  # of a runtime
SYSTEM_PYTHON = "/usr/bin/python3"  # the one with Debian's setuptools and PyYAML
# What the commands of the page and PoCL call in a flatpak.
PROGRAMS = ("dash", "dirname", "install", "ld", "readlink")


def block(language, word):
    """The page's one block of that language with the word."""
    (found,) = (text for tag, text in re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.M | re.S)
                if tag == language and word in text)
    return found


def write_program(path, text):
    """Writes an executable text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def link(source, target):
    """A second name of a file, or a copy where there can be none."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        return
    try:
        os.link(os.path.realpath(source), target)
    except OSError:
        shutil.copy(source, target)


def libraries_of(*files):
    """The libraries that these load, by their paths."""
    said = subprocess.run(["ldd", *map(str, files)], capture_output=True, text=True, check=True)
    return sorted(set(re.findall(r"(?:=> )?(/\S+) \(0x", said.stdout)))


class Bundle(unittest.TestCase):
    """A pack of the application's, and what the tests share."""
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.pack = FOLDER / "app.kiln"
        bare("run")
        if not cls.pack.exists():
            spool, base = FOLDER / "spool", FOLDER / "base.kiln"
            run_seeded(KILN, "record", "-o", spool, "--", APPLICATION, "run")
            must("compile", spool, "-o", base)
            must("build", base, "-o", cls.pack)

    def setUp(self):
        self.place = Path(tempfile.mkdtemp(prefix="bundle", dir=FOLDER))
        self.home = self.place / "home"
        self.variables = {"HOME": str(self.home), "XDG_CACHE_HOME": "", "KILN_BACKGROUND": "1",
                          "PATH": f"{Path(KILN).parent}:{os.environ['PATH']}"}

    def fill(self, folder):
        """The files that the page has a maintainer bring."""
        folder.mkdir(parents=True, exist_ok=True)
        for source, name in ((APPLICATION, "app"), (KILN, "kiln"), (LAYER, "libkiln_layer.so"),
                             (self.pack, "app.kiln")):
            shutil.copy(source, folder / name)
        write_program(folder / "app-kiln", block("sh", "Starts the program beside this file with the "
                                                       "binaries"))

    def follow(self, commands, folder):
        """Runs commands of the page."""
        done = subprocess.run(["sh", "-ec", commands], cwd=folder, check=False, capture_output=True,
                              text=True, env={**os.environ, **self.variables})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def start(self, *command):
        """Starts the bundle: what became of the application's programs, and from where."""
        report = self.place / "report"
        report.unlink(missing_ok=True)
        done = run(*command, "run", **{**self.variables, "KILN_REPORT": str(report)})
        return self.outcomes(done.code, done.output, done.error, report)

    def outcomes(self, code, output, error, report):
        """The application printed as it does alone; the lines of its programs in the report."""
        self.assertEqual((code, output), (0, bare("run")), error)
        self.assertTrue(report.is_file(), error)
        return [(line["outcome"], line["rung"]) for line in lines_of(report)]

    def is_served(self, outcomes):
        self.assertEqual(set(outcomes), {("served", "exact")})

    def is_noted(self, outcomes, overlay):
        """The driver compiled the programs; waits until what the first start began is done."""
        self.assertEqual(set(outcomes), {("passed", "")})
        end = time.monotonic() + PATIENCE
        while len(programs_in(overlay)) < len(outcomes):
            self.assertLess(time.monotonic(), end, f"{overlay} is not built")
            time.sleep(0.1)


class Folders(Bundle):
    """Bundles that are folders on the host."""

    def check_starts(self, command, pack, overlay, between=None):
        """With the pack, then without it. `between` is called between two starts."""
        self.is_served(self.start(*command()))
        self.assertEqual(programs_in(overlay), [])
        pack.unlink()
        shutil.rmtree(self.home, ignore_errors=True)
        self.is_noted(self.start(*command()), overlay)
        if between:
            between()
        self.is_served(self.start(*command()))

    def test_an_appdir_under_another_name_at_each_start(self):
        """As an image is mounted."""
        build = self.place / "build"
        self.fill(build)
        self.follow(block("sh", "AppDir/AppRun"), build)
        mounted = [build / "AppDir"]

        def mount():
            mounted.append(self.place / f"mount_{len(mounted)}")
            mounted[-2].rename(mounted[-1])

        mount()
        self.check_starts(lambda: [mounted[-1] / "AppRun"],
                          mounted[-1] / "usr/lib/kiln/packs/app.kiln",
                          self.home / ".cache/app/kiln", mount)

    def test_packs_without_kiln(self):
        """The layer and its variables alone."""
        build = self.place / "build"
        self.fill(build)
        write_program(build / "app-kiln", block("sh", "the packs of the bundle alone"))
        (build / "kiln").write_bytes(b"")
        self.follow(block("sh", "AppDir/AppRun"), build)
        self.is_served(self.start(build / "AppDir/AppRun"))

    def test_a_snap_s_files(self):
        """What snapcraft's plugin dump does, and the variables of snapd."""
        snap, common = self.place / "snap", self.place / "common"
        self.fill(self.place / "kiln")
        done = subprocess.run(
            [SYSTEM_PYTHON, "-c",
             "import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))"],
            input=block("yaml", "organize:"), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.skipTest("PyYAML is not here")
        manifest = json.loads(done.stdout)
        part, app = manifest["parts"]["kiln"], manifest["apps"]["app"]
        self.assertEqual(part["plugin"], "dump")
        link(APPLICATION, snap / "bin/app")
        for name, target in part["organize"].items():
            link(self.place / part["source"] / name, snap / target)
        self.variables.update((name, value.replace("$SNAP_USER_COMMON", str(common)))
                              for name, value in app["environment"].items())
        self.check_starts(lambda: [snap / app["command"]], snap / "lib/kiln/packs/app.kiln",
                          common / ".cache/app/kiln", lambda: None)

    def test_a_wheel(self):
        """Built by setuptools and installed by pip."""
        if subprocess.run([SYSTEM_PYTHON, "-c", "import setuptools, wheel, pip"],
                          capture_output=True, check=False).returncode != 0:
            self.skipTest("pip, setuptools or wheel is not here")
        source, site = self.place / "source", self.place / "site"
        kiln = source / "app/kiln"
        self.fill(kiln)
        for name in ("app", "app-kiln"):
            (kiln / name).unlink()
        (kiln / "packs").mkdir()
        (kiln / "app.kiln").rename(kiln / "packs/app.kiln")
        (source / "app/__init__.py").touch()
        for name, text in (
                ("app/start.py", block("python", "app/start.py")),
                ("pyproject.toml", block("toml", "[project]")),
                ("setup.cfg", block("ini", "[bdist_wheel]")),
                ("app/main.py", "import os, sys\n"
                                f"os.execv({APPLICATION!r}, ['app', *sys.argv[1:]])\n")):
            (source / name).write_text(text, encoding="utf-8")
        pip = f"{SYSTEM_PYTHON} -m pip --disable-pip-version-check"
        self.follow(f"{pip} wheel . --no-deps --no-index --no-build-isolation -w dist\n"
                    f"{pip} install --no-deps --no-index --target {site} dist/*.whl", source)
        (wheel,) = (source / "dist").iterdir()
        self.assertEqual(wheel.name, "app-1.0-py3-none-manylinux_2_35_x86_64.whl")
        self.variables["PYTHONPATH"] = str(site)
        self.check_starts(lambda: [site / "bin/app"], site / "app/kiln/packs/app.kiln",
                          self.home / ".cache/app/kiln")

    def test_a_launch_option_of_steam_s(self):
        """Which Steam gives to a shell."""
        (option,) = re.findall(r"^kiln serve .*%command%$", PAGE, re.M)
        command = ["sh", "-c", option.replace("%command%", f'{APPLICATION} "$@"'), "sh"]
        self.is_noted(self.start(*command), self.home / ".cache/app/kiln")
        self.is_served(self.start(*command))


class Flatpak(Bundle):
    """A flatpak, from its manifest to its second start."""

    def setUp(self):
        super().setUp()
        for tool in ("flatpak", "flatpak-builder", "dbus-run-session", "eu-strip", "ldconfig"):
            if shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
                self.skipTest(f"{tool} is not here")
        if subprocess.run(["unshare", "--user", "--map-root-user", "true"], capture_output=True,
                          check=False).returncode != 0:
            self.skipTest("no namespaces of users")
        self.data = self.home / ".local/share"
        kept = {name: os.environ[name] for name in ("PATH", "USER", "TMPDIR", "LANG")
                if name in os.environ}
        self.variables = {**kept, "HOME": str(self.home), "XDG_DATA_HOME": str(self.data),
                          "PATH": self.variables["PATH"], "KILN_PACK_PATH": ""}
        self.home.mkdir()
        self.identity = "org.example.App"
        self.cache = self.home / ".var/app" / self.identity / "cache"

    def session(self, commands, folder, **variables):
        """Runs commands of the page with a session's bus, which is the system's, too: a user's flatpak
        asks that one who may install."""
        commands = f"export DBUS_SYSTEM_BUS_ADDRESS=$DBUS_SESSION_BUS_ADDRESS\n{commands}"
        return subprocess.run(["dbus-run-session", "--", "sh", "-ec", commands], cwd=folder,
                              env={**self.variables, **variables}, capture_output=True, text=True,
                              check=False)

    def must_succeed(self, commands, folder):
        """The same of commands that have to succeed: their output."""
        done = self.session(commands, folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def make_runtime(self, manifest):
        """Installs a runtime, and a driver as an extension that nobody installed."""
        sys.path.insert(0, str(ROOT / "tests/support"))
        import small_pocl  # pylint: disable=import-outside-toplevel
        tree = self.place / "runtime"
        usr, version = tree / "usr", re.search(r"runtime-version: '(.*)'", manifest)[1]
        programs = [shutil.which(name) for name in PROGRAMS]
        loader = "/usr/lib/x86_64-linux-gnu/libOpenCL.so.1"
        for name in programs:
            link(name, usr / "bin" / Path(name).name)
        (usr / "bin/sh").symlink_to("dash")
        link(shutil.which("ldconfig", path="/usr/sbin:/sbin"), usr / "bin/ldconfig")
        own = [loader, *libraries_of(*programs, KILN, loader)]
        for path in own:
            link(path, usr / LIBRARIES / Path(path).name)
        link("/lib64/ld-linux-x86-64.so.2", usr / "lib64/ld-linux-x86-64.so.2")
        # PoCL links each kernel against these.
        for name in ("libc", "libm"):
            (usr / LIBRARIES / f"{name}.so").symlink_to(f"{name}.so.6")
        for name in ("libgcc.a", "libgcc_s.a"):
            (usr / LIBRARIES / name).write_bytes(b"!<arch>\n")
        (usr / "etc/OpenCL").mkdir(parents=True)
        (usr / "etc/OpenCL/vendors").symlink_to(Path("/usr") / LIBRARIES / "GL/OpenCL/vendors")
        (usr / "etc/ld.so.conf").write_text("include /run/flatpak/ld.so.conf.d/*.conf\n",
                                            encoding="ascii")
        (usr / LIBRARIES / "GL").mkdir()
        (tree / "files").mkdir()
        for name in ("Platform", "Sdk"):  # the extension point is freedesktop's
            (tree / "metadata").write_text(f"""\
[Runtime]
name=org.freedesktop.{name}
runtime=org.freedesktop.Platform/x86_64/{version}
sdk=org.freedesktop.Sdk/x86_64/{version}

[Extension org.freedesktop.Platform.GL]
versions={version};1.4
version=1.4
directory={LIBRARIES}/GL
subdirectories=true
no-autodownload=true
autodelete=false
add-ld-path=lib
merge-dirs=vulkan/icd.d;OpenCL/vendors
download-if=active-gl-driver
enable-if=active-gl-driver
""", encoding="ascii")
            self.must_succeed(f"flatpak build-export -r --disable-fsync repo runtime {version}",
                              self.place)
        self.must_succeed(f"""
flatpak --user remote-add --no-gpg-verify local repo
flatpak --user install -y --noninteractive local org.freedesktop.Platform//{version} \
  org.freedesktop.Sdk//{version}""", self.place)
        extension = self.data / "flatpak/extension/org.freedesktop.Platform.GL.host/x86_64/1.4"
        pocl, _ = small_pocl.loaded_files()
        devices = sorted((pocl.parent / "pocl").iterdir())
        for path in libraries_of(pocl, *devices):
            if path not in own and Path(path).name != pocl.name:
                link(path, extension / "lib" / Path(path).name)
        link(pocl, extension / "lib/pocl" / small_pocl.POCL)
        for path in devices:
            link(path, extension / "lib/pocl/pocl" / path.name)
        shutil.copytree((pocl.parent / "../../share/pocl").resolve(), extension / "share/pocl")
        (extension / "OpenCL/vendors").mkdir(parents=True)
        (extension / "OpenCL/vendors/pocl.icd").write_text(
            f"/usr/{LIBRARIES}/GL/host/lib/pocl/{small_pocl.POCL}\n", encoding="ascii")

    def start_flatpak(self, command):
        """Starts the flatpak: what became of the application's programs."""
        report = self.cache / "report"
        report.unlink(missing_ok=True)
        done = self.session(command + " run", self.place, KILN_REPORT="/var/cache/report")
        return self.outcomes(done.returncode, done.stdout, done.stderr, report)

    def test_two_starts_and_a_pack_that_is_built_inside(self):
        manifest = block("yaml", "runtime-version:")
        build, start = block("sh", "flatpak-builder").splitlines()
        if not os.access("/dev/fuse", os.R_OK | os.W_OK):  # as in many containers
            build = build.replace("--user", "--user --disable-rofiles-fuse")
        self.make_runtime(manifest)
        source = self.place / "source"
        self.fill(source)
        (source / "app.kiln").unlink()
        lines = manifest.splitlines(keepends=True)
        at = next(at for at, line in enumerate(lines) if "path: app.kiln" in line)
        del lines[at - 1:at + 1]
        (source / f"{self.identity}.yml").write_text(
            "".join(line for line in lines if "app.kiln" not in line), encoding="utf-8")
        self.must_succeed(build, source)
        overlay = self.cache / "app/kiln"
        self.is_noted(self.start_flatpak(start), overlay)
        self.is_served(self.start_flatpak(start))

        make = block("sh", "in_bundle=")
        self.assertIn(" -- /app/bin/app\n", make)
        self.must_succeed(make.replace(" -- /app/bin/app\n", " -- /app/bin/app run\n"), source)
        (source / f"{self.identity}.yml").write_text(manifest, encoding="utf-8")
        self.must_succeed(build, source)
        shutil.rmtree(self.cache)
        self.is_served(self.start_flatpak(start))
        self.assertEqual(programs_in(overlay), [])

        doctor = block("sh", "doctor")
        said = self.must_succeed(doctor.replace("/app/bin/app\n", "/app/bin/app run\n"), source)
        said = [line.strip() for line in re.sub(r"\d+", "N", said).splitlines()]
        shown = re.match(r"```\n\n((?:    .*\n)+)", PAGE[PAGE.index(doctor) + len(doctor):])[1]
        for line in re.sub(r"\d+", "N", shown).splitlines():
            if line.strip() != "...":
                self.assertIn(line.strip(), said)


if __name__ == "__main__":
    with PLACE:
        skips.run_cases(sys.argv[4:])
