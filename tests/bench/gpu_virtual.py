#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether a binary of a compiler without a driver launches as the driver's own code does.

    kiln build tests/bench/virtual/launches.toml --virtual nvidia.toml:sm_90 -o launches.kiln
    kiln pack inspect launches.kiln --extract launches
    tests/bench/gpu_virtual.py launches

The last line runs on the machine with the device and needs Python and an OpenCL library alone. It
launches each kernel of virtual/launches.cl from the binary and from the source, with offsets, with
more work-groups than a grid has, with arguments of every kind, and compares all that they wrote.
Prints a line for each launch; exit 1 where one differs. --platform chooses another platform by a
part of its name, --binary another file.
"""

import argparse
import ctypes as c
import json
import math
import random
import struct
import sys
from pathlib import Path

SUCCESS, READ_WRITE_COPY = 0, (1 << 0) | (1 << 5)
ALL_DEVICES, PLATFORM_NAME, DEVICE_NAME = 0xFFFFFFFF, 0x0902, 0x102B
CAPABILITY_MAJOR, CAPABILITY_MINOR = 0x4000, 0x4001
BUILD_LOG = 0x1183


class Fault(Exception):
    """An OpenCL call that failed, with its code."""


class OpenCL:
    """The few calls that are needed, checked."""

    def __init__(self, platform):
        self.cl = c.CDLL("libOpenCL.so.1")
        for name in ("clCreateContext", "clCreateCommandQueue", "clCreateBuffer", "clCreateKernel",
                     "clCreateProgramWithSource", "clCreateProgramWithBinary"):
            getattr(self.cl, name).restype = c.c_void_p
        self.device = self._find_device(platform)
        error = c.c_int()
        devices = (c.c_void_p * 1)(self.device)
        self.context = c.c_void_p(self.cl.clCreateContext(None, 1, devices, None, None,
                                                          c.byref(error)))
        self.check(error.value, "clCreateContext")
        self.queue = c.c_void_p(self.cl.clCreateCommandQueue(
            self.context, self.device, c.c_uint64(0), c.byref(error)))
        self.check(error.value, "clCreateCommandQueue")

    @staticmethod
    def check(code, what):
        """Raises Fault unless the code is that of success."""
        if code != SUCCESS:
            raise Fault(f"{what}: error {code}")

    def _text(self, call, handle, what):
        text = c.create_string_buffer(4096)
        self.check(call(handle, what, c.c_size_t(4096), text, None), "info")
        return text.value.decode(errors="replace")

    def _find_device(self, wanted):
        platforms, count = (c.c_void_p * 16)(), c.c_uint()
        self.check(self.cl.clGetPlatformIDs(16, platforms, c.byref(count)), "clGetPlatformIDs")
        for platform in platforms[:count.value]:
            name = self._text(self.cl.clGetPlatformInfo, c.c_void_p(platform), PLATFORM_NAME)
            devices = (c.c_void_p * 1)()
            found = self.cl.clGetDeviceIDs(c.c_void_p(platform), c.c_uint64(ALL_DEVICES), 1,
                                           devices, None) == SUCCESS
            if wanted.lower() in name.lower() and found:
                return c.c_void_p(devices[0])
        raise Fault(f"no device of a platform with '{wanted}' in its name")

    def name(self):
        """The device's name."""
        return self._text(self.cl.clGetDeviceInfo, self.device, DEVICE_NAME)

    def compute_capability(self):
        """"9.0", or nothing where the device is not NVIDIA's."""
        numbers = []
        for what in (CAPABILITY_MAJOR, CAPABILITY_MINOR):
            value = c.c_uint()
            if self.cl.clGetDeviceInfo(self.device, what, c.c_size_t(4), c.byref(value), None):
                return ""
            numbers.append(str(value.value))
        return ".".join(numbers)

    def program(self, text, is_source, options):
        """A built program of source or of a binary."""
        error, length = c.c_int(), c.c_size_t(len(text))
        pointer = c.c_char_p(text)
        if is_source:
            made = self.cl.clCreateProgramWithSource(self.context, 1, c.byref(pointer),
                                                     c.byref(length), c.byref(error))
        else:
            devices, status = (c.c_void_p * 1)(self.device), c.c_int()
            made = self.cl.clCreateProgramWithBinary(self.context, 1, devices, c.byref(length),
                                                     c.byref(pointer), c.byref(status),
                                                     c.byref(error))
        self.check(error.value, "creating the program")
        program, devices = c.c_void_p(made), (c.c_void_p * 1)(self.device)
        code = self.cl.clBuildProgram(program, 1, devices, options, None, None)
        if code != SUCCESS:
            log = c.create_string_buffer(65536)
            self.cl.clGetProgramBuildInfo(program, self.device, BUILD_LOG, c.c_size_t(65536), log,
                                          None)
            raise Fault(f"clBuildProgram: error {code}\n{log.value.decode(errors='replace')}")
        return program

    def run(self, program, launch):
        """What the launch leaves in its buffers, in the order of the arguments."""
        error = c.c_int()
        kernel = c.c_void_p(self.cl.clCreateKernel(program, launch["kernel"].encode(),
                                                   c.byref(error)))
        self.check(error.value, f"clCreateKernel {launch['kernel']}")
        buffers = []
        for index, (kind, value) in enumerate(launch["arguments"]):
            if kind == "buffer":
                data = c.create_string_buffer(value, len(value))
                memory = c.c_void_p(self.cl.clCreateBuffer(
                    self.context, c.c_uint64(READ_WRITE_COPY), c.c_size_t(len(value)), data,
                    c.byref(error)))
                self.check(error.value, "clCreateBuffer")
                buffers.append((memory, len(value)))
                size, pointer = c.sizeof(c.c_void_p), c.byref(memory)
            elif kind == "local":
                size, pointer = value, None
            else:
                size, pointer = len(value), c.c_char_p(value)
            self.check(self.cl.clSetKernelArg(kernel, index, c.c_size_t(size), pointer),
                       f"clSetKernelArg {index}")
        self._enqueue(kernel, launch)
        results = []
        for memory, size in buffers:
            data = c.create_string_buffer(size)
            self.check(self.cl.clEnqueueReadBuffer(self.queue, memory, 1, c.c_size_t(0),
                                                   c.c_size_t(size), data, 0, None, None), "reading")
            self.cl.clReleaseMemObject(memory)
            results.append(data.raw)
        return results

    def _enqueue(self, kernel, launch):
        sizes = {key: (c.c_size_t * 3)(*launch[key]) if launch.get(key) else None
                 for key in ("offset", "range", "local")}
        self.check(self.cl.clEnqueueNDRangeKernel(
            self.queue, kernel, len(launch["range"]), sizes["offset"], sizes["range"],
            sizes["local"], 0, None, None), "clEnqueueNDRangeKernel")
        self.check(self.cl.clFinish(self.queue), "clFinish")


