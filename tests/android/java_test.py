#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs kiln.Kiln and the sample application on this machine's Java and OpenCL.

usage: java_test.py SOURCE KILN JNI-FOLDER SAMPLE-FOLDER WORK

What they use of Android's classes is in java/android. WORK is emptied first.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE, KILN, JNI, SAMPLE, WORK = (Path(argument) for argument in sys.argv[1:])
AROUND = 1234567  # AssetManager.java: other bytes before an asset, and after it
MANIFEST = "schema = 1\n" + "".join(f"""
[program.{name}]
source = "{name}.cl"
[program.{name}.variant.plain]
kernel = "{name}"
{rest}""" for name, rest in (("saxpy", ""), ("second", ""),
                             ("bad", 'requires = ["extension:cl_nowhere"]\n')))


def run(*command):
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False,
                          env=dict(os.environ, POCL_CACHE_DIR=str(WORK / "pocl")))
    return done.returncode, done.stdout


def expect_success(*command):
    code, text = run(*command)
    if code != 0:
        sys.exit(f"{command[0]}: exit code {code}\n{text}")


def write_assets(folder):
    """The pack of a manifest, and a text in its place."""
    kernels = WORK / "kernels"
    kernels.mkdir()
    source = (SOURCE / "android/sample/saxpy.cl").read_text(encoding="utf-8")
    for name in ("saxpy", "second", "bad"):
        (kernels / f"{name}.cl").write_text(source.replace("saxpy", name), encoding="utf-8")
    (kernels / "app.toml").write_text(MANIFEST, encoding="utf-8")
    expect_success(KILN, "compile", kernels / "app.toml", "-o", WORK / "app.kiln")
    folder.mkdir(parents=True)
    for name, text in (("app.kiln", (WORK / "app.kiln").read_bytes()), ("text.kiln", b"P" * 1000)):
        (folder / name).write_bytes(b"\x50" * AROUND + text + b"\x51" * AROUND)


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    write_assets(WORK / "root/assets")
    folders = SOURCE / "android/java", SOURCE / "android/sample", SOURCE / "tests/android/java"
    expect_success("javac", "--release", "8", "-Xlint:all,-options", "-Werror",
                   "-d", WORK / "classes",
                   *(path for folder in folders for path in sorted(folder.rglob("*.java"))))
    code, text = run("java", "-XX:TieredStopAtLevel=1", "-Xcheck:jni", "-cp", WORK / "classes",
                     "--add-opens", "java.base/java.io=ALL-UNNAMED",
                     f"-Djava.library.path={JNI}:{SAMPLE}", "KilnTest", WORK / "root")
    # The check of JNI also reports the signal handlers of PoCL's LLVM, at the end.
    said = [line for line in text.splitlines() if line.startswith(("FAULT", "OK", "WARNING in"))]
    if code != 0 or said != ["OK"]:
        sys.exit(f"java: exit code {code}\n" + ("\n".join(said) or text))
    print("OK")


if __name__ == "__main__":
    main()
