#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `kiln fleet report --html` in headless Chromium, with 10,000 models and drivers.

    fleet_page_test.py KILN PACK OUT

PACK is any pack with programs; OUT is the folder for inventory, page and screenshots.
"""

import json
import subprocess
import sys
import unittest
from pathlib import Path

import chromium

PAIRS = 10_000
LOADS = ("exact", "intermediate", "il", "source", "none", "unknown")
HOSTILE = "</script><script>window.hostile=1</script><b>"
WORST = "Adreno 740"
ROWS = """[...document.querySelectorAll('#pairs tbody tr')]
    .map((row) => [...row.children].map((cell) => cell.innerText))"""
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def inventory():
    """Lines of an inventory: each pair has another number of devices, the worst the most."""
    for i in range(PAIRS):
        yield {"key_hash": f"{i + 1:016x}", "model": f"Model {i % 100}", "driver": f"1.{i // 100}",
               "profile": "mali", "count": i + 1, "starts": 7 * i}
    yield {"key_hash": "00000000ffffff01", "model": WORST, "profile": "adreno", "driver": "512.0",
           "count": 50_000}
    yield {"key_hash": "00000000ffffff02", "model": HOSTILE, "profile": "mali", "count": 1}


class FleetPageTest(unittest.TestCase):
    """One browser and one page for all."""

    @classmethod
    def setUpClass(cls):
        lines, page = cls.out / "inventory.jsonl", cls.out / "fleet.html"
        lines.write_text("".join(json.dumps(line) + "\n" for line in inventory()),
                         encoding="utf-8")
        weeks = [cls.out / f"2026-W{40 + week}.json" for week in range(2)]
        for week, path in enumerate(weeks):
            loads = {load: {"devices": 0, "starts": 0} for load in LOADS}
            loads["exact"]["devices"], loads["source"]["devices"] = 1 + 2 * week, 3 - 2 * week
            path.write_text(json.dumps({"all": {"loads": loads}}), encoding="utf-8")
        with (cls.out / "fleet.json").open("wb") as output:
            subprocess.run([cls.kiln, "fleet", "report", cls.pack, "--inventory", lines, "--html",
                            page, "--json", "--earlier", *weeks], check=True, stdout=output)
        cls.report = json.loads((cls.out / "fleet.json").read_text(encoding="utf-8"))
        cls.page = page.as_uri()
        cls.browser = chromium.Browser(cls.path)
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.browser.open(self.page, 1280, 900)

    def tearDown(self):
        faults, self.browser.faults = self.browser.faults, []
        self.assertEqual(faults, [])

    def value(self, expression):
        """What the page says of an expression."""
        return self.browser.value(expression)

    def search(self, words):
        """The rows that a search leaves."""
        self.value(f"""(() => {{
            const box = document.querySelector('input[type=search]');
            box.value = {json.dumps(words)};
            box.dispatchEvent(new Event('input'));
        }})()""")
        return self.value(ROWS)

    def test_the_worst_gap_stands_at_the_top_with_its_command(self):
        text = self.value("document.getElementById('next').innerText")
        top = self.value("document.getElementById('next').getBoundingClientRect().bottom")
        worst = self.report["gaps"][0]
        self.assertEqual(worst["devices"], 50_000)
        self.assertIn(WORST, text)
        self.assertIn("Snapdragon 8 Gen 2", text)
        self.assertIn("50,000 devices", text)
        self.assertIn(worst["command"], text)
        self.assertLess(top, 900)
        self.assertIn(WORST, self.value(ROWS)[0][3])

    def test_bars_show_what_devices_load(self):
        bars = self.value("""[...document.querySelectorAll('.bars')].map((box) =>
            [...box.querySelectorAll('svg')].map((bar) => [bar.getAttribute('aria-label'),
                [...bar.querySelectorAll('rect')].map((part) => +part.getAttribute('width')),
                bar.nextElementSibling.innerText, bar.getBoundingClientRect().height]))""")
        weeks, loads, gaps = bars
        self.assertEqual([bar[0] for bar in weeks],
                         ["2026-W40: 25.0% exact, 75.0% source",
                          "2026-W41: 75.0% exact, 25.0% source", "now: 100.0% unknown"])
        self.assertEqual([bar[1] for bar in weeks], [[25, 75], [75, 25], [100]])
        devices = self.report["all"]["devices"]
        self.assertEqual([bar[0].split(":")[0] for bar in loads], ["all", "mali", "adreno"])
        self.assertEqual(loads[0][0], "all: 100.0% unknown")
        self.assertEqual(loads[0][2], f"{devices:,}")
        for _, parts, _, height in loads:
            self.assertAlmostEqual(sum(parts), 100)
            self.assertGreater(height, 10)
        self.assertEqual(len(gaps), 10)
        self.assertIn("Adreno 740", gaps[0][0])
        self.assertEqual([round(bar[1][0], 3) for bar in gaps[:2]],
                         [100, round(100 * self.report["gaps"][1]["devices"] / 50_000, 3)])
        filled = sum(gap["devices"] for gap in self.report["gaps"][:10])
        self.assertEqual(gaps[9][2].split("then ")[1],
                         f"{1000 * filled // devices / 10:.1f}%")

    def test_rows_are_shown_in_parts(self):
        shown = len(self.value(ROWS))
        self.assertLess(shown, PAIRS)
        self.value("document.querySelector('#pairs').parentElement.nextElementSibling.click()")
        self.assertEqual(len(self.value(ROWS)), 2 * shown)

    def test_a_search_finds_every_word(self):
        rows = self.search("model 42 1.17")
        self.assertTrue(rows)
        self.assertIn(["Model 42", "1.17"], [[row[3], row[6]] for row in rows])
        self.assertTrue(all("1.17" in " ".join(row) for row in rows))
        self.assertEqual(len(self.search("ffffff01")), 1)
        self.assertEqual(len(self.search("snapdragon")), 1)
        self.assertEqual(self.search("no such device"), [])

    def test_a_click_sorts_and_another_turns_it(self):
        click = "document.querySelector('#pairs th button').click()"
        counts = []
        for _ in range(2):
            self.value(click)
            counts.append([int(row[0].replace(",", "")) for row in self.value(ROWS)])
        self.assertEqual(counts[0][0], 50_000)
        self.assertEqual(counts[0], sorted(counts[0], reverse=True))
        self.assertEqual(counts[1][0], 1)
        self.assertEqual(counts[1], sorted(counts[1]))

    def test_no_name_becomes_markup(self):
        rows = self.search("window.hostile")
        self.assertEqual(rows[0][3], HOSTILE)
        self.assertIsNone(self.value("window.hostile"))
        self.assertEqual(self.value("document.querySelectorAll('main b').length"), 0)
        for word in ("undefined", "NaN", "[object", "null"):
            self.assertNotIn(word, self.value("document.body.innerText"))

    def test_nothing_is_fetched(self):
        self.browser.requests.clear()
        self.browser.open(self.page, 1280, 900)
        elsewhere = [address for address in self.browser.requests
                     if not address.startswith(("about:", "data:"))]
        self.assertEqual(elsewhere, [self.page])

    def test_a_phone_shows_it(self):
        self.browser.open(self.page, 360, 740)
        self.assertEqual(self.value(TOO_WIDE), 0)
        self.browser.screenshot(self.out / "phone.png")
        self.browser.open(self.page, 1280, 900, dark=True)
        self.browser.screenshot(self.out / "desktop_dark.png")


def main():
    """The exit code."""
    FleetPageTest.kiln, FleetPageTest.pack, FleetPageTest.out = (
        Path(argument).absolute() for argument in sys.argv[1:4])
    FleetPageTest.path = chromium.find()
    if FleetPageTest.path is None:
        print("SKIP: no Chromium or Chrome here")
        return 77
    FleetPageTest.out.mkdir(parents=True, exist_ok=True)
    program = unittest.main(argv=sys.argv[:1] + sys.argv[4:], exit=False)
    return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
