# SPDX-License-Identifier: Apache-2.0
"""Runs a command on one device of the laboratory.

The host's own drivers run in place. Every other root is seen through bubblewrap, which
gives the command a `/` made of that root, mounts the caller's folder at `/fleet`, and
leaves nothing mounted behind.
"""

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from registry import (CROSS_LINKER, QEMU, TRIPLETS, LabError, device_root, driver_library, folder,
                      lab_dir, suites, unavailable)

FLEET = "/fleet"
VENDORS = "/opencl-vendors"
INSIDE = {"HOME": "/tmp/home", "TMPDIR": "/tmp", "POCL_CACHE_DIR": "/tmp/pocl",
          "PATH": "/usr/bin:/bin", "OCL_ICD_VENDORS": VENDORS}
# What the caller's shell may hold and what would change which driver or library answers.
DROPPED = ("OCL_ICD_FILENAMES", "OPENCL_LAYERS", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
           "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH",
           "CPLUS_INCLUDE_PATH")
LIBC = ("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1",
        "libresolv.so.2", "libanl.so.1", "libmvec.so.1", "libBrokenLocale.so.1",
        "libnss_files.so.2", "libnss_dns.so.2", "libnss_compat.so.2", "libthread_db.so.1")
LOADER = "ld-linux-x86-64.so.2"
QEMU_CPU = "cortex-a57"


def run(device, command, directory=None, settings=None, own_libc=False):
    """Runs a command on a device and returns its exit code, 128 + N when signal N ended it.

    The working directory is `directory`, or a new one that is removed afterwards.
    `settings` are variables for the command alone. With `own_libc` an older root keeps its own C
    library. LabError when the device is not there.
    """
    reason = unavailable(device)
    if reason:
        raise LabError(f"{device['id']} is not available: {reason}")
    with tempfile.TemporaryDirectory(prefix="kiln-lab-") as scratch:
        place = Path(directory).absolute() if directory else _made(Path(scratch) / "fleet")
        if not place.is_dir():
            raise LabError(f"no such folder: {place}")
        is_local = "/" in command[0] and not command[0].startswith("/")
        if is_local and not (place / command[0]).exists():
            raise LabError(f"no {command[0]} in {place}")
        before = set(place.glob("*.aub"))
        try:
            return _start(device, command, place, Path(scratch), settings or {}, own_libc)
        finally:
            for litter in set(place.glob("*.aub")) - before:
                litter.unlink()


def _start(device, command, place, scratch, settings, own_libc):
    """Runs the command in place or in the device's root."""
    environment = {name: value for name, value in os.environ.items() if name not in DROPPED}
    environment.update(_driver_environment(device))
    if device["way"] in ("host", "oclgrind"):
        environment.update(_host_environment(device, scratch))
        environment.update(settings)
        return _call(_host_command(device, command), environment, place)
    environment.update(INSIDE)
    environment.pop("LD_LIBRARY_PATH", None)
    environment.pop("LD_PRELOAD", None)
    cache = os.environ.get("POCL_CACHE_DIR")
    if cache:
        environment["POCL_CACHE_DIR"] = cache
    environment.update(settings)
    return _call(_root_command(device, command, place, cache, own_libc), environment, place)


def _call(command, environment, place):
    """Runs a program to its end, also when the terminal's Ctrl-C reaches both."""
    try:
        process = subprocess.Popen(command, env=environment, cwd=place)
    except OSError as error:
        raise LabError(f"cannot run {command[0]}: {error.strerror}") from None
    with process:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            code = process.wait()
    return 128 - code if code < 0 else code


def _driver_environment(device):
    """What makes this driver appear as this device."""
    environment = dict(device.get("environment", {}))
    if "neo" in device:
        environment.update(NEOReadDebugKeys="1", SetCommandStreamReceiver="1",
                           ProductFamilyOverride=device["neo"], AUBDumpCaptureFileName="/dev/null",
                           NEO_CACHE_PERSISTENT="0")
    return environment


