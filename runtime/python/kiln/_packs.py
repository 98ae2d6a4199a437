# SPDX-License-Identifier: Apache-2.0
"""Makes, reads and explains packs, by the program kiln and the JSON that it prints.

Only the program compiles, and reads all that is in a pack. An application that only loads packs needs
Kiln's libraries, but neither the program nor this file.

Any thread may call these functions; they return when the program has ended. Keywords that a function
does not name are options of the program, so that no option is listed here: jobs=2 is `--jobs=2`, and
keep_going=True is `--keep-going`. A list repeats the option; None and False leave it out. Warnings of
the program go to the logger "kiln".
"""

# Functions import what only they need, since `import kiln` imports this file in every application.
# pylint: disable=import-outside-toplevel

import collections
import json
import os
import pathlib

from kiln._native import Error

_SCHEMA = 1  # of the JSON that this module reads
_SOME_FAILED = 1  # exit code: some jobs or checks failed


def program():
    """The path of the program: the one inside this package, as in a wheel, else of the PATH.

    Raises Error where there is none.
    """
    import shutil

    inside = pathlib.Path(__file__).resolve().parent / "bin" / "kiln"
    found = str(inside) if inside.is_file() else shutil.which("kiln")
    if found is None:
        raise Error("no such program inside this package or on the PATH: install the Debian "
                    "package kiln, or a wheel of Kiln")
    return found


def _options(options):
    """The words of the program's options."""
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if each is not None and each is not False:
                yield option if each is True else f"{option}={each}"


def _run(command, inputs, options, is_answer=False):
    """The object that the program prints with --json.

    command: its words; inputs: paths, or names; options: words.
    is_answer: with an object, the exit code 1 is no fault.
    Raises Error.
    """
    import logging
    import subprocess

    path = program()
    words = [path, *command, "--json", *options, "--", *map(os.fsdecode, inputs)]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding="utf-8", errors="replace",
                              check=False)
    except (OSError, ValueError) as fault:  # ValueError: a NUL in a word
        raise Error(f"{path}: {fault}") from fault
    said = done.stderr.strip()
    try:
        document = json.loads(done.stdout)
        schema = document["schema"]
    except (KeyError, TypeError, ValueError):
        document, schema = None, None
    error = None
    if done.returncode != 0 and not (is_answer and document and done.returncode == _SOME_FAILED):
        error = Error(said or f"{path} ended with exit code {done.returncode}")
    elif schema != _SCHEMA:
        error = Error(f"{path} printed no JSON of schema {_SCHEMA}: is it of another version?")
    if error is not None:
        error.exit_code, error.document = done.returncode, document
        raise error
    if said and done.returncode == 0:
        logging.getLogger("kiln").warning("%s", said)
    return document


def compile(inputs, output, build_options="", include_dirs=(),  # pylint: disable=redefined-builtin
            **options):
    """Makes a base pack of source and SPIR-V, as `kiln compile` does; needs no device.

    inputs: path of a manifest (.toml), of the folder that `kiln record` wrote, or of a source (.cl);
    or a list of paths of sources. Each source is a program with the file's name, without .cl.
    output: path of the pack.
    build_options: of the sources, as for pyopencl.Program.build(): a text, or a list of words.
    include_dirs: folders with files that the sources include.
    options: further ones of the program (docs/use/python.md), such as program="blur",
    root=["assets=/src"], depfile="base.d", keep_going=True or jobs=2.
    Returns what `kiln compile --json` prints: a dictionary with "output", the numbers "programs",
    "variants" and "failed", and others.
    Raises kiln.Error with the compiler's or the program's message. With keep_going, the pack was
    written if the error has a document, which says how many variants "failed".
    """
    if not isinstance(build_options, str):
        build_options = " ".join(build_options)
    words = [*_options({"output": os.fsdecode(output), "build_options": build_options or None}),
             *(f"-I{os.fsdecode(folder)}" for folder in include_dirs), *_options(options)]
    return _run(["compile"], inputs if isinstance(inputs, (list, tuple)) else [inputs], words)


