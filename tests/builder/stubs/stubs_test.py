#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Headers by `kiln stubs`: their text, that they compile and launch, and that misuse does not compile.

    stubs_test.py KILN LIBRARY CXX CC [--update]

LIBRARY is Kiln's shared library. --update writes the expected headers beside this file anew. Exit
codes: 0 passed, 1 failed, 77 the compilers of the host step are not here.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[2] / "runtime" / "include"
CXX = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror",
       "-Wno-unused-parameter"]
CC = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
USE = """#include "kernels.hpp"
namespace image = kernels::image;
void use(const kiln::Queue &queue, const image::scale &scale, const image::weigh &weigh,
         const image::sample &sample, const kiln::BufferOf<float> &floats,
         const kiln::BufferOf<const float> &weights, const kiln::BufferOf<cl_float4> &vectors,
         const kiln::BufferOf<const cl_float4> &constants, const kiln::Buffer &any,
         const kiln::Image &picture, const kiln::Image &volume, cl_sampler sampler,
         cl_float *shared, const cl_float4 *shared_constants) {
  struct Sizes {
    cl_int width;
    cl_double scale;
  } sizes{};
  const kiln_ndrange range{1, {4, 1, 1}, {0, 0, 0}, {0, 0, 0}};
  (void)range, (void)sizes;
  %s
}
"""
GOOD = [
    "(void)scale(queue, range, floats, 0.5f, 4);",
    "(void)scale(queue, range, kiln::BufferRef<float>(any), 0.5f, static_cast<unsigned char>(4));",
    "(void)weigh.set(constants, vectors, weights, kiln::local(64), cl_float4{}, sizes, any);",
    "(void)weigh.set(vectors, vectors, floats, kiln::local(64), cl_float4{}, sizes, floats);",
    "(void)sample.set(picture, volume, sampler, 1, 2, 3, cl_long8{});",
    "(void)scale(queue, range, kiln::svm(shared), 0.5f, 4);",
    "(void)weigh.set(kiln::svm(shared_constants), vectors, kiln::svm(shared), kiln::local(64),"
    " cl_float4{}, sizes, kiln::svm(shared_constants));",
    "(void)kernels::n2_half_es_2::halve::kName;",
]
BAD = [  # the line, and what GCC and Clang say
    ("(void)scale(queue, range, floats, 0.5f);", "no match|no matching"),
    ("(void)scale(queue, range, floats, 0.5f, 4, 5);", "no match|no matching"),
    ("(void)scale(queue, range, vectors, 0.5f, 4);",
     "no known conversion .*BufferOf<cl_float4>.* to .*kiln::BufferRef<"),
    ("(void)scale(queue, range, any, 0.5f, 4);",
     "no known conversion .*const kiln::Buffer. to .*kiln::BufferRef<"),
    ("(void)scale(queue, range, weights, 0.5f, 4);",
     "no known conversion .*BufferOf<const float>.* to .*kiln::BufferRef<"),
    ("(void)scale(queue, range, floats, 0.5, 4);",
     "no known conversion .*double. to .*kiln::Value<"),
    ("(void)scale(queue, range, floats, 1, 4);", "no known conversion .*int. to .*kiln::Value<"),
    ("(void)scale(queue, range, floats, 0.5f, sizeof(float));",
     "no known conversion .*long.* to .*kiln::Value<"),
    ("(void)weigh.set(vectors, vectors, floats, 64, cl_float4{}, sizes, any);",
     "(cannot convert|no known conversion).*int.*to .*kiln::Local"),
    ("(void)weigh.set(vectors, vectors, floats, kiln::local(64), 1.0f, sizes, any);", "cl_float4"),
    ("(void)weigh.set(vectors, vectors, floats, kiln::local(64), cl_float4{}, 1, any);",
     "the kernel's type has another size"),
    ("(void)scale(queue, range, kiln::svm(shared_constants), 0.5f, 4);",
     "no known conversion .*Svm<const cl_float4>.* to .*kiln::BufferRef<"),
    ("(void)scale(queue, range, shared, 0.5f, 4);", "kiln::BufferRef<"),
    ("(void)sample.set(picture, volume, 1, 1, 2, 3, cl_long8{});", "cl_sampler"),
    ("(void)sample.set(any, volume, sampler, 1, 2, 3, cl_long8{});", "kiln::Image"),
    ("(void)kernels::missing::kProgram;", "missing"),
]


