#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the manifests of docs/use/manifest.md for other projects, with generated sources.

    shown_manifests_test.py KILN

The sources have the shape of the projects' own: names of files, macros and includes. Takes some 5
seconds.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
KILN = pathlib.Path(sys.argv[1]).resolve()

HALF = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
MACE = "#include <common.h>\nkernel void %s(global DATA_TYPE *a, read_only image2d_t i) {\n"
MNN = "kernel void %s(global FLOAT *a) { vstore4(CONVERT_FLOAT4(vload4(0, a)), 1, a); }\n"
HASHCAT = ("#ifdef KERNEL_STATIC\n#include M2S(INCLUDE_PATH/inc_vendor.h)\n#endif\n"
           "kernel void %s(global uint *a) { a[DGST_R0] = DGST_ELEM + KERN_TYPE + ATTACK_KERN + X; }\n")

# By the beginning of the manifest's first comment: options, sources, and the programs.
SHOWN = {
    "MACE": ([], {
        "mace/ops/opencl/cl/common.h": HALF +
            "#define JOINED(a, b) a##b\n#define OF(a, b) JOINED(a, b)\n"
            "#define READ OF(read_image, CMD_DATA_TYPE)\n",
        "mace/ops/opencl/cl/conv_2d.cl": MACE % "conv_2d" + "a[0] = READ(i, (int2)(0)).x; }\n",
        "mace/ops/opencl/cl/eltwise.cl": MACE % "eltwise" + "a[0] = ELTWISE_TYPE; }\n",
        "mace/ops/opencl/cl/reduce.cl": MACE % "reduce" + "a[0] = REDUCE_TYPE; }\n",
        "mace/ops/opencl/cl/softmax.cl": MACE % "softmax" +
            "OF(DATA_TYPE, 4) v = vload4(0, a); vstore4(native_exp(v), 0, a); }\n",
        "mace/ops/opencl/cl/lstmcell.cl": "no program\n"},
        "conv_2d.float conv_2d.half eltwise.float eltwise.half reduce.float softmax.float "
        "softmax.half"),
    "MNN": (["--root", "mnn=there"], {
        "there/source/backend/opencl/execution/cl/argmax_buf.cl": MNN % "argmax",
        "there/source/backend/opencl/execution/cl/binary_subgroup_buf.cl":
            MNN % "binary" + "kernel void s(global ushort *a) {\n"
            "  a[0] = intel_sub_group_block_read_us(a); }\n"},
        "argmax_buf.float argmax_buf.half binary_subgroup_buf.float binary_subgroup_buf.half"),
    "ggml": ([], {
        "kernels/add.cl": HALF + "kernel void add(global half *a) { a[0] += 1; }\n",
        "kernels/mul_mv_f16_f32.cl":
            "#ifdef cl_intel_required_subgroup_size\n#define N 4\n"
            "#define SIZE __attribute__((intel_reqd_sub_group_size(16)))\n"
            "#elif defined(cl_qcom_reqd_sub_group_size)\n#define N 2\n"
            "#define SIZE __attribute__((qcom_reqd_sub_group_size(\"half\")))\n#endif\n"
            "SIZE kernel void mul_mv(global float *a) { a[0] = sub_group_reduce_add(a[N]); }\n",
        "kernels/gemv_noshuffle_q4_0_f32.cl":
            "kernel void gemv(global float *a) {\n"
            "  a[0] = sub_group_broadcast(a[SIMDGROUP_WIDTH], 0); }\n",
        "kernels/gemm_moe_q8_1_dp4a.cl":
            "kernel void gemm(global int *a, char4 b) { a[0] = dot(b, b); }\n"},
        "add gemm_moe_q8_1_dp4a gemv_noshuffle_q4_0_f32 mul_mv_f16_f32.adreno "
        "mul_mv_f16_f32.intel"),
    "hashcat": (["--root", "hashcat=checkout"], {
        "checkout/OpenCL/inc_vendor.h": "#define X 1\n",
        **{f"checkout/OpenCL/m00{mode}00_a{attack}-pure.cl": HASHCAT % f"m00{mode}00_mxx"
           for mode in (0, 1) for attack in (0, 3)}},
        "m00000_a0-pure m00000_a3-pure m00100_a0-pure m00100_a3-pure"),
}
MOST_LINES = {"hashcat": 30}


def check(manifest, name):
    """Returns what is wrong with a shown manifest."""
    options, sources, programs = SHOWN[name]
    if manifest.count("\n") > MOST_LINES.get(name, 60):
        return "too many lines"
    with tempfile.TemporaryDirectory() as folder:
        for path, text in {"m.toml": manifest, **sources}.items():
            file = pathlib.Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        done = subprocess.run([KILN, "compile", "m.toml", "-o", "m.kiln", *options], cwd=folder,
                              capture_output=True, text=True)
        if done.returncode != 0:
            return done.stdout + done.stderr
        shown = subprocess.run([KILN, "pack", "inspect", "m.kiln"], cwd=folder, capture_output=True,
                               text=True, check=True).stdout
    found = " ".join(re.findall(r"^program (.*)$", shown, flags=re.M))
    return "" if found == programs else "its programs are " + found


def main():
    page = (ROOT / "docs/use/manifest.md").read_text()
    faults = []
    seen = set()
    for block in re.findall(r"^```toml\n(.*?)^```$", page, flags=re.M | re.S):
        title = re.match(r"schema = 1 +# (.*)", block)
        for name in SHOWN:
            if title and title[1].startswith(name):
                seen.add(name)
                fault = check(block, name)
                faults += [f"{name}: {fault}"] if fault else []
    faults += [f"{name} is not shown" for name in SHOWN if name not in seen]
    print("\n".join(faults) or f"{len(seen)} manifests")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
