# SPDX-License-Identifier: Apache-2.0
"""What the adapters need of Kiln's C interface (kiln/kiln.h, kiln/recorded.h), by ctypes.

The libraries are those that KILN_LIBRARY names (the path of libkiln_runtime; libkiln_recorded lies
beside it), else those beside this package or in the library folder that holds kiln/python, else
those that the system's loader finds. Any thread may call anything; nothing prints.
"""

import ctypes
import json
import os
import pathlib
import sys
import weakref

VERSION = (0, 1)  # of the headers that this module follows

# The rungs that the driver compiles, each with the KILN_LOAD_* bit that leaves it out.
COMPILED = {"il": 2, "source": 4}

# Words of install()'s `strict`, each with its KILN_LOAD_* bit.
REQUIRED = {"exact": 512, "final": 1024}

_DRY_RUN = 1 << 30  # KILN_PREFETCH_DRY_RUN

_NAME_SIZE = 36  # KILN_RECORDED_NAME_SIZE

_Handle = ctypes.c_void_p
_Out = ctypes.POINTER(ctypes.c_void_p)


def _miss(report):
    """Why a load report has no binary, as a line of the layer's report says it."""
    tried = [f"{rung['rung']}: {rung['reason']}" for rung in report["rungs"]
             if rung.get("reason") and rung["outcome"] != "skipped"]
    return {"reason": "; ".join(tried), "nearest": report["nearest"]}


class Error(Exception):
    """What a call of the C interface, or the program, failed with; as text, its message.

    exit_code: the program's (`kiln --help`), or -N where signal N ended it; None without a program.
    document: what the program printed with --json all the same, or None.
    """

    exit_code = None
    document = None


class _Details(ctypes.Structure):
    """kiln_error"""

    _fields_ = [("status", ctypes.c_int), ("cl_error", ctypes.c_int),
                ("message", ctypes.c_char * 1024)]


class _LoaderOptions(ctypes.Structure):
    """The first members of kiln_loader_options; those that a shorter one lacks count as zero."""

    _fields_ = [("size", ctypes.c_size_t), ("context", _Handle), ("overlay", ctypes.c_char_p),
                ("overlay_limit", ctypes.c_uint64), ("overlay_part", _Handle)]


class _Progress(ctypes.Structure):
    """kiln_progress"""

    _fields_ = [("done", ctypes.c_size_t), ("total", ctypes.c_size_t),
                ("program", ctypes.c_char_p), ("status", ctypes.c_int), ("report", _Handle)]


_ProgressFunction = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Progress), ctypes.c_void_p)


class _Kernel(ctypes.Structure):
    """kiln_pack_kernel"""

    _fields_ = [("program", ctypes.c_char_p), ("variant", ctypes.c_char_p),
                ("options", ctypes.c_char_p), ("kernel", ctypes.c_char_p),
                ("arguments", ctypes.c_uint32)]


_KernelFunction = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Kernel), ctypes.c_void_p)


class _Symbol(ctypes.Structure):
    """Dl_info"""

    _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p),
                ("name", ctypes.c_char_p), ("address", ctypes.c_void_p)]


# Parameters before the last one, `error`, of functions that give a status.
_CALLS = {
    "kiln_opencl_open": (ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t, _Out),
    "kiln_device_from_cl": (_Handle, _Handle, _Out),
    "kiln_pack_open_file": (ctypes.c_char_p, _Out),
    "kiln_loader_create": (_Handle, _Handle, ctypes.POINTER(_LoaderOptions), _Out),
    "kiln_load": (_Handle, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint, _Out, _Out),
    "kiln_prefetch": (_Handle, ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t, ctypes.c_uint,
                      _ProgressFunction, ctypes.c_void_p),
    "kiln_recorded_name": (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_char_p,
                           ctypes.c_size_t),
}
# Result and parameters of the others.
_QUESTIONS = {
    "kiln_version": (ctypes.c_uint,),
    "kiln_device_release": (None, _Handle),
    "kiln_loader_release": (None, _Handle),
    "kiln_loader_use_overlay": (None, ctypes.POINTER(_LoaderOptions), ctypes.c_char_p,
                                ctypes.c_uint64),
    "kiln_loader_use_shared": (None, ctypes.POINTER(_LoaderOptions), ctypes.c_char_p,
                               ctypes.c_uint64),
    "kiln_opencl_release": (None, _Handle),
    "kiln_pack_kernels": (None, _Handle, _KernelFunction, ctypes.c_void_p),
    "kiln_pack_release": (None, _Handle),
    "kiln_program_cl": (_Handle, _Handle),
    "kiln_program_release": (None, _Handle),
    "kiln_program_variant": (ctypes.c_char_p, _Handle),
    "kiln_report_estimate": (ctypes.c_double, _Handle),
    "kiln_report_release": (None, _Handle),
    "kiln_report_json": (ctypes.c_char_p, _Handle),
}


