#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `kiln-bench kernels --html` in headless Chromium, against the data in it.

    page_test.py WRITE_PAGE OUT

WRITE_PAGE makes a page of a JSON file; OUT is the folder for pages and screenshots. The data,
page_sample.json, is invented: it has whatever a measurement can have, and texts that try to
break out of the page.
"""

import collections
import copy
import json
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "builder" / "fleet"))

import chromium  # noqa: E402

SAMPLE = Path(__file__).with_name("page_sample.json")
PHONE, DESKTOP = (360, 740), (1280, 900)

# The marks of every plot of the page: [[kind, {mark: how often}], ...].
MARKS = """[...document.querySelectorAll('svg[data-plot]')].map((plot) => {
  const marks = {};
  for (const mark of plot.querySelectorAll('[data-mark]')) {
    marks[mark.dataset.mark] = (marks[mark.dataset.mark] ?? 0) + 1;
  }
  return [plot.dataset.plot, marks];
})"""

# Texts of plots that reach out of them, with a little room for other fonts.
OUTSIDE = """[...document.querySelectorAll('svg[data-plot] text')].filter((text) => {
  if (!text.checkVisibility()) return false;
  const [box, plot] = [text.getBBox(), text.ownerSVGElement.viewBox.baseVal];
  return box.x < -6 || box.x + box.width > plot.width + 6;
}).map((text) => text.textContent)"""

# Texts that stand out from their ground by less than 4.5, as WCAG 2 reckons contrast.
CONTRAST = """(() => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map((c) => {
      const part = c / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    const colour = getComputedStyle(element).backgroundColor;
    return /, 0\\)$/.test(colour) ? ground(element.parentElement) : colour;
  };
  const hasText = (element) => [...element.childNodes].some((child) =>
      child.nodeType === Node.TEXT_NODE && child.data.trim() !== '');
  const words = document.querySelectorAll('body *:not(script, noscript, svg *)');
  return [...words].filter(hasText).map((element) => {
    const pair = [getComputedStyle(element).color, ground(element)].map(light);
    return [(Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05), element.textContent];
  }).filter(([contrast]) => contrast < 4.5);
})()"""

OPEN_ALL = "document.querySelectorAll('details').forEach((fold) => { fold.open = true; })"
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
SHOWN = "[...document.querySelectorAll('section.device > h2')].map((name) => name.textContent)"
HEIGHT = "document.documentElement.scrollHeight"
TEXT = "document.body.innerText"


# Documents with nothing in them, at every depth.
HOLLOW = {
    "kernels": {"devices": [None, {}, {"device": "A", "programs": [None, {}, {
        "program": "p", "sizes": [None, {}, {"variants": [None, {}, {"available": True}, {
            "published": [None, {}, {"ratio": 2}]}]}]}]}]},
    "tuning": {"devices": [None, {}, {"device": "B", "programs": [None, {}, {
        "variants": [None, {}, {"kernels": [None, {}, {"points": [None, {}, {"local": [4]}, {
            "local": [4, 4], "nanoseconds": 5}]}]}]}]}]},
    "startup": {"devices": [None, {}, {"device": "B", "kiln": {"results_ms": 1}}]},
}


def is_number(value):
    """Whether JSON has a number here."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def startup_plots(documents):
    """The marks that the start-up must have."""
    for device in documents["startup"]["devices"]:
        if "error" not in device:
            yield "startup", {name: 1 for name in ("source", "driver", "floor", "kiln", "overlay")}


def variant_plots(device, size):
    """The marks of one program at one size."""
    right = [v for v in size["variants"] if v["available"] and v["check"] != "wrong"]
    published = 0
    for variant in size["variants"]:
        here = [p for p in variant["published"] if p["size"] in (None, size["size"])]
        published += len(here or variant["published"])
    speedups = sum(is_number(v["speedup"]) for v in right)
    if speedups + published:
        yield "speedup", {"measured": speedups, "published": published}
    if right:
        copies = 1 if is_number(device["copy_bandwidth"]) else 0
        yield "throughput", {"measured": len(right), "copy": copies}


def heat_plots(kernel):
    """The marks of a kernel's tuning, a map for each local z."""
    layers = collections.Counter(point["local"][2] for point in kernel["points"])
    for z, points in layers.items():
        best = sum(point["local"] == kernel["local"] and z == kernel["local"][2]
                   for point in kernel["points"])
        yield "heat", {"time": points + 1, "default": 1, "best": best}


