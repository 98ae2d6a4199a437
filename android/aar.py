#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds Kiln's AAR: the Java class, the runtime for Android's ABIs, headers and prefab's metadata.

Needs CMake, Ninja and javac, but neither Gradle nor an Android SDK. The same inputs give the same
bytes. docs/use/android.md says what DEPENDENCIES holds.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
HEADERS = SOURCE / "runtime/include/kiln"
# Of libraries beside the runtime.
ELSEWHERE = ("import", "kiln_program", "provision", "recorded", "sequence", "signed")
OPENCL = ("cl.h", "cl_platform.h", "cl_version.h")
ABIS = ("arm64-v8a", "armeabi-v7a", "x86_64", "x86")
API = 24


def run(*command):
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        sys.exit(f"{command[0]}: exit code {done.returncode}\n{done.stdout}")


def version():
    text = (HEADERS / "version.h").read_text(encoding="utf-8")
    return ".".join(re.findall(r"define KILN_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text))


def ndk_major(ndk):
    properties = (ndk / "source.properties").read_text(encoding="utf-8")
    return int(re.search(r"Pkg\.Revision *= *(\d+)", properties)[1])


def build(arguments, abi, folder):
    """Returns the libraries of an ABI."""
    run("cmake", "-S", SOURCE, "-B", folder, "-G", "Ninja",
        "--toolchain", arguments.ndk.resolve() / "build/cmake/android.toolchain.cmake",
        f"-DANDROID_ABI={abi}", f"-DANDROID_PLATFORM=android-{API}", "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_FIND_ROOT_PATH={arguments.dependencies.resolve()}", "-DKILN_ZSTD=OFF",
        "-DKILN_BUILD_BUILDER=OFF", "-DKILN_BUILD_TESTS=OFF", "-DKILN_STATIC_DEPENDENCIES=ON",
        "-DKILN_UNITY_BUILD=ON", *arguments.cmake)
    run("cmake", "--build", folder, "--target", "kiln_jni", "--parallel", os.cpu_count())
    return folder / "runtime/libkiln_runtime.so", folder / "android/libkiln_jni.so"


def compile_java(folder):
    """Returns the class files by their names in the JAR."""
    run("javac", "--release", "8", "-Xlint:-options", "-implicit:none", "-d", folder,
        "-sourcepath", SOURCE / "tests/android/java",  # as much of Android's classes as Kiln uses
        *sorted((SOURCE / "android/java").rglob("*.java")))
    return {path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*.class")}


def write_zip(file, entries):
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in sorted(entries.items()):
            entry = zipfile.ZipInfo(name)  # of 1980
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, compresslevel=9)


def as_json(**members):
    return json.dumps(members, indent=2).encode() + b"\n"


def headers(dependencies):
    """Kiln's, and of OpenCL's those that they include."""
    files = [path for path in HEADERS.iterdir() if path.stem not in ELSEWHERE]
    files += [dependencies / "include/CL" / name for name in OPENCL]
    return {f"{path.parent.name}/{path.name}": path.read_bytes() for path in files}


def contents(arguments, work):
    """What the AAR holds; the runtime is there twice, for Java alone and for native code."""
    write_zip(work / "classes.jar", compile_java(work / "classes"))
    module = "prefab/modules/runtime"
    entries = {
        "AndroidManifest.xml": (SOURCE / "android/AndroidManifest.xml").read_bytes(),
        "LICENSE": (SOURCE / "LICENSE").read_bytes(),
        "classes.jar": (work / "classes.jar").read_bytes(),
        "proguard.txt": b"-keep class kiln.Kiln { native <methods>; }\n",
        "prefab/prefab.json": as_json(schema_version=2, name="kiln", version=version(),
                                      dependencies=[]),
        f"{module}/module.json": as_json(export_libraries=[], library_name="libkiln_runtime"),
    }
    for name, data in headers(arguments.dependencies).items():
        entries[f"{module}/include/{name}"] = data
    for abi in ABIS:
        runtime, jni = build(arguments, abi, work / abi)
        entries[f"jni/{abi}/{runtime.name}"] = runtime.read_bytes()
        entries[f"jni/{abi}/{jni.name}"] = jni.read_bytes()
        library = f"{module}/libs/android.{abi}"
        entries[f"{library}/{runtime.name}"] = runtime.read_bytes()
        entries[f"{library}/abi.json"] = as_json(abi=abi, api=API, ndk=ndk_major(arguments.ndk),
                                                 stl="none", static=False)
    return entries


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--ndk", type=Path, required=True, help="folder of the Android NDK")
    parser.add_argument("--dependencies", type=Path, required=True,
                        help="folder with include/: CL/, flatbuffers/, xxhash.h")
    parser.add_argument("-o", "--output", type=Path, default=Path(f"kiln-{version()}.aar"))
    parser.add_argument("--work", type=Path, help="folder for the builds; default: a temporary one")
    parser.add_argument("cmake", nargs="*", help="options for CMake, after --")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = (arguments.work or Path(temporary)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        write_zip(arguments.output, contents(arguments, work))
    print(f"{arguments.output}: {arguments.output.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
