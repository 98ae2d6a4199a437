#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/operate/scaling/shards.sh: shards under GNU parallel, with parts that die and a run that is killed.

    parallel_test.py KILN

Exit codes: 0 passed, 1 failed, 77 there is no GNU parallel or no driver of Intel's.
"""

import json
import shutil

import common

SHARDS = common.RECIPES / "shards.sh"


class Parallel(common.Scaling):
    """shards.sh with four shards, two at a time."""

    def setUp(self):
        super().setUp()
        self.environment["JOBS"] = "2"

    def log(self):
        """The exit code of each shard, as the log of the jobs has it."""
        lines = (self.folder / "out.kiln.4-shards/log").read_text(encoding="utf-8").splitlines()
        return {int(line.split("\t")[0]): line.split("\t")[6] for line in lines[1:]}

    def test_a_part_that_dies_is_tried_again(self):
        self.wrap_kiln({"2/4": self.once("died", "kill -KILL $$")})
        shutil.copy(SHARDS, self.folder)
        self.run_command("sh", "-ec", common.block("shards.sh").replace("fleet", "out"))
        self.assertTrue((self.folder / "died").exists())
        self.check_same("out.kiln", self.whole("skl"))
        self.assertEqual(set(self.log().values()), {"0"})
        said = self.run_command("sh", SHARDS, "base.kiln", 4, "out.kiln")
        self.assertNotIn("compiled", said, "nothing is left to do")

    def test_a_part_that_always_dies_costs_itself_alone(self):
        self.wrap_kiln({"2/4": f"echo >>'{self.folder}/attempts'; kill -KILL $$"})
        self.run_command("sh", SHARDS, "base.kiln", 4, "out.kiln", code=1)
        self.assertEqual((self.folder / "attempts").read_text(encoding="utf-8"), "\n" * 3)
        self.assertEqual(self.log(), {1: "0", 2: "137", 3: "0", 4: "0"})
        plan = json.loads(self.run_command(common.KILN, "build", "--dry-run", "base.kiln", "--shard", "2/4",
                                           "--json"))
        self.assertEqual(self.binaries("out.kiln"), [plan["other_shards"]])

    def test_a_run_that_is_killed_goes_on(self):
        self.wrap_kiln({"3/4": self.once("hung", "sleep infinity")})
        run = self.daemon("sh", SHARDS, "base.kiln", 4, "out.kiln")
        log = self.folder / "out.kiln.4-shards/log"
        common.wait_until("three parts are done",
                          lambda: log.exists() and len(log.read_text().splitlines()) == 4)
        self.end(run)
        said = self.run_command("sh", SHARDS, "base.kiln", 4, "out.kiln")
        self.assertEqual(said.count("compiled"), 1, "the part that was killed, and no other")
        self.check_same("out.kiln", self.whole("skl"))


if __name__ == "__main__":
    common.main("parallel")
