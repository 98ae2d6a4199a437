#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files of a release, for `./bootstrap.sh release`.

    release.py DIST [--key FILE] [--apt-key NAME] [--ndk FOLDER]

DIST is emptied first. minisign signs SHA256SUMS by the secret key in FILE, and gpg the repository of
Debian packages by the key NAME. Kiln is built for each machine with cmake/toolchains/release.cmake in
build/release-MACHINE, and for Android by the NDK in FOLDER. The same commit gives the same bytes,
whoever builds it where and when.
"""

import argparse
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "cmake"))
import kiln_wheel  # pylint: disable=wrong-import-position
import image  # pylint: disable=wrong-import-position
import needs  # pylint: disable=wrong-import-position
import spdx  # pylint: disable=wrong-import-position

MACHINES = ("x86_64", "aarch64")


def run(*command, **options):
    """Runs a command that must work."""
    return subprocess.run([str(word) for word in command], check=True, **options)


def say(text):
    print(text, flush=True)


def set_date():
    """Gives all tools the date of the last commit, unless the caller named another."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return
    git = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=SOURCE, text=True, check=False,
                         stdout=subprocess.PIPE)
    if git.returncode:
        sys.exit("release: no git clone to read the date from: set SOURCE_DATE_EPOCH")
    os.environ["SOURCE_DATE_EPOCH"] = git.stdout.strip()
    if subprocess.run(["git", "status", "--porcelain"], cwd=SOURCE, check=True,
                      stdout=subprocess.PIPE).stdout:
        say("release: this folder differs from its last commit")


def build(machine):
    """Builds Kiln for a machine; returns the build folder."""
    folder = SOURCE / "build" / f"release-{machine}"
    run("cmake", "--preset", "release", "-B", folder, "--log-level=WARNING",
        "--toolchain", "cmake/toolchains/release.cmake", f"-DKILN_RELEASE_MACHINE={machine}",
        "-DKILN_BUILD_TESTS=OFF", "-DCMAKE_INSTALL_MESSAGE=NEVER", cwd=SOURCE, stdout=subprocess.DEVNULL)
    run("cmake", "--build", folder)
    return folder


