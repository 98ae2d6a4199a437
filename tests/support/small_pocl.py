#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a PoCL that compiles a small program in a fifth of the time: the system's own library,
beside the built-in functions that programs of tests call.

    small_pocl.py FOLDER

Each process that compiles for PoCL 3.1 reads and links all of its built-in functions, 9 MB of
bitcode, and parses 14,000 declarations. FOLDER gets a copy of the library, and of its data with
less of them: LEFT_OUT and UNDECLARED say which functions are missing. With FOLDER/lib/pocl in
LD_LIBRARY_PATH a process loads this PoCL, which finds its data by the place that it was loaded
from. It refuses a program that calls a missing function. The rest of PoCL, its versions, names and
caches are the system's.

Rejected: a cache with the programs of all tests. PoCL looks for a program by its text, and tests
write new ones; and what is cached is not compiled.

Where this PoCL cannot be made there is a WARNING and no FOLDER/lib/pocl, and processes load the
system's.
"""

import ctypes
import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

POCL = "libpocl.so.2"
# Functions of vectors that the tour calls.
FEW = "abs|abs_diff|all|any|clamp|fabs|floor|fma|mad|max|min|rint|select|sqrt"
# By their mangled names: functions of vectors, and conversions that round or saturate, except for
# those of manifests/tour.toml; functions of Sleef, which the others call; halves, copies of
# work-groups, gamma, 64-bit atomics, and C11's atomics. What a function that stays calls stays.
LEFT_OUT = re.compile(
    rf"(?!.*(image|vstore|_({FEW})(Dv\d+_|S_|[fhist])+$"
    r"|_convert_(float|int|uchar|u?short)\d*(_sat)?(_rte)?(Dv\d+_)?[fhist]$))"
    r".*(Dv\d+_|convert_[a-z]+\d*_)|Sleef_|.*(half|async_|prefetch|gamma|_atom_)"
    r"|.*atomic_(load|store|init|exchange|compare_ex|fetch|flag)")
# In the header, declarations with vectors, which are a line each, with the same exceptions. Every
# function of scalars stays: without one a call would convert its arguments for another.
VECTOR = r"\b(u?char|u?short|u?int|u?long|float|double|half)(2|3|4|8|16)\b"
SOME = r"(float|int|uchar|u?short)(2|3|4|8|16)?"
UNDECLARED = re.compile(
    rf"(?!.*\b(\w*image\w*|vload\w+|vstore\w+)\()"
    rf"(?!{SOME} __ovld __cnfn ({FEW}"
    rf"|convert_{SOME}(_sat)?(_rte)?)\(({SOME}( \w+)?(, )?)+\))"
    rf"(?=\w+ __ovld .*;$).*{VECTOR}")
EXTERNAL, INTERNAL = 0, 8  # LLVMLinkage
IN_OPEN = 0x20
# Compiles a program by the driver that OCL_ICD_VENDORS names.
COMPILE = """
import ctypes
cl = ctypes.CDLL("libOpenCL.so.1")
cl.clCreateContext.restype = cl.clCreateProgramWithSource.restype = ctypes.c_void_p
platform, device = ctypes.c_void_p(), ctypes.c_void_p()
cl.clGetPlatformIDs(1, ctypes.byref(platform), None)
cl.clGetDeviceIDs(platform, ctypes.c_ulong(0xFFFFFFFF), 1, ctypes.byref(device), None)
context = cl.clCreateContext(None, 1, ctypes.byref(device), None, None, None)
text = ctypes.c_char_p(b"kernel void k(global int *out) { *out = get_global_id(0); }")
program = cl.clCreateProgramWithSource(ctypes.c_void_p(context), 1, ctypes.byref(text), None, None)
assert cl.clBuildProgram(ctypes.c_void_p(program), 0, None, None, None, None) == 0
"""


def loaded_files():
    """The paths of libpocl and of its LLVM, as the system loads them."""
    ctypes.CDLL(POCL)
    lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    paths = {line.split(maxsplit=5)[5] for line in lines if "/" in line}
    (pocl,) = (Path(path) for path in paths if "/libpocl.so" in path)
    (llvm,) = (Path(path) for path in paths if "/libLLVM" in path)
    return pocl, llvm


def opened_by_a_build(data, work):
    """The built-in functions for this processor: the file of `data` that a build opens."""
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_NONBLOCK)
    if watch < 0 or libc.inotify_add_watch(watch, os.fsencode(data), IN_OPEN) < 0:
        raise OSError(ctypes.get_errno(), "inotify")
    (work / "icd").mkdir()
    (work / "icd/pocl.icd").write_text(POCL + "\n", encoding="ascii")
    subprocess.run([sys.executable, "-c", COMPILE], check=True,
                   env={**os.environ, "OCL_ICD_VENDORS": str(work / "icd"),
                        "POCL_CACHE_DIR": str(work / "cache")})
    events, names = os.read(watch, 1 << 16), set()
    while events:  # struct inotify_event
        (length,) = struct.unpack_from("I", events, 12)
        names.add(events[16:16 + length].rstrip(b"\0").decode())
        events = events[16 + length:]
    (name,) = (name for name in names if name.endswith(".bc"))
    return data / name


class Bitcode:
    """A module of LLVM's."""

    def __init__(self, library, path):
        self.llvm = ctypes.CDLL(str(library))
        buffer, self.module, message = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_char_p()
        if (self.call("CreateMemoryBufferWithContentsOfFile", os.fsencode(path),
                      ctypes.byref(buffer), ctypes.byref(message))
                or self.call("ParseBitcode2", buffer, ctypes.byref(self.module))):
            raise OSError(f"{path}: LLVM does not read it")

    def call(self, name, *arguments, result=ctypes.c_int):
        """A function of LLVM's interface for C."""
        function = getattr(self.llvm, "LLVM" + name)
        function.restype = result
        return function(*arguments)

    def functions(self):
        """Each function that the module has code of."""
        at = self.call("GetFirstFunction", self.module, result=ctypes.c_void_p)
        while at:
            function = ctypes.c_void_p(at)
            if not self.call("IsDeclaration", function):
                yield function
            at = self.call("GetNextFunction", function, result=ctypes.c_void_p)

    def leave_out(self, names):
        """Removes the functions of such names, except for those that others call."""
        for function in self.functions():
            size = ctypes.c_size_t()
            name = self.call("GetValueName2", function, ctypes.byref(size), result=ctypes.c_char_p)
            if names.match(name.decode()):
                self.call("SetLinkage", function, INTERNAL)
        options = self.call("CreatePassBuilderOptions", result=ctypes.c_void_p)
        if self.call("RunPasses", self.module, b"globaldce", None, ctypes.c_void_p(options),
                     result=ctypes.c_void_p):
            raise OSError("LLVM cannot remove functions")
        for function in self.functions():
            if self.call("GetLinkage", function) == INTERNAL:
                self.call("SetLinkage", function, EXTERNAL)

    def write(self, path):
        """Writes the module as bitcode."""
        if self.call("WriteBitcodeToFile", self.module, os.fsencode(path)):
            raise OSError(f"{path}: cannot be written")


