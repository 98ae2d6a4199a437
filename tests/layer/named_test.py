#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The text that was named is the text that is compiled: whatever files, folders and variables do, each
start with an overlay answers as one without the layer.

    named_test.py KILN LAYER APPLICATION [TEST...]

APPLICATION is steps.c of this folder. OCL_ICD_VENDORS chooses the driver, which for the class Named need not
execute anything: the kernel's required work-group size is the value that a header defines.

Exit codes: 0 passed, 1 failed, 77 there is no device.
"""

import contextlib
import itertools
import os
import shutil
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from layer_test import APPLICATION, FOLDER, KILN, PLACE, lines_of, run, run_seeded

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
import skips  # pylint: disable=wrong-import-position

KERNEL = "kernel __attribute__((reqd_work_group_size(VALUE, 1, 1))) void k(global int *out) { *out = 1; }\n"
INCLUDE = '#include "x.h"\n'
ASKED = "tried:-I d"
CLANG_HEADERS = Path("/usr/lib/llvm-15/lib/clang/15.0.6/include")


def value(number):
    """A header."""
    return f"#define VALUE {number}\n"


class Starts(unittest.TestCase):
    """Starts in a folder, in which files change between them."""
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        if run(APPLICATION).code == 77:
            print("SKIP: there is no OpenCL device")
            sys.exit(77)

    def setUp(self):
        self.place = Path(tempfile.mkdtemp(prefix="named", dir=FOLDER))
        self.work = self.place / "work"
        self.work.mkdir()
        self.put("d/x.h", value(1))

    def put(self, path, text):
        """Writes a file of the application's."""
        (self.work / path).parent.mkdir(parents=True, exist_ok=True)
        (self.work / path).write_bytes(text if isinstance(text, bytes) else text.encode())

    def start(self, *steps, **variables):
        """The outcomes under the layer, which must print what one alone prints; both are returned."""
        steps = (f"cd:{self.work}", "source:source.cl", *steps)
        report = self.place / "report"
        report.unlink(missing_ok=True)
        begin = run if "log" in steps else run_seeded  # PoCL gives the log of what it compiles
        alone = begin(APPLICATION, *steps, **variables)
        self.assertEqual(alone.code, 0, alone.output)
        under = begin(KILN, "serve", "--overlay", self.place / "overlay", "--report", report, "--",
                      APPLICATION, *steps, **variables)
        self.assertEqual((under.code, under.output), (0, alone.output), under.error)
        self.keep(**variables)
        return [line["outcome"] for line in lines_of(report)], alone.output

    def keep(self, **variables):
        """What the background would do after a start; what the driver refuses stays so."""
        if (self.place / "overlay").exists():
            built = run_seeded(KILN, "overlay", "build", self.place / "overlay", **variables)
            self.assertIn(built.code, (0, 1), built.error)

    def check(self, source, path, *contents, steps=(ASKED, "value"), **variables):
        """Starts with each content of a file; the outcomes of the last."""
        self.put("source.cl", source)
        for content in contents:
            if content is None:
                (self.work / path).unlink()
            else:
                self.put(path, content)
            outcomes, _ = self.start(*steps, **variables)
        return outcomes


