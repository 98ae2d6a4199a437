#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes one operator at a time, and tells whether the quick tests see it.

    mutants.py [--count N] [--seed S] [--jobs J] [--work FOLDER] [--json]

Copies packs, runtime and what they need into FOLDER, builds them with their tests (preset dev without
the builder), and then, for each of N sites that the seed chooses, changes one operator, builds, runs
the quick tests, and restores the file. A mutant is killed if the build or a test fails. The results
are appended to FOLDER/mutants.jsonl, so that a run that was ended goes on. Prints each survivor.
With J jobs there are J copies, each with its own build.

A mutant takes some 20 seconds of two processors. Exit codes: 0 at least 90% are killed, 1 fewer.
"""

import argparse
import concurrent.futures
import json
import pathlib
import queue
import random
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = ("packs", "runtime")
LEAST_KILLED = 0.9
LIMIT_SECONDS = 300
# Tests that read texts or measure sizes, not behaviour.
OTHER_TESTS = ("^(arrows|counts|format|named_paths|skips|spdx|subjects|summary|runtime_library"
               "|loads_only_size)$")
OPERATORS = [
    (r"(?<=\s)==(?=\s)", "!="), (r"(?<=\s)!=(?=\s)", "=="),
    (r"(?<=\s)<=(?=\s)", "<"), (r"(?<=\s)>=(?=\s)", ">"),
    (r"(?<=[\w)\]] )<(?= [\w(])", "<="), (r"(?<=[\w)\]] )>(?= [\w(])", ">="),
    (r"(?<=\s)&&(?=\s)", "||"), (r"(?<=\s)\|\|(?=\s)", "&&"),
    (r"(?<=[\w)\]] )\+(?= 1\b)", "-"), (r"(?<=[\w)\]] )-(?= 1\b)", "+"),
    (r"\bcontinue(?=;)", "break"), (r"\breturn true(?=;)", "return false"),
    (r"\breturn false(?=;)", "return true"), (r"(?<=\()!(?=[a-z])", ""),
]


def sites():
    """Every operator of the product: (file, line, begin, end, replacement)."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.cpp")):
            if "generated" in path.parts or path.stem.endswith("windows"):
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").split("\n")):
                code = line.split("//")[0]
                if '"' in code or code.lstrip().startswith(("#", "static_assert", "template")):
                    continue
                for pattern, other in OPERATORS:
                    for match in re.finditer(pattern, code):
                        yield path.relative_to(ROOT), number, *match.span(), other


def call(*command, limit=LIMIT_SECONDS):
    """Whether the command succeeds in time."""
    try:
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              timeout=limit, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


class Tree:
    def __init__(self, work):
        self.source, self.build = work / "source", work / "build"
        work.mkdir(exist_ok=True)
        if self.source.exists():
            shutil.rmtree(self.source)
        # With new times: an ended run may have left objects of a mutant.
        shutil.copytree(ROOT, self.source, ignore=shutil.ignore_patterns("build", ".git"),
                        copy_function=shutil.copy)

    def prepare(self):
        return (call("cmake", "-S", self.source, "-B", self.build, "-G", "Ninja",
                     "-DCMAKE_BUILD_TYPE=Debug",
                     "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -D_GLIBCXX_ASSERTIONS",
                     "-DKILN_BUILD_BUILDER=OFF", "-DKILN_BUILD_TESTS=ON")
                and self.passes(3600))

    def passes(self, limit=LIMIT_SECONDS):
        return (call("cmake", "--build", self.build, limit=limit)
                and call("ctest", "--test-dir", self.build, "-L", "quick", "-E", OTHER_TESTS,
                         "-j", "3", "--stop-on-failure", limit=limit))

    def survives(self, site):
        path, number, begin, end, other = site
        file = self.source / path
        text = file.read_text(encoding="utf-8")
        lines = text.split("\n")
        lines[number] = lines[number][:begin] + other + lines[number][end:]
        file.write_text("\n".join(lines), encoding="utf-8")
        try:
            return self.passes()
        finally:
            file.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    all_sites = list(sites())
    chosen = random.Random(arguments.seed).sample(all_sites, min(arguments.count, len(all_sites)))
    log = work / "mutants.jsonl"
    known = {}
    if log.exists():
        for line in log.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            known[tuple(row["site"])] = row["killed"]
    trees = queue.Queue()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        made = [Tree(work / f"tree{job}") for job in range(arguments.jobs)]
        if not made[0].prepare() or not all(pool.map(Tree.prepare, made[1:])):
            print("mutants: the unchanged tree does not build or pass its quick tests",
                  file=sys.stderr)
            return 2
        for tree in made:
            trees.put(tree)

        def is_killed(at):
            path, number, begin, end, other = chosen[at]
            text = (ROOT / path).read_text(encoding="utf-8").split("\n")[number]
            site = (str(path), text, begin, other)  # the text, since lines move
            if site not in known:
                tree = trees.get()
                known[site] = not tree.survives(chosen[at])
                trees.put(tree)
                with log.open("a", encoding="utf-8") as out:
                    out.write(json.dumps({"site": site, "killed": known[site]}) + "\n")
            return {"file": str(path), "line": number + 1, "text": text.strip(),
                    "from": text[begin:end], "to": other, "killed": known[site]}

        rows = []
        for row in pool.map(is_killed, range(len(chosen))):
            rows.append(row)
            if not row["killed"] and not arguments.json:
                print(f"survived: {row['file']}:{row['line']}: {row['text']}"
                      f"  [{row['from']} -> {row['to']}]", flush=True)
            if len(rows) % 10 == 0:
                print(f"{len(rows)} of {len(chosen)}", file=sys.stderr, flush=True)
    killed = sum(row["killed"] for row in rows)
    if arguments.json:
        print(json.dumps({"schema": 1, "sites": len(all_sites), "mutants": rows}))
    else:
        print(f"{killed} of {len(rows)} mutants killed, of {len(all_sites)} sites")
    return 0 if killed >= LEAST_KILLED * len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
