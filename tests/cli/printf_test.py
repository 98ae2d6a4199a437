#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kiln run --printf: what kernels print, by PoCL itself and by cl_arm_printf.

    printf_test.py KILN TEST-DRIVER

TEST-DRIVER is the scripted driver, with PoCL behind it. Exit codes: 0 passed, 1 failed, 77 PoCL is
not installed.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import scripted

KILN, DRIVER = sys.argv[1:3]
MANIFEST = """schema = 1
[program.p]
source = "p.cl"
options = ["-cl-std=CL1.2"]
arguments = [{ role = "output" }, { role = "width" }]
[program.p.variant.only]
kernel = "fill"
"""
SOURCE = """kernel void fill(global uchar *out, uint width) {
  uint i = get_global_id(1) * width + get_global_id(0);
  if (i == 0) printf("width %u\\n", width);
  out[i] = (uchar)i;
}
"""
PRINTS = 'prints = "by \\u001b callback\\n"\n'


def run(folder, *words):
    """The standard output of kiln run, at 8x8."""
    done = subprocess.run([KILN, "run", "p", "--pack", "p.kiln", "--size", "8x8", *words],
                          cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"kiln run: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


scripted.need("libpocl.so.2")
with tempfile.TemporaryDirectory() as name:
    work = Path(name)
    (work / "p.toml").write_text(MANIFEST)
    (work / "p.cl").write_text(SOURCE)
    ENVIRONMENT = scripted.use(work, DRIVER, scripted.DEVICE + PRINTS)
    subprocess.run([KILN, "compile", "p.toml", "-o", "p.kiln"], cwd=work, env=ENVIRONMENT,
                   stdout=subprocess.DEVNULL, check=True)
    # A driver without the extension, which would refuse the properties, prints by itself.
    assert "width" not in run(work) and "printed" not in run(work)
    text = run(work, "--printf")
    assert text.split("printed:\n")[1].startswith("width 8\n") and "callback" not in text, text
    assert json.loads(run(work, "--json"))["printed"] is None
    assert json.loads(run(work, "--json", "--printf"))["printed"] == "width 8\n"
    # With it, the callback gets the text.
    ENVIRONMENT = scripted.use(
        work, DRIVER, scripted.DEVICE + 'extensions = "cl_arm_printf"\n' + PRINTS)
    assert "callback" not in run(work)
    text = run(work, "--printf")
    assert text.count("by \\x1b callback\n") == 1, text
    assert "by \x1b callback\n" in json.loads(run(work, "--json", "--printf"))["printed"]
