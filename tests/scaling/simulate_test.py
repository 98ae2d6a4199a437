#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The simulation of a fleet's year (simulate.py): its bounds and sums, and its sizes against what kiln
publishes.

    simulate_test.py KILN FORGE_FLEET
"""

import contextlib
import io
import json
import random
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

import simulate

KILN, FORGE_FLEET = (Path(word).resolve() for word in sys.argv[1:3])
GOLDEN = simulate.ROOT / "packs" / "golden" / "good-v1.kiln"
PAGE = simulate.ROOT / "docs" / "operate" / "scaling.md"
SIZES = simulate.Sizes(programs=72_192, none=292, targets=[44_627, 57_510], manifest=1041,
                       manifest_target=737, changed_program=41_131)
SMALL = ("--devices", "20000", "--models", "30", "--weeks", "15", "--own-models", "6")


def year(*words):
    """The options, and the weeks of a small fleet."""
    options = simulate.parse(["kiln", "forge", "output", *SMALL, *words])
    return options, simulate.rows_of(simulate.simulate(options, SIZES), options, SIZES)


def scenario(rows, name, what="coverage"):
    """One scenario's figure of each week."""
    return [row["scenarios"][name][what] for row in rows]


class Simulation(unittest.TestCase):

    def test_no_device_is_lost_and_each_takes_each_release(self):
        options, rows = year()
        self.assertEqual(len(rows), options.weeks)
        for row in rows:
            self.assertEqual(row["devices"], 20_000)
            for name, result in row["scenarios"].items():
                fetches = result["fetches"]
                self.assertEqual(fetches["programs"], 20_000)
                deltas = fetches["none"] + sum(fetches["deltas"].values())
                if name in ("neither", "harvest"):
                    self.assertEqual((fetches["manifests"], deltas), (20_000, 20_000))
                else:
                    self.assertGreater(fetches["manifests"], 20_000)  # the updates'
                    self.assertLessEqual(deltas, fetches["manifests"])

    def test_bytes_are_the_sums_over_fetches_and_layers(self):
        for count in (1, 7):
            options, rows = year("--repositories", str(count))
            for row in rows:
                for result in row["scenarios"].values():
                    fetches, kinds = result["fetches"], result["fetched_bytes"]
                    manifest = SIZES.manifest + result["targets"] * SIZES.manifest_target / count
                    self.assertAlmostEqual(kinds["manifests"], fetches["manifests"] * manifest, delta=1)
                    self.assertEqual(kinds["programs"], fetches["programs"] * SIZES.programs)
                    self.assertEqual(kinds["deltas"], fetches["none"] * SIZES.none + sum(
                        size * fetched for size, fetched in fetches["deltas"].items()))
                    self.assertAlmostEqual(result["fetched_bytes_per_device"] * options.devices,
                                           sum(kinds.values()), delta=1)
                    layers = result["published_bytes"] - count * (SIZES.programs + SIZES.none)
                    self.assertGreater(layers, result["targets"] * SIZES.targets[0])
                    self.assertLess(layers, result["targets"] * 60_000 + count * 3_000)

    def test_harvest_and_watch_each_cover_more(self):
        _, rows = year()
        neither, watch, harvest, both = (scenario(rows, name) for name, _, _ in simulate.SCENARIOS)
        for less, more in ((neither, watch), (neither, harvest), (watch, both), (harvest, both)):
            self.assertTrue(all(a <= b for a, b in zip(less, more)), (less, more))
            self.assertLess(sum(less), sum(more))
        # Nothing was harvested before the first release.
        self.assertEqual((neither[0], watch[0]), (harvest[0], both[0]))
        self.assertLess(max(both), 1)

    def test_the_first_week_is_the_share_of_the_publishers_own_pairs(self):
        options, rows = year("--take", "0", "--devices", "2000000", "--own-drivers", "10",
                             "--kept-keys", "0")
        shares = [1 / rank for rank in range(1, options.models + 1)]
        self.assertAlmostEqual(rows[0]["scenarios"]["neither"]["coverage"],
                               sum(shares[:options.own_models]) / sum(shares), delta=0.001)

    def test_watch_serves_all_updates_if_the_publisher_has_the_drivers(self):
        options = simulate.parse(["kiln", "forge", "output", *SMALL, "--own-models", "30",
                                  "--own-drivers", "99", "--late", "0", "--local", "0",
                                  "--kept-keys", "0"])
        numbers = random.Random(options.seed)
        fleet = simulate.make_fleet(options, SIZES, numbers)
        for week in range(9):
            for model in fleet:
                model.phase = options.driver_weeks - 5  # all release a driver in week 5
            newest = sum(model.counts[-1] for model in fleet)
            weeks, _ = simulate.simulate_week(fleet, frozenset(), week, options, SIZES, numbers)
            moved = sum(model.counts[-1] for model in fleet) - (0 if week == 5 else newest)
            self.assertGreater(moved, 0)
            self.assertEqual(weeks["neither"].clean, 20_000 - moved)
            self.assertEqual(weeks["watch"].clean, 20_000 - (moved if week == 5 else 0))
            self.assertEqual((weeks["watch"].updated, weeks["watch"].served),
                             (moved, 0 if week == 5 else moved))
            self.assertEqual(weeks["neither"].served, 0)
            self.assertEqual(sum(weeks["watch"].deltas.values()), 20_000 + (0 if week == 5 else moved))

    def test_the_publisher_has_so_many_drivers_each_after_its_lag(self):
        _, rows = year("--kept-keys", "0")
        self.assertEqual(set(scenario(rows, "neither", "targets")), {6 * 3})
        _, late = year("--kept-keys", "0", "--own-lag", "5")
        self.assertLess(sum(scenario(late, "neither")), sum(scenario(rows, "neither")))

    def test_what_cannot_help_changes_nothing(self):
        for words, less, more in ((("--canary", "0"), "neither", "harvest"),
                                  (("--kept-keys", "1"), "neither", "watch"),
                                  (("--take", "0"), "harvest", "both")):
            _, rows = year(*words)
            for what in ("coverage", "fetches", "targets"):
                self.assertEqual(scenario(rows, less, what), scenario(rows, more, what), words)

    def test_all_pairs_are_covered_but_for_the_canary_if_each_pair_has_a_canary_device(self):
        _, rows = year("--devices", "20000000", "--take", "0", "--own-models", "0")
        self.assertEqual(scenario(rows, "harvest")[0], 0)
        for coverage in scenario(rows, "harvest")[1:]:
            self.assertAlmostEqual(coverage, 0.99, delta=0.002)

    def test_the_same_seed_gives_the_same_year(self):
        self.assertEqual(year(), year())
        self.assertNotEqual(year()[1], year("--seed", "2")[1])

    def test_values_out_of_range_are_refused(self):
        for words in (("--canary", "1.5"), ("--weeks", "0"), ("--take", "-1")):
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
                year(*words)
        with self.assertRaises(SystemExit):
            year("--devices", "299")  # of 300 pairs

    def test_sizes_are_those_of_a_real_publication(self):
        sizes = simulate.measure(KILN, FORGE_FLEET, GOLDEN, 3)
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            simulate.run(FORGE_FLEET, GOLDEN, 5, folder / "fleet.kiln")
            layers, manifest = simulate.publish(KILN, folder / "fleet.kiln", folder / "layout")
        self.assertEqual(len(layers), 2 + 5 * 2)
        self.assertEqual(layers[:2], [sizes.programs, sizes.none])
        self.assertAlmostEqual(sum(layers[2:]) / 10, sum(sizes.targets) / 6, delta=10)
        self.assertAlmostEqual(manifest, sizes.manifest + 10 * sizes.manifest_target, delta=10)
        self.assertGreater(sizes.changed_program, 100)

    def test_the_whole_command_writes_figures_and_plots(self):
        with tempfile.TemporaryDirectory() as place, \
                contextlib.redirect_stdout(io.StringIO()) as printed:
            folder = Path(place)
            simulate.main([str(KILN), str(FORGE_FLEET), place, "--pack", str(GOLDEN), "--copies", "2",
                           *SMALL])
            written = json.loads((folder / "simulation.json").read_text(encoding="utf-8"))
            self.assertEqual(len(written["weeks"]), 15)
            self.assertEqual(written["parameters"]["devices"]["value"], 20_000)
            for name in ("coverage.svg", "bytes.svg", "published.svg"):
                lines = xml.etree.ElementTree.parse(folder / name).iterfind(
                    "{http://www.w3.org/2000/svg}polyline")
                self.assertEqual([len(line.get("points").split()) for line in lines], [15] * 4)
        self.assertIn("harvest and watch", printed.getvalue())

    def test_the_pages_command_has_known_options(self):
        commands = re.findall(r"^python3 tests/scaling/simulate.py (.*)$",
                              PAGE.read_text(encoding="utf-8").replace("\\\n", ""), re.MULTILINE)
        self.assertTrue(commands)
        for command in commands:
            simulate.parse(command.split("#")[0].split())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
