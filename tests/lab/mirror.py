# SPDX-License-Identifier: Apache-2.0
"""Which Debian mirror and which keys this host uses, read from apt's own sources."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from registry import LabError, os_codename

DEFAULT_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


@dataclass(frozen=True)
class Source:
    """One place of packages: URI, the suites asked of it, and what must have signed it."""

    uri: str
    suites: tuple
    components: tuple
    signed_by: str

    def stanza(self, suite, components="main", types="deb"):
        """A deb822 stanza for another suite of the same mirror."""
        lines = [f"Types: {types}", f"URIs: {self.uri}", f"Suites: {suite}",
                 f"Components: {components}"]
        if self.signed_by:
            lines.append(f"Signed-By: {self.signed_by}")
        return "\n".join(lines) + "\n"


def parse_deb822(text):
    """Sources of a `*.sources` file."""
    kept = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    found = []
    for stanza in re.split(r"\n\s*\n", kept):
        fields = _fields(stanza)
        if "deb" not in fields.get("types", "").split() or fields.get("enabled") == "no":
            continue
        for uri in fields.get("uris", "").split():
            found.append(Source(uri.rstrip("/"), tuple(fields.get("suites", "").split()),
                                tuple(fields.get("components", "").split()),
                                fields.get("signed-by", "")))
    return found


def _fields(stanza):
    """Fields of one stanza; continuation lines stay attached, as keys may be written in place."""
    fields, last = {}, None
    for line in stanza.splitlines():
        if line[:1].isspace() and last:
            fields[last] += "\n" + line
        elif ":" in line:
            name, value = line.split(":", 1)
            last = name.strip().lower()
            fields[last] = value.strip()
    return fields


def parse_list(text):
    """Sources of a one-line-style `*.list` file."""
    found = []
    for line in text.splitlines():
        match = re.match(r"\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s*([^#]*)", line)
        if match:
            options, uri, suite, components = match.groups()
            signed = re.search(r"signed-by=(\S+)", options or "")
            found.append(Source(uri.rstrip("/"), (suite,), tuple(components.split()),
                                signed.group(1) if signed else ""))
    return found


def host_source(apt_dir=Path("/etc/apt"), codename=None):
    """The Debian mirror of this host; LabError when none is configured."""
    codename = codename or os_codename()
    for source in _all_sources(apt_dir):
        if codename in source.suites and "main" in source.components:
            return _with_keyring(source)
    raise LabError(f"no Debian mirror for '{codename}' in {apt_dir}")


def proxies():
    """The proxies that apt uses on this host, as options of apt."""
    shown = subprocess.run(["apt-config", "dump"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return re.findall(r'^(Acquire::\S+::Proxy\S* "[^"]+");$', shown, re.M)


def archive_of(source):
    """Where suites go that a mirror no longer holds: host `archive` of the same domain."""
    parts = urlsplit(source.uri)
    domain = ".".join((parts.hostname or "").split(".")[-2:])
    uri = urlunsplit((parts.scheme, f"archive.{domain}", "/debian", "", ""))
    return Source(uri, source.suites, source.components, source.signed_by)


def _with_keyring(source):
    """The same source, with Debian's keyring where it names none."""
    if source.signed_by or not DEFAULT_KEYRING.exists():
        return source
    return Source(source.uri, source.suites, source.components, str(DEFAULT_KEYRING))


def _all_sources(apt_dir):
    """Every enabled binary source of this host, in apt's order."""
    files = [apt_dir / "sources.list", *sorted((apt_dir / "sources.list.d").glob("*"))]
    for file in files:
        parse = {".list": parse_list, ".sources": parse_deb822}.get(file.suffix)
        if parse and file.is_file():
            yield from parse(file.read_text(encoding="utf-8"))
