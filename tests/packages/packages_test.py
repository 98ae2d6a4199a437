#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Debian packages that CPack makes of a build: what they hold, what they depend on, and the
examples, built and run from the unpacked packages alone.

    packages_test.py BUILD CMAKE CPACK WORK

BUILD is a finished build, which is packed and not built again; WORK is emptied first. Exit codes: 0
right, 1 wrong, 77 no Debian tools, or no PoCL to run the examples on (all else was right).
"""

import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import unittest

from commands import run, run_tests

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lab"))
import registry  # pylint: disable=wrong-import-position

BUILD, CMAKE, CPACK, WORK = (*(pathlib.Path(word).resolve() for word in sys.argv[1:5]),)
SOURCE = pathlib.Path(__file__).resolve().parents[2]
CONSUMER = SOURCE / "tests" / "consumer"
ROOT = WORK / "root"  # all packages, unpacked
USR = ROOT / "usr"
DOCUMENTS = "share/doc/"
# Patterns of each package's files below /usr, of which each must match a file; a library folder is LIB.
CONTENTS = {
    "libkiln0": [r"LIB/libkiln_runtime\.so\.0", r"LIB/libkiln_runtime\.so\.0\.\d+\.\d+",
                 r"LIB/libkiln_(launch|signed|recorded)\.so\.0(\.\d+\.\d+)?"],
    "libkiln-dev": [r"include/kiln/\w+\.h", r"include/kiln/\w+\.hpp",
                    r"LIB/libkiln_(runtime|launch|packs|provision)\.a",
                    r"LIB/libkiln_(runtime|launch|signed|recorded)\.so",
                    r"LIB/cmake/kiln/kilnTargets(-\w+)?\.cmake",
                    r"LIB/cmake/kiln/kilnConfig(Version)?\.cmake",
                    r"LIB/cmake/kiln/Kiln(Find|HostTool|AddPack|EmbedPack)\.cmake", r"LIB/pkgconfig/kiln\.pc",
                    r"LIB/pkgconfig/kiln_(launch|signed|recorded|provision)\.pc",
                    r"share/kiln/dropin/kiln_dropin\.[ch]", r"share/doc/kiln/examples/.+"],
    "kiln": [r"bin/kiln", r"LIB/cmake/kiln/kilnBuilderTargets(-\w+)?\.cmake",
             r"share/kiln/known-bad\.toml", r"share/kiln/virtual/[\w.-]+",
             r"lib/systemd/user/kiln-overlay@\.(service|timer)",
             r"share/man/man1/kiln(-(?!fleet)[a-z-]+)?\.1\.gz", r"share/doc/kiln/README\.md",
             r"share/doc/kiln/CHANGELOG\.md", r"share/doc/kiln/docs/.+",
             r"share/doc/kiln/packs/FORMAT\.md", r"share/doc/kiln/runtime/OVERLAY\.md"],
    "kiln-fleet": [r"bin/kiln-fleet", r"share/man/man1/kiln-fleet(-[a-z-]+)?\.1\.gz",
                   r"share/kiln/watch/(run\.sh|kiln-watch\.(path|service|spec))"],
    "kiln-layer": [r"LIB/libkiln_layer\.so", r"LIB/cmake/kiln/kilnLayerTargets(-\w+)?\.cmake"],
    "python3-kiln": [r"lib/python3/dist-packages/kiln/\w+\.py"],
}
SECTIONS = {"libkiln0": "libs", "libkiln-dev": "libdevel", "kiln": "devel", "kiln-fleet": "admin",
            "kiln-layer": "libs", "python3-kiln": "python"}
# Dependencies besides those on shared libraries; VERSION is this one.
DEPENDS = {
    "libkiln0": set(),
    "libkiln-dev": {"libkiln0 (= VERSION)", "libzstd-dev", "opencl-c-headers"},
    "kiln": {"kiln-layer (= VERSION)"},
    "kiln-fleet": {"kiln (= VERSION)"},
    "kiln-layer": set(),
    "python3-kiln": {"libkiln0 (= VERSION)", "python3"},
}


def fails(*command):
    """What a command prints that must fail, its white space as blanks."""
    return " ".join(run(*command, code=1).split())


def cached(name):
    """A value of the build's cache."""
    text = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
    return re.search(rf"^{name}:\w+=(.*)$", text, re.MULTILINE)[1]


def julia():
    """This machine's Julia or, since Debian 12 has none, the laboratory's: the program, and the folders
    of its libraries; None if there is neither."""
    program = shutil.which("julia")
    if program:
        return program, []
    usr = registry.folder("julia", "dev") / "usr"
    libraries = usr / "lib/x86_64-linux-gnu"
    return (usr / "bin/julia", [libraries / "julia", libraries]) if usr.is_dir() else None


