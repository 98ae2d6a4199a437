# SPDX-License-Identifier: Apache-2.0
"""The laboratory's registry: which suites there are, which devices, and where they lie."""

import json
import os
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path

REGISTRY = Path(__file__).with_name("devices.json")
COMPLETE = "complete.json"
QEMU, CROSS_LINKER = "qemu-aarch64-static", "aarch64-linux-gnu-ld"
TRIPLETS = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}


class LabError(Exception):
    """A fault with a sentence for the user."""


def lab_dir():
    """The folder that holds everything fetched."""
    if os.environ.get("KILN_LAB_DIR"):
        return Path(os.environ["KILN_LAB_DIR"]).absolute()
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache).absolute() / "kiln" / "lab"


@lru_cache(maxsize=None)
def registry():
    """The whole registry as read from devices.json."""
    return json.loads(REGISTRY.read_text(encoding="utf-8"))


def suites():
    """Suites by name, in the order of the registry."""
    return registry()["suites"]


def devices():
    """All devices, in the order of the registry."""
    return registry()["devices"]


def find_device(name):
    """The device with this id; LabError names the known ones."""
    for device in devices():
        if device["id"] == name:
            return device
    known = ", ".join(device["id"] for device in devices())
    raise LabError(f"no device '{name}' in the registry; known: {known}")


def folder(suite, part="root"):
    """Where a part of a suite is unpacked."""
    return lab_dir() / suite / part


def completed(suite):
    """What a finished fetch of this suite wrote down, or None."""
    try:
        return json.loads((lab_dir() / suite / COMPLETE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def os_codename():
    """The code name of the Debian release this machine runs."""
    try:
        lines = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    fields = dict(line.split("=", 1) for line in lines if "=" in line)
    return fields.get("VERSION_CODENAME", "").strip('"')


def device_root(device):
    """The folder that is this device's `/`."""
    return Path("/") if device["way"] in ("host", "oclgrind") else folder(device["suite"])


def driver_library(device):
    """The driver's absolute path inside the device's root; LabError when it is not there."""
    if "library" in device:
        library = Path(device["library"])
    else:
        library = _library_of_icd(device)
    if not (device_root(device) / library.relative_to("/")).exists():
        raise LabError(f"the driver {library} is not installed")
    return library


def _library_of_icd(device):
    """The library an ICD file names, made absolute."""
    icd = device_root(device) / "etc/OpenCL/vendors" / device["icd"]
    try:
        name = icd.read_text(encoding="utf-8").strip()
    except OSError:
        raise LabError(f"the driver's {device['icd']} is not installed") from None
    if name.startswith("/"):
        return Path(name)
    arch = "amd64" if device["way"] != "qemu" else "arm64"
    return Path("/usr/lib") / TRIPLETS[arch] / name


@lru_cache(maxsize=None)
def sandbox_fault():
    """Why bubblewrap cannot be used here, or None."""
    if not shutil.which("bwrap"):
        return "bubblewrap is not installed"
    probe = subprocess.run(["bwrap", "--ro-bind", "/", "/", "true"],
                           capture_output=True, text=True, check=False)
    if probe.returncode:
        return f"bubblewrap cannot make a mount namespace here: {probe.stderr.strip()}"
    return None


def unavailable(device):
    """Why this device cannot be run on this machine now, or None."""
    fault = _suite_fault(device)
    if not fault:
        on_host = device["way"] in ("host", "oclgrind")
        fault = _host_fault(device) if on_host else _root_fault(device)
    if fault:
        return fault
    try:
        driver_library(device)
    except LabError as error:
        return str(error)
    return None


def _suite_fault(device):
    """Why what was fetched does not serve, or None; a moving suite may have moved on."""
    suite, package = device["suite"], device.get("package")
    if suite == "host":
        return None
    done = completed(suite)
    if done is None:
        return f"{suite} is not fetched"
    has = done["packages"].get(package, "").rpartition(":")[2]
    if package and not has.startswith(device["version"]):
        return f"{suite} has {package} {has or '(none)'}, not {device['version']}"
    return None


def _root_fault(device):
    """Why a fetched root cannot be entered, or None."""
    fault = sandbox_fault()
    if not fault and device["way"] == "qemu":
        missing = [tool for tool in (QEMU, CROSS_LINKER) if not shutil.which(tool)]
        fault = f"{missing[0]} is not installed" if missing else None
    return fault


def _host_fault(device):
    """Why a device of the host itself cannot be run, or None."""
    wanted = registry()["host"]["codename"]
    if os_codename() != wanted and not os.environ.get("KILN_LAB_ANY_HOST"):
        return f"this host is '{os_codename()}', not {wanted}"
    if device["way"] == "oclgrind" and not shutil.which("oclgrind"):
        return "oclgrind is not installed"
    return None
