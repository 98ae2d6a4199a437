#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the AAR with a stand-in for the NDK, and checks what is in it and in its Maven repository.

usage: aar_test.py SOURCE WORK JNI-HEADERS [LAUNCHER]

Clang and LLD compile and link for Android's ABIs. Every function that the libraries want must be
one that Android 7 has, by the names below. The headers are glibc's, so the libraries do not run.
Gradle takes the AAR from the repository; Debian's is of 2018 and reads the POM, not the .module.
Skipped, with the reason, where a part is missing.
"""

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

SOURCE, WORK, JNI = (Path(argument) for argument in sys.argv[1:4])
sys.path.insert(0, str(SOURCE / "android"))
import aar  # pylint: disable=wrong-import-position

LAUNCHER = sys.argv[4:]
NDK, DEPENDENCIES = WORK / "ndk", WORK / "dependencies"
MACHINES = {"arm64-v8a": ("ELF64", "AArch64", "aarch64-linux-android24"),
            "armeabi-v7a": ("ELF32", "ARM", "armv7a-linux-androideabi24"),
            "x86_64": ("ELF64", "Advanced Micro Devices X86-64", "x86_64-linux-android24"),
            "x86": ("ELF32", "Intel 80386", "i686-linux-android24")}
MODULE = "prefab/modules/runtime"
MOST_BYTES = 1_100_000  # without the C++ library
TOOLS = ("clang-15", "clang++-15", "ld.lld-15", "llvm-ar-15", "gradle")
DIGESTS = ("md5", "sha1", "sha256", "sha512")
VARIANTS = (("api", ".aar", "library", "libraryelements", "aar", "java-api"),
            ("runtime", ".aar", "library", "libraryelements", "aar", "java-runtime"),
            ("sources", "-sources.jar", "documentation", "docstype", "sources", "java-runtime"),
            ("javadoc", "-javadoc.jar", "documentation", "docstype", "javadoc", "java-runtime"))
CONSUMER = """
repositories { maven { url uri("MAVEN") } }
configurations { app }
dependencies { app(["", ":sources@jar", ":javadoc@jar"].collect { "kiln:kiln:VERSION$it" }) }
task copy(type: Copy) { from configurations.app; into "libs" }
"""

# Functions of the C library of Android 7 (API 24) in all four ABIs, from bionic's libc.map.txt and
# libdl.map.txt; only those that Kiln calls.
BIONIC = set("""
    __cxa_atexit __cxa_finalize __errno __stack_chk_fail __stack_chk_guard __system_property_get
    calloc clock_gettime close closedir dladdr dlclose dlerror dlopen dl_iterate_phdr dlsym
    fcntl fdopendir flock free fstat fstat64 fstatat fstatat64 fsync ftruncate ftruncate64
    futimens getcwd geteuid getpid ioctl lseek lseek64 lstat lstat64 malloc memchr memcmp memcpy
    memmove memset mkdir open open64 openat openat64 pread pread64 pthread_mutex_lock
    pthread_mutex_trylock pthread_mutex_unlock pthread_rwlock_rdlock pthread_rwlock_trywrlock
    pthread_rwlock_unlock pthread_sigmask pwrite pwrite64 readdir readdir64 readlink realloc
    renameat sigaddset sigemptyset sigismember sigpending sigtimedwait snprintf stat stat64
    strchr strcmp strerror strlen strncmp strnlen strrchr strstr strtoul strtoull time uname
    unlinkat write""".split())
# What glibc's headers call otherwise.
GLIBC = {"__errno_location": "__errno", "fcntl64": "fcntl"}
# Brought by the NDK's libc++_static.a, by Clang's builtins and by crtbegin_so.o; of libstdc++'s
# headers.
STATIC = re.compile(r"_Z|__cxa_guard_|__emutls_get_address$|__aeabi_|__u?(div|mod)di3$"
                    r"|__(ash|lsh)[lr]di3$|atexit$|_GLOBAL_OFFSET_TABLE_$|__libc_single_threaded$")

VERSION = ".".join(re.findall(r"_(?:MAJOR|MINOR|PATCH) (\d+)", (
    SOURCE / "runtime/include/kiln/version.h").read_text(encoding="utf-8")))


faults = []


def check(fact, text):
    if not fact:
        faults.append(text)


def run(*command):
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        sys.exit(f"{command[0]}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def make_ndk():
    """The stand-in with the few headers of Android, and empty libraries."""
    shutil.copytree(SOURCE / "tests/android/stand_in_ndk", NDK)
    write(NDK / "include/android/api-level.h", "#pragma once\n")
    write(NDK / "include/sys/system_properties.h", "#pragma once\n#define PROP_VALUE_MAX 92\n"
          'extern "C" int __system_property_get(const char *name, char *value);\n')
    for name, content in (("asm/sigcontext", "struct sigcontext { int none; };"),
                          ("sys/ucontext", "typedef struct ucontext_t { int none; } ucontext_t;")):
        write(NDK / f"include/{name}.h", f"#pragma once\n{content}\n")  # AArch64's, of 128 bits
    for name in ("jni.h", "linux/jni_md.h"):
        shutil.copy(JNI / name, NDK / "include")
    for abi, (_, _, triple) in MACHINES.items():
        folder = NDK / "lib" / abi
        folder.mkdir(parents=True)
        for name in ("c", "m", "dl"):
            run("clang-15", f"--target={triple}", "-nostdlib", "-shared", "-fuse-ld=lld-15",
                f"-Wl,-soname,lib{name}.so", "-x", "c", "/dev/null", "-o", folder / f"lib{name}.so")
    for name in ("CL", "flatbuffers", "xxhash.h"):
        source, target = Path("/usr/include", name), DEPENDENCIES / "include" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)


def check_manifest(text):
    """It names the libraries that Kiln opens by name."""
    name = "{http://schemas.android.com/apk/res/android}name"
    named = [library.get(name)
             for library in ElementTree.fromstring(text).iter("uses-native-library")]
    code = (SOURCE / "runtime/opencl/library.cpp").read_text(encoding="utf-8")
    tried = re.search(r'defined\(__ANDROID__\)\n((?:    "[^/"]+",\n)+)', code)[1]
    check(named == re.findall(r'"(.*)"', tried), f"the manifest names {named}, Kiln tries\n{tried}")


def check_library(name, data, machine, needed):
    file = WORK / "library.so"
    file.write_bytes(data)
    text = run("readelf", "-hldW", "--dyn-syms", file)
    got = re.search(r"Class: +(\w+)", text)[1], re.search(r"Machine: +(.*)", text)[1]
    check(got == machine, f"{name}: is for {got}")
    check(f"Library soname: [{Path(name).name}]" in text, f"{name}: another soname")
    wants = set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))
    check(wants <= needed | {"libc.so", "libm.so", "libdl.so"}, f"{name}: needs {sorted(wants)}")
    check(needed <= wants, f"{name}: does not need {sorted(needed)}")
    for align in re.findall(r"^ +LOAD .* (0x\w+)$", text, re.MULTILINE):
        check(int(align, 16) == 16384, f"{name}: a segment is aligned to {align}")
    check("TEXTREL" not in text, f"{name}: has text relocations")
    symbols = re.findall(r" (GLOBAL|WEAK) +DEFAULT +(UND|\d+) (\w+)", text)
    for _, _, symbol in (row for row in symbols if row[1] == "UND"):
        check(GLIBC.get(symbol, symbol) in BIONIC or STATIC.match(symbol)
              or ("libkiln_runtime.so" in needed and symbol.startswith("kiln_")),
              f"{name}: Android 7 has no {symbol}")
    return {symbol for _, section, symbol in symbols if section != "UND"}


def check_aar(file):
    with zipfile.ZipFile(file) as archive:
        check(archive.testzip() is None, "the archive is damaged")
        entries = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(io.BytesIO(entries["classes.jar"])) as jar:
        check(jar.namelist() == ["kiln/Kiln$Progress.class", "kiln/Kiln.class"],
              f"classes.jar has {jar.namelist()}")
        check(jar.read("kiln/Kiln.class")[:8] == bytes.fromhex("cafebabe00000034"), "not Java 8's")
    check_manifest(entries["AndroidManifest.xml"])
    check(b"kiln.Kiln" in entries["proguard.txt"], "R8 may rename the class")
    check(all(f"==== {name}\n".encode() in entries["LICENSE"] for name in aar.LINKED), "no notice")
    check(json.loads(entries["prefab/prefab.json"]) == {
        "schema_version": 2, "name": "kiln", "version": VERSION, "dependencies": []},
        "prefab.json")
    check(json.loads(entries[f"{MODULE}/module.json"]) == {
        "export_libraries": [], "library_name": "libkiln_runtime"}, "module.json")
    for abi, machine in MACHINES.items():
        libraries = f"{MODULE}/libs/android.{abi}"
        check(json.loads(entries[f"{libraries}/abi.json"]) == {
            "abi": abi, "api": 24, "ndk": 23, "stl": "none", "static": False}, f"abi.json of {abi}")
        name = f"jni/{abi}/libkiln_runtime.so"
        check(entries[f"{libraries}/libkiln_runtime.so"] == entries[name], f"{abi}: two runtimes")
        exported = check_library(name, entries[name], machine[:2], set())
        check("kiln_load" in exported and all(symbol.startswith("kiln_") for symbol in exported),
              f"{name} exports {sorted(exported)[:9]}")
        name = f"jni/{abi}/libkiln_jni.so"
        exported = check_library(name, entries[name], machine[:2], {"libkiln_runtime.so"})
        check(exported == {"JNI_OnLoad"}, f"{name} exports {sorted(exported)}")
    compile_with_headers(entries)
    print(f"arm64-v8a: {len(entries['jni/arm64-v8a/libkiln_runtime.so']):,} bytes; all: "
          f"{file.stat().st_size:,} bytes")
    check(file.stat().st_size <= MOST_BYTES, f"the AAR is larger than {MOST_BYTES:,} bytes")


def compile_with_headers(entries):
    """Native code of an application finds all that it includes in the AAR."""
    folder = WORK / "headers"
    for name, data in entries.items():
        if name.startswith(f"{MODULE}/include/"):
            path = folder / name[len(f"{MODULE}/include/"):]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    names = sorted(path.name for path in (folder / "kiln").iterdir())
    for suffix, compiler in ((".h", "cc"), (".hpp", "c++")):
        write(WORK / f"all{suffix}", "".join(f"#include <kiln/{name}>\n" for name in names
                                             if name.endswith(suffix)))
        run(compiler, "-fsyntax-only", "-x", "c" if suffix == ".h" else "c++", f"-I{folder}",
            WORK / f"all{suffix}")


def digests(data):
    return {name: hashlib.new(name, data).hexdigest() for name in DIGESTS}


def check_repository(maven, file):
    """The repository has the AAR, and what it says of each file is so."""
    name = f"kiln-{VERSION}"
    folder = maven / "kiln/kiln" / VERSION
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    wanted = [f"{name}{end}" for end in (".aar", ".module", ".pom", "-javadoc.jar", "-sources.jar")]
    sides = {f"{one}.{digest}": text.encode()
             for one in wanted for digest, text in digests(files[one]).items()}
    check(sorted(files) == sorted((*wanted, *sides)), f"the repository has {sorted(files)}")
    check(sides.items() <= files.items(), "a digest beside a file is wrong")
    check(files[f"{name}.aar"] == file.read_bytes(), "the repository has another AAR")
    check_module(json.loads(files[f"{name}.module"]), name, files)
    pom = {element.tag.split("}")[1]: (element.text or "").strip()
           for element in ElementTree.fromstring(files[f"{name}.pom"]).iter()}
    check([pom[tag] for tag in ("groupId", "artifactId", "version", "packaging")]
          == ["kiln", "kiln", VERSION, "aar"], f"the POM says {pom}")
    check(b"<!-- do_not_remove: published-with-gradle-metadata -->" in files[f"{name}.pom"],
          "by this POM Gradle reads no .module")
    for end, entry in (("sources", "kiln/Kiln.java"), ("javadoc", "kiln/Kiln.html")):
        with zipfile.ZipFile(folder / f"{name}-{end}.jar") as jar:
            check(entry in jar.namelist(), f"{end}: has {jar.namelist()}")
    aar.write_repository(WORK / "again", file.read_bytes(), WORK)
    check({path.name: path.read_bytes() for path in (WORK / "again/kiln/kiln" / VERSION).iterdir()}
          == files, "the repository has other bytes the second time")


def check_module(module, name, files):
    """By the specification of Gradle's module metadata 1.1."""
    variants = [{
        "name": label,
        "attributes": {"org.gradle.category": category, f"org.gradle.{kind}": value,
                       "org.gradle.usage": usage, "org.gradle.dependency.bundling": "external"},
        "files": [{"name": name + end, "url": name + end, "size": len(files[name + end]),
                   **digests(files[name + end])}],
    } for label, end, category, kind, value, usage in VARIANTS]
    check(next(iter(module)) == "formatVersion", "the module does not begin with its version")
    check(module == {"formatVersion": "1.1", "variants": variants, "component": {
        "group": "kiln", "module": "kiln", "version": VERSION,
        "attributes": {"org.gradle.status": "release"}}}, f"the module says {module}")


