#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The vcpkg port and the Conan recipe in cmake/ports, run with stand-ins for what is vcpkg's and
Conan's own (vcpkg_functions.cmake, conan_functions.py), since neither tool is needed here.

    ports_test.py BUILD WORK [all]

Each builds the runtime with CMake from a prefix that has its dependencies and nothing else, installs,
and a project is built from the result and run. BUILD is a configured build, which knows where the
dependencies are; WORK is emptied first. With `all` the builder is built, too, and by vcpkg also for
debugging, which takes minutes.
"""

import json
import os
import pathlib
import re
import shutil
import sys
import unittest

import conan_functions
from commands import run

BUILD, WORK = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
ALL = sys.argv[3:] == ["all"]
SOURCE = pathlib.Path(__file__).resolve().parents[2]
PORT = SOURCE / "cmake/ports/vcpkg/kiln"
VERSION = re.search(r"project\(Kiln VERSION ([0-9.]+)",
                    (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
PACK = SOURCE / "packs/golden/good-v1-final.kiln"
# vcpkg's name: the target of cmake/KilnDependencies.cmake, its headers, its library.
RUNTIME = {
    "zstd": ("kiln_zstd", ("zstd.h", "zstd_errors.h", "zdict.h"), "zstd"),
    "xxhash": ("kiln_xxhash", ("xxhash.h",), None),
    "opencl": ("kiln_opencl_headers", ("CL",), None),
    "flatbuffers": ("kiln_flatbuffers", ("flatbuffers",), None),
    "libsodium": ("kiln_sodium", ("sodium.h", "sodium"), "sodium"),
}
BUILDER = {
    "sqlite3": ("kiln_sqlite", ("sqlite3.h",), "sqlite3"),
    "tomlplusplus": ("kiln_toml", ("toml++",), None),
    "cli11": ("kiln_cli11", ("CLI",), None),
    "nlohmann-json": ("kiln_json", ("nlohmann",), None),
    "fmt": ("kiln_fmt", ("fmt",), None),
    "stb": ("kiln_stb", ("stb_image.h", "stb_image_write.h"), None),
}
DEPENDENCIES = {**RUNTIME, **(BUILDER if ALL else {})}
CONAN_NAMES = {"opencl": "opencl-headers", "nlohmann-json": "nlohmann_json"}

LIBRARIES = [r"lib/libkiln_(runtime|launch|packs|provision)\.a",
             rf"lib/libkiln_(runtime|launch|signed{'|recorded' if ALL else ''})\.so(\.0(\.\d+\.\d+)?)?"]
CMAKE_FILES = [r"kiln(Config(Version)?|Targets)\.cmake", r"kilnTargets-release\.cmake",
               r"Kiln(Find|HostTool|AddPack|EmbedPack)\.cmake"]
BUILDER_FILES = [r"lib/libkiln_layer\.so", r"share/kiln/virtual/[\w.-]+", r"share/kiln/known-bad\.toml"]
BUILDER_CMAKE_FILES = [r"kiln(Builder|Layer)Targets(-release)?\.cmake"]
HEADERS = [r"include/kiln/\w+\.(h|hpp)", r"share/kiln/dropin/kiln_dropin\.[ch]"]
CONSUMER = """cmake_minimum_required(VERSION 3.22)
project(Consumer LANGUAGES C CXX)
find_package(kiln {version} EXACT CONFIG REQUIRED COMPONENTS {components})
foreach(name runtime runtime_shared launch launch_shared signed)
  string(REGEX REPLACE "runtime.*" "kiln" program ${{name}})
  string(REGEX REPLACE "_shared$" "" program ${{program}})
  add_executable(use_${{name}} {programs}/use_${{program}}.c)
  target_link_libraries(use_${{name}} PRIVATE kiln::${{name}})
endforeach()
add_executable(use_cxx {programs}/use_kiln.cpp)
target_compile_features(use_cxx PRIVATE cxx_std_17)
target_link_libraries(use_cxx PRIVATE kiln::runtime)
"""


def cache_of(build):
    text = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    return dict(re.findall(r"^([^#/\s][^:]*):\w+=(.*)$", text, re.MULTILINE))


def lay(prefix, name):
    """Links a dependency's headers and library into the prefix, as vcpkg and Conan would lay them."""
    target, headers, library = DEPENDENCIES[name]
    cache = cache_of(BUILD)
    for folder in ("include", "lib/pkgconfig"):
        (prefix / folder).mkdir(parents=True, exist_ok=True)
    for header in headers:
        path = pathlib.Path(cache[f"{target}_INCLUDE_DIR"]) / header
        if path.exists():  # older versions lack some
            (prefix / "include" / header).symlink_to(path)
    if library:
        found = pathlib.Path(cache[f"{target}_LIBRARY"])
        static = found.with_suffix(".a")
        found = static if static.exists() else found
        (prefix / "lib" / found.name).symlink_to(found)
        (prefix / f"lib/pkgconfig/lib{library}.pc").write_text(
            f"prefix=${{pcfiledir}}/../..\nName: lib{library}\nDescription: {name}\nVersion: 1\n"
            f"Libs: -L${{prefix}}/lib -l{library}\nCflags: -I${{prefix}}/include\n", encoding="utf-8")


