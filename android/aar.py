#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds Kiln's AAR: the Java class, the runtime for Android's ABIs, headers and prefab's metadata.

--maven lays it out as a repository that Gradle and Maven read. Needs CMake, Ninja and a JDK, but
neither Gradle nor an Android SDK. The same inputs give the same bytes. docs/use/android.md says
what DEPENDENCIES holds.
"""

import argparse
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SOURCE / "cmake"))
import kiln_wheel  # pylint: disable=wrong-import-position

JAVA = SOURCE / "android/java"
ANDROID_JAVA = SOURCE / "tests/android/java"  # as much of Android's classes as Kiln uses
HEADERS = SOURCE / "runtime/include/kiln"
# Of libraries beside the runtime.
ELSEWHERE = ("import", "kiln_program", "provision", "recorded", "sequence", "signed")
OPENCL = ("cl.h", "cl_platform.h", "cl_version.h")
ABIS = ("arm64-v8a", "armeabi-v7a", "x86_64", "x86")
API = 24
LINKED = ("libxxhash-dev", "libflatbuffers-dev")  # Debian's packages with what the runtime has of others
GROUP = "kiln"  # as the Java package: Kiln has no domain
DIGESTS = ("sha512", "sha256", "sha1", "md5")
POM = """<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <!-- Without the next line Gradle does not read the .module file. -->
  <!-- do_not_remove: published-with-gradle-metadata -->
  <modelVersion>4.0.0</modelVersion>
  <groupId>{group}</groupId>
  <artifactId>kiln</artifactId>
  <version>{version}</version>
  <packaging>aar</packaging>
  <name>Kiln</name>
  <description>Loads OpenCL programs from packs, and reports what each load did</description>
  <licenses>
    <license>
      <name>Apache-2.0</name>
      <url>https://www.apache.org/licenses/LICENSE-2.0.txt</url>
    </license>
  </licenses>
</project>
"""


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


def read_files(folder, pattern="*"):
    """Returns the contents of a folder's files by their names."""
    return {path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob(pattern)) if path.is_file()}


def compile_java(folder):
    """Returns the class files by their names in the JAR."""
    run("javac", "--release", "8", "-Xlint:-options", "-implicit:none", "-d", folder,
        "-sourcepath", ANDROID_JAVA, *sorted(JAVA.rglob("*.java")))
    return read_files(folder, "*.class")


def document_java(folder):
    """Returns javadoc's pages by their names; an index would bring jQuery into the JAR."""
    run("javadoc", "-quiet", "--release", "8", "-notimestamp", "-noindex", "-notree", "-nohelp",
        "-locale", "en", "-docencoding", "UTF-8", "-Xdoclint:none", "-d", folder,
        "-sourcepath", ANDROID_JAVA, *sorted(JAVA.rglob("*.java")))
    return read_files(folder)


def as_zip(entries):
    archived = io.BytesIO()
    with zipfile.ZipFile(archived, "w") as archive:
        for name, data in sorted(entries.items()):
            entry = zipfile.ZipInfo(name)  # of 1980
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, compresslevel=9)
    return archived.getvalue()


def as_json(**members):
    return json.dumps(members, indent=2).encode() + b"\n"


def headers(dependencies):
    """Kiln's, and of OpenCL's those that they include."""
    files = [path for path in HEADERS.iterdir() if path.stem not in ELSEWHERE]
    files += [dependencies / "include/CL" / name for name in OPENCL]
    return {f"{path.parent.name}/{path.name}": path.read_bytes() for path in files}


def contents(arguments, work):
    """What the AAR holds; the runtime is there twice, for Java alone and for native code."""
    module = "prefab/modules/runtime"
    entries = {
        "AndroidManifest.xml": (SOURCE / "android/AndroidManifest.xml").read_bytes(),
        "LICENSE": kiln_wheel.notices(LINKED).encode(),
        "classes.jar": as_zip(compile_java(work / "classes")),
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


def digests(data):
    return {name: hashlib.new(name, data).hexdigest() for name in DIGESTS}


def variant(name, file, data, **attributes):
    """A variant of the .module, with the attributes that Android's Gradle plugin publishes."""
    attributes["dependency.bundling"] = "external"
    return {"name": name,
            "attributes": {f"org.gradle.{key}": value for key, value in attributes.items()},
            "files": [{"name": file, "url": file, "size": len(data), **digests(data)}]}


def write_repository(folder, aar, work):
    """Writes the AAR, its sources and documentation, and what Maven and Gradle read of them."""
    name = f"kiln-{version()}"
    files = {f"{name}.aar": aar, f"{name}-sources.jar": as_zip(read_files(JAVA)),
             f"{name}-javadoc.jar": as_zip(document_java(work / "javadoc"))}
    library, sources, javadoc = files.items()
    files[f"{name}.module"] = as_json(
        formatVersion="1.1",
        component={"group": GROUP, "module": "kiln", "version": version(),
                   "attributes": {"org.gradle.status": "release"}},
        variants=[
            variant("api", *library, category="library", libraryelements="aar", usage="java-api"),
            variant("runtime", *library, category="library", libraryelements="aar",
                    usage="java-runtime"),
            variant("sources", *sources, category="documentation", docstype="sources",
                    usage="java-runtime"),
            variant("javadoc", *javadoc, category="documentation", docstype="javadoc",
                    usage="java-runtime")])
    files[f"{name}.pom"] = POM.format(group=GROUP, version=version()).encode()
    folder = folder / GROUP.replace(".", "/") / "kiln" / version()
    folder.mkdir(parents=True, exist_ok=True)
    for file, data in files.items():
        (folder / file).write_bytes(data)
        for digest, text in digests(data).items():
            (folder / f"{file}.{digest}").write_text(text, encoding="ascii")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--ndk", type=Path, required=True, help="folder of the Android NDK")
    parser.add_argument("--dependencies", type=Path, required=True,
                        help="folder with include/: CL/, flatbuffers/, xxhash.h")
    parser.add_argument("-o", "--output", type=Path,
                        help=f"the AAR; default without --maven: kiln-{version()}.aar")
    parser.add_argument("--maven", type=Path, help="Maven repository that gets the AAR")
    parser.add_argument("--work", type=Path, help="folder for the builds; default: a temporary one")
    parser.add_argument("cmake", nargs="*", help="options for CMake, after --")
    arguments = parser.parse_args()
    missing = [tool for tool in ("cmake", "ninja", "javac", "javadoc") if not shutil.which(tool)]
    if missing:
        sys.exit(f"aar.py: not found: {', '.join(missing)}")
    if not arguments.maven:
        arguments.output = arguments.output or Path(f"kiln-{version()}.aar")
    with tempfile.TemporaryDirectory() as temporary:
        work = (arguments.work or Path(temporary)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        aar = as_zip(contents(arguments, work))
        if arguments.output:
            arguments.output.write_bytes(aar)
            print(f"{arguments.output}: {len(aar):,} bytes")
        if arguments.maven:
            write_repository(arguments.maven, aar, work)
            print(f"{arguments.maven}: {GROUP}:kiln:{version()}")


if __name__ == "__main__":
    main()