def _runtime_path():
    """Path or name of the runtime's shared library."""
    named = os.environ.get("KILN_LIBRARY")
    if named:
        return os.path.abspath(named)
    file = "libkiln_runtime.0.dylib" if sys.platform == "darwin" else "libkiln_runtime.so.0"
    own = pathlib.Path(__file__).resolve()
    # Beside the module, as in a wheel; LIBDIR of LIBDIR/kiln/python/kiln, as CMake installs it.
    for folder in [own.parent, *list(own.parents)[3:4]]:
        if (folder / file).is_file():
            return str(folder / file)
    return file


def _bind(library, names):
    """Declares those functions of the library; AttributeError where it lacks one."""
    for name in names:
        function = getattr(library, name)
        if name in _CALLS:
            function.restype = ctypes.c_int
            function.argtypes = (*_CALLS[name], ctypes.POINTER(_Details))
        else:
            function.restype, *function.argtypes = _QUESTIONS[name]
    return library


def _call(function, *arguments):
    """Calls what gives a status; raises Error."""
    details = _Details()
    if function(*arguments, ctypes.byref(details)) != 0:
        raise Error(details.message.decode("utf-8", "replace"))


def _make(function, *arguments):
    """Calls what hands out one handle through its last parameter but `error`."""
    handle = _Handle()
    _call(function, *arguments, ctypes.byref(handle))
    return handle


def library_of(file, symbol):
    """The path of the library that the loaded library `file` takes the function from.

    Raises Error where it has no such function.
    """
    try:
        function = getattr(ctypes.CDLL(file), symbol)
        find = ctypes.CDLL(None).dladdr
    except (AttributeError, OSError, TypeError) as fault:
        raise Error(f"{file}: {fault}") from fault
    find.argtypes = (ctypes.c_void_p, ctypes.POINTER(_Symbol))
    found = _Symbol()
    if not find(ctypes.cast(function, ctypes.c_void_p), ctypes.byref(found)) or not found.file:
        raise Error(f"{file}: no library is known to have {symbol}")
    return os.fsdecode(found.file)


