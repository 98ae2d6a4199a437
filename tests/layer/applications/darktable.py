# SPDX-License-Identifier: Apache-2.0
"""darktable-cli, with the settings that it takes a processor for an OpenCL device by.

    darktable.py DEVICE PHOTO [PROGRAM...]

DEVICE is darktable's name for the device. Becomes darktable-cli, which writes PHOTO, with the steps
of darktable.xmp, to out.pfm. Where PROGRAMs are named, such as basic.cl, they are all that
darktable's list of programs has. The current folder is the home of this run; what all runs of a test
share is beside it. The settings are those of darktable 4.2."""

import os
import sys
from pathlib import Path

DATA = Path("/usr/share/darktable")


def with_programs(programs):
    """A folder of darktable's data, whose list of programs has these alone; the same one for each
    run, since its name is among the options that PoCL's cache knows a program by."""
    data = Path.cwd().parent / "data"
    kernels = data / "kernels"
    if data.exists():
        return data
    kernels.mkdir(parents=True)
    for folder, own in ((DATA, "kernels"), (DATA / "kernels", "programs.conf")):
        for path in folder.iterdir():
            if path.name != own:
                (data / path.relative_to(DATA)).symlink_to(path)
    lines = (DATA / "kernels" / "programs.conf").read_text(encoding="utf-8").splitlines()
    (kernels / "programs.conf").write_text(
        "".join(f"{line}\n" for line in lines if line.split(" ")[0] in programs),
        encoding="utf-8")
    return data


def main(device, photo, *programs):
    """Does not return."""
    data = with_programs(programs) if programs else DATA
    settings = {
        # darktable disables a processor when it first sees it. The eighth number says that this
        # one is not disabled, the ninth that it need not be measured.
        f"cldevice_v4_{device}": "0 1000 0 16 16 128 0 0 1.0 0.0",
        # PoCL takes the quotes around darktable's own -I for a part of the name.
        f"cldevice_v4_{device}_building": f"-cl-fast-relaxed-math -I{data / 'kernels'}",
        "opencl_checksum": "OFF",  # else a slow device switches OpenCL off
    }
    words = ["darktable-cli", photo, str(Path(__file__).with_suffix(".xmp")), "out.pfm",
             "--core", "--datadir", str(data), "-d", "opencl", "-d", "perf"]
    for name, value in settings.items():
        words += ["--conf", f"{name}={value}"]
    os.execvp(words[0], words)


if __name__ == "__main__":
    main(*sys.argv[1:])