def run(*command, **more):
    """A command to its end."""
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, **more)


class Test:
    """The pack, and what was found wrong."""

    def __init__(self, folder, kiln, cxx, cc):
        self.folder, self.kiln, self.cxx, self.cc = folder, kiln, cxx, cc
        self.faults = []

    def need(self, result, what):
        """Notes a command that fails."""
        if result.returncode != 0:
            self.faults.append(f"{what}: {result.stdout}{result.stderr}")
        return result.returncode == 0

    def header(self, name, update):
        """Writes a header, and compares it with the expected one."""
        path = self.folder / name
        if not self.need(run(self.kiln, "stubs", self.folder / "image.kiln", "-o", path), name):
            return
        expected = HERE / f"{name}.expected"
        if update:
            expected.write_text(path.read_text())
        if path.read_text() != expected.read_text():
            self.faults.append(f"{name} is not {expected}: run this with --update, and read it")

    def compiled(self, line):
        """What the compiler says of a use of the header."""
        return run(self.cxx, *CXX, f"-I{INCLUDE}", f"-I{self.folder}", "-fsyntax-only", "-x", "c++",
                   "-", input=USE % line)

    def uses(self):
        """Good uses compile, and bad ones do not, with their messages."""
        self.need(self.compiled("\n".join(GOOD)), "good uses")
        for line, message in BAD:
            result = self.compiled(line)
            if result.returncode == 0:
                self.faults.append(f"compiles: {line}")
            elif not re.search(message, result.stderr):
                self.faults.append(f"{line}: not {message!r}, but {result.stderr}")

    def c_header(self):
        """The C header compiles, alone and with uses."""
        source = """#include "kernels.h"
int main(void) {
  return KERNELS_IMAGE_SCALE_COUNT + (int)(KERNELS_IMAGE_HASH >> 63) + KERNELS_IMAGE_PROGRAM[0];
}
"""
        self.need(run(self.cc, *CC, f"-I{self.folder}", "-fsyntax-only", "-x", "c", "-",
                      input=source), "kernels.h")

    def launch(self, library):
        """A program that launches by the header, and one that finds a pack of another version."""
        program = self.folder / "launch"
        built = run(self.cxx, *CXX, f"-I{INCLUDE}", f"-I{self.folder}", HERE / "launch.cpp", library,
                    f"-Wl,-rpath,{pathlib.Path(library).parent}", "-o", program)
        if not self.need(built, "launch.cpp"):
            return
        result = run(program, self.folder / "image.kiln")
        if result.returncode == 77:
            print("no OpenCL device: nothing was launched")
            return
        if (result.returncode, result.stdout) != (0, "0 2.5 5 7.5\n"):
            self.faults.append(f"launch: {result}")
        source = self.folder / "image.cl"
        source.write_text(source.read_text().replace("*= factor", "*= 2 * factor"))
        self.need(run(self.kiln, "compile", self.folder / "image.toml", "-o",
                      self.folder / "image.kiln"), "kiln compile")
        result = run(program, self.folder / "image.kiln")
        if (result.returncode, result.stdout) != (1, "the pack has another version of image\n"):
            self.faults.append(f"stale: {result}")


def main(kiln, library, cxx, cc, *update):
    """The exit code."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file in HERE.glob("*.cl"):
            (folder / file.name).write_text(file.read_text())
        (folder / "image.toml").write_text((HERE / "image.toml").read_text())
        made = run(kiln, "compile", folder / "image.toml", "-o", folder / "image.kiln")
        if made.returncode == 5:
            print(f"SKIP: {made.stderr}")
            return 77
        test = Test(folder, kiln, cxx, cc)
        if test.need(made, "kiln compile"):
            test.header("kernels.hpp", bool(update))
            test.header("kernels.h", bool(update))
            test.uses()
            test.c_header()
            test.launch(library)
    for fault in test.faults:
        print(fault)
    return 1 if test.faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
