#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a shared overlay costs a start: the CPU time of an application with three programs, by
turns, each time with an empty cache of PoCL. As root; needs minisign.

    shared_start.py KILN STEPS [ROUNDS]

STEPS is kiln_steps (tests/layer/steps.c). Prints medians.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

KILN, STEPS = (str(Path(word).resolve()) for word in sys.argv[1:3])
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 11
OTHERS = (16, 256)


class Place:
    """A folder with the application's sources, keys and shared folders."""

    def __init__(self, folder):
        self.folder = folder
        self.cache = folder / "pocl"
        self.environment = {**os.environ, "POCL_CACHE_DIR": str(self.cache), "KILN_BACKGROUND": "0",
                            "KILN_STORE": "none"}
        self.application = [STEPS]
        for number in range(3):
            text = f"kernel void k(global int *out) {{ out[get_global_id(0)] = {number}; }}\n"
            (folder / f"{number}.cl").write_text(text, encoding="utf-8")
            self.application += [f"source:{number}.cl", "build", "launch:1"]
        self.run("minisign", "-G", "-W", "-p", "my.pub", "-s", "my.key")

    def run(self, *command):
        """CPU seconds of a command and its children."""
        before = os.times()
        subprocess.run([str(word) for word in command], cwd=self.folder, env=self.environment,
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = os.times()
        return (after.children_user - before.children_user +
                after.children_system - before.children_system)

    def start(self, shared=None):
        """CPU seconds of a start that finds nothing in PoCL's cache."""
        shutil.rmtree(self.cache, ignore_errors=True)
        self.cache.mkdir()
        if shared is None:
            return self.run(*self.application)
        return self.run(KILN, "serve", "--shared", shared, "--key", "my.pub", "--",
                        *self.application)

    def shared(self, name):
        """A new folder that users share."""
        shutil.rmtree(self.folder / name, ignore_errors=True)
        (self.folder / name).mkdir()
        (self.folder / name).chmod(0o3770)
        return name

    def others(self, count):
        """A folder with so many users' signed packs, and nothing of this user's."""
        name = self.shared(f"others{count}")
        for user in range(20001, 20001 + count):
            copy = self.folder / name / f"{user}.kiln"
            shutil.copy(self.folder / "signed" / "0.kiln", copy)
            os.chown(copy, user, user)
        return name


def main():
    """Prints the table."""
    if os.geteuid() != 0:
        sys.exit("shared_start.py gives files to other users: run it as root")
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        place.start(place.shared("signed"))
        place.run(KILN, "overlay", "build", "--shared", "signed", "--secret-key", "my.key")
        folders = {count: place.others(count) for count in OTHERS}
        rows = {}
        for _ in range(ROUNDS):
            rows.setdefault("without Kiln", []).append(place.start())
            own = place.shared("own")
            rows.setdefault("the first, nothing is there", []).append(place.start(own))
            place.run(KILN, "overlay", "build", "--shared", own)
            rows.setdefault("the second", []).append(place.start(own))
            for count, others in folders.items():
                shutil.rmtree(place.folder / others / "0", ignore_errors=True)
                rows.setdefault(f"the first, {count} users' packs are there", []).append(
                    place.start(others))
        alone = statistics.median(rows["without Kiln"])
        for name, seconds in rows.items():
            median = statistics.median(seconds)
            print(f"{name:40} {1000 * median:8.0f} ms  {median / alone:.3f}")


if __name__ == "__main__":
    main()
