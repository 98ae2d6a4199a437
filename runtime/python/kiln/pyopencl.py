# SPDX-License-Identifier: Apache-2.0
"""Programs of PyOpenCL from a pack, where no OpenCL layer can serve them.

    import kiln.pyopencl
    kiln.pyopencl.install("app.kiln")

From then on pyopencl.Program.build() takes what the pack has from there, and builds everything else
as it always did: whatever goes wrong here, the program is built as without Kiln, and report() says
why. See docs/use/pyopencl.md.
"""

import collections
import functools
import inspect
import json
import logging
import os
import threading
import time

from kiln import _native

_MOST_LINES = 4096  # that report() keeps: an application may build programs without end

_MADE = "_made_by_kiln"  # attribute of a pyopencl.Program

_log = logging.getLogger(__name__)
_lock = threading.Lock()
_adapter = None  # of the last install()
_is_installed = False
_original = None  # pyopencl's own Program.build, while _replacement stands for it
_replacement = None


class _Passed(Exception):
    """Why a program is left to PyOpenCL."""


class _Built(_Passed):
    """A program that the driver has already: there is nothing to build."""


class _Adapter:
    """One pack, for PyOpenCL's programs. Any thread may call anything."""

    def __init__(self, cl, pack, overlay, report, shared, strict):
        self._cl = cl  # the extension module
        self._strict = strict
        self._overlay = overlay or shared
        self._report = report
        self._lock = threading.Lock()
        self._devices = {}  # guarded by _lock
        self._lines = collections.deque(maxlen=_MOST_LINES)  # guarded by _lock
        self._kiln, self._fault = None, None
        try:
            opencl = _native.library_of(cl.__file__, "clGetPlatformIDs")
            self._kiln = _native.Kiln(opencl, pack, shared is not None)
        except Exception as fault:  # pylint: disable=broad-except
            self._fault = str(fault)
            if strict:
                raise _native.Error(self._fault) from fault
            _log.warning("kiln: %s; programs are built as without Kiln", fault)

    def find(self, program, given, line):
        """The program that stands for a pyopencl.Program; None, with a reason, if there is none.

        given: returns the options and devices that it is built with.

        If strict, raises Error with the reason instead of None.
        """
        try:
            return self._find(program, given, line)
        except _Built as passed:
            line["reason"] = str(passed)
            return None
        except (_Passed, _native.Error) as fault:
            line["reason"] = str(fault)
        except Exception as fault:  # pylint: disable=broad-except
            line["reason"] = f"{type(fault).__name__}: {fault}"
        if self._strict:
            line["outcome"] = "refused"
            raise _native.Error(line["reason"])
        return None

    def _find(self, program, given, line):
        # These attributes and _process_build_options are PyOpenCL's own, and may change: that is
        # an exception, and so a reason.
        # pylint: disable=protected-access
        if self._kiln is None:
            raise _Passed(self._fault)
        if program._prg is not None:
            raise _Built("the driver has it already")
        context = program._context
        if len(context.devices) != 1:
            raise _Passed("its context has several devices")
        (device,) = context.devices
        options, devices = given()
        # What can be gone through once is not touched.
        is_ours = isinstance(devices, (list, tuple)) and list(devices) == [device]
        if devices is not None and not is_ours:
            raise _Passed("it is built for other devices")
        words, _ = program._process_build_options(context, options)
        source = program._source
        if isinstance(source, str):
            source = source.encode("utf-8")
        line["program"] = self._kiln.recorded_name(source, words)
        outcome, made = self._kiln.load(
            line["program"], self._device(device.int_ptr), context.int_ptr, self._overlay,
            lambda pointer: self._cl._Program.from_int_ptr(pointer, True),
            _native.REQUIRED.get(self._strict, 0))
        line.update(outcome)
        line["outcome"] = "compiled" if line["rung"] in _native.COMPILED else "served"
        return made

    def dry_run(self, context):
        """What dry_run() gives."""
        if self._kiln is None:
            raise _native.Error(self._fault)
        if len(context.devices) != 1:
            raise _native.Error("dry_run() needs a context of one device")
        device = context.devices[0]
        refused = _native.REQUIRED.get(self._strict, 0)
        if self._strict and not self._overlay:
            refused |= _native.COMPILED["source"]
        return self._kiln.dry_run(self._device(device.int_ptr), context.int_ptr, self._overlay,
                                  refused)

    def _device(self, pointer):
        with self._lock:
            if pointer not in self._devices:
                self._devices[pointer] = self._kiln.device(pointer)
            return self._devices[pointer]

    def note(self, line):
        """Puts the line into both reports. A file that cannot be written is no fault."""
        with self._lock:
            self._lines.append(line)
        if self._report is None or not _may_be_written(self._report):
            return
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        try:
            file = os.open(self._report, flags, 0o666)
            try:
                os.write(file, (json.dumps(line) + "\n").encode("utf-8"))  # whole, among processes
            finally:
                os.close(file)
        except OSError:
            pass

    def lines(self):
        """Copies of the lines, oldest first."""
        with self._lock:
            return [dict(line) for line in self._lines]


