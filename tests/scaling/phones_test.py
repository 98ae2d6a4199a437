#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/operate/scaling/phones.sh and testspec.yml, and docs/use/android.md from a cable to a pack, with an
adb that stands for phones: no phone was here.

    phones_test.py KILN PHONE

PHONE is docs/operate/scaling/phone.cpp, built for this machine; it compiles with PoCL. Exit codes: 0
passed, 1 failed, 77 there is no PoCL.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import common

PHONE = Path(sys.argv[2]).resolve()
FARM = Path("/usr/bin/python3")  # the one with PyYAML
ANDROID = common.ROOT / "docs/use/android.md"
SAMPLE = common.ROOT / "android/sample/saxpy.cl"
SERIAL = "R5CT1234"  # the page's
STAND_IN = common.ROOT / "tests/android/stand_in_ndk"


class Phones(common.Scaling):
    """Phones by serial number, and an adb that reaches them."""

    def setUp(self):
        super().setUp()
        self.phones = self.folder / "attached"
        for serial in ("alpha", "beta"):
            (self.phones / serial).mkdir(parents=True)
        self.environment.update(OCL_ICD_VENDORS=str(common.POCL), PHONES=str(self.phones))
        (self.tools / "adb").symlink_to(common.HERE / "fake_adb.py")
        for name in ("phones.sh", "testspec.yml"):
            shutil.copy(common.RECIPES / name, self.folder)
        (self.folder / "phone").symlink_to(PHONE)

    def test_the_commands_are_these(self):
        self.run_command("sh", "phones.sh", "phone", "base.kiln", "overlays", "alpha")
        self.assertEqual((self.phones / "transcript").read_text(encoding="utf-8"), """\
adb -s alpha shell -n mkdir -p /data/local/tmp/kiln
adb -s alpha push phone /data/local/tmp/kiln/phone
adb -s alpha push base.kiln /data/local/tmp/kiln/base.kiln
adb -s alpha shell -n cd /data/local/tmp/kiln && chmod 700 phone && \
    LD_LIBRARY_PATH=/vendor/lib64 timeout 3600 ./phone base.kiln overlay
adb -s alpha pull /data/local/tmp/kiln/overlay overlays/alpha
""")

    def test_from_one_phone_on_a_cable_to_a_pack_in_an_application(self):
        (self.phones / SERIAL).mkdir()
        (self.folder / "kiln_phone").symlink_to(PHONE)
        shutil.copy(SAMPLE, self.folder)
        assets = self.folder / "app/src/main/assets"
        assets.mkdir(parents=True)
        self.run_command("sh", "-ec", common.block("overlay pack", page=ANDROID))
        self.assertEqual(self.binaries("fleet.kiln"), [1])
        report = json.loads(self.run_command("kiln", "explain", "saxpy", "--pack",
                                             assets / "app.kiln", "--json"))
        self.assertEqual(report["rung"], "exact")
        asked = (self.phones / "transcript").read_text(encoding="utf-8")
        shown = re.findall(r"^    (adb -s (?:.*&&\n)?.*)", ANDROID.read_text(encoding="utf-8"), re.M)
        self.assertEqual([line.split() for line in asked.splitlines()],
                         [["adb", "devices"], *(line.split() for line in shown)])

    def test_the_ndk_s_build_names_the_program_of_the_host(self):
        if shutil.which("clang-15") is None or not Path("/usr/aarch64-linux-gnu/include").is_dir():
            self.skipTest("clang-15 or g++-aarch64-linux-gnu is not here")
        shutil.copy(SAMPLE, self.folder)
        self.run_command("kiln", "compile", "saxpy.cl", "-o", "base.kiln")
        self.run_command("kiln", "build", "base.kiln", "-o", "fleet.kiln")
        (self.folder / "app.c").write_text('#include "kernels.h"\n'
                                           "const void *app = &kernels_data;\n", encoding="utf-8")
        calls = common.block("kiln_add_pack(", "cmake", ANDROID)
        calls = re.sub(r"^find_package.*\n", "", calls).replace("/usr/local/lib/cmake/kiln",
                                                                str(common.ROOT / "cmake"))
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.22)\nproject(app LANGUAGES C)\n"
            f"add_library(app STATIC app.c)\n{calls}", encoding="utf-8")
        command = common.block("-DKILN_HOST_TOOL", page=ANDROID)
        self.assertIn("/usr/local/bin/kiln ...", command)
        command = command.replace("/usr/local/bin/kiln ...", f"{common.KILN} -S . -B build -G Ninja "
                                  "-DANDROID_ABI=arm64-v8a -DANDROID_PLATFORM=android-24")
        self.run_command("sh", "-ec", command, ANDROID_NDK_HOME=str(STAND_IN))
        self.run_command("cmake", "--build", "build")
        self.assertEqual(self.binaries("build/kernels.kiln"), [1])
        said = self.run_command("readelf", "-h", "build/libapp.a")
        self.assertEqual(set(re.findall(r"Machine: +(.*)", said)), {"AArch64"})

    def test_clocks_are_held_up_where_that_is_asked_for(self):
        root = self.folder / "root"
        governor = root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
        governor.parent.mkdir(parents=True)
        governor.write_text("walt\n", encoding="utf-8")
        shutil.copy(common.RECIPES / "performance.sh", self.folder)
        program = self.folder / "measuring"
        program.write_text(f"#!/bin/sh\ncat {governor} >{self.folder}/seen\nmkdir -p overlay\n"
                           "exit 3\n", encoding="utf-8")
        self.environment.update(KILN_ROOT=str(root), KILN_STATE=str(self.folder / "state"),
                                KILN_ROOT_SHELL="sh -c")
        self.run_command("sh", "phones.sh", program, "base.kiln", "overlays", "alpha", code=1)
        self.assertEqual((self.folder / "seen").read_text(encoding="utf-8"), "performance\n")
        self.assertEqual(governor.read_text(encoding="utf-8"), "walt\n")
        script = "'sh /data/local/tmp/kiln/performance.sh"
        asked = (self.phones / "transcript").read_text(encoding="utf-8")
        self.assertEqual(asked.count(f"adb -s alpha shell -n sh -c {script} "), 2)
        # It vanishes while it measures: the next run puts back what was there before the first.
        (self.phones / "alpha" / "vanishes").write_text("6", encoding="utf-8")
        self.run_command("sh", "phones.sh", program, "base.kiln", "overlays", "alpha", code=1)
        self.assertEqual(governor.read_text(encoding="utf-8"), "performance\n")
        (self.phones / "alpha" / "vanishes").unlink()
        self.run_command("sh", "phones.sh", program, "base.kiln", "overlays", "alpha", code=1)
        self.assertEqual(governor.read_text(encoding="utf-8"), "walt\n")

    def test_a_phone_that_vanishes_costs_itself_alone_and_goes_on_later(self):
        (self.phones / "alpha" / "vanishes").write_text("3", encoding="utf-8")
        self.run_command("sh", "phones.sh", "phone", "base.kiln", "overlays", "alpha", "beta",
                         "none", code=1)
        for serial in ("alpha", "none"):
            self.assertIn(f"adb: device '{serial}' not found\nphones.sh: {serial}: failed",
                          self.said)
        self.assertEqual({path.name for path in (self.folder / "overlays").iterdir()}, {"beta"})
        (self.phones / "alpha" / "vanishes").unlink()
        self.run_command("sh", "-ec", common.block("adb devices"))
        self.run_command("sh", "-ec", common.block("overlay pack"))
        self.assertEqual(self.binaries("fleet.kiln"), [common.VARIANTS])
        self.assertEqual(self.run_command("kiln", "explain", "add.TWICE-int", "--pack",
                                          "fleet.kiln", "--json").count('"loaded"'), 1)

    def test_a_device_farm_gets_the_overlay_as_an_artifact(self):
        log = self.folder / "log"
        farm = {"DEVICEFARM_TEST_PACKAGE_PATH": str(self.folder), "DEVICEFARM_LOG_DIR": str(log),
                "DEVICEFARM_DEVICE_UDID": "beta"}
        specification = json.loads(self.run_command(
            FARM, "-c",
            "import json, yaml; print(json.dumps(yaml.safe_load(open('testspec.yml'))))"))
        self.assertEqual(specification["artifacts"], ["$DEVICEFARM_LOG_DIR"])
        for phase in specification["phases"].values():
            self.run_command("sh", "-ec", "\n".join(phase["commands"]), cwd="/", **farm)
        self.run_command("kiln", "overlay", "pack", log / "beta", "-o", "beta.kiln")
        self.assertEqual(self.binaries("beta.kiln"), [common.VARIANTS])


if __name__ == "__main__":
    if not common.POCL.exists():
        common.skip("PoCL is not here")
    if subprocess.run([FARM, "-c", "import yaml"], check=False, capture_output=True).returncode:
        common.skip("PyYAML is not here")
    common.main("timeout")
