# SPDX-License-Identifier: Apache-2.0
"""What a built file needs of the system that it runs on, as the file itself says."""

import re
import subprocess

# The C library, in the parts that it had before 2.34.
C_LIBRARY = re.compile(r"lib(c|m|dl|pthread|rt)\.so\.\d|ld-linux[\w-]*\.so\.\d")


def _objdump(option, path):
    return subprocess.run(["objdump", option, path], stdout=subprocess.PIPE, text=True,
                          check=True).stdout


def is_linked(path):
    """Whether the file is a program or a shared library."""
    if path.is_symlink() or not path.is_file():
        return False
    with open(path, "rb") as file:
        header = file.read(17)
    return header[:4] == b"\x7fELF" and header[16] in (2, 3)


def libraries(path):
    """The names of the shared libraries that the file is linked with."""
    return re.findall(r"^\s+NEEDED\s+(\S+)$", _objdump("-p", path), re.MULTILINE)


def c_library(paths):
    """The oldest version of glibc that has what these files use, as (2, 31)."""
    versions = {(2, 0)}
    for path in paths:
        for version in re.findall(r"\bGLIBC_([\d.]+)", _objdump("-T", path)):
            versions.add(tuple(map(int, version.split(".")))[:2])
    return max(versions)


def foreign_libraries(root):
    """(file, library) of each library that is neither the C library's nor in the folder."""
    linked = [path for path in sorted(root.rglob("*")) if is_linked(path)]
    own = {path.name for path in root.rglob("*.so*")}
    return [(path.relative_to(root), name) for path in linked for name in libraries(path)
            if name not in own and not C_LIBRARY.fullmatch(name)]
