# SPDX-License-Identifier: Apache-2.0
"""Conan 2 recipe of the tree that it lies in, a checkout or the unpacked source tarball:

    conan create cmake/ports/conan [-o '&:builder=True'] --build=missing
"""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

required_conan_version = ">=2.0"
ROOT = os.path.join("..", "..", "..")  # of the tree, from this folder


class KilnConan(ConanFile):
    name = "kiln"
    description = "Offline OpenCL kernel build system, binary packs and their runtime"
    license = "Apache-2.0"
    topics = ("opencl", "gpu", "spir-v", "ahead-of-time")
    package_type = "static-library"  # the shared libraries come along
    settings = "os", "arch", "compiler", "build_type"
    options = {"builder": [True, False]}  # the program kiln and the OpenCL layer
    default_options = {"builder": False}

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, ROOT, "CMakeLists.txt"))
        self.version = re.search(r"project\(Kiln VERSION ([0-9.]+)", text)[1]

    def export_sources(self):
        root = os.path.join(self.recipe_folder, ROOT)
        for pattern in ("CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md", "builder/*", "cmake/*",
                        "docs/*", "examples/*", "kernels/*", "manifests/*", "packs/*", "runtime/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def layout(self):
        self.folders.root = ROOT
        cmake_layout(self)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("Kiln's recipe is for Linux")

    def requirements(self):
        # A consumer's find_package(kiln) looks for the headers of these two and for zstd's library.
        self.requires("opencl-headers/[>=2022.01.04]", transitive_headers=True)
        self.requires("zstd/[>=1.5 <2]", transitive_headers=True, transitive_libs=True)
        self.requires("xxhash/[>=0.8 <0.9]", visible=False)
        self.requires("flatbuffers/[>=2.0.8]", visible=False)
        self.requires("libsodium/[>=1.0.18 <2]", visible=False)
        if self.options.builder:
            self.requires("sqlite3/[>=3.37 <4]", visible=False)
            self.requires("tomlplusplus/[>=3.3 <4]", visible=False)
            self.requires("cli11/[>=2.1 <3]", visible=False)
            self.requires("nlohmann_json/[>=3.10 <4]", visible=False)
            self.requires("fmt/[>=9 <12]", visible=False)
            self.requires("stb/cci.20240213", visible=False)

    def build_requirements(self):
        self.tool_requires("flatbuffers/<host_version>")  # flatc

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["KILN_BUILD_BUILDER"] = bool(self.options.builder)
        toolchain.cache_variables["KILN_BUILD_TESTS"] = False
        toolchain.cache_variables["KILN_UNITY_BUILD"] = True
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        for folder in ("lib/pkgconfig", "lib/kiln", "share/doc", "share/man"):
            rmdir(self, os.path.join(self.package_folder, folder))

    def package_info(self):
        # CMake projects use the package's own files, which bring kiln_add_pack(), too.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "kiln")]
        self.cpp_info.set_property("pkg_config_name", "kiln")
        self.cpp_info.libs = ["kiln_runtime", "kiln_packs"]
        self.cpp_info.system_libs = ["dl", "stdc++"]
        self.cpp_info.requires = ["opencl-headers::opencl-headers", "zstd::zstd"]
