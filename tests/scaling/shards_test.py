#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shards of a build merge to the same bytes as one build of everything.

    shards_test.py KILN

Exit codes: 0 passed, 1 failed, 77 there is no driver of Intel's.
"""

import json
import random
import shutil
import subprocess

import common


class Shards(common.Scaling):
    """Six programs for Intel's driver, whose compiler gives the same bytes again."""

    def shards(self, count, *options, gpu="skl"):
        """Builds each shard, the last one first; their names and how many jobs they compiled."""
        names, compiled = [], []
        for index in range(count, 0, -1):
            names.append(f"{count}-{index}.kiln")
            built = json.loads(self.run_command(
                "kiln", "build", "base.kiln", "--shard", f"{index}/{count}", "-o", names[-1],
                "--json", *options, gpu=gpu))
            self.assertEqual(built["compiled"] + built["other_shards"], common.VARIANTS)
            compiled.append(built["compiled"])
        self.assertEqual(sum(compiled), common.VARIANTS)
        return names, compiled

    def test_they_merge_to_the_whole_in_any_order(self):
        whole = self.whole("skl")
        for count in (1, 3, 7):
            names, compiled = self.shards(count)
            self.assertLess(max(compiled) if count > 1 else 0, common.VARIANTS)
            for seed in range(3):
                random.Random(seed).shuffle(names)
                self.run_command("kiln", "pack", "merge", *names, "-o", "merged.kiln")
                self.check_same("merged.kiln", whole)
            self.run_command("kiln", "pack", "merge", "--base", "base.kiln", *names, "-o", "merged.kiln")
            self.check_same("merged.kiln", whole)

    def test_the_page_shows_it(self):
        self.run_command("sh", "-ec", common.block("--shard 1/3"))
        self.check_same("fleet.kiln", self.whole("skl"))

    def test_a_plan_says_what_each_build_does(self):
        seen = []
        (self.folder / "whole.kiln").write_bytes(self.whole("skl"))
        for index in (1, 2, 3):
            plan = json.loads(self.run_command("kiln", "build", "--dry-run", "base.kiln", "--shard",
                                               f"{index}/3", "--json"))
            self.assertEqual(len(plan["jobs"]) + plan["other_shards"], common.VARIANTS)
            seen += [job["program"] for job in plan["jobs"]]
            built = self.run_command("kiln", "build", "--dry-run", "base.kiln", "--shard", f"{index}/3",
                                     "-o", "whole.kiln", "--json")
            self.assertEqual(built, json.dumps({**plan, "jobs": [
                {**job, "need": "reuse", "reason": "the output has this binary already"}
                for job in plan["jobs"]]}, indent=2, sort_keys=True) + "\n")
        self.assertEqual(len(seen), common.VARIANTS)
        self.assertEqual(len(set(seen)), common.VARIANTS)

    def test_two_targets_merge_in_the_form_that_merge_is_asked_for(self):
        names = []
        for gpu in ("skl", "tgllp"):
            for index in (1, 2):
                names.append(f"{gpu}-{index}.kiln")
                self.run_command("kiln", "build", "base.kiln", "--shard", f"{index}/2", "-o",
                                 names[-1], gpu=gpu)
        whole = self.whole("skl", "tgllp")
        self.run_command("kiln", "pack", "merge", *reversed(names), "-o", "merged.kiln")
        self.check_same("merged.kiln", whole)
        self.run_command("kiln", "pack", "merge", *names, "--compress", "fleet", "-o", "merged.kiln")
        (self.folder / "both.kiln").write_bytes(whole)
        self.run_command("kiln", "pack", "merge", "both.kiln", "--compress", "fleet", "-o", "both.kiln")
        self.check_same("merged.kiln", (self.folder / "both.kiln").read_bytes())

    def test_builds_into_one_output_at_once_lose_nothing(self):
        whole = self.whole("skl")
        running = [subprocess.Popen(["kiln", "build", "base.kiln", "--shard", f"{index}/3", "-o",
                                     "one.kiln"], cwd=self.folder, env=self.environment,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                   for index in (1, 2, 3)]
        for process in running:
            self.assertEqual(process.wait(), 0)
        self.check_same("one.kiln", whole)

    def test_clocks_that_differ_change_nothing(self):
        if shutil.which("faketime") is None:
            self.skipTest("faketime is not here")
        whole = self.whole("skl")
        for index, clock in ((1, "-9 years"), (2, "+9 years")):
            self.run_command("faketime", "-f", clock.replace(" years", "y"), "kiln", "build",
                             "base.kiln", "--shard", f"{index}/2", "-o", f"{index}.kiln")
        self.run_command("kiln", "pack", "merge", "1.kiln", "2.kiln", "-o", "merged.kiln")
        self.check_same("merged.kiln", whole)


if __name__ == "__main__":
    common.main()
