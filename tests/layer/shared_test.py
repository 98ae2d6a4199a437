#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kiln serve --shared and kiln overlay build --shared: an overlay that users share.

    shared_test.py KILN LAYER APPLICATION

APPLICATION is steps.c of this folder. OCL_ICD_VENDORS chooses the driver. The signed pack of the
user that runs the test is given the name of another user's: a name proves nothing.

Exit codes: 0 passed, 1 failed, 77 there is no device or no minisign.
"""

import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from layer_test import APPLICATION, FOLDER, KILN, PLACE, lines_of, run_seeded as run

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
import skips  # pylint: disable=wrong-import-position

KERNEL = "kernel void k(global int *out) { out[get_global_id(0)] = 5; }\n"
ME = str(os.geteuid())


class Shared(unittest.TestCase):
    """A program that no pack has, and keys of two users."""
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        if shutil.which("minisign") is None:
            print("SKIP: there is no minisign")
            sys.exit(77)
        if run(APPLICATION).code == 77:
            print("SKIP: there is no OpenCL device")
            sys.exit(77)
        cls.place = Path(tempfile.mkdtemp(prefix="shared", dir=FOLDER))
        (cls.place / "k.cl").write_text(KERNEL, encoding="utf-8")
        for name in "ab":
            done = run("minisign", "-G", "-W", "-p", cls.place / f"{name}.pub", "-s",
                       cls.place / f"{name}.key")
            assert done.code == 0, done.error

    def setUp(self):
        self.shared = Path(tempfile.mkdtemp(dir=self.place))
        self.shared.chmod(0o1777)

    def start(self, *options):
        """A start with the shared folder: what it reports, and complaints."""
        report = self.place / "report"
        report.write_bytes(b"")
        done = run(KILN, "serve", "--shared", self.shared, *options, "--report",
                   report, "--", APPLICATION, f"source:{self.place}/k.cl", "build", "launch:1")
        self.assertEqual((done.code, done.output), (0, "result 5\n"), done.error)
        return lines_of(report), done.error

    def serve(self, *options):
        """The outcome and the rung of the program at a start."""
        ((line,), _) = self.start(*options)
        return line["outcome"], line["rung"]

    def build(self, *options):
        """What kiln overlay build prints."""
        done = run(KILN, "overlay", "build", "--shared", self.shared, *options)
        self.assertEqual(done.code, 0, done.error)
        return done.output

    def test_a_user_uses_what_it_built_and_another_user_only_what_a_named_key_signed(self):
        """Each start of the other user's begins with an empty overlay."""
        self.assertEqual(self.serve()[0], "passed")
        self.build()
        self.assertEqual(sorted(os.listdir(self.shared)), [ME])
        self.assertEqual(self.serve(), ("served", "exact"))
        self.build("--secret-key", self.place / "a.key")
        self.assertEqual(sorted(os.listdir(self.shared)), [ME, ME + ".kiln"])
        self.assertEqual((self.shared / (ME + ".kiln")).stat().st_mode & 0o777, 0o644)
        if ME != "0":
            return  # only root can give the pack to another user
        (self.shared / (ME + ".kiln")).rename(self.shared / "4242.kiln")
        _, error = self.start("--key", self.place / "a.pub")  # still root's file
        self.assertNotIn("4242", error)
        shutil.rmtree(self.shared / ME)
        self.assertEqual(self.serve("--key", self.place / "a.pub")[0], "passed")
        os.chown(self.shared / "4242.kiln", 4242, 4242)
        for keys, outcome in (((), "passed"), (("b",), "passed"), (("a",), "served"),
                              (("b", "a"), "served")):
            shutil.rmtree(self.shared / ME, ignore_errors=True)
            options = [word for key in keys for word in ("--key", self.place / f"{key}.pub")]
            (line,), error = self.start(*options)
            self.assertEqual(line["outcome"], outcome, keys)
            self.assertEqual("another user's pack is not used: " in error, keys == ("b",), error)
        self.assertEqual(self.serve("--key", self.place / "a.pub"), ("served", "overlay"))

    def test_a_link_in_place_of_the_signed_pack_is_replaced_and_not_followed(self):
        """It could name any file of this user's."""
        self.serve()
        self.build()
        mine = self.place / "mine"
        mine.write_text("precious", encoding="utf-8")
        (self.shared / (ME + ".kiln")).symlink_to(mine)
        self.build("--secret-key", self.place / "a.key")
        self.assertEqual(mine.read_text(encoding="utf-8"), "precious")
        self.assertFalse((self.shared / (ME + ".kiln")).is_symlink())

    def test_a_folder_that_is_not_sticky_is_not_used(self):
        """The application runs all the same."""
        self.shared.chmod(0o777)
        why = f"{self.shared}: others may write to it and it is not sticky: chmod +t"
        _, error = self.start()
        self.assertIn(f"kiln layer: KILN_SHARED is not used: {why}\n", error)
        done = run(KILN, "overlay", "build", "--shared", self.shared)
        self.assertEqual((done.code, done.error), (4, f"kiln: {why}\n"))


if __name__ == "__main__":
    with PLACE:
        skips.run_cases(sys.argv[4:])
