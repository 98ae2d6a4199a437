#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes vocabulary.txt: the words of wild cases, asked of the compilers and drivers on this machine.

    vocabulary.py > vocabulary.txt

No word is known in advance. Candidates are the strings in a library, and an experiment says which
of them a compiler knows, which open a file, and which change a macro. Needs clang-15,
libclang-15-dev, strace, cc, and the drivers of PoCL, rusticl and Intel.
"""

import os
import re
import subprocess
import sys
import tempfile
import textwrap
import unicodedata
from pathlib import Path

LLVM = Path("/usr/lib/llvm-15")
CLANG_LIBRARY = LLVM / "lib/libclang-cpp.so.15"
LLVM_LIBRARY = LLVM / "lib/libLLVM-15.so"
TOKEN_KINDS = LLVM / "include/clang/Basic/TokenKinds.def"
CC1 = ["clang-15", "-cc1", "-x", "cl", "-triple", "spir64-unknown-unknown", "-ferror-limit", "0"]
TRIPLES = ["spir64-unknown-unknown", "x86_64-pc-linux-gnu", "amdgcn-amd-amdhsa", "nvptx64-nvidia-cuda"]
RANGES = 40  # of a Unicode class, evenly spread over the class
NO_HARDWARE = {"NEOReadDebugKeys": "1", "SetCommandStreamReceiver": "1",
               "ProductFamilyOverride": "skl", "RUSTICL_ENABLE": "llvmpipe"}
DRIVERS = {"pocl": "libpocl.so.2", "rusticl": "libRusticlOpenCL.so.1",
           "neo": "/usr/lib/x86_64-linux-gnu/intel-opencl/libigdrcl.so"}

PROBE = r"""
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
int main(int argc, char **argv) {
  cl_platform_id platform; cl_device_id device;
  const char *text = "kernel void k(global int *out) { out[0] = 1; }";
  if (clGetPlatformIDs(1, &platform, 0) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, 0)) return 1;
  cl_context context = clCreateContext(0, 1, &device, 0, 0, 0);
  cl_program program = clCreateProgramWithSource(context, 1, &text, 0, 0);
  return clBuildProgram(program, 1, &device, "-I probed", 0, 0);
}
"""
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
extern char **environ;
static char *look(const char *name) {
  const char *path = 0;
  for (char **at = environ; at && *at; ++at) {
    if (!strncmp(*at, "GETENV_LOG=", 11)) path = *at + 11;
  }
  FILE *log = path ? fopen(path, "a") : 0;
  if (log) { fprintf(log, "%s\n", name); fclose(log); }
  for (char **at = environ; at && *at; ++at) {
    if (!strncmp(*at, name, strlen(name)) && (*at)[strlen(name)] == '=') return *at + strlen(name) + 1;
  }
  return 0;
}
char *getenv(const char *name) { return look(name); }
char *secure_getenv(const char *name) { return look(name); }
/* Intel's driver loads its compiler so that the compiler would find the C library's getenv first. */
void *dlopen(const char *name, int flags) {
  static void *(*next)(const char *, int);
  if (!next) next = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
  return next(name, flags & ~RTLD_DEEPBIND);
}
"""


def run(command, text="", **more):
    """Returns the exit code and both outputs."""
    done = subprocess.run(command, input=text, capture_output=True, encoding="latin-1", **more)
    return done.returncode, done.stdout, done.stderr


def strings(path, form):
    """The texts between two zeros of a file."""
    return sorted({m.decode() for m in re.findall(rb"(?<=\0)(" + form + rb")(?=\0)", path.read_bytes())})


def lines_with(output, what):
    return {int(m) for m in re.findall(r"^[^\n:]*:(\d+):\d+: [^\n]*" + what, output, re.M)}