def _may_be_written(path):
    """Whether it is a regular file, or none yet: a pipe's other end would see it opened."""
    return os.path.isfile(path) or not os.path.exists(path)


def _forget(program):
    """Makes a program that find() gave one of source again, since its options may be others."""
    # Not by getattr(): what a pyopencl.Program lacks it looks for among the driver's kernels.
    made = vars(program).pop(_MADE, None)
    if made is not None and vars(program).get("_prg") is made:
        program._prg = None  # pylint: disable=protected-access


def _replace(original):
    """pyopencl.Program.build with the pack before it.

    Not its cache's function, which is called neither with PYOPENCL_NO_CACHE nor by later versions
    for drivers that have caches of their own.
    """

    @functools.wraps(original)
    def build(self, *arguments, **keywords):

        def given():
            call = inspect.signature(original).bind(self, *arguments, **keywords)
            call.apply_defaults()  # which differ among PyOpenCL's versions
            return call.arguments["options"], call.arguments["devices"]

        adapter = _adapter
        _forget(self)
        if not _is_installed:
            return original(self, *arguments, **keywords)
        start = time.perf_counter()
        line = {"schema": 1, "program": "", "outcome": "passed", "rung": "", "reason": "", "nearest": None,
                "milliseconds": 0.0}
        try:
            made = adapter.find(self, given, line)
            if made is None:
                return original(self, *arguments, **keywords)
            self._prg = made  # pylint: disable=protected-access
            vars(self)[_MADE] = made
            return self
        finally:
            line["milliseconds"] = round(1000 * (time.perf_counter() - start), 3)
            adapter.note(line)

    return build


def install(pack, overlay=None, report=None, strict=False, shared=None):
    """Takes programs from a pack, until uninstall(); a second call takes the place of the first.

    pack: path of a pack of recorded programs. One that is missing or damaged, and libraries of
    Kiln's that are, give one warning of the logger "kiln.pyopencl", and programs are built as
    without Kiln.
    overlay: folder for what this device has to compile; its parent must be there. None: what the
    pack has no binary for is built by PyOpenCL, and kept by PyOpenCL's own cache.
    report: file that gets a line of JSON for each program, as report() has it.
    strict: what would leave a program to PyOpenCL raises kiln.Error with the reason instead, here
    or in Program.build(). For tests of an application and its pack. "exact" and "final" do so for
    what kiln serve --require refuses, too.
    shared: in place of overlay, a folder that users and machines share (kiln_loader_use_shared()).
    Raises ImportError where there is no PyOpenCL.
    """
    import pyopencl  # pylint: disable=import-outside-toplevel

    if overlay is not None and shared is not None:
        raise ValueError("overlay and shared are two places for the same")
    if strict not in (False, True, *_native.REQUIRED):
        raise ValueError(f"strict={strict!r}: expected False, True, 'exact' or 'final'")
    global _adapter, _is_installed, _original, _replacement  # pylint: disable=global-statement
    # The application may change its folder.
    places = [None if place is None else os.path.abspath(place)
              for place in (pack, overlay, report, shared)]
    made = _Adapter(pyopencl._cl, *places, strict)  # pylint: disable=protected-access
    with _lock:
        _adapter, _is_installed = made, True
        if _replacement is None:
            _original = pyopencl.Program.build
            _replacement = _replace(_original)
            pyopencl.Program.build = _replacement


def uninstall():
    """Builds programs as without Kiln again; those that were loaded stay."""
    global _is_installed, _original, _replacement  # pylint: disable=global-statement
    with _lock:
        _is_installed = False
        if _replacement is None:
            return
        import pyopencl  # pylint: disable=import-outside-toplevel

        # Somebody else may have replaced it since: then ours stays below theirs, and does nothing.
        if pyopencl.Program.build is _replacement:
            pyopencl.Program.build = _original
            _original = _replacement = None


def dry_run(context):
    """What install()'s pack has for the device of a context of one device; compiles nothing.

    A list of load reports (docs/use/loading.md), one for each program, with
    "estimated_milliseconds": how long the driver would compile, None if the pack does not say.
    Raises kiln.Error.
    """
    if _adapter is None:
        raise _native.Error("kiln.pyopencl.install() was not called")
    return _adapter.dry_run(context)


def report():
    """What happened to each program since the last install(), oldest first: a list of dictionaries.

    program: its name in packs, "" where it was not asked for; outcome: "served" from a binary,
    "compiled" from the pack's source, "passed" to PyOpenCL, or "refused", which only `strict` does;
    rung: of the ladder, "" if passed or refused; reason: why it was not served, or ""; nearest:
    where it was compiled, the pack's target that is closest, with what differs, or None;
    milliseconds: of the whole call of Program.build(). The last 4,096 are kept.
    """
    adapter = _adapter
    return [] if adapter is None else adapter.lines()
