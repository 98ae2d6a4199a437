# SPDX-License-Identifier: Apache-2.0
"""Brings suites of Debian into the laboratory's folder without touching the host.

Each suite has its own apt state. Packages are downloaded, unpacked into `root.part` and
renamed to `root`; `complete.json` is written last. An interrupted fetch goes on with the
packages that are already there.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

import mirror
import windows
from registry import COMPLETE, TRIPLETS, LabError, completed, folder, lab_dir, suites

TOOLS = ("apt-get", "apt-config", "dpkg-deb", "tar")
PRUNED = ("doc", "doc-base", "man", "locale", "info", "lintian", "bug")


def say(text, end="\n"):
    """Progress, on standard error."""
    print(text, end=end, file=sys.stderr, flush=True)


def fetch_all(names=(), check=None, stable_only=False, refresh=False):
    """Fetches what is missing of these suites, or of those that only this group of `check` uses, or of
    those that no group has for itself; returns the exit code: 1 when a stable suite failed."""
    unknown = [name for name in names if name not in suites()]
    if unknown:
        raise LabError(f"no suite '{unknown[0]}' in the registry; known: {', '.join(suites())}")
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        raise LabError(f"fetch needs a Debian host; not installed: {', '.join(missing)}")
    lab_dir().mkdir(parents=True, exist_ok=True)
    code = 0
    with open(lab_dir() / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name, suite in suites().items():
            wanted = name in names if names else suite.get("check") == check
            if not wanted or (suite["moving"] and stable_only):
                continue
            try:
                _fetch_if_needed(name, suite, refresh and suite["moving"])
            except LabError as error:
                say(f"{name}: {error}")
                say(f"{name}: skipped, it is a moving suite" if suite["moving"]
                    else f"{name}: FAILED, it is a stable suite")
                code = code if suite["moving"] else 1
    return code


def digest_of(suite):
    """What a finished fetch depends on: the suite's entry in the registry."""
    return hashlib.sha256(json.dumps(suite, sort_keys=True).encode()).hexdigest()


def _fetch_if_needed(name, suite, refresh):
    """One suite, unless it is complete already."""
    done = completed(name)
    if done and done.get("digest") == digest_of(suite) and not refresh:
        say(f"{name}: complete, {len(done['packages'])} packages")
        return
    apt = Apt(name, suite)
    apt.update()
    parts = {"root": apt.install(suite["install"])} if suite["install"] else {}
    for part, packages in suite.get("beside", {}).items():
        parts[part] = apt.download(part, packages)
    (lab_dir() / name / COMPLETE).unlink(missing_ok=True)
    for part, debs in parts.items():
        _unpack(name, part, debs, suite["architecture"])
    for part, packages in suite.get("compiled", {}).items():
        for description in apt.sources(part, packages):
            say(f"{name}: compiling {description.name} into {part}")
            windows.compile_sources(description, folder(name, part))
    _mark_complete(name, suite, parts)
    shutil.rmtree(apt.home)


