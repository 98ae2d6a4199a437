#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/operate/fleet.md from day 1 to day 30: its scripts, as the page has them, with this machine and
PoCL as each box.

    fleet_days_test.py KILN

A shell stands for ssh, a copy to a folder for the web server, and a build for Ansible, which
scaling_ansible runs. Exit codes: 0 passed, 1 failed, 77 there is no PoCL, minisign or rsync.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

KILN = Path(sys.argv[1]).resolve()
ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/operate/fleet.md"
HOSTS = ("intel-1", "jetson-2", "mali-3")
LOST = "amd-4"
TOOLS = {
    "ssh": f"""[ "$1" = -n ] && shift
host=$1; shift
[ "$host" != {LOST} ] || exit 255
exec sh -c "$*"
""",
    "ansible-playbook": "exec kiln build base.kiln -o packs/intel-1.kiln\n",
    "chown": "exit 0\n",
    # Enables unit files that exist, and knows those and what they start, as their Unit= says.
    "systemctl": """verb=$1 units=$HOME/units
shift
[ "$1" != --now ] || shift
mkdir -p "$units"
case $verb-$1 in enable-/*) [ ! -f "$1" ] || cp "$1" "$units" ;; esac
if unit=$(sed -n 's/^Unit=//p' "$units/${1##*/}") && [ -f "$units/${unit:-${1##*/}}" ]; then exit 0; fi
echo "systemctl: $1: no such unit, or none that it starts" >&2
exit 1
""",
}


def main(folder):
    """Walks the page."""
    text = PAGE.read_text(encoding="utf-8")
    days = text[:text.index("## One round")]
    blocks = re.findall(r"^```sh\n(.*?)^```", days, re.M | re.S)
    tools, root = folder / "tools", folder / "root"
    for name, script in TOOLS.items():
        path = tools / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}", encoding="utf-8")
        path.chmod(0o755)
    for name in ("etc", "var/lib", "srv/www/kiln", "usr/share/kiln"):
        (root / name).mkdir(parents=True)
    (root / "usr/share/kiln/watch").symlink_to(ROOT / "cmake/watch")
    (folder / "packs").mkdir()
    (folder / "hosts").write_text("".join(f"{name}\n" for name in (*HOSTS, LOST)), encoding="ascii")
    environment = {**os.environ, "PATH": f"{tools}:{KILN.parent}:{os.environ['PATH']}",
                   "HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache"),
                   "KILN_STORE": "none"}
    environment.setdefault("OCL_ICD_VENDORS", "/etc/OpenCL/vendors/pocl.icd")

    def run(script, shell="set -e"):
        for path in ("/etc/kiln", "/var/lib/app", "/usr/share/kiln"):
            script = script.replace(path, f"{root}{path}")
        script = script.replace("web.example.org:", str(root))
        script = script.replace("https://web.example.org", f"{root}/srv/www")
        # Its argument is the folder that the page's command has by default.
        script = script.replace("run.sh\n", f"run.sh {root}/etc/kiln/watch.d\n")
        done = subprocess.run(["sh", "-c", f"{shell}\n{script}"], cwd=folder, env=environment,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"FAIL exit code {done.returncode}:\n{script}\n"
                             f"{done.stdout}{done.stderr}")
        return done.stdout

    def expect(said, *wanted):
        for line in wanted:
            if not re.search(line, said, re.M):
                raise SystemExit(f"FAIL there is no line {line} in:\n{said}")

    run(f"kiln compile {ROOT}/tests/consumer/add_one.cl -o base.kiln")
    inventory, build, canary, box, promotion, status = blocks
    expect(run(inventory), r"^3 devices, 1 model", r"^ *kiln build 'base\.kiln'")
    expect(run(build), r"^exact +3 100\.0%")
    run(canary)
    expect(run(box), r": (served|fetched)$")
    run(promotion)
    script = box.replace("kiln/canary", "kiln/published")
    expect(run(script), r": served$")
    expect(run(status, ""), *(f"^{name} 0$" for name in HOSTS), f"^{LOST} 255$")
    shutil.copy(folder / "base.kiln", root / "var/lib/app/app.kiln")
    expect(run(status, ""), *(f"^{name} 1$" for name in HOSTS), f"^{LOST} 255$")
    print(f"{len(blocks)} scripts of the page")


if __name__ == "__main__":
    if (not shutil.which("minisign") or not shutil.which("rsync")
            or not any(Path("/usr/lib").rglob("libpocl.so.2"))):
        print("SKIP: no minisign, rsync or PoCL here")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="kiln-days-") as place:
        main(Path(place))
