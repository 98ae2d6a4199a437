# SPDX-License-Identifier: Apache-2.0
"""Makes the Python wheel, for pip (PEP 517): `pip install .`, `pip wheel .`

The wheel holds the module kiln with the libraries that it needs, the program kiln with its data, and
the layer, so that `python -m kiln` works from pip alone. All are built in build/wheel, or taken as
they are from the build folder that --config-settings=build-dir=FOLDER names; platform=NAME names the
systems that the files run on, by default those that are as this one. The backend needs
nothing but CMake and what Kiln's build needs, so that it also works without a network.
"""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sysconfig
import tempfile
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[1]
COMPONENTS = ("kiln_runtime", "kiln_builder", "kiln_layer", "kiln_python")
# Which installed files the wheel has, and where: as the module, the program and the layer look for
# them (kiln/_native.py, builder/cli/shared/layer_options.cpp, builder/cli/build.cpp).
PLACES = (
    (r"lib\w*/(?:[\w.-]+/)?kiln/python/(kiln/\w+\.py)", r"\1"),
    (r"lib\w*/(?:[\w-]+/)?(libkiln_(?:runtime|recorded)\.so\.\d+)", r"kiln/\1"),
    (r"lib\w*/(?:[\w-]+/)?(libkiln_layer\.so)", r"kiln/bin/\1"),
    (r"(bin/kiln)", r"kiln/\1"),
    (r"(share/kiln/virtual/.+)", r"kiln/\1"),
)


def _cmake(*words):
    subprocess.run(["cmake", *map(str, words)], check=True)


def version():
    """Kiln's version."""
    text = (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(Kiln VERSION ([0-9.]+)", text)[1]


def _build(folder):
    """Builds what the wheel has in the folder, which is configured first if it is new."""
    if not (folder / "CMakeCache.txt").is_file():
        ninja = ("-G", "Ninja") if shutil.which("ninja") else ()  # CMake's default needs make
        _cmake(*ninja, "-S", SOURCE, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DKILN_INSTALL=ON",
               "-DKILN_BUILD_TESTS=OFF", "-DKILN_STATIC_DEPENDENCIES=ON", "-DKILN_UNITY_BUILD=ON")
    _cmake("--build", folder, "--parallel", os.cpu_count() or 1)


def _installed(folder, prefix):
    """(path, its name in the wheel) of each file of the wheel, after installing into the prefix."""
    for component in COMPONENTS:
        _cmake("--install", folder, "--prefix", prefix, "--strip", "--component", component)
    for path in sorted(prefix.rglob("*")):
        for pattern, place in PLACES:
            match = re.fullmatch(pattern, path.relative_to(prefix).as_posix())
            if match and path.is_file():
                yield path, match.expand(place)


def notices(libraries=()):
    """Kiln's licence, and those of libraries; without any, of all whose code is in the program."""
    text = (SOURCE / "LICENSE").read_text(encoding="utf-8")
    linked = (SOURCE / "cmake/linked_libraries.txt").read_text(encoding="utf-8").split()
    for name in libraries or linked:
        notice = pathlib.Path("/usr/share/doc", name, "copyright")
        if notice.is_file():
            text += f"\n==== {name}\n\n{notice.read_text(encoding='utf-8')}"
    return text


def _metadata(number, tag):
    """The files of kiln-VERSION.dist-info but RECORD."""
    return {
        "METADATA": f"Metadata-Version: 2.1\nName: kiln\nVersion: {number}\n"
                    "Summary: Compiles OpenCL programs ahead of time into packs, and loads them\n"
                    "License: Apache-2.0\nRequires-Python: >=3.9\n",
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: kiln\nRoot-Is-Purelib: false\nTag: {tag}\n",
        "entry_points.txt": "[console_scripts]\nkiln = kiln.__main__:main\n",
        "LICENSE": notices(),
    }


def _tag(settings):
    platform = (settings or {}).get("platform") or sysconfig.get_platform()
    return "py3-none-" + platform.replace("-", "_").replace(".", "_")


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Writes the metadata alone, for which pip need not wait for a build."""
    folder = pathlib.Path(metadata_directory, f"kiln-{version()}.dist-info")
    folder.mkdir()
    for name, text in _metadata(version(), _tag(config_settings)).items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Makes the wheel and returns its file's name; pip calls it."""
    del metadata_directory  # the same again
    named = (config_settings or {}).get("build-dir")
    folder = pathlib.Path(named).resolve() if named else SOURCE / "build" / "wheel"
    tag = _tag(config_settings)
    information = f"kiln-{version()}.dist-info"
    name = f"kiln-{version()}-{tag}.whl"
    record = []
    if not named:
        _build(folder)
    with tempfile.TemporaryDirectory() as prefix, zipfile.ZipFile(
            pathlib.Path(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(place, content, mode=0o644):
            entry = zipfile.ZipInfo(place, date_time=(1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            record.append(f"{place},sha256={digest.decode()},{len(content)}\n")

        for path, place in _installed(folder, pathlib.Path(prefix)):
            add(place, path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644)
        for file, text in _metadata(version(), tag).items():
            add(f"{information}/{file}", text.encode("utf-8"))
        place = f"{information}/RECORD"
        add(place, "".join([*record, f"{place},,\n"]).encode("utf-8"))
    return name


def build_sdist(sdist_directory, config_settings=None):
    """There is none: the source tarball is git's (docs/RELEASING.md)."""
    raise NotImplementedError("the target source_tarball makes the source tarball")