def _host_environment(device, scratch):
    """Variables for a driver of the host itself."""
    cache = os.environ.get("POCL_CACHE_DIR") or str(_made(scratch / "pocl"))
    environment = {"HOME": str(_made(scratch / "home")), "POCL_CACHE_DIR": cache,
                   "OCL_ICD_VENDORS": str(_vendors(device))}
    if "loader" in device:
        libraries = [str(_loader_folder(device)), os.environ.get("LD_LIBRARY_PATH", "")]
        environment["LD_LIBRARY_PATH"] = ":".join(filter(None, libraries))
    return environment


def _loader_folder(device):
    """Where another ICD loader's libOpenCL.so.1 lies."""
    return folder(device["suite"], device["loader"]) / "usr/lib" / TRIPLETS["amd64"]


def _host_command(device, command):
    """The command, under the checker where that is the device."""
    if device["way"] != "oclgrind":
        return command
    extra = shlex.split(os.environ.get("KILN_OCLGRIND_ARGS", ""))
    return ["oclgrind", *device["options"], *extra, *command]


def _root_command(device, command, place, cache, own_libc):
    """The command in the device's root, as a bubblewrap command line."""
    root = device_root(device)
    line = ["bwrap", "--die-with-parent", *_root_mounts(root)]
    line += ["--dev-bind", "/dev", "/dev", "--bind", "/proc", "/proc",
             "--ro-bind-try", "/sys", "/sys", "--tmpfs", "/tmp",
             "--dir", INSIDE["HOME"], "--dir", INSIDE["POCL_CACHE_DIR"],
             "--ro-bind", str(_vendors(device)), VENDORS]
    if cache:
        line += ["--bind", cache, cache]
    if suites()[device["suite"]].get("borrow_libc") and not own_libc:
        line += _borrowed_libc(root)
    line += ["--bind", str(place), FLEET, "--chdir", FLEET]
    if device["way"] == "qemu":
        line += _emulation(root)
        command = [f"/{QEMU}", "-cpu", QEMU_CPU, *command]
    return [*line, "--", *command]


def _emulation(root):
    """The emulator, and the host's own cross linker with its libraries over the root's `ld`.

    PoCL starts `ld` as a program, which a user-mode emulator does not emulate.
    """
    libraries = f"/usr/lib/{TRIPLETS['amd64']}"
    linker = f"/usr/bin/{(root / 'usr/bin/ld').resolve().name}"
    return ["--ro-bind", shutil.which(QEMU), f"/{QEMU}",
            "--ro-bind", str(Path(shutil.which(CROSS_LINKER)).resolve()), linker,
            "--ro-bind", libraries, libraries,
            "--ro-bind", str(Path(libraries, LOADER).resolve()), f"/lib64/{LOADER}"]


def _root_mounts(root):
    """A `/` in memory with the root's folders and links in it."""
    line = []
    for entry in sorted(root.iterdir()):
        if entry.is_symlink():
            line += ["--symlink", os.readlink(entry), f"/{entry.name}"]
        elif entry.name in ("usr", "etc", "var", "opt"):
            line += ["--ro-bind", str(entry), f"/{entry.name}"]
    return line


def _borrowed_libc(root):
    """The host's C library over an older root's own, for programs built on the host.

    The whole C library is replaced, loader included; it runs all that was built for an
    older one.
    """
    place = f"/usr/lib/{TRIPLETS['amd64']}"
    line = []
    for name in (*LIBC, LOADER):
        host, guest = Path(place, name), root / place[1:] / name
        if host.exists() and guest.exists():
            line += ["--ro-bind", str(host.resolve()), f"{place}/{guest.resolve().name}"]
    return line


def _vendors(device):
    """A directory with this device's ICD and no other."""
    place = _made(lab_dir() / "vendors" / device["id"])
    icd, text = place / "device.icd", f"{driver_library(device)}\n"
    if not icd.exists() or icd.read_text(encoding="utf-8") != text:
        partial = place / f"device.{os.getpid()}.part"
        partial.write_text(text, encoding="utf-8")
        partial.rename(icd)
    return place


def _made(path):
    """The folder, made where it was not there."""
    path.mkdir(parents=True, exist_ok=True)
    return path
