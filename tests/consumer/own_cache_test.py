#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The diff of docs/use/own_cache.md: its lines with Kiln compile, and the program loads what an earlier
start or a pack has.

    own_cache_test.py KILN LIBRARIES ICD-LOADER

LIBRARIES are those of kiln::runtime_shared and kiln::recorded, separated by commas. Exit codes: 0
passed, 1 failed, 77 there is no PoCL.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

KILN, LOADER = (Path(sys.argv[at]).resolve() for at in (1, 3))
LIBRARIES = [Path(path).resolve() for path in sys.argv[2].split(",")]
ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/use/own_cache.md"
# What the page's program does besides.
REST = r"""
int main(int count, char **words) {
  static const char source[] =
      "kernel void twice(global int *x) { x[get_global_id(0)] *= 2; }\n";
  int x = 21;
  const size_t one = 1;
  cl_platform_id platform;
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  cl_program program;
  cl_kernel kernel;
  cl_mem memory;
  if (count != 2 || clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
    return 77;
  }
  context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  queue = clCreateCommandQueue(context, device, 0, NULL);
  if (build_program(context, device, source, "", words[1], &program) != CL_SUCCESS) return 1;
  kernel = clCreateKernel(program, "twice", NULL);
  memory = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(x), &x, NULL);
  clSetKernelArg(kernel, 0, sizeof(memory), &memory);
  clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL);
  clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof(x), &x, 0, NULL, NULL);
  end_programs();
  printf("%d\n", x);
  return 0;
}
"""


def run(*words, folder, **variables):
    """What a command prints to both."""
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True,
                          check=False, env={**os.environ, "KILN_STORE": "none", **variables})
    if done.returncode == 77:
        print("SKIP: PoCL is not here")
        sys.exit(77)
    if done.returncode != 0:
        raise SystemExit(f"FAIL {words}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def main(folder):
    """Compiles the program, and starts it."""
    diff = re.search(r"^```diff\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)[1]
    after = "".join(f"{line[1:]}\n" for line in diff.splitlines() if not line.startswith("-"))
    (folder / "after.c").write_text(after + REST, encoding="utf-8")
    run("cc", "-std=gnu99", "-Wall", "-Wextra", "-Werror", "-DCL_TARGET_OPENCL_VERSION=120",
        f"-I{ROOT}/runtime/include", "after.c", *LIBRARIES, LOADER, "-o", "after", folder=folder)
    (folder / "cache").mkdir()
    own = {"LD_LIBRARY_PATH": ":".join([*(str(path.parent) for path in LIBRARIES),
                                        os.environ.get("LD_LIBRARY_PATH", "")])}

    def start(overlay):
        """The report of its one program."""
        said, report = run(folder / "after", overlay, folder=folder, APP_DEBUG="1",
                           POCL_CACHE_DIR=str(folder / "pocl"), **own)
        if said != "42\n":
            raise SystemExit(f"FAIL it prints {said}")
        return report

    reports = [start("cache/overlay"), start("cache/overlay")]
    run(KILN, "record", "-o", "app.spool", "--", folder / "after", "cache/other", folder=folder,
        **own)
    run(KILN, "compile", "app.spool", "-o", "base.kiln", folder=folder)
    run(KILN, "build", "base.kiln", "-o", "app.kiln", folder=folder)
    reports.append(start("cache/empty"))
    print("\n".join(report.strip() for report in reports))
    if reports[0].startswith("{"):
        raise SystemExit("FAIL the first start is not from source")
    for report in reports[1:]:
        if json.loads(report)["rung"] != "exact":
            raise SystemExit("FAIL a later start is not from a binary")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        main(Path(place))