class Kiln:
    """Kiln's libraries, an OpenCL library, and an open pack. Any thread may call anything."""

    def __init__(self, opencl, pack, is_shared=False):
        """is_shared: overlays are folders that users share.

        Raises Error: no library, one of another version, no OpenCL there, or no pack.
        """
        path = _runtime_path()
        folder, file = os.path.split(path)
        recorded = os.path.join(folder, file.replace("libkiln_runtime", "libkiln_recorded"))
        try:
            names = (_CALLS.keys() | _QUESTIONS.keys()) - {"kiln_recorded_name"}
            self._runtime = _bind(ctypes.CDLL(path), names)
            self._recorded = _bind(ctypes.CDLL(recorded), ["kiln_recorded_name"])
        except (AttributeError, OSError) as fault:
            raise Error(f"Kiln's libraries cannot be used: {fault}") from fault
        version = self._runtime.kiln_version()
        if (version // 10000, version // 100 % 100) != VERSION:
            raise Error(f"{path} is of another version than this module")
        self._use_overlay = (self._runtime.kiln_loader_use_shared if is_shared
                             else self._runtime.kiln_loader_use_overlay)
        candidates = (ctypes.c_char_p * 1)(os.fsencode(opencl))
        self._opencl = self._own(self._runtime.kiln_opencl_release,
                                 _make(self._runtime.kiln_opencl_open, candidates, 1))
        self._pack = self._own(self._runtime.kiln_pack_release,
                               _make(self._runtime.kiln_pack_open_file, os.fsencode(pack)))

    def _own(self, release, handle):
        """Releases the handle with this object, but not while Python shuts down."""
        weakref.finalize(self, release, handle).atexit = False
        return handle

    def device(self, pointer):
        """A handle for the cl_device_id, which this object keeps."""
        return self._own(self._runtime.kiln_device_release,
                         _make(self._runtime.kiln_device_from_cl, self._opencl, pointer))

    def recorded_name(self, source, options):
        """What packs call the program of that source and those options, both bytes.

        Raises Error for one that is never recorded.
        """
        name = ctypes.create_string_buffer(_NAME_SIZE)
        _call(self._recorded.kiln_recorded_name, source, len(source), options, name, _NAME_SIZE)
        return name.value.decode("ascii")

    def _loader(self, device, context, overlay):
        options = _LoaderOptions(ctypes.sizeof(_LoaderOptions), context)
        folder = os.fsencode(overlay) if overlay else None  # lives until the loader is made
        self._use_overlay(ctypes.byref(options), folder, 0)
        return _make(self._runtime.kiln_loader_create, device, self._pack, ctypes.byref(options))

    def dry_run(self, device, context, overlay, refused):
        """The load report of each program of the pack, of a dry run: nothing is compiled.

        `refused`: KILN_LOAD_* bits of what install() refuses.
        "estimated_milliseconds" says how long the driver would compile, None if nobody knows.
        """
        reports = []

        @_ProgressFunction
        def add(progress, _):
            report = progress.contents.report
            estimate = self._runtime.kiln_report_estimate(report)
            reports.append({**json.loads(self._runtime.kiln_report_json(report)),
                            "estimated_milliseconds": None if estimate < 0 else estimate})
            return 0

        loader = self._loader(device, context, overlay)
        try:
            # Without an overlay PyOpenCL compiles the source, unless that is refused.
            flags = COMPILED["il"] | _DRY_RUN | refused
            _call(self._runtime.kiln_prefetch, loader, None, 0, flags, add, None)
        finally:
            self._runtime.kiln_loader_release(loader)
        return reports

    def kernels(self, program, variant):
        """The names of the variant's kernels, in the pack's order."""
        wanted, names = (program.encode("utf-8"), variant.encode("utf-8")), []

        @_KernelFunction
        def add(kernel, _):
            of = kernel.contents
            if (of.program, of.variant) == wanted:
                names.append(of.kernel.decode("utf-8"))

        self._runtime.kiln_pack_kernels(self._pack, add, None)
        return names

    def load(self, name, device, context, overlay, adopt, required=0):
        """Loads a program of the pack into the cl_context, or raises Error.

        The pack's source is compiled only if there is an overlay (a path, or None) to keep what
        comes of it, and nothing is `required` (a bit of REQUIRED). Returns what the report's line
        says of it ("key_hash", "rung" and, where it was compiled, "reason" and "nearest"), what
        `adopt` makes of the cl_program, which it retains, and the variant's name.
        """
        loader = self._loader(device, context, overlay)
        try:
            # A binary of any variant comes before the source of one.
            try:
                return self._load(loader, name, sum(COMPILED.values()) | required, adopt)
            except Error:
                if not overlay or required:
                    raise
            return self._load(loader, name, sum(COMPILED.values()) - COMPILED["source"], adopt)
        finally:
            self._runtime.kiln_loader_release(loader)

    def _load(self, loader, name, flags, adopt):
        program, report = _Handle(), _Handle()
        try:
            _call(self._runtime.kiln_load, loader, name.encode("ascii"), None, flags,
                  ctypes.byref(program), ctypes.byref(report))
            full = json.loads(self._runtime.kiln_report_json(report))
            outcome = {"key_hash": full["key_hash"], "rung": full["rung"]}
            if outcome["rung"] in COMPILED:
                outcome.update(_miss(full))
            return (outcome, adopt(self._runtime.kiln_program_cl(program)),
                    self._runtime.kiln_program_variant(program).decode("utf-8"))
        finally:
            self._runtime.kiln_report_release(report)
            self._runtime.kiln_program_release(program)
