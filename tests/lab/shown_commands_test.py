#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands for Kiln itself that README.md, CONTRIBUTING.md and docs/ show, in a new Debian 12
where nothing else is installed (fresh.py), as they stand there.

    shown_commands_test.py [GROUP]

Each scene is a Debian of its own, in which the named blocks of pages are run in turn; a command within a
sentence is a block, too. What is shown must belong to a scene, or to ELSEWHERE, which says what else
runs it; a word in capitals is a placeholder. Without a GROUP only this is checked. Exit codes: 0 passed,
1 failed, 77 no such Debian can be made here.
"""

import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FRESH = Path(__file__).with_name("fresh.py")
CANNOT = 69
OWN = re.compile(r"(\./bootstrap\.sh|cmake -|ctest -|pip install|apt install)")
PLACEHOLDER = re.compile(r"(?<![\w$./-])[A-Z]{3,}(?![\w=])|_MACHINE|\$ANDROID")
README, GUIDE = "README.md", "CONTRIBUTING.md"
INSTALL, RELEASING = "docs/install.md", "docs/RELEASING.md"
# A user is asked whether to install; here nobody answers. The compiler cache is all that is installed
# besides, since each scene builds Kiln.
BEGIN = """set -ex
echo 'APT::Get::Assume-Yes "true";' >/etc/apt/apt.conf.d/90yes
(apt-get -q update; apt-get -q install --no-install-recommends ccache) >/dev/null
export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache"""


@dataclass(frozen=True)
class Scene:
    """Blocks by their page and a text in them; what the reader did before, and what must work then."""

    blocks: tuple
    before: str = "true"
    after: str = "true"


SCENES = {
    "install": (
        Scene(((README, "./bootstrap.sh demo"),), after="test -s build/demo/contact-sheet.png"),
        Scene(((INSTALL, "--target package"),), before="apt-get install dpkg-dev file",
              after="cd /; kiln --version; kiln fleet --help >/dev/null; python3 -c 'import kiln'"),
        Scene(((INSTALL, "cmake --install build/release"),),
              after="cd /; kiln --version; ls /usr/local/include/kiln/kiln.h"),
        Scene((("docs/use/pyopencl.md", "./bootstrap.sh build"), (INSTALL, "pip install ."),),
              before="apt-get install python3-venv; python3 -m venv /root/v; . /root/v/bin/activate",
              after="cd /; python3 -m kiln --version; python3 -c 'import kiln'"),
    ),
    "develop": (
        Scene(((GUIDE, "ctest --preset quick"), (GUIDE, "--target runtime_test"),
               (GUIDE, "-R runtime_test"), ("docs/use/layer.md", "-R layer_rusticl"),
               ("docs/use/layer.md", "-R own_binaries"), (RELEASING, "./bootstrap.sh build"),
               (RELEASING, "source_tarball")),
              before="apt-get install dpkg-dev file; ./bootstrap.sh quick"),
        Scene(((INSTALL, "./bootstrap.sh release"),), after="ls dist/*.tar.zst dist/*.whl"),
    ),
}
TEST, LAB = "./bootstrap.sh test", "./bootstrap.sh lab"
ELSEWHERE = {  # what runs it
    TEST: ".ci/run",
    LAB: ".ci/run",
    "./bootstrap.sh fresh test": ".ci/run",
    "./bootstrap.sh check all": ".ci/run runs a group each time",
    "./bootstrap.sh check release": ".ci/run, in its turn",
    "./bootstrap.sh check machines": ".ci/run, in its turn",
    "ctest --test-dir build/asan -L quick": "check sanitizers, by the presets of the runtime alone",
    "ctest --test-dir build/release -R loads_only_size -V": TEST,
    "ctest --preset all -R served": LAB,
    "ctest --preset all -R pyopencl_module": LAB,
    "ctest -R windows_runtime": "check windows",
    "cmake --preset mingw": "check windows",
    "cmake --build --preset mingw": "check windows",
    "cmake --install build/mingw --prefix /path/to/kiln-windows": "check windows",
    "cmake --preset android-arm64": "nothing: it needs the Android NDK; check clang has a stand-in",
    "cmake --build --preset android-arm64 --target kiln_phone": "as the line before",
    "cmake --preset release -DKILN_BUILD_TESTS=ON && cmake --build --preset release --target bench": LAB,
}


def blocks(text):
    """The blocks of commands of a page, each as its lines, without remarks."""
    text = re.sub(r"\\\n\s*", "", text)
    fenced = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)
    indented = re.findall(r"(?:(?<=\n\n)|(?<=:\n))((?: {4,}\S.*\n)+)", text)
    for block in fenced + indented:
        yield [re.sub(r"\s+# .*", "", line.strip()) for line in block.splitlines() if line.strip()]


def inline(text):
    """The commands that a sentence or a table names."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    return [" ".join(words.split()) for words in re.findall(r"`([^`]+)`", prose)]


def shown(page):
    """The page's blocks with commands for Kiln itself."""
    text = (ROOT / page).read_text(encoding="utf-8")
    every = [*blocks(text), *([words] for words in inline(text))]
    return [block for block in every if any(OWN.match(line) for line in block)]


def pages():
    """README.md, CONTRIBUTING.md and docs/, by their names."""
    return [README, GUIDE, *(page.relative_to(ROOT).as_posix()
                             for page in sorted((ROOT / "docs").rglob("*.md")))]


def lines_of(page, text):
    """What a scene runs of a block: its lines, but those that run elsewhere."""
    found = [block for block in shown(page) if any(text in line for line in block)]
    if not found:
        raise SystemExit(f"{page} shows no command with {text}")
    return [line for line in found[0] if line not in ELSEWHERE]


def not_run():
    """(page, command) of what is shown and belongs nowhere."""
    run = set(ELSEWHERE) | {line for scenes in SCENES.values() for scene in scenes
                            for block in scene.blocks for line in lines_of(*block)}
    return [(page, line) for page in pages() for block in shown(page) for line in block
            if OWN.match(line) and not PLACEHOLDER.search(line) and line not in run]


def play(scene):
    """Runs a scene in a Debian of its own; the exit code."""
    lines = [line for block in scene.blocks for line in lines_of(*block)]
    script = "\n".join([BEGIN, scene.before, *lines, scene.after])
    return subprocess.run([sys.executable, "-B", FRESH, "--ccache", "--laboratory", "--", "bash", "-c",
                           script], check=False).returncode


def main():
    faults = [f"{page} shows what nothing runs: {line}" for page, line in not_run()]
    for scene in SCENES[sys.argv[1]] if sys.argv[1:] else ():
        what = "; ".join(line for block in scene.blocks for line in lines_of(*block))
        print(f"\n== {what}", flush=True)
        start = time.monotonic()
        code = play(scene)
        print(f"== {code}, {time.monotonic() - start:.0f} s: {what}", flush=True)
        if code == CANNOT:
            print("SKIP: no new Debian can be made here")
            return 77
        if code:
            faults.append(f"exit code {code}: {what}")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
