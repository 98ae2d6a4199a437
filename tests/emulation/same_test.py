#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails where emulated.toml and the manifest of the case studies differ in what is proven.

same_test.py CASE_STUDIES EMULATED

Each variant of the case studies that requires an extension of Qualcomm's or Arm's must be emulated: a
source that includes the shipped one, the same kernel, macros, items and tolerance, the same
reference.
"""

import sys
import tomllib
from pathlib import Path

VENDORS = ("extension:cl_qcom_", "extension:cl_arm_")
# Items are the application's where Kiln does not launch the shipped kernel itself.
ITEMS = ("pixels", "range", "tolerance")


def load(path):
    """The programs of a manifest."""
    return tomllib.loads(path.read_text(encoding="utf-8"))["program"]


def kernel(variant):
    """The kernel that is proven: the last one, which others may make images for."""
    return variant["stages"][-1]["kernel"] if "stages" in variant else variant["kernel"]


def macros(program, variant):
    """What -D defines, of the program and the variant."""
    options = program.get("options", []) + variant.get("options", [])
    return sorted(option for option in options if option.startswith("-D"))


def differences(shipped, emulated, folder):
    """What is not the same of two pairs of a program and its variant, in words."""
    (program, variant), (other_program, other) = shipped, emulated
    source = Path(variant.get("source", program.get("source"))).parts[-2:]
    text = (folder / other["source"]).read_text(encoding="utf-8")
    pairs = {
        "includes the source": (True, f'#include "{"/".join(source)}"' in text),
        "reference": (program["reference"], other_program["reference"]),
        "kernel": (kernel(variant), kernel(other)),
        "macros": (macros(program, variant), macros(other_program, other)),
    }
    if variant.get("arguments") != []:
        pairs |= {key: (variant.get(key), other.get(key)) for key in ITEMS}
    return [f"{key}: {got}, shipped: {wanted}"
            for key, (wanted, got) in pairs.items() if wanted != got]


def compare(programs, emulated, folder):
    """The faults as sentences, and how many variants need a vendor's built-ins."""
    found, compared = [], 0
    for name, program in programs.items():
        for variant_name, variant in program["variant"].items():
            if not any(word.startswith(VENDORS) for word in variant.get("requires", [])):
                continue
            compared += 1
            other_program = emulated.get(name, {"variant": {}})
            other = other_program["variant"].get(variant_name)
            lines = (["not emulated"] if other is None else
                     differences((program, variant), (other_program, other), folder))
            found += [f"{name}/{variant_name}: {line}" for line in lines]
    return found, compared


def main(arguments):
    """The exit code."""
    case_studies, emulated = (Path(argument) for argument in arguments)
    found, compared = compare(load(case_studies), load(emulated), emulated.parent)
    print("\n".join(found + [f"{compared} variants that need a vendor's built-ins"]))
    return 1 if found or not compared else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