class Named(Starts):
    """On each driver; nothing is launched."""

    def test_a_usual_program_is_served(self):
        """Or the tests below would show nothing."""
        self.assertEqual(self.check(INCLUDE + KERNEL, "d/x.h", value(1), value(2), value(1)), ["served"])
        text = "// \u00a0 $\n/* \u2003 */ constant char t[] = \"$\";\n" + INCLUDE + KERNEL
        self.assertEqual(self.check(text, "d/x.h", value(1), value(1)), ["served"])

    def test_characters_that_some_compiler_takes_for_blanks(self):
        """Before a directive and in it."""
        for blank in "\u00a0\u3000":
            for form in ("{}#include \"x.h\"\n", "#{}include \"x.h\"\n"):
                with self.subTest(repr(form.format(blank))):
                    self.check("#define VALUE 9\n" + form.format(blank) + KERNEL, "d/x.h",
                               "#undef VALUE\n" + value(1), "#undef VALUE\n" + value(2))

    def test_names_and_literals_that_some_compiler_divides_otherwise(self):
        """A group is skipped or not by them."""
        for text in ("#define A 1\n#ifndef A$\n#include <x.h>\n#endif\n",
                     "#define A 1\n#ifndef A\u00e9\n#include <x.h>\n#endif\n",
                     "#define A\n#pragma push_macro(\"A\")\n#undef A\n#pragma pop_macro(\"A\")\n"
                     "#ifdef A\n#include <x.h>\n#endif\n",
                     "#if 1'0 + sizeof(\"a'b /*\")\n#include <x.h>\n#endif // */\n",
                     "/\\\n\\\r\n\\\n* \n#include <x.h>\n*/\n#define VALUE 3\n"):
            with self.subTest(text):
                self.check(text + KERNEL, "d/x.h", value(1), value(2))

    def test_files_that_pragmas_depend_on(self):
        """The driver refuses the text when the file is gone."""
        for line in ('#pragma GCC dependency "d/y.h"\n', '_Pragma("GCC dependency \\"d/y.h\\"")\n'):
            with self.subTest(line):
                self.check(line + INCLUDE + KERNEL, "d/y.h", "", None)

    def test_folders_that_move_during_builds(self):
        """Whatever the driver was given then is what later starts would build."""
        for folder, number in (("a", 1), ("b", 2)):
            self.put(f"{folder}/x.h", value(number))
        (self.work / "l").symlink_to("a")
        self.put("source.cl", INCLUDE + KERNEL)
        programs = [word for number in range(6) for word in (f"tried:-I l -DN={number}", "value")]
        mover = ("sh:while [ ! -e stop ]; do ln -sfn b l; sleep 0.01; ln -sfn a l; sleep 0.01; done"
                 " & while [ ! -L l ]; do :; done")
        steps = (f"cd:{self.work}", "source:source.cl", mover, *programs, "sh:touch stop; sleep 0.1")
        run(KILN, "serve", "--overlay", self.place / "overlay", "--", APPLICATION, *steps)
        self.keep()
        (self.work / "l").unlink()
        for target in ("a", "b"):
            (self.work / "l").symlink_to(target)
            self.start(*programs)
            (self.work / "l").unlink()

    def test_a_header_that_appears_in_an_earlier_folder_during_builds(self):
        """And goes again."""
        self.put("b/x.h", value(2))
        (self.work / "a").mkdir()
        self.put("source.cl", INCLUDE + KERNEL)
        programs = [word for number in range(6)
                    for word in (f"tried:-I a -I b -DN={number}", "value")]
        mover = ("sh:while [ ! -e stop ]; do echo '#define VALUE 1' > a/y.h; mv a/y.h a/x.h; sleep"
                 " 0.01; rm -f a/x.h; sleep 0.01; done &")
        steps = (f"cd:{self.work}", "source:source.cl", mover, *programs, "sh:touch stop; sleep 0.1")
        run(KILN, "serve", "--overlay", self.place / "overlay", "--", APPLICATION, *steps)
        self.keep()
        (self.work / "a/x.h").unlink(missing_ok=True)
        self.start(*programs)
        self.put("a/x.h", value(1))
        self.start(*programs)

    def test_a_pipe_for_a_header(self):
        """Is opened by the driver alone, as often as without the layer."""
        self.put("source.cl", INCLUDE + KERNEL)
        pipe = self.work / "d/x.h"

        def is_read():
            with contextlib.suppress(OSError):
                os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
                return True
            return False

        def feed():
            for number in itertools.count(1):  # of the reader
                with contextlib.suppress(BrokenPipeError), open(pipe, "w", encoding="utf-8") as file:
                    file.write(value(number))
                while is_read():
                    pass

        def under(*command):
            pipe.unlink()
            os.mkfifo(pipe)
            threading.Thread(target=feed, daemon=True).start()
            done = run(*command, APPLICATION, f"cd:{self.work}", "source:source.cl", ASKED, "value")
            return done.code, done.output

        alone = under()
        self.assertEqual(alone, (0, "built\nvalue 1\n"))
        self.assertEqual(under(KILN, "serve", "--overlay", self.place / "overlay", "--"), alone)
        self.assertEqual(under(KILN, "record", "-o", self.place / "spool", "--"), alone)

    def test_variables_that_change_what_a_driver_compiles(self):
        """Set at one start and not at the next."""
        self.put("source.cl", "#ifndef EXTRA\n#define EXTRA 1\n#endif\n" +
                 KERNEL.replace("VALUE", "EXTRA"))
        seen = set()
        for variable in ("POCL_EXTRA_BUILD_FLAGS", "InjectInternalBuildOptions",
                         "InjectApiBuildOptions"):
            for variables in ({}, {variable: "-DEXTRA=2"}):
                _, output = self.start("tried", "value", **variables)
                seen.add(output)
        if not os.environ.get("RUSTICL_ENABLE"):
            self.assertEqual(len(seen), 2, "no variable has an effect")

    def test_variables_that_are_removed_after_the_driver_has_read_them(self):
        """Intel's driver reads its own when it starts."""
        self.put("source.cl", "#ifndef EXTRA\n#define EXTRA 1\n#endif\n" +
                 KERNEL.replace("VALUE", "EXTRA"))
        for variable in ("POCL_EXTRA_BUILD_FLAGS", "InjectInternalBuildOptions"):
            steps = (f"unsetenv:{variable}", "tried", "value")
            outputs = [self.start(*steps, **variables)[1]
                       for variables in ({variable: "-DEXTRA=2"}, {}, {})]
            self.assertEqual(outputs[1], outputs[2])
            if os.environ.get("NEOReadDebugKeys") and variable.startswith("Inject"):
                self.assertNotEqual(outputs[0], outputs[1], "the variable has no effect")

    def test_the_name_of_the_file_that_is_compiled(self):
        """PoCL's is in its cache, and the builder has another cache. Nor is it recorded."""
        text = KERNEL.replace("VALUE", "sizeof(__FILE__)")
        for source, steps in ((text, ("tried", "value")), (INCLUDE + text, (ASKED, "value"))):
            self.assertEqual(self.check(source, "d/x.h", value(1), value(1), steps=steps), ["passed"])
            recorded = run(KILN, "record", "-o", self.place / "spool", "--", APPLICATION,
                           f"cd:{self.work}", "source:source.cl", *steps)
            self.assertIn("0 programs recorded", recorded.error)
            self.assertIn("it may depend on more than its text: __FILE__ (1)", recorded.error)

    def test_an_application_without_an_environment(self):
        """clearenv() sets glibc's `environ` to NULL."""
        for source, steps in (("", ("tried", "value")), (INCLUDE, (ASKED, "value"))):
            self.put("source.cl", source + (KERNEL if source else KERNEL.replace("VALUE", "1")))
            words = (f"cd:{self.work}", "source:source.cl", "clearenv", *steps)
            alone = run(APPLICATION, *words)
            spool = self.place / "spool"
            recorded = run(KILN, "record", "-o", spool, "--", APPLICATION, *words)
            self.assertEqual((recorded.code, recorded.output), (0, alone.output), recorded.error)
            self.assertIn("1 program recorded", recorded.error)
            self.start("clearenv", *steps)
            self.assertEqual(self.start("clearenv", *steps)[0], ["served"])

    def test_headers_that_a_driver_reads_unasked(self):
        """rusticl reads this one from the application's folders."""
        header = CLANG_HEADERS / "opencl-c-base.h"
        if not header.exists():
            self.skipTest(f"{header} is not there")
        text = header.read_text(encoding="utf-8")
        self.check("#ifndef VALUE\n#define VALUE 3\n#endif\n" + KERNEL, "d/opencl-c-base.h",
                   text + value(1), text + value(2))

    def test_a_cache_folder_beside_a_header(self):
        """PoCL compiles there, and searches it first."""
        self.put("x.h", value(1))
        self.put("deep/x.h", value(7))
        self.put("deep/er/source.cl", '#include "../x.h"\n' + KERNEL)
        for number in (1, 2):
            self.put("x.h", value(number))
            self.put("source.cl", "")
            self.start(f"cd:{self.work}/deep/er", "source:source.cl", "tried", "value",
                       POCL_CACHE_DIR=str(self.work / "cache"))

    def test_headers_of_compilations_with_paths_for_names(self):
        """rusticl 22.3 refuses them; of two PoCL finds the header before the disk's file."""
        self.put("steps.h", value(4))
        self.put("source.cl", '#include "d/z.h"\n' + KERNEL)
        for _ in range(2):
            self.start("header:d/z.h", "value")
        self.put("x.h", value(3))
        self.put("../x.h", value(3))
        for name in ("/x.h", "../x.h", "x.h"):
            self.put("source.cl", f'#include "{name.lstrip("/")}"\n' + KERNEL)
            for number in (1, 2):
                with self.subTest(f"{name}, {number}"):
                    self.put("steps.h", value(number))
                    self.start(f"header:{name}", "value")

    def test_what_a_log_says_of_headers(self):
        """The file's name and the line stay; a driver that refuses is asked as the application did."""
        self.put("source.cl", INCLUDE + KERNEL)
        outputs = ""
        for text in ("\n\nint f(void) { return \"text\"; }\n", "\n#error not this\n",
                     "\n\n\nint g(void) { int unused = 1 / 0; return 2; }\n"):
            with self.subTest(text):
                self.put("d/x.h", value(1) + text)
                outputs += self.start(ASKED, "value", "log")[1]
                shutil.rmtree(self.place / "overlay", ignore_errors=True)
        self.assertIn("x.h:", outputs, "no log was compared")


class Proven(Starts):
    """What is launched, too: on PoCL."""

    def test_a_program_that_counts_in_a_variable_is_served(self):
        """Its launches are proven from the same state as the launches of the program built from source."""
        self.put("source.cl", "global int g = 5;\n"
                 "kernel void k(global int *out) { size_t i = get_global_id(0); out[i] = i ? 1 : g++; }\n")
        steps = ("build:-cl-std=CL2.0", "launch:1", "launch:1", "launch:8")
        first, output = self.start(*steps)
        second, _ = self.start(*steps)
        self.assertEqual((first, second), (["passed"], ["served"]), output)


if __name__ == "__main__":
    try:
        skips.run_cases(sys.argv[4:])
    finally:
        PLACE.cleanup()
