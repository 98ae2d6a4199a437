# SPDX-License-Identifier: Apache-2.0
"""Runs a Conan 2 recipe without Conan: as much of the module `conan` as Kiln's recipe uses, and
create(), which calls the recipe's methods in the order of `conan create`. CMake is the real one; the
toolchain file names the folders of the requirements, as Conan's does (its block find_paths).
"""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import types

JOBS = "2"


class ConanFile:
    """The attributes that a recipe's methods use."""

    def __init__(self, folder):
        self.recipe_folder = str(folder)
        self.required, self.tools = {}, []
        self.options = types.SimpleNamespace(**self.default_options)
        self.settings = types.SimpleNamespace(os="Linux", arch="x86_64", compiler="gcc",
                                              build_type="Release")
        self.folders = types.SimpleNamespace(root=None)
        properties = {}
        self.cpp_info = types.SimpleNamespace(properties=properties, set_property=properties.__setitem__)

    def requires(self, reference, **traits):
        if not set(traits) <= {"headers", "libs", "visible", "transitive_headers", "transitive_libs"}:
            raise AssertionError(f"{reference}: {traits}")
        self.required[reference.split("/")[0]] = traits

    def tool_requires(self, reference):
        self.tools.append(reference)


class CMakeToolchain:
    def __init__(self, recipe):
        self.recipe, self.cache_variables = recipe, {}

    def generate(self):
        folders = [self.recipe.cache / name for name in self.recipe.required]

        def listed(kind):
            return ";".join(str(folder / kind) for folder in folders if (folder / kind).is_dir())

        lines = [f'list(PREPEND CMAKE_INCLUDE_PATH "{listed("include")}")',
                 f'list(PREPEND CMAKE_LIBRARY_PATH "{listed("lib")}")',
                 *(f'set(CMAKE_INSTALL_{name} "{value}")' for name, value in
                   (("BINDIR", "bin"), ("LIBDIR", "lib"), ("INCLUDEDIR", "include"))),
                 "set(CMAKE_CXX_STANDARD 17)", "set(CMAKE_CXX_EXTENSIONS ON)"]
        self.recipe.toolchain.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.recipe.variables = self.cache_variables


class CMake:
    def __init__(self, recipe):
        self.recipe = recipe

    def _run(self, *words):
        done = subprocess.run(["cmake", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        if done.returncode or "variables were not used" in done.stdout:
            raise AssertionError(f"cmake {words}: {done.returncode}\n{done.stdout}")

    def configure(self):
        values = {True: "ON", False: "OFF"}
        self._run("-S", self.recipe.source_folder, "-B", self.recipe.build_folder, "-G", "Ninja",
                  f"-DCMAKE_TOOLCHAIN_FILE={self.recipe.toolchain}",
                  f"-DCMAKE_INSTALL_PREFIX={self.recipe.package_folder}", "-DCMAKE_BUILD_TYPE=Release",
                  *(f"-D{name}={values[value]}" for name, value in self.recipe.variables.items()))

    def build(self):
        self._run("--build", self.recipe.build_folder, "--parallel", JOBS)

    def install(self):
        self._run("--install", self.recipe.build_folder)


def cmake_layout(recipe):
    recipe.folders.source, recipe.folders.build = ".", os.path.join("build", "Release")


def copy(_recipe, pattern, source, target):
    """Patterns match whole paths: "packs/*" also what is deeper."""
    for path in pathlib.Path(source).glob(pattern):
        place = pathlib.Path(target) / path.relative_to(source)
        if path.is_dir():
            shutil.copytree(path, place, dirs_exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, place)


def load(_recipe, path):
    return pathlib.Path(path).read_text(encoding="utf-8")


def rmdir(_recipe, path):
    shutil.rmtree(path, ignore_errors=True)


def _module(name, **members):
    module = types.ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module


def create(path, cache, work, **options):
    """The recipe after all its methods: `cache` has a folder for each requirement; in `work` lie the
    folders of the source, the build and the package."""
    _module("conan", ConanFile=ConanFile)
    _module("conan.errors", ConanInvalidConfiguration=type("ConanInvalidConfiguration", (Exception,), {}))
    _module("conan.tools")
    _module("conan.tools.cmake", CMake=CMake, CMakeToolchain=CMakeToolchain, cmake_layout=cmake_layout)
    _module("conan.tools.files", copy=copy, load=load, rmdir=rmdir)
    spec = importlib.util.spec_from_file_location("conanfile", path)
    recipes = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recipes)
    recipe = recipes.KilnConan(path.parent)
    for name, value in options.items():
        setattr(recipe.options, name, value)
    recipe.cache, recipe.toolchain = cache, work / "conan_toolchain.cmake"
    recipe.export_sources_folder = recipe.source_folder = str(work / "source")
    recipe.build_folder, recipe.package_folder = str(work / "build"), str(work / "package")
    work.mkdir(parents=True)
    for method in ("set_version", "export_sources", "layout", "validate", "requirements",
                   "build_requirements", "generate", "build", "package", "package_info"):
        getattr(recipe, method)()
    return recipe