def unicode_classes():
    ranges = {}
    for code in range(0x110000):
        of_class = ranges.setdefault(unicodedata.category(chr(code)), [])
        if of_class and of_class[-1][1] == code - 1:
            of_class[-1][1] = code
        else:
            of_class.append([code, code])
    for name, of_class in sorted(ranges.items()):
        step = max(1, -(-len(of_class) // RANGES))
        yield name, [f"{a:x}-{b:x}" if a != b else f"{a:x}" for a, b in of_class[::step]]


def pragmas(candidates):
    """Pragmas that Clang knows: it does not warn of them. With a second word after namespaces."""
    command = CC1 + ["-fsyntax-only", "-Wunknown-pragmas", "-"]

    def warned(words):
        """The column of the first warning of each word's line."""
        errors = run(command, "".join(f"#pragma {w}\n" for w in words))[2]
        found = re.findall(r"^[^\n:]*:(\d+):(\d+): [^\n]*\[-Wunknown-pragmas\]", errors, re.M)
        return {int(line) - 1: int(column) for line, column in reversed(found)}

    columns = warned([w + " qzxqzx" for w in candidates])
    spaces = [w for i, w in enumerate(candidates) if columns.get(i, 0) == len("#pragma ") + len(w) + 2]
    alone = warned(candidates)
    known = [w for i, w in enumerate(candidates) if i not in alone]
    for space in [w for w in spaces if w not in known]:
        second = warned([f"{space} {w}" for w in candidates])
        more = [f"{space} {w}" for i, w in enumerate(candidates) if i not in second]
        known += more if len(more) < len(candidates) / 10 else []
    return known


def opened(command, text, folder):
    """The numbers N of the files probed_N.h that a compiler tries to open."""
    run(["strace", "-f", "-o", "trace", "-e", "trace=file"] + command, text, cwd=folder)
    return {int(n) for n in re.findall(r"probed_(\d+)\.h", (folder / "trace").read_text(errors="replace"))}


def pragmas_of_files(known, folder):
    lines = [f"{w} {s}" for w in known for s in ['"@"', '("@")', "<@>"]]
    text = "".join("#pragma " + line.replace("@", f"probed_{i}.h") + "\n" for i, line in enumerate(lines))
    return [lines[i] for i in sorted(opened(CC1 + ["-E", "-"], text, folder))]


def assembler_of_files(known, folder):
    """Few at once, in both orders, since some directives end the text or skip lines."""
    command = ["clang-15", "-c", "-x", "assembler", "-target", "x86_64-linux-gnu", "-o", "/dev/null", "-"]
    found = set()
    for at in range(0, len(known), 8):
        lines = [f'{w} "probed_{at + i}.h"\n' for i, w in enumerate(known[at:at + 8])]
        found |= opened(command, "".join(lines), folder) | opened(command, "".join(lines[::-1]), folder)
    return [known[i] for i in sorted(found)]


def changing_pairs(words):
    """Pairs of pragmas that bring a macro back."""
    text, names = "", []
    for i, first in enumerate(words):
        for j, second in enumerate(words):
            text += (f"#define A_{i}_{j} 1\n#pragma {first}(\"A_{i}_{j}\")\n#undef A_{i}_{j}\n"
                     f"#pragma {second}(\"A_{i}_{j}\")\nSEEN {i} {j} A_{i}_{j}\n")
    for i, j in re.findall(r"^SEEN (\d+) (\d+) 1$", run(CC1 + ["-E", "-P", "-w", "-"], text)[1], re.M):
        names.append(f"{words[int(i)]} {words[int(j)]}")
    return names


def macros(candidates):
    names = set()
    for triple in TRIPLES:
        for standard in ["CL1.2", "CL2.0", "CL3.0", "CLC++"]:
            done = run(["clang-15", "-cc1", "-x", "cl", "-triple", triple, f"-cl-std={standard}",
                        "-E", "-dM", "-"])
            names |= set(re.findall(r"^#define (\w+)", done[1], re.M))
    builtin = [w for w in candidates if w.startswith("_") or w.isupper()]
    text = "".join(f'#ifdef {w}\nSEEN "{w}"\n#endif\n' for w in builtin)
    names |= set(re.findall(r'^SEEN "(\w+)"$', run(CC1 + ["-E", "-P", "-"], text)[1], re.M))
    return sorted(names)


def options():
    """-name: a flag; -name=: with a value; -name%: with a value in the next word."""
    found = set()
    for line in run(["clang-15", "-cc1", "--help"])[1].splitlines():
        m = re.match(r"  (-[\w+-]+)(=?)(\s?<[^>]*>)?", line)
        if not m:
            continue
        name, equals, value = m.groups()
        found.add(name + ("=" if equals else "%" if value and value[0] == " " else "=" if value and False else ""))
        if value and not equals and value[0] != " ":
            found.add(name + "&")
    return sorted(found)


def driver_words(folder):
    """Variables that drivers ask for, and files that they try in a folder of -I or the current one."""
    (folder / "probe.c").write_text(PROBE)
    (folder / "shim.c").write_text(SHIM)
    run(["cc", "-w", "probe.c", "-o", "probe", "-lOpenCL"], cwd=folder)
    run(["cc", "-shared", "-fPIC", "-w", "shim.c", "-o", "shim.so"], cwd=folder)
    for name, library in DRIVERS.items():
        vendors = folder / name
        vendors.mkdir()
        (vendors / "d.icd").write_text(library + "\n")
        place = vendors / "current"
        (place / "probed").mkdir(parents=True)
        log = vendors / "getenv.log"
        environment = dict(os.environ, **NO_HARDWARE, OCL_ICD_VENDORS=str(vendors), POCL_CACHE_DIR=str(vendors / "cache"), POCL_KERNEL_CACHE="0",
                           MESA_SHADER_CACHE_DISABLE="true")
        run([str(folder / "probe")], cwd=place,
            env=dict(environment, LD_PRELOAD=str(folder / "shim.so"), GETENV_LOG=str(log)))
        asked = set(log.read_text().split()) if log.exists() else set()
        ours = {"GETENV_LOG", "LD_PRELOAD", "OCL_ICD_VENDORS", "PATH", "HOME", "LD_LIBRARY_PATH"}
        yield f"variables of {name}", sorted(w for w in asked - ours if re.fullmatch(r"[A-Za-z]\w{2,60}", w))
        run(["strace", "-f", "-o", str(vendors / "trace"), "-e", "trace=file", str(folder / "probe")],
            cwd=place, env=environment)
        trace = (vendors / "trace").read_text(errors="replace") if (vendors / "trace").exists() else ""
        tried = set()
        for path in re.findall(r'"([^"\n]+)"', trace):
            own = path.startswith(("probed/", "./probed/", str(place))) or "/" not in path.removeprefix("./")
            last = path.rsplit("/", 1)[-1]
            if own and re.fullmatch(r"[\w.+-]+", last) and last not in {".", "..", "current", "probed"}:
                tried.add(last)
        yield f"files of {name}", sorted(tried - {"probe"})


def string_keywords(keywords):
    """Keywords K for which K("") is a statement, and K(0) is not."""
    found = set()
    for language in ["CL1.2", "CLC++"]:
        def accepted(operand):
            text = "".join(f"void f{i}(void) {{ {w}({operand}); }}\n" for i, w in enumerate(keywords))
            errors = run(CC1 + [f"-cl-std={language}", "-fsyntax-only", "-"], text)[2]
            return {w for i, w in enumerate(keywords) if i + 1 not in lines_with(errors, "error")}
        found |= accepted('""') - accepted("0")
    return sorted(found)


def section(name, words):
    print(f"[{name}]")
    if any(" " in w for w in words):
        print("\n".join(words))
    else:
        print("\n".join(textwrap.wrap(" ".join(words), 100, break_long_words=False, break_on_hyphens=False)))


def main():
    print("# Written by vocabulary.py; README.md says how each section was found.")
    for name, ranges in unicode_classes():
        section(f"class {name}", ranges)
    candidates = strings(CLANG_LIBRARY, rb"[A-Za-z_]\w{1,30}")
    kinds = TOKEN_KINDS.read_text()
    section("directives", sorted(set(re.findall(r"^PPKEYWORD\((\w+)\)", kinds, re.M))))
    keywords = sorted(set(re.findall(r'^(?:KEYWORD|CXX11_KEYWORD|UNARY_EXPR_OR_TYPE_TRAIT|ALIAS)\("?(\w+)', kinds, re.M)))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        section("keywords of a string", string_keywords(keywords))
        known = pragmas(candidates)
        section("pragmas", known)
        section("pragmas of a file", pragmas_of_files(known, folder))
        section("pragmas of a macro", changing_pairs([w for w in known if " " not in w]))
        dotted = strings(LLVM_LIBRARY, rb"\.[a-z_][a-z_0-9]{1,24}")
        section("assembler of a file", assembler_of_files(dotted, folder))
        section("assembler", dotted)
        section("options", options())
        section("macros", macros(candidates))
        section("headers", sorted(p.name for p in (LLVM / "lib/clang").glob("*/include/*") if "opencl" in p.name or p.name.startswith(("std", "lim", "flo", "iso"))))
        for name, words in driver_words(folder):
            section(name, words)


if __name__ == "__main__":
    main()