class Release:
    """The files of one version, for the machines of `builds` (name to build folder).

    `systems` has a folder with each machine's C library, `libraries` what spdx.linked() returns.
    """

    def __init__(self, dist, builds, systems, libraries):
        self.dist, self.builds, self.systems, self.libraries = dist, builds, systems, libraries
        self.oldest = {}
        self.version = kiln_wheel.version()
        self.work = dist / "work"

    def make(self, apt_key, ndk, headers):
        """Makes all files.

        apt_key: name of gpg's key that signs the packages; None: nobody.
        ndk: folder of the Android NDK, and headers a folder whose include/ it takes; None: no maven/.
        """
        shutil.rmtree(self.dist, ignore_errors=True)
        self.work.mkdir(parents=True)
        for machine in self.builds:
            self.tarball(machine)
            self.wheel(machine)
        if os.uname().machine in self.builds:
            self.packages(self.builds[os.uname().machine])
            if apt_key:
                self.sign_packages(apt_key)
            else:
                say("apt/: not signed; sources.list: deb [trusted=yes] file:DIST/apt ./")
        self.image()
        if ndk:
            self.maven(ndk, headers)
        shutil.rmtree(self.work)
        self.papers()

    def papers(self):
        """Writes what the other files are made of, what changed, and their digests.

        The SPDX document leaves maven/ out: it does not know what the NDK brings into it.
        """
        files = sorted(path for path in self.dist.rglob("*")
                       if path.is_file() and self.dist / "maven" not in path.parents)
        (self.dist / f"kiln-{self.version}.spdx.json").write_text(
            spdx.document(self.version, files, self.libraries), encoding="utf-8")
        text = (SOURCE / "CHANGELOG.md").read_text(encoding="utf-8")
        section = re.search(rf"^## [^\n]*\b{re.escape(self.version)}\b.*?(?=^## |\Z)", text,
                            re.MULTILINE | re.DOTALL)
        if not section:
            sys.exit(f"release: CHANGELOG.md has no section of version {self.version}")
        (self.dist / "CHANGELOG.md").write_text(section[0].rstrip() + "\n", encoding="utf-8")
        sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(self.dist)}\n"
                for path in sorted(self.dist.rglob("*")) if path.is_file()]
        (self.dist / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")

    def sign(self, key):
        """Signs the digests; minisign asks for the key's password, if it has one."""
        run("minisign", "-S", "-s", key, "-t", f"kiln {self.version}", "-m",
            self.dist / "SHA256SUMS")
        say("verify in dist/: minisign -Vm SHA256SUMS -p PUBLIC_KEY && sha256sum -c SHA256SUMS")

    def tree(self, machine):
        """The folder with what is installed for the machine."""
        return self.work / f"kiln-{self.version}-{machine}-linux"

    def tarball(self, machine):
        """Installs into a folder and packs it."""
        tree = self.tree(machine)
        run("cmake", "--install", self.builds[machine], "--prefix", tree, "--strip",
            stdout=subprocess.DEVNULL)
        manual = tree / "share/man"
        if not manual.exists():  # it is made by running kiln, and is the same for each machine
            shutil.copytree(self.tree(MACHINES[0]) / "share/man", manual)
        (tree / "LICENSE").write_text(kiln_wheel.notices(), encoding="utf-8")
        for name in ("README.md", "CHANGELOG.md"):
            (tree / name).symlink_to(f"share/doc/kiln/{name}")
        foreign = needs.foreign_libraries(tree)
        if foreign:
            sys.exit("release: linked with a library of this system: "
                     + ", ".join(f"{path}: {library}" for path, library in foreign))
        oldest = needs.c_library(filter(needs.is_linked, tree.rglob("*")))
        self.oldest[machine] = oldest
        name = f"{tree.name}.tar.zst"
        self.pack(tree, self.dist / name)
        say(f"{name}: needs glibc {'.'.join(map(str, oldest))} or newer")

    def image(self):
        """Makes the container image of all machines."""
        layout = image.Layout(self.dist / "image")
        images = []
        for machine in self.builds:
            root = self.work / f"image-{machine}"
            root.mkdir()
            image.fill(root, self.tree(machine), self.systems[machine], machine)
            layer = run(*self.tar(root, "."), stdout=subprocess.PIPE).stdout
            images.append(layout.add_image(layer, machine))
        layout.finish(images, self.version)
        say(f"image/: skopeo copy --all oci:{self.dist}/image:{self.version} "
            f"docker://REGISTRY/kiln:{self.version}")

    def maven(self, ndk, headers):
        """Makes the AAR in a Maven repository, from which Gradle takes it."""
        run(sys.executable, "-B", SOURCE / "android/aar.py", "--ndk", ndk,
            "--dependencies", headers, "--maven", self.dist / "maven", stdout=subprocess.DEVNULL)
        say(f'maven/: implementation("kiln:kiln:{self.version}")')

    def wheel(self, machine):
        """Makes the Python wheel, for any system that its files can run on."""
        version = ".".join(map(str, self.oldest[machine])).replace(".", "_")
        name = kiln_wheel.build_wheel(self.dist, {
            "build-dir": self.builds[machine], "platform": f"manylinux_{version}_{machine}"})
        say(f"{name}: CPython 3.9 or newer")

    def packages(self, build_folder):
        """Makes the Debian packages, and a folder from which apt installs them."""
        made, apt = self.work / "packages", self.dist / "apt"
        run("cpack", "-G", "DEB", "--config", pathlib.Path(build_folder, "CPackConfig.cmake"),
            "-B", made, stdout=subprocess.DEVNULL)
        apt.mkdir()
        for package in sorted(made.glob("*.deb")):
            # CPack writes today's date; dpkg-deb writes that of the last commit.
            content = self.work / package.stem
            run("dpkg-deb", "-R", package, content)
            run("dpkg-deb", "--root-owner-group", "-Zxz", "--threads-max=1", "-b", content,
                apt / package.name, stdout=subprocess.DEVNULL)
        packages = run("apt-ftparchive", "packages", ".", cwd=apt, stdout=subprocess.PIPE).stdout
        (apt / "Packages").write_bytes(packages)
        fields = {"Origin": "Kiln", "Label": "Kiln", "Suite": "stable", "Codename": "kiln",
                  "Architectures": "amd64 all"}
        words = [f"-oAPT::FTPArchive::Release::{name}={value}" for name, value in fields.items()]
        release = run("apt-ftparchive", *words, "release", ".", cwd=apt,
                      stdout=subprocess.PIPE).stdout
        date = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))
        release = re.sub(rb"(?m)^Date: .*$", time.strftime("Date: %a, %d %b %Y %H:%M:%S +0000", date)
                         .encode(), release)  # apt-ftparchive writes the time
        (apt / "Release").write_bytes(release)

    def sign_packages(self, key):
        """Signs the repository of packages by gpg's key of that name."""
        apt = self.dist / "apt"
        gpg = ("gpg", "--batch", "--yes", "--local-user", key)
        run(*gpg, "--armor", "--detach-sign", "-o", apt / "Release.gpg", apt / "Release")
        run(*gpg, "--clearsign", "-o", apt / "InRelease", apt / "Release")
        run("gpg", "--batch", "--export", "-o", apt / "kiln.gpg", key)
        say("apt/: signed; sources.list: deb [signed-by=DIST/apt/kiln.gpg] file:DIST/apt ./")

    @staticmethod
    def tar(folder, name):
        """The command that packs a file or folder, with nothing of the user, the day or the machine."""
        return ("tar", "--format=gnu", "--sort=name", f"--mtime=@{os.environ['SOURCE_DATE_EPOCH']}",
                "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX",
                "-C", str(folder), "-c", name)

    def pack(self, folder, output):
        """Packs a folder."""
        with subprocess.Popen(self.tar(folder.parent, folder.name),
                              stdout=subprocess.PIPE) as packed:
            run("zstd", "-q", "-19", "--single-thread", "-o", output, stdin=packed.stdout)
        if packed.returncode:
            sys.exit(f"release: tar failed: {packed.returncode}")


