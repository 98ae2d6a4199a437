#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every function of the C headers is tested from C with a NULL in each place where none may be,
and called by the C++ headers.

usage: api_covered.py HEADER.h... HEADER.hpp... libkiln_runtime.so libkiln_launch.so TEST.c...

A *_release function must be called with NULL, a question too, and one that gives a
kiln_status inside REFUSED(...), once for each pointer that must not be NULL. Of the shared
libraries libkiln_launch must export the functions of import.h and sequence.h that are KILN_API, and
libkiln_runtime those of all other headers, and no others. Functions that are not KILN_API, those
of provision.h, recorded.h and signed.h, are of other libraries; they must be called by the C++
headers alone.
"""
import pathlib
import re
import subprocess
import sys

# Pointers that may be NULL, as kiln.h says; the details of an error always may.
MAY_BE_NULL = {
    "kiln_event_set_callback": {"user"},
    "kiln_sequence_change": {"range"},
    "kiln_buffer_map_async": {"event"},
    "kiln_buffer_unmap_async": {"event"},
    "kiln_buffer_acquire_external": {"event"},
    "kiln_buffer_release_external": {"event"},
    "kiln_image_acquire_external": {"event"},
    "kiln_image_release_external": {"event"},
    "kiln_image_map_async": {"event"},
    "kiln_image_unmap_async": {"event"},
    "kiln_kernel_create": {"name"},
    "kiln_sequence_run": {"event"},
    "kiln_launch": {"event"},
    "kiln_load": {"variant", "report"},
    "kiln_loader_create": {"options"},
    "kiln_load_dry_run": {"variant"},
    "kiln_prefetch": {"user"},
    "kiln_report_folder": {"folder"},
}
LAUNCH_HEADERS = ("/import.h", "/sequence.h")  # of libkiln_launch
OPENCL_HANDLE = re.compile(r"\bcl_(command_queue|context|device_id|event|kernel|mem|program)\b")


def code(path):
    """The text of a C or C++ file without comments, on one line."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", pathlib.Path(path).read_text(), flags=re.S)
    return re.sub(r"\s+", " ", text)


def arguments(text, start):
    """The parts of a parenthesised list whose "(" is at start, split at its own commas."""
    parts, depth, begin = [], 0, start + 1
    for i in range(start, len(text)):
        if text[i] in "([{":
            depth += 1
        elif text[i] in ")]}":
            depth -= 1
        if (text[i] == "," and depth == 1) or depth == 0:
            parts.append(text[begin:i].strip())
            begin = i + 1
        if depth == 0:
            return parts
    raise ValueError("no end of: " + text[start:start + 60])


def declarations(header):
    """For each function: what it returns, and its parameters as (name, is a pointer)."""
    functions = {}
    for found in re.finditer(r"\bKILN_API ([^()]*?)\b(kiln_\w+)(?=\()", header):
        parameters = []
        for text in arguments(header, found.end()):
            name = re.search(r"\(\*(\w+)\)", text) or re.search(r"(\w+)(\[\w*\])?$", text)
            pointer = "*" in text or "[" in text or bool(OPENCL_HANDLE.search(text))
            parameters.append((name.group(1), pointer))
        functions[found.group(2)] = (found.group(1).strip(), parameters)
    return functions


def nulls_given(test, name, refused):
    """The places where a call of the function has a NULL; only calls in REFUSED if asked."""
    places = set()
    for found in re.finditer((r"\bREFUSED\( ?" if refused else r"\b") + name + r"(?=\()", test):
        for place, value in enumerate(arguments(test, found.end())):
            if value == "NULL":
                places.add(place)
    return places


def faults(functions, exported, test):
    for name in sorted(functions.keys() ^ exported):
        yield f"{name}: " + ("not exported" if name in functions else "not in the header")
    for name, (result, parameters) in functions.items():
        fails = result == "kiln_status"
        given = nulls_given(test, name, refused=fails)
        needed = [i for i, (parameter, pointer) in enumerate(parameters)
                  if pointer and parameter != "error"
                  and parameter not in MAY_BE_NULL.get(name, ())]
        for place in needed if fails else needed[:1]:
            if place not in given:
                yield f"{name}: no call has NULL for `{parameters[place][0]}`"


def exported_by(library):
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                             capture_output=True, text=True).stdout
    return set(re.findall(r" T (kiln_\w+)", symbols))


def not_in_cpp(header, cpp):
    for name in sorted(set(re.findall(r"\b(kiln_\w+)\(", header))):
        if not re.search(rf"\b{name}\b", cpp):
            yield f"{name}: not called by the C++ headers"


def main():
    paths = sys.argv[1:]
    headers = [path for path in paths if path.endswith(".h")
               and not path.endswith("kiln_program.h")]  # all its code is there, for C++ as for C
    cpp_headers = [path for path in paths if path.endswith(".hpp")]
    tests = [path for path in paths if path.endswith(".c")]
    libraries = [path for path in paths if not path.endswith((".h", ".hpp", ".c"))]
    header = " ".join(code(path) for path in headers)
    test = " ".join(code(path) for path in tests)
    functions, found = {}, []
    for library, is_launch in zip(libraries, (False, True), strict=True):
        own = [path for path in headers if path.endswith(LAUNCH_HEADERS) == is_launch]
        declared = declarations(" ".join(code(path) for path in own))
        found += faults(declared, exported_by(library), test)
        functions.update(declared)
    found += not_in_cpp(header, " ".join(code(path) for path in cpp_headers))
    for fault in found:
        print(fault)
    print(f"{len(functions)} functions, {len(found)} faults")
    return 1 if found or len(functions) < 40 else 0


sys.exit(main())