def build(pack, output, device=None, **options):
    """Compiles a pack's programs with this machine's drivers, as `kiln build` does.

    pack: path of a base pack, or of a manifest.
    output: path of the pack to write; its binaries are reused, and other devices' stay.
    device: index, or pattern of platform and name; a list for several. None: all devices.
    options: further ones of the program, such as virtual=["neo:dg2"], require_proof=True,
    dry_run=True or jobs=2.
    Returns what `kiln build --json` prints: a dictionary with "output", the numbers "compiled",
    "reused" and "targets", the list "unfinished" of binaries that are not final, and others.
    Raises kiln.Error. If only some jobs failed, the pack was written all the same, and "failures" of
    the error's document says which.
    """
    return _run(["build"], [pack],
                _options({"output": os.fsdecode(output), "device": device, **options}))


def explain(pack, program=None, device=None, **options):  # pylint: disable=redefined-outer-name
    """Says which code of a pack a device would load, and why nothing better, as `kiln explain` does.

    pack: path of the pack.
    program: name of one, which is loaded in another process. None: all of them, by a dry run, which
    compiles nothing.
    device: index, or pattern of platform and name. None: the first device.
    options: further ones of the program, such as variant="wide", without="binary" or overlay="kept".
    Returns a list of load reports (docs/use/loading.md), one for each program. "rung" is "error" if
    nothing can be loaded.
    Raises kiln.Error: no pack, no such program, no such device.
    """
    inputs = [] if program is None else [program]
    document = _run(["explain"], inputs,
                    _options({"pack": os.fsdecode(pack), "device": device, **options}), True)
    return document["reports"] if program is None else [document]


Binary = collections.namedtuple(
    "Binary", "program variant device driver rung state why proof size stored_size")
Binary.__doc__ = """One binary of a pack. All members are texts, but for the sizes, in bytes.

program, variant: names; device, driver: the device's name, and its driver's version;
rung: that loads it: "exact", or "intermediate", from which the driver still compiles;
state: "final", "not final" (its first launch compiles something) or "not launched";
why: the reason, if it is not final; proof: what its results match, or "";
size: as the driver takes it; stored_size: in the file.
"""


class Pack:
    """What is in a pack, as `kiln pack inspect --json` says. Read once: the file may change then.

    document: all of it, a dictionary; what follows is taken from there.
    size: of the file, in bytes.
    programs: dictionaries with "name" and "variants"; a variant has "name", "options",
    "requirements", "kernels" and others.
    targets: kinds of devices; dictionaries with "label", "model", "key_hash", "identity" (such as
    "device_name" and "driver_version") and others.
    binaries: a list of kiln.Binary, of all targets.
    notes: known-bad notes, dictionaries.
    """

    def __init__(self, path):
        """path: of the pack. Raises kiln.Error if it is missing or its layout is damaged.

        The bytes of binaries are checked by `kiln pack verify`, and when they are loaded.
        """
        self.document = _run(["pack", "inspect"], [path], [])
        if "size" not in self.document:
            raise Error(f"{os.fsdecode(path)} is a spool, not a pack")
        self.size = self.document["size"]
        self.programs = self.document["programs"]
        self.targets = self.document["targets"]
        self.notes = self.document["known_bad"]["notes"]
        names = {}
        for each in self.programs:
            for variant in each["variants"]:
                names.setdefault(variant["hash"], (each["name"], variant["name"]))
        self.binaries = [_binary(target, rung, binary, names) for target in self.targets
                         for rung, part in (("exact", "binaries"), ("intermediate", "intermediates"))
                         for binary in target[part]]


def _binary(target, rung, binary, names):
    """A Binary; names: program and variant of each variant's hash."""
    identity, finish = target["identity"], binary["provenance"]["finish"]
    return Binary(*names.get(binary["variant_hash"], ("", binary["variant"])),
                  identity.get("device_name") or target["label"],
                  identity.get("driver_version", ""), rung,
                  {"yes": "final", "no": "not final"}.get(finish["final"], finish["final"]),
                  finish["why_not_final"], finish["proof"], binary["blob"]["raw_size"],
                  binary["blob"]["stored_size"])