def make(folder, pocl, llvm):
    """The PoCL. Its library comes last: without it nothing of `folder` is used."""
    data = (pocl.parent / "../../share/pocl").resolve()
    functions = opened_by_a_build(data, folder)
    share = folder / "share/pocl"
    shutil.copytree(data, share, ignore=shutil.ignore_patterns("*.bc"))
    header = share / "include/opencl-c.h"
    lines = header.read_text(encoding="utf-8").splitlines(keepends=True)
    header.write_text("".join(line for line in lines if not UNDECLARED.match(line)),
                      encoding="utf-8")
    bitcode = Bitcode(llvm, functions)
    bitcode.leave_out(LEFT_OUT)
    bitcode.write(share / functions.name)
    library = folder / "lib/new"
    shutil.copytree(pocl.parent / "pocl", library / "pocl")  # its devices
    shutil.copy(pocl, library)
    (library / POCL).symlink_to(pocl.name)
    library.rename(folder / "lib/pocl")


def main(folder):
    """The exit code: 0, since everything works without this PoCL. One that was made of the same
    files stays: tests of another ctest may run on it."""
    folder = Path(folder).resolve()
    try:
        pocl, llvm = loaded_files()
        made_of = "".join(f"{path} {path.stat().st_mtime_ns}\n"
                          for path in (pocl, llvm, Path(__file__).resolve()))
        stamp = folder / "made-of"
        if stamp.is_file() and stamp.read_text(encoding="utf-8") == made_of:
            return 0
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        make(folder, pocl, llvm)
        stamp.write_text(made_of, encoding="utf-8")
    except (AttributeError, OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"WARNING: no small PoCL, so tests take longer: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
