#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands that the documents show.

    documents_test.py KILN APPLICATION [PAGE ...]

What is run: lines after "$ ", and blocks marked sh whose first line is one of PROGRAMS. Blocks that
begin otherwise are scripts, or other tools' commands, with tests of their own. A word in capitals,
such as PACK, is a placeholder, and its command is not run. LESS has what is added to a command. The
commands of a page run in their order, in an empty folder with links to the repository's folders;
SETUP has what a page takes for granted. Without arguments ./application, the reader's own, is a short
run of APPLICATION. The outputs of pages in COMPARED are compared, too: numbers, hashes and the device
may differ, and "..." stands for any lines. Without PoCL or minisign, exit code 77.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
KILN, APPLICATION = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
PROGRAMS = ("kiln", "minisign")
PLACEHOLDER = re.compile(r"(?<![\w$./-])[A-Z]{2,}(?![\w=])|\bO\b")
LINKS = ("packs", "manifests", "kernels", "tests")
BASE = "kiln compile manifests/tour.toml -o base.kiln"
BUILT = "kiln build base.kiln --device 'Portable*' -o app.kiln"
RECORDED = "kiln record -o app.spool -- ./application build"
SETUP = {
    "docs/operate/fleet.md": ["cp packs/golden/good-v1.kiln app.kiln",
                              "cp -r tests/cli/fixtures/fleet fleet"],
    "docs/operate/signing.md": [BASE, "cp base.kiln tour.kiln"],
    "docs/operate/scaling.md": [BASE],
    "docs/understand/final.md": [
        BASE, "kiln build base.kiln --device 'Portable*' --no-finish -o plain.kiln",
        "RUSTICL_ENABLE=llvmpipe OCL_ICD_VENDORS=rusticl.icd kiln build base.kiln -o rusticl.kiln"],
    "docs/operate/watch.md": [BASE, BUILT, "kiln fleet publish app.kiln --to published",
                              "rm app.kiln"],
    "docs/use/tuning.md": [BASE, BUILT],
    "docs/use/loading.md": [BASE, BUILT],
    "docs/use/launching.md": [BASE, BUILT],
    "docs/use/pyopencl.md": [RECORDED],
}
PASSWORDS = "secret\nsecret\n"  # for minisign
COMPARED = ("docs/operate/fleet.md", "docs/use/tour.md")
FIRST = "docs/use/tour.md"  # whose reader has no binaries yet; the other pages reuse its own
LESS = {"kiln tune": " --program laplace"}  # minutes else, for the same
LIMIT_SECONDS = 300


def commands(text):
    """The commands of a page, with their lines that go on, and the output that the page shows."""
    text = re.sub(r"^```sh\n(?!(?:%s) ).*?^```$" % "|".join(PROGRAMS), "", text, flags=re.M | re.S)
    is_block = False
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if line.startswith("```"):
            is_block = line == "```sh"
            continue
        shown = re.match(r"(?: {4,})?\$ (.*)", line)
        if not shown and not is_block:
            continue
        command = shown[1] if shown else line
        while command.endswith("\\"):
            at += 1
            command = command[:-1] + lines[at].strip()
        command = re.sub(r"\s+# .*", "", command)
        output = []
        for other, following in zip(lines[at + 1:], lines[at + 2:]):
            if not (other or following).startswith("    ") or other.startswith("    $ "):
                break
            output.append(other[4:])
        while output and not output[-1]:
            output.pop()
        if command.split(" ")[0] in PROGRAMS:
            yield command, output


def alike(text):
    """The text without what differs between machines."""
    for pattern, other in ((r"pthread-.*?(?= \(|$)", "DEVICE"), (r"model( =)? \S+", "model"),
                           (r"\b[0-9a-f]{16}\b", "HASH"), (r"\d[\d.,]*", "N"), (r" +", " ")):
        text = re.sub(pattern, other, text, flags=re.M)
    return text


def is_shown(output, shown):
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "..." else re.escape(alike(line)) + r"\n"
                      for line in shown)
    return re.fullmatch(pattern, alike(output)) is not None


def make_folder(folder):
    folder.mkdir()
    for name in LINKS:
        (folder / name).symlink_to(ROOT / name)
    (folder / "application").write_text(f'#!/bin/sh\nexec {APPLICATION} "${{@:-run}}"\n')
    (folder / "application").chmod(0o755)
    for name, library in (("pocl", "libpocl.so.2"), ("rusticl", "libRusticlOpenCL.so.1")):
        (folder / f"{name}.icd").write_text(f"{library}\n", encoding="ascii")


def run(command, folder, store):
    environment = {**os.environ, "PATH": f"{KILN.parent}:{os.environ['PATH']}", "HOME": str(folder),
                   "XDG_CACHE_HOME": str(folder / "cache"),
                   "KILN_STORE": str(store), "KILN_BACKGROUND": "0"}
    environment.setdefault("OCL_ICD_VENDORS", "pocl.icd")
    try:
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                              input=PASSWORDS, stdout=subprocess.PIPE, errors="replace",
                              stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "", f"did not end in {LIMIT_SECONDS} s"
    right = (0, 1) if command.startswith("kiln pack diff") else (0,)
    fault = f"exit code {done.returncode}\n{done.stdout[-600:]}"
    # Progress is only for slow machines.
    output = re.sub(r"^kiln: \[.*\n", "", done.stdout, flags=re.M)
    return output, "" if done.returncode in right else fault


def main(pages, work):
    ran = placeholders = 0
    faults = []
    for page in pages:
        name = page.relative_to(ROOT).as_posix()
        shown = list(commands(page.read_text(encoding="utf-8")))
        wanted = [pair for pair in shown if not PLACEHOLDER.search(pair[0])]
        placeholders += len(shown) - len(wanted)
        if not wanted:
            continue
        folder = work / page.stem
        make_folder(folder)
        for line, expected in [(line, []) for line in SETUP.get(name, [])] + wanted:
            line += next((more for begin, more in LESS.items() if line.startswith(begin)), "")
            output, fault = run(line, folder, work / "jobs.sqlite")
            if not fault and expected and name in COMPARED and not is_shown(output, expected):
                fault = "prints something else:\n" + output[-1500:]
            if fault:
                faults.append(f"{name}: {line}\n    {fault}".strip())
        ran += len(wanted)
        print(f"{name}: {len(wanted)}", flush=True)
    print(f"{ran} commands run, {placeholders} with placeholders not, {len(faults)} faults")
    print("\n".join(faults))
    return 1 if faults or ran == 0 else 0


if __name__ == "__main__":
    if not shutil.which("minisign") or not any(pathlib.Path("/usr/lib").rglob("libpocl.so.2")):
        print("SKIP: no minisign or no PoCL here")
        sys.exit(77)
    named = [ROOT / name for name in sys.argv[3:]]
    with tempfile.TemporaryDirectory(prefix="kiln-documents-") as place:
        sys.exit(main(named or sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")],
                               key=lambda page: page != ROOT / FIRST),
                      pathlib.Path(place)))