class Apt:
    """apt-get with a private state for one suite."""

    def __init__(self, name, suite):
        self.name, self.suite = name, suite
        self.home = lab_dir() / name / "apt"
        self.archives = self.home / "cache" / "archives"
        for path in ("lists/partial", "cache/archives/partial", "parts", "etc"):
            (self.home / path).mkdir(parents=True, exist_ok=True)
        (self.home / "status").touch()
        (self.home / "apt.conf").write_text(self._configuration(), encoding="utf-8")

    def update(self):
        """Reads the package lists; a stable suite that left the mirror is sought in the archive."""
        source = mirror.host_source()
        try:
            self._update_from(source)
        except LabError:
            if self.suite["moving"]:
                raise
            say(f"{self.name}: not to be had from the mirror, trying the archive")
            try:
                self._update_from(mirror.archive_of(source))
                return
            except LabError:
                pass
            raise

    def install(self, packages):
        """Downloads packages and all they depend on; returns the .deb files."""
        wanted = self._resolve(packages)
        command = ["install", "--download-only", *packages]
        self._run(command, expected=len(wanted))
        return [self.archives / file for file in wanted]

    def download(self, part, packages):
        """Downloads these packages alone; returns the .deb files."""
        place = self.home / part
        place.mkdir(exist_ok=True)
        self._run(["download", *packages], expected=len(packages), cwd=place)
        return sorted(place.glob("*.deb"))

    def sources(self, part, packages):
        """Downloads these source packages; returns the .dsc files."""
        place = self.home / (part + ".sources")
        place.mkdir(exist_ok=True)
        self._run(["source", "--download-only", *packages], cwd=place)
        return sorted(place.glob("*.dsc"))

    def _configuration(self):
        """This host's way to the network, and everything else private."""
        host = subprocess.run(["apt-config", "dump", "Acquire"], capture_output=True,
                              text=True, check=True).stdout
        network = [line for line in host.splitlines()
                   if line != 'Acquire "";' and "IndexTargets" not in line]
        home, arch = self.home, self.suite["architecture"]
        private = {
            "Dir::State": home, "Dir::State::Lists": home / "lists",
            "Dir::State::status": home / "status", "Dir::Cache": home / "cache",
            "Dir::Cache::pkgcache": "", "Dir::Cache::srcpkgcache": "", "Dir::Log": home,
            "Dir::Etc::Main": "/dev/null", "Dir::Etc::Parts": home / "etc",
            "Dir::Etc::SourceList": "/dev/null", "Dir::Etc::SourceParts": home / "parts",
            "Dir::Etc::Preferences": "/dev/null", "Dir::Etc::PreferencesParts": home / "etc",
            "APT::Architecture": arch,
            "APT::Install-Recommends": "false", "APT::Sandbox::User": "root",
            "APT::Update::Error-Mode": "any", "Acquire::Languages": "none",
            "Acquire::Retries": "2", "Debug::NoLocking": "true",
        }
        lines = [f'{key} "{value}";' for key, value in private.items()]
        lines += ["#clear APT::Architectures;", f'APT::Architectures {{ "{arch}"; }};']
        return "\n".join(network + lines) + "\n"

    def _update_from(self, source):
        """Reads the package lists of one source."""
        say(f"{self.name}: reading package lists from {source.uri}")
        types = "deb deb-src" if "compiled" in self.suite else "deb"
        stanza = source.stanza(self.suite["suite"], self.suite.get("components", "main"), types)
        (self.home / "parts" / "lab.sources").write_text(stanza, encoding="utf-8")
        self._run(["update"])

    def _resolve(self, packages):
        """The .deb file names an install would bring; asked as if none were there yet."""
        nothing = self.home / "nothing"
        (nothing / "partial").mkdir(parents=True, exist_ok=True)
        text = self._run(["install", "--print-uris", "-o", f"Dir::Cache::archives={nothing}",
                          *packages])
        found = re.findall(r"^'[^']+' (\S+\.deb) (\d+)", text, re.M)
        size = sum(int(size) for _, size in found) / 1e6
        say(f"{self.name}: {len(found)} packages, {size:.0f} MB")
        return [file for file, _ in found]

    def _run(self, arguments, expected=0, cwd=None):
        """apt-get, which itself retries a network fault; its output."""
        code, text = self._call(arguments, expected, cwd)
        if code == 0:
            return text
        faults = [line for line in text.splitlines() if line.startswith(("E:", "W:"))]
        reason = faults[0] if faults else text.strip()[-300:] or f"exit code {code}"
        raise LabError(f"apt-get {arguments[0]} failed (is there a network?): {reason}")

    def _call(self, arguments, expected, cwd):
        """apt-get's exit code and output; shows a counter of the packages it gets on a terminal."""
        command = ["apt-get", "-q", "-y", *arguments]
        environment = dict(os.environ, APT_CONFIG=str(self.home / "apt.conf"), LC_ALL="C.UTF-8")
        lines, got = [], 0
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              stdin=subprocess.DEVNULL, env=environment, cwd=cwd) as process:
            for line in process.stdout:
                lines.append(line)
                if expected and line.startswith("Get:"):
                    got += 1
                    _counter(f"{self.name}: fetching", got, expected)
        return process.returncode, "".join(lines)


def _counter(what, done, total):
    """A counter that overwrites itself, on a terminal only."""
    if sys.stderr.isatty():
        say(f"\r{what} {done}/{total}", end="\n" if done == total else "")


def _unpack(name, part, debs, arch):
    """Unpacks packages into a new folder and puts it in place of the old one."""
    target, fresh = folder(name, part), folder(name, part + ".part")
    shutil.rmtree(fresh, ignore_errors=True)
    _merged_usr(fresh, arch)
    say(f"{name}: unpacking {len(debs)} packages into {part}")
    for count, deb in enumerate(debs, 1):
        _extract(deb, fresh)
        _counter(f"{name}: unpacked", count, len(debs))
    if part != "root":
        _make_links_relative(fresh)
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)


def _make_links_relative(root):
    """A linker that is given this folder would follow an absolute link to the host's library."""
    for path in root.rglob("*"):
        if path.is_symlink() and os.readlink(path).startswith("/"):
            target = root / os.readlink(path)[1:]
            path.unlink()
            path.symlink_to(os.path.relpath(target, path.parent.resolve()))


def _extract(deb, root):
    """Unpacks one package; `dpkg -x` would replace the links of the merged /usr by folders."""
    unused = [f"--exclude=./usr/share/{name}" for name in PRUNED]
    command = ["tar", "-x", "--keep-directory-symlink", "--no-same-owner", *unused, "-C", root]
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE) as source:
        result = subprocess.run(command, stdin=source.stdout, check=False)
    if source.returncode or result.returncode:
        deb.unlink(missing_ok=True)
        raise LabError(f"{deb.name} cannot be unpacked")


def _merged_usr(root, arch):
    """The links of a merged /usr, which packages expect before they are unpacked."""
    for link in ("bin", "sbin", "lib", *(["lib64"] if arch == "amd64" else [])):
        (root / "usr" / link).mkdir(parents=True, exist_ok=True)
        (root / link).symlink_to(f"usr/{link}")
    # Where the host's libraries are mounted for a host tool that runs in a foreign root.
    (root / "usr/lib" / TRIPLETS["amd64"]).mkdir(exist_ok=True)


def _mark_complete(name, suite, parts):
    """Writes down, last and at once, that a suite is there, and its package versions."""
    versions = {}
    for debs in parts.values():
        for deb in debs:
            package, version, _ = deb.name.split("_", 2)
            versions[package] = version.replace("%3a", ":")
    text = json.dumps({"digest": digest_of(suite), "packages": versions}, indent=1, sort_keys=True)
    partial = lab_dir() / name / (COMPLETE + ".part")
    partial.write_text(text, encoding="utf-8")
    partial.rename(lab_dir() / name / COMPLETE)
    say(f"{name}: done")
