#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command in a Debian 12 where nothing is installed but git, on a clone of the last commit.

    fresh.py [--ccache] [--laboratory] [--no-downloads] COMMAND...

COMMAND is one of bootstrap.sh, or any command after `--`; it runs as root in the folder of the clone.
Of this machine the root has the network, /dev, /sys and what is named: apt's downloaded files unless
--no-downloads, the compiler cache with --ccache, the laboratory's files with --laboratory. The root is
removed afterwards. Exit code: the command's; 69 when this machine cannot make or enter such a root.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import bare
from registry import LabError, lab_dir

SOURCE = Path(__file__).resolve().parents[2]
KEPT = lab_dir().parent / "fresh"
DOWNLOADS = KEPT / "downloads"
ARCHIVES = "var/cache/apt/archives"
CANNOT = 69
CLONE = "/root/kiln"
# A chroot will not do: bubblewrap and namespaces of users fail in it. The shell stays as the first
# process of the root's own namespace of processes: with it ends whatever the command left running.
ENTER = r"""
root=$1; shift
{
  mount --bind "$root" "$root" && mount --rbind /dev "$root/dev" && mount --rbind /sys "$root/sys" &&
  mount -t proc proc "$root/proc" || exit 69
  while [ "$1" != -- ]; do
    mkdir -p "$root$2" && mount --bind "$1" "$root$2" || exit 69
    shift 2
  done
  shift
  mkdir -p "$root/machine" && cd "$root" && pivot_root . machine && cd / || exit 69
  umount -l /machine && rmdir /machine || exit 69
}
cd /root/kiln || exit 69
"$@"
exit $?
"""


def fail(reason):
    """Ends the program: no root can be made or entered here."""
    print(f"fresh: no Debian can be made here: {reason}", file=sys.stderr)
    sys.exit(CANNOT)


def packages_of(root):
    """Names of what is installed there."""
    text = (root / "var/lib/dpkg/status").read_text(encoding="utf-8")
    found = set()
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line[:24])
        if fields.get("Status") == "install ok installed":
            found.add(fields["Package"])
    return found


def debs(folder):
    """The packages as files, by their names."""
    return {path.name: path for path in folder.glob("*.deb")}


def link(paths, folder):
    """Gives the files a second name each; a copy where the folder is of another file system."""
    for path in paths:
        try:
            os.link(path, folder / path.name)
        except OSError:
            shutil.copy(path, folder)


def keep_downloads(archives, before):
    """Keeps what apt fetched, in place of older versions of the same packages; (files, bytes)."""
    new = [path for name, path in debs(archives).items() if name not in before]
    DOWNLOADS.mkdir(parents=True, exist_ok=True)
    for path in new:
        name, _, machine = path.name.rsplit("_", 2)
        for old in DOWNLOADS.glob(f"{name}_*_{machine}"):
            old.unlink()
    link(new, DOWNLOADS)
    return len(new), sum(path.stat().st_size for path in new)


def remove(root):
    """Nothing is mounted there but in the command's own namespace, which is gone."""
    subprocess.run(["rm", "-rf", "--one-file-system", root], check=True)


def remove_abandoned():
    """Roots of processes that were killed."""
    for root in KEPT.glob("root.*"):
        if not Path("/proc", root.suffix[1:]).exists():
            remove(root)