def floats(count, seed=1):
    """Numbers of several magnitudes, the same ones each time."""
    source = random.Random(seed)
    return struct.pack(f"{count}f", *(source.uniform(-8, 8) * 10 ** source.randint(-3, 2)
                                      for _ in range(count)))


def work_items(extent, local, offset=None):
    """A launch that writes every work-item function."""
    return {"kernel": "work_items", "range": extent, "local": local, "offset": offset,
            "arguments": [("buffer", bytes(math.prod(extent) * 96))]}


def launches():
    """Every launch, as kernel, range and arguments."""
    yield work_items([1000], [8])
    yield work_items([1024], None)
    yield work_items([512], [64], [37])
    yield work_items([64, 48], [16, 4], [5, 11])
    yield work_items([16, 12, 6], [4, 3, 2], [100, 7, 3])
    yield work_items([8, 6, 4], [8, 2, 1], [0, 0, 9])
    yield work_items([2, 70000], [2, 1], [1, 3])      # more work-groups than a grid has in y
    yield work_items([1, 140000], [1, 2], [0, 7])
    yield work_items([1, 1, 66000], [1, 1, 1], [0, 2, 5])
    yield work_items([200000], [1], [4000000000])
    for local in ([32, 4], None):
        yield {"kernel": "required_size", "range": [128, 32], "local": local,
               "arguments": [("buffer", bytes(128 * 32 * 4))]}
    order = struct.pack("128i", *((i * 37) % 128 for i in range(128)))
    for local in (32, 128):
        yield {"kernel": "memory", "range": [4096], "local": [local],
               "arguments": [("buffer", bytes(4096 * 4)), ("buffer", floats(1024, 2)),
                             ("local", local * 4), ("buffer", order), ("local", local * 4),
                             ("buffer", floats(4096, 3))]}
    record = struct.pack("=b7xd4h", -3, 2.25, 5, -6, 7, -8)
    yield {"kernel": "values", "range": [256], "local": [64], "arguments": [
        ("buffer", bytes(256 * 4)), ("value", struct.pack("b", -7)), ("value", struct.pack("f", .5)),
        ("value", bytes([200, 2, 3, 0])), ("value", struct.pack("h", -1234)), ("value", record),
        ("value", struct.pack("q", 1 << 33)), ("value", struct.pack("4f", 1, 2, 3, 4)),
        ("value", struct.pack("8H", *range(60000, 60008))), ("value", struct.pack("d", 0.125))]}
    yield {"kernel": "arrays", "range": [4096], "local": [64],
           "arguments": [("buffer", bytes(4096 * 4)), ("buffer", bytes(8))]}
    yield {"kernel": "exact", "range": [4096], "local": [64],
           "arguments": [("buffer", bytes(4096 * 32)), ("buffer", floats(4096, 4))]}
    yield {"kernel": "rounded", "range": [4096], "local": [64], "tolerance": 2e-3,
           "arguments": [("buffer", bytes(4096 * 48)), ("buffer", floats(4096, 5))]}


