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
import re
import threading
import time

from kiln import _native

_MOST_LINES = 4096  # that report() keeps: an application may build programs without end

_MADE = "_made_by_kiln"  # attribute of a pyopencl.Program
_ORDER = "_order_by_kiln"  # likewise: gives its kernels' names, in the driver's order for the text

_log = logging.getLogger(__name__)
_lock = threading.Lock()
_adapter = None  # of the last install()
_is_installed = False
_originals = {}  # pyopencl's own methods of Program, while _replacements stand for them
_replacements = {}


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
        """What stands for a pyopencl.Program, and a function that gives the names of its kernels.

        Returns None twice, with a reason, if there is none.

        given: returns the options and devices that it is built with.

        If strict, raises Error with the reason instead of None.
        """
        try:
            return self._find(program, given, line)
        except _Built as passed:
            line["reason"] = str(passed)
            return None, None
        except (_Passed, _native.Error) as fault:
            line["reason"] = str(fault)
        except Exception as fault:  # pylint: disable=broad-except
            line["reason"] = f"{type(fault).__name__}: {fault}"
        if self._strict:
            line["outcome"] = "refused"
            raise _native.Error(line["reason"])
        return None, None

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
        name = line["program"] = self._kiln.recorded_name(source, words)
        outcome, made, variant = self._kiln.load(
            name, self._device(device.int_ptr), context.int_ptr, self._overlay,
            lambda pointer: self._cl._Program.from_int_ptr(pointer, True),
            _native.REQUIRED.get(self._strict, 0))
        line.update(outcome)
        line["outcome"] = "compiled" if line["rung"] in _native.COMPILED else "served"
        return made, functools.partial(self._kernel_names, name, variant, context, source, words)

    def _kernel_names(self, name, variant, context, source, words):
        """The driver's order of a program from source; None if nobody knows it."""
        names = self._kiln.kernels(name, variant)
        if len(names) < 2 or names != sorted(names):
            return names
        # Packs of before have the names sorted, which only the text can confirm.
        text = source.decode("utf-8", "replace")
        written = re.findall(r"\b(?:__)?kernel\b[^;{}]*?\bvoid\s+(\w+)\s*\(", text)
        if [word for word in dict.fromkeys(written) if word in names] == names:
            return names
        if self._strict:
            return None
        built = self._cl._Program(context, source)  # pylint: disable=protected-access
        built._build(words, None)  # pylint: disable=protected-access
        return built.get_info(self._cl.program_info.KERNEL_NAMES).split(";")

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
    vars(program).pop(_ORDER, None)
    if made is not None and vars(program).get("_prg") is made:
        program._prg = None  # pylint: disable=protected-access


def _order_of(program):
    """The names of a program's kernels; None if it is not of a pack, or if nobody knows the order."""
    made = vars(program).get(_MADE)
    order = vars(program).get(_ORDER)
    return order() if made is not None and vars(program).get("_prg") is made else None


def _replace_all_kernels(original):
    """pyopencl.Program.all_kernels in the order that the driver gives for the text."""

    @functools.wraps(original)
    def all_kernels(self):
        kernels, names = original(self), _order_of(self)
        place = {name: at for at, name in enumerate(names or [])}
        return sorted(kernels, key=lambda kernel: place.get(kernel.function_name, len(place)))

    return all_kernels


def _in_order(program, answer):
    """The driver's answer for the names of a program's kernels, likewise."""
    names = _order_of(program)
    return ";".join(names) if names and set(names) == set(answer.split(";")) else answer


def _replace_get_info(original):
    """pyopencl.Program.get_info."""

    @functools.wraps(original)
    def get_info(self, arg):
        import pyopencl  # pylint: disable=import-outside-toplevel

        answer = original(self, arg)
        return _in_order(self, answer) if arg == pyopencl.program_info.KERNEL_NAMES else answer

    return get_info


def _replace_kernel_names(original):
    """pyopencl.Program.kernel_names, a property that keeps PyOpenCL's own get_info."""
    return property(lambda self: _in_order(self, original.fget(self)))


def _replace_build(original):
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
            made, order = adapter.find(self, given, line)
            if made is None:
                return original(self, *arguments, **keywords)
            self._prg = made  # pylint: disable=protected-access
            vars(self)[_MADE], vars(self)[_ORDER] = made, order
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
    global _adapter, _is_installed  # pylint: disable=global-statement
    # The application may change its folder.
    places = [None if place is None else os.path.abspath(place)
              for place in (pack, overlay, report, shared)]
    made = _Adapter(pyopencl._cl, *places, strict)  # pylint: disable=protected-access
    with _lock:
        _adapter, _is_installed = made, True
        for name, replace in (("build", _replace_build), ("all_kernels", _replace_all_kernels),
                              ("get_info", _replace_get_info),
                              ("kernel_names", _replace_kernel_names)):
            if name not in _replacements and hasattr(pyopencl.Program, name):
                _originals[name] = getattr(pyopencl.Program, name)
                _replacements[name] = replace(_originals[name])
                setattr(pyopencl.Program, name, _replacements[name])


def uninstall():
    """Builds programs as without Kiln again; those that were loaded stay."""
    global _is_installed  # pylint: disable=global-statement
    with _lock:
        _is_installed = False
        if not _replacements:
            return
        import pyopencl  # pylint: disable=import-outside-toplevel

        # Somebody else may have replaced it since: then ours stays below theirs, and does nothing.
        for name in list(_replacements):
            if getattr(pyopencl.Program, name) is _replacements[name]:
                setattr(pyopencl.Program, name, _originals.pop(name))
                del _replacements[name]


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