def check_consumer(maven):
    """A Gradle build takes all three artifacts by their names."""
    folder = WORK / "consumer"
    write(folder / "settings.gradle", "")
    write(folder / "build.gradle",
          CONSUMER.replace("MAVEN", str(maven.resolve())).replace("VERSION", VERSION))
    run("gradle", "--offline", "--no-daemon", "--gradle-user-home", WORK / "gradle",
        "--project-dir", folder, "copy")
    got = {path.name: path.read_bytes() for path in (folder / "libs").iterdir()}
    want = {path.name: path.read_bytes() for path in (maven / "kiln/kiln" / VERSION).iterdir()
            if path.suffix in (".aar", ".jar")}
    check(got == want, f"Gradle took {sorted(got)}")


def main():
    there = (*map(shutil.which, TOOLS), any(Path("/usr/aarch64-linux-gnu/include/c++").glob("*")))
    if not all(there):
        print("SKIP: wanted are clang-15, lld-15, llvm-15, g++-aarch64-linux-gnu, gradle")
        return 77
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    make_ndk()
    file, maven = WORK / "kiln.aar", WORK / "maven"
    launcher = [f"-DCMAKE_{language}_COMPILER_LAUNCHER={LAUNCHER[0]}"
                for language in ("C", "CXX") if LAUNCHER]
    run(sys.executable, "-B", SOURCE / "android/aar.py", "--ndk", NDK, "--work", WORK / "build",
        "--dependencies", DEPENDENCIES, "-o", file, "--maven", maven, "--",
        "-DKILN_QUICK_BUILD=ON", "-DKILN_WARNINGS_AS_ERRORS=ON", *launcher)
    check_aar(file)
    check_repository(maven, file)
    check_consumer(maven)
    path = re.sub(r"\W", "_", str(SOURCE))  # objects are linked in the order of their names
    named = [unity.name for unity in (WORK / "build").rglob("*.cxx") if path in unity.name]
    check(not named, f"the source's path is in the names of objects: {named}")
    print("\n".join(faults) or "OK")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
