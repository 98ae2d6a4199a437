#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kiln.pyopencl: programs that were recorded under the layer are served without it.

    pyopencl_test.py KILN LAYER RUNTIME [TEST...]

RUNTIME is the path of the runtime's shared library. OCL_ICD_VENDORS chooses the driver. Every run
has a home of its own with empty caches, so that nothing but the pack can be warm.

Exit codes: 0 passed, 1 failed, 77 there is no PyOpenCL.
"""

import collections
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from applications_test import HERE, UNOPTIMISED, interpreter

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
import skips  # pylint: disable=wrong-import-position

KILN, LAYER, RUNTIME = (os.path.abspath(path) for path in sys.argv[1:4])
MODULE = Path(__file__).resolve().parents[2] / "runtime" / "python"

# Runs a script after install(PACK, KIND=OVERLAY, REPORT), whose report has what report() has.
RUNNER = """
import json, runpy, sys
import kiln.pyopencl
pack, kind, overlay, report, script = sys.argv[1:]
kiln.pyopencl.install(pack, report=report, **{kind: overlay or None})
runpy.run_path(script, run_name="__main__")
with open(report) as lines:
    assert [json.loads(line) for line in lines] == kiln.pyopencl.report()
"""
# What the scripts below begin with.
BEGINNING = """
import pyopencl as cl
import kiln.pyopencl
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
def value(program):
    import numpy as np
    out = np.zeros(1, np.int32)
    memory = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4)
    program.k(queue, (1,), None, memory)
    cl.enqueue_copy(queue, out, memory)
    return int(out[0])
def lines():
    return [(line["outcome"], line["rung"]) for line in kiln.pyopencl.report()]
ONE = "kernel void k(global int *out) { *out = 1 + MORE; }"
"""
SMALL = BEGINNING + """
for more in range(4):
    print(value(cl.Program(context, ONE).build(["-DMORE=%d" % more])))
"""

# Five programs, of which the pack of SMALL has four.
THREADS = """
import collections, threading
values, faults = [], []
begin = threading.Barrier(8)
def work(index):
    try:
        begin.wait()
        for turn in range(20):
            more = (index + turn) % 5
            program = cl.Program(context, ONE).build(["-DMORE=%d" % more])
            values.append((more, program.k.num_args, program.k.function_name))
    except Exception as error:
        faults.append(error)
