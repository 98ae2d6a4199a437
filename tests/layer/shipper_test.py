#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports come home: by rsyslog, with the file of docs/operate/harvest, and by rsync.

    shipper_test.py KILN LAYER APPLICATION RSYSLOG.conf

APPLICATION is application.c of this folder, and OCL_ICD_VENDORS chooses the driver. Exits with 77
where rsyslog or rsync is not installed, or no device is there.
"""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

KILN, _, APPLICATION, SETTINGS = (os.path.abspath(path) for path in sys.argv[1:5])
PATIENCE_SECONDS = 60
PATHS = os.environ["PATH"] + ":/usr/sbin"


def main():
    """Two starts while rsyslog runs, one after another."""
    for tool in ("rsyslogd", "rsync"):
        if shutil.which(tool, path=PATHS) is None:
            print(f"SKIP: {tool} is not installed")
            return 77
    with tempfile.TemporaryDirectory(prefix="shipper") as name, socket.create_server(
            ("127.0.0.1", 0)) as collector:
        folder = pathlib.Path(name)
        collector.settimeout(PATIENCE_SECONDS)
        reports = folder / "reports"
        start(folder, reports)
        with shipper(folder, reports, collector.getsockname()[1]) as daemon:
            try:
                connection, _ = collector.accept()
                connection.settimeout(PATIENCE_SECONDS)
                with connection, connection.makefile("r", encoding="utf-8") as lines:
                    receive(lines, written(reports))
                    before = set(written(reports))
                    start(folder, reports)
                    receive(lines, [line for line in written(reports) if line not in before])
            finally:
                daemon.terminate()
        home = folder / "home"
        subprocess.run(["rsync", "-a", f"{reports}/", f"{home}/"], check=True)
        sums = json.loads(subprocess.run([KILN, "report", home, "--json"], check=True,
                                         stdout=subprocess.PIPE).stdout)
        assert sums["processes"] == 2 and sums["other_lines"] == 0, sums
    print("2 starts came home by rsyslog and by rsync")
    return 0


def start(folder, reports):
    """One start of the application under the layer."""
    variables = {**os.environ, "POCL_CACHE_DIR": str(folder / "pocl"), "KILN_BACKGROUND": "0"}
    done = subprocess.run([KILN, "serve", "--overlay", folder / "overlay",
                           "--report", f"{reports}/", "--", APPLICATION, "build"], cwd=folder,
                          env=variables, stdout=subprocess.DEVNULL, check=False)
    if not written(reports):
        print(f"SKIP: the application ended with {done.returncode}, and no report")
        sys.exit(77)


def shipper(folder, reports, port):
    """rsyslog with the shown settings, but this folder and this collector."""
    text = pathlib.Path(SETTINGS).read_text(encoding="utf-8")
    for shown, here in (("/var/log/kiln", str(reports)), ("collector.example", "127.0.0.1"),
                        ('"5140"', f'"{port}"')):
        assert shown in text, shown
        text = text.replace(shown, here)
    work = folder / "work"
    work.mkdir()
    settings = folder / "rsyslog.conf"
    settings.write_text(f'global(workDirectory="{work}")\n{text}', encoding="utf-8")
    return subprocess.Popen(["rsyslogd", "-n", "-f", settings, "-i", folder / "pid"],
                            env={**os.environ, "PATH": PATHS})


def written(reports):
    """All lines of the folder's files."""
    return [line for file in sorted(reports.glob("*.jsonl"))
            for line in file.read_text(encoding="utf-8").splitlines()]


def receive(lines, expected):
    """Reads as many lines as are expected, in any order of the files."""
    assert expected
    seen = [lines.readline().rstrip("\n") for _ in expected]
    assert sorted(seen) == sorted(expected), (seen, expected)


if __name__ == "__main__":
    sys.exit(main())