def expected_plots(documents):
    """All plots of the page with their marks, in no order."""
    plots = list(startup_plots(documents))
    for device in documents["kernels"]["devices"]:
        for program in device.get("programs", []):
            for size in program["sizes"]:
                plots += variant_plots(device, size)
    for device in documents["tuning"]["devices"]:
        for program in device["programs"]:
            for variant in program["variants"]:
                for kernel in variant["kernels"]:
                    plots += heat_plots(kernel)
    return plots


def counted(plots):
    """Plots as something to compare, marks that do not occur left out."""
    return collections.Counter(
        (kind, tuple(sorted(item for item in marks.items() if item[1]))) for kind, marks in plots)


class PageTest(unittest.TestCase):
    """One browser for all."""

    @classmethod
    def setUpClass(cls):
        cls.sample = json.loads(SAMPLE.read_text(encoding="utf-8"))
        cls.browser = chromium.Browser(cls.path)
        cls.addClassCleanup(cls.browser.close)

    def tearDown(self):
        faults, self.browser.faults = self.browser.faults, []
        self.assertEqual(faults, [])

    def open(self, documents, place="#all", window=DESKTOP, dark=False):
        """Makes and opens a page of these documents."""
        source, page = self.out / "documents.json", self.out / "page.html"
        source.write_text(json.dumps(documents), encoding="utf-8")
        subprocess.run([self.writer, source, page], check=True)
        self.browser.open(page.as_uri() + place, *window, dark=dark)

    def value(self, expression):
        """What the page says of an expression."""
        return self.browser.value(expression)

    def test_every_figure_has_its_mark(self):
        self.open(self.sample)
        expected = expected_plots(self.sample)
        kinds = {kind for kind, _ in expected}
        self.assertEqual(kinds, {"startup", "speedup", "throughput", "heat"})
        self.assertEqual(counted(self.value(MARKS)), counted(expected))

    def test_bars_are_as_long_as_their_figures(self):
        self.open(self.sample)
        program = self.sample["kernels"]["devices"][0]["programs"][0]
        size = program["sizes"][-1]
        widths = self.value(f"""[...document.querySelectorAll('[id="d0-p0"] [data-plot=speedup]')]
            .at({len(program['sizes']) - 1}).querySelectorAll('[data-mark=measured]').values()
            .map((bar) => bar.width.baseVal.value).toArray()""")
        for width, variant in zip(widths, size["variants"], strict=True):
            self.assertAlmostEqual(width / widths[0], variant["speedup"], delta=0.02)

    def test_tables_have_every_variant_and_why_it_is_not_there(self):
        self.open(self.sample)
        for d, device in enumerate(self.sample["kernels"]["devices"]):
            for p, program in enumerate(device.get("programs", [])):
                rows = self.value(f"""[...document.getElementById('d{d}-p{p}')
                    .querySelector('table').querySelectorAll('tbody tr:not(.group)')]
                    .map((row) => [...row.children].map((cell) => cell.textContent))""")
                variants = [v for size in program["sizes"] for v in size["variants"]]
                for row, variant in zip(rows, variants, strict=True):
                    self.check_row(row, variant)

    def check_row(self, row, variant):
        """A row of a table of variants."""
        tags = "best" * variant.get("best", False)
        self.assertIn(row[0], (variant["variant"] + tags, variant["variant"] + tags + "taken"))
        if variant["available"]:
            self.assertEqual(row[4], str(variant["samples"]))
            self.assertEqual(row[-1], variant["check"])
        else:
            self.assertEqual(row[1], f"not available on this device: {variant['reason']}")
        printed = row[8 if variant["available"] else 2]
        for entry in variant["published"]:
            if entry["size"] is None or len(variant["published"]) == 1:
                self.assertIn(f"{entry['ratio']:g}\u00d7", printed)

    def test_nothing_is_wider_than_a_phone(self):
        self.open(self.sample, window=PHONE)
        self.assertEqual(self.value(TOO_WIDE), 0)
        self.value(OPEN_ALL)
        self.assertEqual(self.value(TOO_WIDE), 0)
        self.assertEqual(self.value(OUTSIDE), [])

    def test_no_text_of_the_data_becomes_markup(self):
        self.open(self.sample)
        self.value(OPEN_ALL)
        self.assertIsNone(self.value("window.hostile"))
        markup = "document.querySelectorAll('#main :is(img, script, b b)').length"
        self.assertEqual(self.value(markup), 0)
        text = self.value(TEXT)
        self.assertIn("</script><script>window.hostile=1</script>", text)
        self.check_words(text)

    def check_words(self, text):
        """None that a missing figure leaves behind."""
        for word in ("undefined", "NaN", "[object", "null", "Infinity"):
            self.assertNotIn(word, text)

    def test_nothing_is_fetched(self):
        self.browser.requests.clear()
        self.open(self.sample)
        elsewhere = [address for address in self.browser.requests
                     if not address.startswith(("about:", "data:"))]
        self.assertEqual(elsewhere, [(self.out / "page.html").as_uri()])

    def test_every_plot_has_a_name(self):
        self.open(self.sample)
        self.assertEqual(self.value("""[...document.querySelectorAll('svg')].filter((plot) =>
            !plot.getAttribute('aria-label') || !plot.querySelector('title')).length"""), 0)

    def test_text_stands_out_in_the_light_and_in_the_dark(self):
        grounds = set()
        for dark in (False, True):
            self.open(self.sample, dark=dark)
            self.value(OPEN_ALL)
            grounds.add(self.value("getComputedStyle(document.body).backgroundColor"))
            self.assertEqual(self.value(CONTRAST), [])
        self.assertEqual(len(grounds), 2)

    def test_of_many_devices_one_is_shown_at_a_time(self):
        many = self.many_devices(12)
        self.open(many, place="", window=PHONE)
        self.assertEqual(self.value(SHOWN), ["Device 0"])
        self.value("""new Promise((done) => {
            addEventListener('hashchange', done, {once: true});
            document.getElementById('choice').value = 'd7';
            document.getElementById('choice').dispatchEvent(new Event('change'));
        }).then(() => 0)""")
        self.assertEqual(self.value(SHOWN), ["Device 7"])
        self.value("""new Promise((done) => {
            addEventListener('hashchange', done, {once: true});
            document.querySelector('#overview a[href="#d3-p0"]').click();
        }).then(() => 0)""")
        self.assertEqual(self.value(SHOWN), ["Device 3"])
        self.assertEqual(self.value("document.getElementById('choice').value"), "d3")
        self.assertEqual(self.value(TOO_WIDE), 0)

    def many_devices(self, count):
        """The sample's first device again and again."""
        devices = []
        for index in range(count):
            device = copy.deepcopy(self.sample["kernels"]["devices"][0])
            devices.append(device | {"device": f"Device {index}", "index": index})
        return {"kernels": self.sample["kernels"] | {"devices": devices}}

    def test_devices_of_one_name_are_told_apart(self):
        many = self.many_devices(2)
        for device in many["kernels"]["devices"]:
            device["device"] = "StandIn"
        self.open(many)
        self.assertEqual(self.value(SHOWN), ["StandIn (1 of 2)", "StandIn (2 of 2)"])

    def test_what_was_not_measured_has_its_command(self):
        self.open({"kernels": self.sample["kernels"]})
        text = self.value(TEXT)
        self.assertIn("kiln bench startup", text)
        self.assertIn("kiln tune", text)
        self.open({"startup": self.sample["startup"]})
        self.assertIn("kiln-bench kernels", self.value(TEXT))
        self.open({})
        self.assertIn("No device was measured", self.value(TEXT))

    def test_what_is_missing_is_no_error(self):
        self.open(HOLLOW)
        self.value(OPEN_ALL)
        self.assertEqual(len(self.value(SHOWN)), 3)
        self.check_words(self.value(TEXT))

    def test_without_scripts_a_sentence_says_so(self):
        self.browser.script(False)
        self.open(self.sample)
        self.browser.script(True)
        self.assertIn("drawn with JavaScript, which is off", self.value(TEXT).replace("\n", " "))

    def test_screenshots(self):
        for name, window, dark in (("phone", PHONE, False), ("phone_dark", PHONE, True),
                                   ("desktop", DESKTOP, False), ("desktop_dark", DESKTOP, True)):
            self.open(self.sample, place="#d0", window=window, dark=dark)
            self.browser.size(window[0], self.value(HEIGHT))
            self.browser.screenshot(self.out / f"{name}.png")
            self.assertGreater((self.out / f"{name}.png").stat().st_size, 50_000)


def main():
    """The exit code."""
    PageTest.writer, PageTest.out = (Path(argument).absolute() for argument in sys.argv[1:3])
    PageTest.path = chromium.find()
    if PageTest.path is None:
        print("SKIP: no Chromium or Chrome here")
        return 77
    PageTest.out.mkdir(parents=True, exist_ok=True)
    program = unittest.main(argv=sys.argv[:1] + sys.argv[3:], exit=False)
    return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