def pocl_is_here():
    return "Portable Computing Language" in subprocess.run(
        ["kiln", "devices"], stdout=subprocess.PIPE, text=True, check=False).stdout


class Package:
    def __init__(self, path):
        self.path = path
        self.fields = dict(re.findall(r"^([\w-]+): (.*)$", run("dpkg-deb", "-f", path),
                                      re.MULTILINE))
        self.name = self.fields["Package"]
        self.depends = set(self.fields.get("Depends", "").split(", "))
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", path],
                              stdout=subprocess.PIPE) as tar:
            self.members = list(tarfile.open(fileobj=tar.stdout, mode="r|"))
        self.files = {member.name.removeprefix("./usr/") for member in self.members
                      if not member.isdir()}

    def own_documents(self):
        return {f"{DOCUMENTS}{self.name}/{name}" for name in ("copyright", "changelog.gz")}

    def unpack(self, root):
        run("dpkg-deb", "-x", self.path, root)


class Packages(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)
        run(CPACK, "-G", "DEB", "--config", BUILD / "CPackConfig.cmake", "-B", WORK / "packages")
        cls.packages = {package.name: package for package in
                        map(Package, sorted((WORK / "packages").glob("*.deb")))}
        for package in cls.packages.values():
            package.unpack(ROOT)
        cls.version = run(USR / "bin/kiln", "--version").split()[1]
        cls.lib = cached("CMAKE_INSTALL_LIBDIR")
        os.environ.update(PATH=f"{USR}/bin:{os.environ['PATH']}", LD_LIBRARY_PATH=f"{USR}/{cls.lib}",
                          PKG_CONFIG_PATH=f"{USR}/{cls.lib}/pkgconfig", KILN_STORE="none")

    def test_each_package_holds_its_own_files(self):
        self.assertEqual(set(self.packages), set(CONTENTS))
        for name, package in self.packages.items():
            with self.subTest(name):
                self.assertEqual(package.own_documents() - package.files, set())
                own = package.files - package.own_documents()
                for pattern in CONTENTS[name]:
                    pattern = pattern.replace("LIB/", re.escape(self.lib) + "/")
                    found = {file for file in own if re.fullmatch(pattern, file)}
                    self.assertTrue(found, pattern)
                    own -= found
                self.assertEqual(own, set())

    def test_each_installed_file_is_in_one_package(self):
        run(CMAKE, "--install", BUILD, "--prefix", WORK / "installed")
        installed = set()
        for path in (WORK / "installed").rglob("*"):
            if path.is_symlink() or not path.is_dir():
                name = path.relative_to(WORK / "installed").as_posix()
                name = name.replace(f"{self.lib}/kiln/python/", "lib/python3/dist-packages/")
                name = re.sub(r"^(share/man/.*)", r"\1.gz", name)
                installed.add(name)
        packed = [file for package in self.packages.values()
                  for file in package.files - package.own_documents()]
        self.assertEqual(sorted(packed), sorted(installed))

    def test_dependencies_are_exact(self):
        for name, package in self.packages.items():
            with self.subTest(name):
                libraries = {one for one in package.depends if re.match(r"lib[\w.+-]+ \(>=", one)}
                self.assertEqual(package.depends - libraries - {""},
                                 {one.replace("VERSION", self.version) for one in DEPENDS[name]})
                linked = name in ("libkiln0", "kiln", "kiln-fleet", "kiln-layer")
                self.assertEqual(any(one.startswith("libc6 ") for one in libraries), linked)
                self.assertEqual(package.fields["Architecture"] == "all", name == "python3-kiln")
        control = run("dpkg-deb", "-I", self.packages["libkiln0"].path, "shlibs")
        for library in ("runtime", "signed", "recorded"):
            self.assertIn(f"libkiln_{library} 0 libkiln0 (>= ", control)
        recommended = self.packages["kiln"].fields["Recommends"]
        for program in ("clang-15 | ", "llvm-spirv-15 | ", "spirv-tools", "ocl-icd-libopencl1 | "):
            self.assertIn(program, recommended)
        self.assertIn("minisign, skopeo", self.packages["kiln-fleet"].fields["Suggests"])

    def test_each_package_says_what_it_is(self):
        for name, package in self.packages.items():
            with self.subTest(name):
                self.assertEqual(package.fields["Version"], self.version)
                self.assertEqual(package.fields["Section"], SECTIONS[name])
                self.assertEqual(package.fields["Priority"], "optional")
                self.assertIn("Maintainer", package.fields)
                self.assertRegex(package.fields["Description"], r"^\w.{20,70}$")
                copyright_file, changelog = (USR / file for file in
                                             sorted(package.own_documents(), reverse=True))
                self.assertIn("Apache License, Version 2.0",
                              copyright_file.read_text(encoding="utf-8"))
                self.assertIn(f"kiln ({self.version}) ",
                              gzip.decompress(changelog.read_bytes()).decode())
                for member in package.members:
                    self.assertEqual((member.uid, member.gid), (0, 0), member.name)
                    if member.isfile():
                        program = member.name.startswith("./usr/bin/")
                        self.assertEqual(member.mode, 0o755 if program else 0o644, member.name)

    def test_the_reader_in_c_compiles_as_it_is_installed(self):
        run("cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-c",
            USR / "share/kiln/dropin/kiln_dropin.c", "-o", WORK / "kiln_dropin.o")

    def test_kiln_finds_its_layer_and_its_data(self):
        text = run("kiln", "serve", "--print-env", "sh", "--overlay", WORK / "overlay")
        self.assertIn(f"{USR}/{self.lib}/libkiln_layer.so", text)
        pack = WORK / "base.kiln"
        run("kiln", "compile", CONSUMER / "add_one.toml", "-o", pack)
        refused = fails("kiln", "build", pack, "-o", WORK / "no.kiln", "--virtual", "amd.toml:none")
        self.assertIn(f"{USR}/share/kiln/virtual/amd.toml:", refused)

    def test_a_machines_enabled_layer_goes_with_its_package(self):
        package = self.packages["kiln-layer"]
        run("dpkg-deb", "-e", package.path, WORK / "control")
        root = WORK / "enabled"
        layers, variables = root / "etc/OpenCL/layers/kiln.lay", root / "etc/environment.d/kiln.conf"

        def left(event, *texts):
            for path, text in zip((layers, variables), texts):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            run(WORK / "control/postrm", event, env={**os.environ, "DPKG_ROOT": str(root)})
            return [path.exists() for path in (layers, variables)]

        own = (f"/usr/{self.lib}/libkiln_layer.so\n", "# Written by 'kiln serve --enable'; ...\nA=\"b\"\n")
        self.assertEqual(left("upgrade", *own), [True, True])
        self.assertEqual(left("remove", *own), [False, False])
        self.assertEqual(left("remove", "/opt/libkiln_layer.so\n", "A=\"b\"\n"), [True, True])

    def test_the_python_module_finds_its_libraries(self):
        modules = USR / "lib/python3/dist-packages"
        variables = {**os.environ, "PYTHONPATH": str(modules), "KILN_LIBRARY": ""}
        run(sys.executable, "-B", CONSUMER / "use_module.py", env=variables)

    def test_a_missing_component_names_its_package(self):
        root = WORK / "development"
        for name in ("libkiln0", "libkiln-dev"):
            self.packages[name].unpack(root)
        project = WORK / "components"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.22)\nproject(components LANGUAGES C)\n"
            "find_package(kiln 0.1 REQUIRED COMPONENTS ${COMPONENTS})\n"
            "if(ADD)\nkiln_add_pack(pack MANIFEST kernels.toml)\nendif()\n", encoding="utf-8")

        def configure(prefix, components, *more):
            shutil.rmtree(project / "build", ignore_errors=True)
            return (CMAKE, "-S", project, "-B", project / "build", *more,
                    f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCOMPONENTS={components}")

        run(*configure(USR, "runtime;builder;layer"))
        run(*configure(root / "usr", "runtime"))
        for component, package in (("builder", "kiln"), ("layer", "kiln-layer")):
            self.assertIn(f"install the Debian package {package}, or",
                          fails(*configure(root / "usr", f"runtime;{component}")))
        self.assertIn("Kiln has no component compiler; it has runtime, builder and layer.",
                      fails(*configure(USR, "compiler")))
        self.assertIn("kiln_add_pack(pack): the program kiln is missing: install the Debian "
                      "package kiln", fails(*configure(root / "usr", "runtime", "-DADD=ON")))

    def test_each_pkg_config_file_links(self):
        for name in ("signed", "recorded", "provision"):
            with self.subTest(name):
                program = WORK / f"use_{name}"
                words = run("pkg-config", "--cflags", "--libs", f"kiln_{name}").split()
                run("cc", CONSUMER / f"use_{name}.c", "-o", program, *words)
                pack = SOURCE / "packs/golden/good-v1-final.kiln"
                arguments = (pack,) if name == "provision" else ()
                self.assertEqual(run(program, *arguments, cwd=WORK), "OK\n")

    def test_the_examples_build_and_run(self):
        examples = WORK / "examples"
        shutil.copytree(USR / DOCUMENTS / "kiln/examples", examples)
        here = pocl_is_here()
        results = {"image_filter_c": "sharpened 640x480 pixels, 0 wrong",
                   "image_filter_cpp": "sharpened 640x480 pixels, 0 wrong",
                   "histogram": "counted 1000000 bytes: right",
                   "makefile": "100000 numbers, 0 wrong",
                   "rust": "100000 numbers, 0 wrong",
                   "julia": "100000 numbers, 0 wrong"}
        self.assertEqual({path.name for path in examples.iterdir() if path.is_dir()},
                         {*results, "drop_in"})
        for name, expected in results.items():
            with self.subTest(name):
                folder, variables = examples / name, dict(os.environ)
                if name in ("rust", "julia"):
                    run("kiln", "compile", "saxpy.cl", "-o", "saxpy.kiln", "--build-options",
                        "-cl-std=CL1.2", cwd=folder)
                if name == "makefile":
                    run("make", "-C", folder, "CFLAGS=-Wall -Wextra -Werror")
                    program = (folder / "saxpy", folder / "saxpy.kiln")
                elif name == "rust":
                    if shutil.which("cargo") is None:
                        self.skipTest("cargo is not here: the example rust was not built")
                    run("cargo", "build", "--offline", "--release", "--target-dir", folder / "target",
                        cwd=folder, env={**variables, "RUSTFLAGS": "-D warnings"})
                    program = (folder / "target/release/saxpy", folder / "saxpy.kiln")
                elif name == "julia":
                    found = julia()
                    if found is None:
                        self.skipTest("Julia is not here: the example julia was not run")
                    variables["JULIA_DEPOT_PATH"] = str(WORK / "depot")
                    variables["LD_LIBRARY_PATH"] += "".join(f":{path}" for path in found[1])
                    program = (found[0], "--startup-file=no", folder / "saxpy.jl",
                               folder / "saxpy.kiln")
                else:
                    run(CMAKE, "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={USR}",
                        "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror",
                        "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror",
                        *(["-DDEVICES=Portable*"] if here and name == "image_filter_cpp" else []))
                    run(CMAKE, "--build", folder / "build")
                    program = (folder / "build" / re.sub("_c(pp)?$", "", name),)
                if here:
                    text = run(*program, env=variables)
                    self.assertEqual(text.splitlines()[-1], expected)
                    if name == "image_filter_cpp":
                        self.assertIn('"rung": "exact"', text)
                    if name in ("rust", "julia"):
                        self.assertRegex(text, r"\n  exact: no target .+\n( .+\n)*  (il|source): loaded in ")
        if not here:
            self.skipTest("PoCL is not here: the examples were built and not run")

    def test_the_drop_in_takes_the_place_of_a_cache(self):
        if "-lOpenCL" in subprocess.run(["cc", "-shared", "-lOpenCL", "-o", os.devnull],
                                        stderr=subprocess.PIPE, text=True, check=False).stderr:
            self.skipTest("no libOpenCL.so to link the example drop_in with")
        build, folder = WORK / "drop_in", WORK / "run"
        run(CMAKE, "-S", USR / DOCUMENTS / "kiln/examples/drop_in", "-B", build,
            f"-DCMAKE_PREFIX_PATH={USR}", "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror")
        run(CMAKE, "--build", build)
        if not pocl_is_here():
            self.skipTest("PoCL is not here: the example drop_in was built and not run")
        folder.mkdir()

        def after():
            """What each of the two programs was loaded from, or why it was not."""
            *reports, last = run(build / "after", cwd=folder).splitlines()
            self.assertEqual(last, "2 programs, 0 results wrong")
            return [json.loads(text)["rung"] if text[0] == "{" else text for text in reports]

        self.assertEqual(after(), 2 * ["app.kiln: No such file or directory"])
        self.assertEqual(after(), ["exact", "exact"])  # from the overlay, without any pack
        (kept, _) = sorted((folder / "overlay").glob("cl-*.kiln"))
        kept.write_bytes(kept.read_bytes()[:-1])
        self.assertEqual(sorted(after()), ["app.kiln: No such file or directory", "exact"])
        self.assertEqual(after(), ["exact", "exact"])  # built and stored again
        shutil.rmtree(folder / "overlay")
        run("kiln", "record", "-o", "app.spool", "--", build / "before", cwd=folder)
        run("kiln", "compile", "app.spool", "-o", "app.kiln", cwd=folder)
        self.assertEqual(after(), ["source", "source"])
        self.assertEqual(after(), ["overlay", "overlay"])
        run("kiln", "build", "app.kiln", "-o", "app.kiln", cwd=folder)
        shutil.rmtree(folder / "overlay")
        self.assertEqual(after(), ["exact", "exact"])
        shutil.copy(SOURCE / "packs/golden/good-v1-final.kiln", folder / "app.kiln")
        for reason in after():  # a pack of something else
            self.assertRegex(reason, "^the pack has no program cl-")
        self.assertEqual(after(), ["exact", "exact"])  # from the overlay


if __name__ == "__main__":
    run_tests([name for name in ("dpkg-deb", "dpkg-shlibdeps", "file", "pkg-config", "make", "cc")
               if shutil.which(name) is None])