def make(root, is_new):
    """Unpacks Debian and clones the last commit."""
    root.mkdir(parents=True)
    archive = bare.archive("bookworm", ("ca-certificates", "git"), "minbase", is_new)
    subprocess.run(["tar", "-C", root, "--exclude=./dev/*", "-xf", archive], check=True)
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n::1 localhost\n", encoding="ascii")
    (root / "etc/hostname").write_text("fresh\n", encoding="ascii")
    # Nothing of it must survive a power cut, so dpkg need not wait for the disk.
    (root / "etc/dpkg/dpkg.cfg.d/fresh").write_text("force-unsafe-io\n", encoding="ascii")
    commit = subprocess.run(["git", "-C", SOURCE, "rev-parse", "HEAD"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout.strip()
    clone = f"{root}{CLONE}"
    subprocess.run(["git", "clone", "-q", "--no-checkout", f"file://{SOURCE}", clone], check=True)
    subprocess.run(["git", "-C", clone, "-c", "advice.detachedHead=false", "checkout", "-q", "-B",
                    "main", commit], check=True)
    changed = subprocess.run(["git", "-C", SOURCE, "status", "--porcelain"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    if changed:
        print("fresh: what is not committed is left out", flush=True)


def run(root, places, command):
    """Runs the command in the root; its exit code. It dies with this process."""
    environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                   "HOME": "/root", **{name: value for name, value in os.environ.items()
                                       if name == "TERM" or name.lower().endswith("_proxy")}}
    words = [word for pair in places for word in pair]
    child = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--propagation",
                              "private", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, "sh",
                              root, *words, "--", *command], env=environment)
    try:
        return child.wait()
    finally:
        child.kill()
        child.wait()


def main():
    parser = argparse.ArgumentParser(prog="./bootstrap.sh fresh", description=__doc__.splitlines()[0])
    parser.add_argument("--ccache", action="store_true", help="with the compiler cache")
    parser.add_argument("--laboratory", action="store_true", help="with the laboratory's files")
    parser.add_argument("--no-downloads", action="store_true", help="fetch every package again")
    parser.add_argument("command", nargs=argparse.REMAINDER,
                        help="a command of bootstrap.sh; any other after --")
    options = parser.parse_args()
    if not options.command:
        parser.error("a command is missing")
    command = (options.command[1:] if options.command[0] == "--"
               else ["./bootstrap.sh", *options.command])
    if os.geteuid() != 0:
        fail("it needs root")
    for number in (signal.SIGINT, signal.SIGTERM):  # the root is removed, too
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    remove_abandoned()
    root = KEPT / f"root.{os.getpid()}"
    archives = root / ARCHIVES
    times = {}
    start = time.monotonic()

    def took(what):
        nonlocal start
        times[what], start = time.monotonic() - start, time.monotonic()

    try:
        try:
            make(root, options.no_downloads)
        except (LabError, OSError, subprocess.CalledProcessError) as error:
            fail(error)
        if not options.no_downloads and DOWNLOADS.exists():
            link(debs(DOWNLOADS).values(), archives)
        had, had_packages = set(debs(archives)), packages_of(root)
        took("Debian and the clone")
        places = []
        if not options.no_downloads:  # for a new Debian within this one
            DOWNLOADS.mkdir(parents=True, exist_ok=True)
            places.append((DOWNLOADS, "/root/.cache/kiln/fresh/downloads"))
        cache = Path(os.environ.get("CCACHE_DIR") or lab_dir().parent.parent / "ccache")
        for is_wanted, folder, place in ((options.ccache, cache, "/root/.cache/ccache"),
                                         (options.laboratory, lab_dir(), "/root/.cache/kiln/lab")):
            if is_wanted:
                folder.mkdir(parents=True, exist_ok=True)
                places.append((folder, place))
        code = run(root, places, command)
        took("the command")
        installed = sorted(packages_of(root) - had_packages)
        files, size = ((0, 0) if options.no_downloads else keep_downloads(archives, had))
        print(f"\nfresh: installed {len(installed)} packages: {' '.join(installed)}")
        if not options.no_downloads:
            print(f"fresh: apt fetched {files} files, {size / 1e6:.0f} MB")
    finally:
        remove(root)
        took("removing it")
    for what, seconds in times.items():
        print(f"fresh: {what} took {seconds // 60:.0f} min {seconds % 60:02.0f} s")
    if code == CANNOT:
        fail("its root cannot be entered")
    print(f"fresh: exit code {code}: {' '.join(command)}")
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
