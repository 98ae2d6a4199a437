# SPDX-License-Identifier: Apache-2.0
"""The SPDX 2.3 document of a release: its files, and the libraries whose code is in them."""

import hashlib
import json
import os
import pathlib
import re
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# The compiler's and the C library's parts that a linker copies into each program.
STARTUP = ("libstdc++-10-dev", "libgcc-10-dev", "libc6-dev")
# Debian's short names of licences.
LICENCES = {"Apache-2.0": "Apache-2.0", "BSD-2-clause": "BSD-2-Clause", "ISC": "ISC",
            "BSD-3-clause": "BSD-3-Clause", "Expat": "MIT", "GPL-2": "GPL-2.0-only", "or": "OR",
            "and": "AND"}


def linked(laboratory):
    """(package, version, suite) of each library, in the roots that a release is built with."""
    names = (SOURCE / "cmake/linked_libraries.txt").read_text(encoding="utf-8").split()
    found = []
    for suite, packages in (("bookworm", names), ("bullseye", STARTUP)):
        text = (laboratory / f"{suite}-amd64/complete.json").read_text(encoding="utf-8")
        found += [(name, json.loads(text)["packages"][name], suite) for name in packages]
    return found


def licence(package):
    """What the package's copyright file says of its files, in Debian's words and in SPDX's."""
    path = pathlib.Path("/usr/share/doc", package, "copyright")
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    found = re.search(r"^Files: \*\n(?:(?!^$).*\n)*?License: (.*)$", text, re.MULTILINE)
    words = found[1] if found else ""
    ours = [LICENCES.get(word) for word in words.split()]
    return words, " ".join(ours) if ours and None not in ours else "NOASSERTION"


def _package(name, version, **fields):
    return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]", "-", name), "name": name,
            "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION", **fields}


def document(version, files, libraries):
    """The document's text; `files` are the release's, `libraries` those of linked()."""
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    whole = hashlib.sha256(json.dumps(digests, sort_keys=True).encode()).hexdigest()
    ours = [_package(name, version, packageFileName=name, licenseDeclared="Apache-2.0",
                     supplier="Organization: The Kiln authors",
                     checksums=[{"algorithm": "SHA256", "checksumValue": digest}])
            for name, digest in digests.items()]
    theirs = []
    for name, number, suite in libraries:
        words, expression = licence(name)
        locator = f"pkg:deb/debian/{name}@{number}?distro={suite}".replace("+", "%2B")
        one = _package(name, number, licenseDeclared=expression, supplier="Organization: Debian",
                       externalRefs=[{"referenceCategory": "PACKAGE-MANAGER",
                                      "referenceType": "purl", "referenceLocator": locator}])
        if expression == "NOASSERTION" and words:
            one["licenseComments"] = f"Debian's copyright file: {words}"
        theirs.append(one)
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", one) for one in ours]
    relations += [(one["SPDXID"], "STATIC_LINK", library) for one in ours for library in theirs]
    created = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))
    return json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"kiln-{version}", "documentNamespace": f"urn:sha256:{whole}",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", created),
                         "creators": ["Organization: The Kiln authors"]},
        "packages": [*ours, *theirs],
        "relationships": [{"spdxElementId": one, "relationshipType": kind,
                           "relatedSpdxElement": other["SPDXID"]}
                          for one, kind, other in relations],
    }, indent=1) + "\n"