threads = [threading.Thread(target=work, args=(index,)) for index in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(faults, sorted(collections.Counter(values).items()))
counts = collections.Counter(lines())
print(sorted(counts.items()))
"""

Run = collections.namedtuple("Run", "output error lines home")
PLACE = tempfile.TemporaryDirectory()
FOLDER = Path(PLACE.name)


def run(*command, cached=False, **variables):
    """Runs a command that has to succeed, in a home of its own."""
    home = Path(tempfile.mkdtemp(prefix="home", dir=FOLDER))
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("OPENCL_LAYERS", "PYOPENCL_NO_CACHE")
                   and not name.startswith("KILN_")}
    environment.update({"HOME": str(home), "XDG_CACHE_HOME": str(home),
                        "POCL_CACHE_DIR": str(home / "pocl"), "PYOPENCL_CTX": "0",
                        "PYTHONPATH": str(MODULE), "KILN_LIBRARY": RUNTIME, "KILN_PACK_PATH": "",
                        **UNOPTIMISED})
    if not cached:
        environment["PYOPENCL_NO_CACHE"] = "1"
    environment.update(variables)
    done = subprocess.run([str(word) for word in command], cwd=home, env=environment,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    report = home / "report"
    lines = report.read_text(encoding="utf-8").splitlines() if report.exists() else []
    return Run(done.stdout, done.stderr, [json.loads(line) for line in lines], home)


def with_pack(pack, application, overlay="", kind="overlay", **options):
    """Runs an application with kiln.pyopencl."""
    return run(PYTHON, "-B", "-c", RUNNER, pack, kind, overlay, "report", application, **options)


def execute(text, pack, **options):
    """Runs a script that does with kiln.pyopencl what it likes; the pack is its argument."""
    return run(PYTHON, "-B", "-c", BEGINNING + text, pack, **options)


def small_application():
    """One of four programs."""
    path = FOLDER / "small.py"
    path.write_text(SMALL, encoding="utf-8")
    return path


@functools.lru_cache(maxsize=None)
def packs_of(application):
    """The base pack of what an application builds, the one with binaries, and the folder of the
    PoCL's cache that building it from source filled."""
    spool, base, pack = (FOLDER / f"{application.stem}{end}"
                         for end in (".spool", "-base.kiln", ".kiln"))
    recorded = run(KILN, "record", "-o", spool, "--", PYTHON, "-B", application)
    run(KILN, "compile", spool, "-o", base)
    run(KILN, "build", base, "-o", pack)
    return base, pack, recorded.home / "pocl"


class Application(unittest.TestCase):
    """An application, its packs, and what it does without Kiln."""

    application, least = None, 0  # number of programs

    @classmethod
    def setUpClass(cls):
        cls.base, cls.pack, cls.cache = packs_of(cls.application)
        cls.bare = run(PYTHON, "-B", cls.application, POCL_CACHE_DIR=str(cls.cache))

    def with_pack(self, pack, **options):
        """A run with kiln.pyopencl."""
        return with_pack(pack, self.application, **options)

    def as_bare(self, pack, **options):
        """A run that compiles what the one without Kiln did, and so takes its PoCL's cache."""
        return self.with_pack(pack, POCL_CACHE_DIR=str(self.cache), **options)

    def check_served(self, done, rung="exact"):
        """Every program came from that rung, and nothing else changed."""
        self.assertEqual(done.output, self.bare.output)
        self.assertEqual(done.error, self.bare.error)
        self.assertGreaterEqual(len(done.lines), self.least)
        for line in done.lines:
            self.assertEqual((line["outcome"], line["rung"], line["reason"]),
                             ("served", rung, ""), line)
            self.assertRegex(line["program"], "^cl-[0-9a-f]{32}$")

    def check_passed(self, done, reason):
        """Every program was left to PyOpenCL for that reason."""
        self.assertEqual(done.output, self.bare.output)
        self.assertGreaterEqual(len(done.lines), self.least)
        for line in done.lines:
            self.assertEqual((line["outcome"], line["rung"]), ("passed", ""), line)
            self.assertRegex(line["reason"], reason)

    def check_complained(self, done, reason):
        """It said why once, and nothing else changed."""
        self.check_passed(done, reason)
        said = [line for line in done.error.splitlines() if line.startswith("kiln: ")]
        self.assertEqual(len(said), 1, done.error)
        self.assertRegex(said[0], reason)
        self.assertTrue(said[0].endswith("; programs are built as without Kiln"), said[0])


class Served(Application):
    """All kinds of programs that there are with PyOpenCL."""

    application, least = HERE / "pyopencl_arrays.py", 12

    def test_every_program_is_served(self):
        self.check_served(self.with_pack(self.pack))

    def test_pyopencls_own_cache_is_not_in_the_way(self):
        done = self.with_pack(self.pack, cached=True)
        self.check_served(done)
        self.assertEqual(list(done.home.glob("pyopencl/**/binary")), [])

    def test_the_layer_serves_the_same_programs(self):
        report = FOLDER / "layer"
        run(KILN, "serve", "--pack", self.pack, "--report", report, "--",
            PYTHON, "-B", self.application)
        lines = [json.loads(line) for line in report.read_text(encoding="utf-8").splitlines()
                 if '"program"' in line]
        ours = self.with_pack(self.pack).lines
        self.assertEqual([line["program"] for line in ours], [line["program"] for line in lines])

    def test_libraries_are_found_where_they_are_installed(self):
        prefix = Path(tempfile.mkdtemp(dir=FOLDER))
        module = prefix / "lib" / "kiln" / "python"
        shutil.copytree(MODULE, module)
        for file in Path(RUNTIME).parent.glob("libkiln_r*.so.*"):
            shutil.copy(file, prefix / "lib")
        self.check_served(self.with_pack(self.pack, PYTHONPATH=str(module), KILN_LIBRARY=""))

    def test_what_no_binary_fits_is_pyopencls_without_an_overlay(self):
        self.check_passed(self.as_bare(self.base), "exact: ")

    def test_what_no_binary_fits_is_kept_by_an_overlay(self):
        overlay = FOLDER / "overlay"
        first = self.with_pack(self.base, overlay=overlay)
        self.assertEqual(first.output, self.bare.output)
        outcomes = [(line["outcome"], line["rung"]) for line in first.lines]
        self.assertEqual(outcomes[0], ("compiled", "source"))
        self.assertEqual((first.lines[0]["reason"], first.lines[0]["nearest"]), (
            "overlay: the overlay has no binary of this variant; "
            "exact: no target of the pack has this device's binary key", None))
        # Some are built twice.
        self.assertLessEqual(set(outcomes), {("compiled", "source"), ("served", "overlay")})
        self.check_served(self.with_pack(self.base, overlay=overlay), "overlay")

    def test_a_folder_that_users_share_keeps_it_for_this_user(self):
        shared = FOLDER / "shared"
        shared.mkdir()
        shared.chmod(0o1777)
        self.with_pack(self.base, overlay=shared, kind="shared")
        self.assertEqual(os.listdir(shared), [str(os.geteuid())])
        self.check_served(self.with_pack(self.base, overlay=shared, kind="shared"), "overlay")


class Faults(Application):
    """What is missing or damaged is as if Kiln were not there."""

    @classmethod
    def setUpClass(cls):
        cls.application, cls.least = small_application(), 4
        super().setUpClass()

    def test_a_missing_pack(self):
        self.check_complained(self.as_bare(FOLDER / "none.kiln"), "none.kiln: ")

    def test_a_damaged_pack(self):
        damaged = FOLDER / "damaged.kiln"
        damaged.write_bytes(self.pack.read_bytes()[:1000])
        self.check_complained(self.as_bare(damaged), "damaged.kiln: ")

    def test_binaries_that_are_damaged(self):
        """Found when they are read."""
        damaged = FOLDER / "flipped.kiln"
        content = bytearray(self.pack.read_bytes())
        for at in range(64, len(content) * 3 // 4, 512):
            content[at] ^= 0xff
        damaged.write_bytes(content)
        done = self.as_bare(damaged)
        self.assertEqual((done.output, done.error), (self.bare.output, self.bare.error))
        passed = [line["reason"] for line in done.lines if line["outcome"] == "passed"]
        self.assertNotEqual(passed, [])
        for reason in passed:
            self.assertIn("; exact: blob: ", reason)

    def test_a_missing_library(self):
        library = str(FOLDER / "libkiln_runtime.so")
        self.check_complained(self.as_bare(self.pack, KILN_LIBRARY=library),
                              "Kiln's libraries cannot be used: .*libkiln_runtime.so: ")

    def test_a_library_of_names_that_is_missing(self):
        place = Path(tempfile.mkdtemp(dir=FOLDER))
        shutil.copy(RUNTIME, place)
        library = str(place / Path(RUNTIME).name)
        self.check_complained(self.as_bare(self.pack, KILN_LIBRARY=library),
                              "Kiln's libraries cannot be used: .*libkiln_recorded.so")

    def test_a_library_that_is_another(self):
        """ctypes opens it, and it has none of the functions."""
        self.check_complained(self.as_bare(self.pack, KILN_LIBRARY=LAYER),
                              "Kiln's libraries cannot be used: .*undefined symbol")


class Programs(unittest.TestCase):
    """Single programs."""

    @classmethod
    def setUpClass(cls):
        cls.base, cls.pack, _ = packs_of(small_application())

    def execute(self, text, **options):
        """The output of a script that has the pack."""
        done = execute("import sys\nkiln.pyopencl.install(sys.argv[1])\n" + text, self.pack,
                       **options)
        self.assertNotIn("kiln", done.error)
        return done.output

    def test_what_the_pack_lacks_is_built_as_before(self):
        text = """
print(value(cl.Program(context, ONE).build("-DMORE=0")))
print(value(cl.Program(context, ONE).build(["-DMORE=0"])))
print(value(cl.Program(context, ONE).build(["-DMORE=40"])))
print(lines())
print(kiln.pyopencl.report()[2]["reason"])
"""
        for cached in (False, True):
            output = self.execute(text, cached=cached, PYTHONWARNINGS="ignore")
            self.assertEqual(output.splitlines()[:4], [
                "1", "1", "41", "[('served', 'exact'), ('served', 'exact'), ('passed', '')]"])
            self.assertRegex(output.splitlines()[4], "^the pack has no program cl-[0-9a-f]{32}$")

    def test_what_the_pack_lacks_is_an_error_if_strict(self):
        text = """
import kiln
kiln.pyopencl.install(sys.argv[1], strict=True)
program = cl.Program(context, ONE).build("-DMORE=0")
binary = cl.Program(context, [context.devices[0]], program.binaries).build()
print(value(program), value(binary))
for attempt in (lambda: cl.Program(context, ONE).build("-DMORE=40"),
                lambda: kiln.pyopencl.install("none.kiln", strict=True)):
    try:
        print("no error", attempt())
    except kiln.Error as error:
        print(error)
print(lines(), kiln.__version__)
"""
        output = self.execute(text).splitlines()
        self.assertEqual(output[0], "1 1")
        self.assertRegex(output[1], "^the pack has no program cl-[0-9a-f]{32}$")
        self.assertRegex(output[2], "none.kiln: No such file or directory$")
        self.assertRegex(output[3], r"^\[\('served', 'exact'\), .*\('refused', ''\)\] \d+\.\d+\.\d+$")

    def test_what_is_not_final_is_an_error_if_that_is_required(self):
        text = """
import kiln
for word in ("exact", "final", "finale"):
    try:
        overlay = None if word == "exact" else "overlay"
        kiln.pyopencl.install(sys.argv[1], overlay=overlay, strict=word)
        for report in kiln.pyopencl.dry_run(context):
            print(report["rung"], report["estimated_milliseconds"], end=" ")
        print(value(cl.Program(context, ONE).build("-DMORE=0")))
    except (kiln.Error, ValueError) as error:
        print(type(error).__name__, error)
"""
        output = self.execute(text).splitlines()
        self.assertEqual(output[:2], 2 * ["exact 0.0 " * 4 + "1"])
        self.assertEqual(output[2], "ValueError strict='finale': expected False, True, 'exact' or 'final'")
        output = execute("import sys\n" + text, self.base).output.splitlines()
        self.assertEqual(len(output), 3)
        for line in output[:2]:
            self.assertRegex(line, "^(error None ){4}Error no rung could load program .*; "
                             "source: switched off$")

    def test_an_error_is_pyopencls_own(self):
        text = """
try:
    cl.Program(context, "kernel void k() { nothing; }").build()
except cl.RuntimeError as error:
    print(type(error).__name__, error.code, "nothing" in str(error), error.routine)
"""
        bare = execute(text, self.pack, PYTHONWARNINGS="ignore").output
        self.assertIn("RuntimeError", bare)
        got = self.execute(text + "print(lines())", PYTHONWARNINGS="ignore")
        self.assertEqual(got, bare + "[('passed', '')]\n")

    def test_threads_may_build_at_once(self):
        output = self.execute(THREADS, PYTHONWARNINGS="ignore")
        self.assertEqual(output.splitlines()[0], "[] " + str(
            [((more, 1, "k"), 32) for more in range(5)]))
        self.assertEqual(output.splitlines()[1],
                         "[(('passed', ''), 32), (('served', 'exact'), 128)]")

    def test_threads_may_compile_for_one_overlay(self):
        install = "import sys\nkiln.pyopencl.install(sys.argv[1], overlay='overlay')\n"
        done = execute(install + THREADS, self.base, PYTHONWARNINGS="ignore")
        self.assertEqual(done.output.splitlines()[0], "[] " + str(
            [((more, 1, "k"), 32) for more in range(5)]))
        self.assertRegex(done.output.splitlines()[1], r"^\[\(\('compiled', 'source'\), \d+\), "
                         r"\(\('passed', ''\), 32\), \(\('served', 'overlay'\), \d+\)\]$")

    def test_a_program_that_is_built_again_has_its_new_options(self):
        output = self.execute("""
program = cl.Program(context, ONE)
for more in (0, 1, 7, 8, 1):
    print(value(program.build(["-DMORE=%d" % more])), end=" ")
print(lines())
""", PYTHONWARNINGS="ignore")
        self.assertEqual(output, "1 2 8 9 2 [('served', 'exact'), ('served', 'exact'), "
                         "('passed', ''), ('passed', ''), ('passed', '')]\n")

    def test_it_loads_by_the_library_that_pyopencl_uses(self):
        """Which need not be the one that the system's loader finds by name."""
        find = "import kiln._native as native\n" \
            "print(native.library_of(cl._cl.__file__, 'clGetPlatformIDs'))\n"
        place = Path(tempfile.mkdtemp(dir=FOLDER))
        shutil.copy(execute(find, self.pack).output.strip(), place / "libOpenCL.so.1")
        output = self.execute(find + """
print(value(cl.Program(context, ONE).build(["-DMORE=0"])), lines())
""", LD_LIBRARY_PATH=str(place))
        self.assertEqual(output, f"{place / 'libOpenCL.so.1'}\n1 [('served', 'exact')]\n")

    def test_kernels_are_in_the_order_of_the_text(self):
        """Also on rusticl, which orders a binary's kernels by a hash."""
        vendors = Path(os.environ["OCL_ICD_VENDORS"])
        script = FOLDER / "order.py"
        script.write_text(BEGINNING + """
program = cl.Program(context, "".join("kernel void %s() {}\\n" % name for name in
                                      ("scale", "add", "blur", "turn", "cut"))).build()
print([kernel.function_name for kernel in program.all_kernels()], program.kernel_names)
""", encoding="utf-8")
        for icd in {vendors, vendors.parent / "rusticl"}:
            with self.subTest(icd.name):
                variables = {"OCL_ICD_VENDORS": str(icd), "RUSTICL_ENABLE": "llvmpipe"}
                try:
                    bare = run(PYTHON, "-B", script, **variables)
                except AssertionError as fault:
                    self.skipTest(str(fault))
                spool, base, pack = (FOLDER / f"order-{icd.name}{end}"
                                     for end in (".spool", "-base.kiln", ".kiln"))
                run(KILN, "record", "-o", spool, "--", PYTHON, "-B", script, **variables)
                run(KILN, "compile", spool, "-o", base)
                run(KILN, "build", base, "-o", pack, **variables)
                done = with_pack(pack, script, **variables)
                self.assertEqual(done.output, bare.output)
                self.assertEqual([line["rung"] for line in done.lines], ["exact"])

    def test_uninstalled_it_does_nothing(self):
        output = self.execute("""
own = kiln.pyopencl._originals["build"]
kiln.pyopencl.install(sys.argv[1])
cl.Program(context, ONE).build(["-DMORE=0"])
kiln.pyopencl.uninstall()
print(cl.Program.build is own, lines())
print(value(cl.Program(context, ONE).build(["-DMORE=0"])), lines())
kiln.pyopencl.uninstall()
kiln.pyopencl.install(sys.argv[1])
print(lines(), cl.Program.build is own)
print(value(cl.Program(context, ONE).build(["-DMORE=0"])), lines())
""")
        served = "[('served', 'exact')]"
        self.assertEqual(output, f"True {served}\n1 {served}\n[] False\n1 {served}\n")

    def test_installed_again_and_again_it_keeps_one_pack_open(self):
        output = self.execute("""
import os
before = len(os.listdir("/proc/self/fd"))
for turn in range(20):
    kiln.pyopencl.install(sys.argv[1])
    cl.Program(context, ONE).build(["-DMORE=0"])
print(len(os.listdir("/proc/self/fd")) - before, lines())
""")
        self.assertEqual(output, "0 [('served', 'exact')]\n")

    def test_a_context_of_several_devices_is_left_alone(self):
        output = self.execute("""
both = cl.Context(cl.get_platforms()[0].get_devices())
print(len(both.devices), cl.Program(both, ONE).build(["-DMORE=0"]).k.num_args)
one = cl.Context([both.devices[1]])
cl.Program(one, ONE).build(["-DMORE=0"], devices=one.devices)
cl.Program(one, ONE).build(["-DMORE=0"], devices=iter(one.devices))
print(lines(), kiln.pyopencl.report()[0]["reason"])
""", POCL_DEVICES="basic pthread")
        self.assertEqual(output, "2 1\n[('passed', ''), ('served', 'exact'), ('passed', '')] "
                         "its context has several devices\n")

    def test_a_build_has_the_defaults_of_its_pyopencl(self):
        """That of Debian 11 takes a list of options, and not None."""
        output = self.execute("""
kiln.pyopencl.uninstall()
own, build = [], cl.Program.build
def old(self, options=[], devices=None, cache_dir=None):
    own.append(options)
    return build(self, options, devices, cache_dir)
cl.Program.build = old
kiln.pyopencl.install(sys.argv[1])
other = cl.Program(context, "kernel void k(global int *out) { *out = 5; }")
print(value(other.build()), value(cl.Program(context, ONE).build(options=["-DMORE=0"])), own, lines())
""")
        self.assertEqual(output, "5 1 [[]] [('passed', ''), ('served', 'exact')]\n")

    def test_what_pyopencl_changed_of_its_own_is_a_reason(self):
        """A later version may lack what this one is asked for."""
        output = self.execute("""
process = cl.Program._process_build_options
calls = []
def changed(*arguments, **keywords):
    calls.append(arguments)
    if len(calls) == 1:
        raise TypeError("changed")
    return process(*arguments, **keywords)
cl.Program._process_build_options = staticmethod(changed)
print(value(cl.Program(context, ONE).build(["-DMORE=0"])), kiln.pyopencl.report()[0]["reason"])
""")
        self.assertEqual(output, "1 TypeError: changed\n")


if __name__ == "__main__":
    PYTHON = interpreter("pyopencl")
    if PYTHON is None:
        print("SKIP: PyOpenCL is not here")
        sys.exit(77)
    skips.run_cases(sys.argv[4:])