def main():
    parser = argparse.ArgumentParser(prog="release.py", description=__doc__.splitlines()[0])
    parser.add_argument("dist", type=pathlib.Path)
    parser.add_argument("--key", metavar="FILE", type=pathlib.Path,
                        help="secret key of minisign that signs SHA256SUMS")
    parser.add_argument("--apt-key", metavar="NAME", help="gpg's key that signs apt/")
    parser.add_argument("--ndk", metavar="FOLDER", type=pathlib.Path,
                        help="the Android NDK, which builds maven/")
    options = parser.parse_args()
    set_date()
    os.umask(0o022)
    os.environ.update(LC_ALL="C.UTF-8", TZ="UTC")
    if options.key and not options.key.is_file():
        sys.exit(f"release: no such key: {options.key}")
    if options.ndk and not (options.ndk / "source.properties").is_file():
        sys.exit(f"release: no NDK: {options.ndk}")
    laboratory = pathlib.Path(run(sys.executable, "-B", SOURCE / "tests/lab/lab.py", "path",
                                  stdout=subprocess.PIPE, text=True).stdout.strip())
    builds = {machine: build(machine) for machine in MACHINES}
    systems = {machine: laboratory / f"bullseye-{image.GO[machine]}/sysroot" for machine in builds}
    release = Release(options.dist.resolve(), builds, systems, spdx.linked(laboratory))
    release.make(options.apt_key, options.ndk, laboratory / "bookworm-amd64/dev/usr")
    if options.key:
        release.sign(options.key.resolve())


if __name__ == "__main__":
    main()