def difference(one, other, tolerance):
    """What differs, as a sentence; None where nothing does."""
    if one == other:
        return None
    words = [i for i in range(0, len(one), 4) if one[i:i + 4] != other[i:i + 4]]
    if tolerance:
        values = [(struct.unpack_from("f", one, i)[0], struct.unpack_from("f", other, i)[0])
                  for i in words]
        far = [(i, a, b) for i, (a, b) in zip(words, values)
               if not (a == b or math.isnan(a) and math.isnan(b)
                       or abs(a - b) <= tolerance * max(1.0, abs(a), abs(b)))]
        if not far:
            return None
        i, a, b = far[0]
        return f"{len(far)} numbers differ by more than {tolerance}; word {i // 4}: {a} and {b}"
    i = words[0]
    return (f"{len(words)} of {len(one) // 4} words differ; word {i // 4}: "
            f"{one[i:i + 4].hex()} and {other[i:i + 4].hex()}")


def binary_for(folder, capability):
    """The extracted binary for a device of that compute capability."""
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    binaries = index["variants"][0]["binaries"]
    for binary in binaries:
        if not capability or binary["target"].endswith(f"capability {capability}"):
            return folder / binary["file"]
    raise Fault(f"no binary for compute capability {capability} among "
                + ", ".join(binary["target"] for binary in binaries))


def main():
    """Runs every launch twice; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="what kiln pack inspect --extract wrote")
    parser.add_argument("--platform", default="NVIDIA")
    parser.add_argument("--binary", type=Path)
    arguments = parser.parse_args()
    opencl = OpenCL(arguments.platform)
    file = arguments.binary or binary_for(arguments.folder, opencl.compute_capability())
    print(f"{opencl.name()}: {file}")
    source = (arguments.folder / "launches/default.cl").read_bytes()
    ours = opencl.program(file.read_bytes(), False, None)
    theirs = opencl.program(source, True, b"-cl-std=CL1.2")
    failed = 0
    for launch in launches():
        what = " ".join(f"{key} {launch[key]}" for key in ("range", "local", "offset")
                        if launch.get(key))
        try:
            expected = opencl.run(theirs, launch)
        except Fault as error:
            print(f"refused {launch['kernel']:14} {what}: from source, {error}")
            continue
        try:
            faults = [difference(a, b, launch.get("tolerance", 0))
                      for a, b in zip(expected, opencl.run(ours, launch))]
            fault = next((f for f in faults if f), None)
        except Fault as error:
            fault = str(error)
        failed += bool(fault)
        print(f"{'DIFFERS' if fault else 'equal  '} {launch['kernel']:14} {what}"
              + (f": {fault}" if fault else ""))
    print(f"{failed} of the launches differ" if failed else "every launch is equal")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Fault as fault_:
        sys.exit(f"gpu_virtual.py: {fault_}")