class Ports(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)
        if shutil.which("ccache"):
            os.environ.update(CMAKE_C_COMPILER_LAUNCHER="ccache", CMAKE_CXX_COMPILER_LAUNCHER="ccache")

    def check_files(self, root, patterns):
        """Each pattern matches a file, each file a pattern, and no folder is empty."""
        files = {path.relative_to(root).as_posix() for path in root.rglob("*") if not path.is_dir()}
        self.assertEqual([path for path in root.rglob("*") if path.is_dir() and not any(path.iterdir())],
                         [])
        for pattern in patterns:
            found = {file for file in files if re.fullmatch(pattern, file)}
            self.assertTrue(found, pattern)
            files -= found
        self.assertEqual(files, set())

    def check_no_path(self, root, *folders):
        for path in root.rglob("*"):
            if path.suffix in (".cmake", ".pc"):
                text = path.read_text(encoding="utf-8")
                self.assertEqual([folder for folder in folders if str(folder) in text], [], path)

    def check_origin(self, build, root):
        """What the build found lies in the root, nowhere else in the system."""
        found = {name: path for name, path in cache_of(build).items()
                 if re.fullmatch(r"kiln_\w+_(INCLUDE_DIR|LIBRARY)|KILN_STATIC_SODIUM", name)}
        self.assertTrue(found)
        self.assertEqual({name: path for name, path in found.items()
                          if not path.startswith(f"{root}/") and not path.endswith("NOTFOUND")}, {})

    def consume(self, name, *options):
        """Builds and runs a project that finds Kiln; its build folder."""
        folder = WORK / name
        folder.mkdir()
        components = "runtime builder layer" if ALL else "runtime"
        (folder / "CMakeLists.txt").write_text(
            CONSUMER.format(version=VERSION, components=components, programs=SOURCE / "tests/consumer"),
            encoding="utf-8")
        run("cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja", *options)
        run("cmake", "--build", folder / "build")
        for program in ("runtime", "runtime_shared", "launch", "launch_shared", "cxx"):
            self.assertEqual(run(folder / f"build/use_{program}", PACK), "OK\n")
        self.assertEqual(run(folder / "build/use_signed"), "OK\n")
        return folder / "build"

    def check_program(self, program):
        """The program finds its data and the layer from where it lies."""
        self.assertEqual(run(program, "--version").split()[1], VERSION)
        run(program, "compile", SOURCE / "tests/consumer/add_one.toml", "-o", WORK / "base.kiln")
        self.assertIn("for nvidia:sm_80", run(program, "build", WORK / "base.kiln", "--dry-run", "--virtual",
                                              "nvidia.toml:sm_80", "-o", WORK / "pack.kiln"))
        self.assertIn("nothing was recorded",  # and no layer was missing
                      run(program, "record", "-o", WORK / "spool", "--", "true"))

    def test_the_manifest_has_vcpkgs_fields_and_the_dependencies_of_the_build(self):
        manifest = json.loads((PORT / "vcpkg.json").read_text(encoding="utf-8"))
        self.assertEqual(set(manifest), {"name", "version", "description", "license", "supports",
                                         "dependencies", "features"})
        self.assertEqual((manifest["name"], manifest["version"]), ("kiln", VERSION))
        tools, libraries = [], []
        for one in manifest["dependencies"]:
            if isinstance(one, dict):
                self.assertEqual(set(one), {"name", "host"})
                tools.append(one["name"])
            else:
                libraries.append(one)
        self.assertEqual(tools, ["flatbuffers", "vcpkg-cmake", "vcpkg-cmake-config"])
        self.assertEqual(libraries, sorted(RUNTIME))
        self.assertEqual(set(manifest["features"]), {"builder"})
        feature = manifest["features"]["builder"]
        self.assertEqual(set(feature), {"description", "dependencies"})
        self.assertEqual(feature["dependencies"], sorted(BUILDER))
        text = (SOURCE / "cmake/KilnDependencies.cmake").read_text(encoding="utf-8")
        self.assertEqual(set(re.findall(r"kiln_find_library\((\w+)", text)),
                         {target for target, _, _ in (*RUNTIME.values(), *BUILDER.values())})

    def test_the_vcpkg_port_installs_what_it_should_and_a_project_uses_it(self):
        work = WORK / "vcpkg"
        installed, packages, trees = work / "installed", work / "packages", work / "buildtrees"
        for name in DEPENDENCIES:
            lay(installed, name)
        (installed / "tools/flatbuffers").mkdir(parents=True)
        (installed / "tools/flatbuffers/flatc").symlink_to(shutil.which("flatc") or "/nonexistent")
        run("cmake", f"-DPORTFILE={PORT}/portfile.cmake", "-DPORT=kiln", "-DTARGET_TRIPLET=x64-linux",
            f"-DVCPKG_BUILD_TYPE={'' if ALL else 'release'}", f"-DFEATURES=core{',builder' if ALL else ''}",
            f"-DCURRENT_PACKAGES_DIR={packages}", f"-DCURRENT_INSTALLED_DIR={installed}",
            f"-DCURRENT_HOST_INSTALLED_DIR={installed}", f"-DCURRENT_BUILDTREES_DIR={trees}",
            "-P", pathlib.Path(__file__).with_name("vcpkg_functions.cmake"))
        self.check_origin(trees / "x64-linux-rel", installed)
        pc_files = rf"lib/pkgconfig/kiln(_launch|_signed|_provision{'|_recorded' if ALL else ''})?\.pc"
        self.check_files(packages, [
            *HEADERS, *LIBRARIES, pc_files, *(f"share/kiln/{name}" for name in CMAKE_FILES),
            "share/kiln/copyright", "share/kiln/usage",
            *([*BUILDER_FILES, *(f"share/kiln/{name}" for name in BUILDER_CMAKE_FILES),
               r"tools/kiln/kiln(-fleet)?", r"share/kiln/kilnTargets-debug\.cmake",
               r"debug/lib/libkiln_(runtime|launch|packs|provision)\.a",
               r"debug/lib/libkiln_(runtime|launch|signed)\.so(\.0(\.\d+\.\d+)?)?",
               r"debug/lib/pkgconfig/kiln(_launch|_signed|_provision)?\.pc"] if ALL else [])])
        self.check_no_path(packages, packages, trees, installed)
        shutil.copytree(packages, installed, symlinks=True, dirs_exist_ok=True)
        shutil.rmtree(packages)
        build = self.consume("vcpkg_consumer", f"-DCMAKE_PREFIX_PATH={installed}",
                             f"-DCMAKE_BUILD_TYPE={'Debug' if ALL else 'Release'}")
        self.check_origin(build, installed)
        self.assertTrue(cache_of(build)["kiln_DIR"].startswith(str(installed)))
        if shutil.which("pkg-config"):
            flags = run("pkg-config", "--cflags", "--libs", "kiln",
                        env={**os.environ, "PKG_CONFIG_LIBDIR": f"{installed}/lib/pkgconfig"}).split()
            run("cc", SOURCE / "tests/consumer/use_kiln.c", "-o", work / "use_pc", *flags,
                f"-Wl,-rpath,{installed}/lib")
            self.assertEqual(run(work / "use_pc", PACK), "OK\n")
        if ALL:
            self.check_program(installed / "tools/kiln/kiln")

    def test_the_conan_recipe_packs_what_it_should_and_a_project_uses_it(self):
        work, cache = WORK / "conan", WORK / "conan_cache"
        for name in DEPENDENCIES:
            lay(cache / CONAN_NAMES.get(name, name), name)
        recipe = conan_functions.create(SOURCE / "cmake/ports/conan/conanfile.py", cache, work, builder=ALL)
        package = pathlib.Path(recipe.package_folder)
        self.assertEqual(recipe.version, VERSION)
        self.assertEqual(set(recipe.required), {CONAN_NAMES.get(name, name) for name in DEPENDENCIES})
        self.assertEqual(recipe.tools, ["flatbuffers/<host_version>"])
        self.check_origin(work / "build", cache)
        self.check_files(package, [
            *HEADERS, *LIBRARIES, *(f"lib/cmake/kiln/{name}" for name in CMAKE_FILES), "licenses/LICENSE",
            *([*BUILDER_FILES, r"bin/kiln(-fleet)?", *(f"lib/cmake/kiln/{name}" for name in BUILDER_CMAKE_FILES)]
              if ALL else [])])
        self.check_no_path(package, work, cache)
        for library in recipe.cpp_info.libs:
            self.assertTrue((package / f"lib/lib{library}.a").is_file(), library)
        self.assertEqual(recipe.cpp_info.properties["cmake_find_mode"], "none")
        shutil.rmtree(work / "build")
        shutil.rmtree(work / "source")
        toolchain = work / "conan_toolchain.cmake"
        with toolchain.open("a", encoding="utf-8") as file:  # as for a project that requires Kiln
            for folder in recipe.cpp_info.builddirs:
                file.write(f'list(PREPEND CMAKE_PREFIX_PATH "{package}/{folder}")\n')
        build = self.consume("conan_consumer", f"-DCMAKE_TOOLCHAIN_FILE={toolchain}",
                             "-DCMAKE_BUILD_TYPE=Release")
        self.check_origin(build, cache)
        if ALL:
            self.check_program(package / "bin/kiln")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
