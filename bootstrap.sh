#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and shows or tests Kiln. Debian 12, Ubuntu 22.04 and
# 24.04; as root or with sudo; again and again without harm.
set -euo pipefail
cd "$(dirname "$0")"

usage() {
  cat <<'USAGE'
usage: ./bootstrap.sh build | demo | quick | test | lab | check GROUP... | release | fresh COMMAND...

  build  install what is missing and build build/release/bin/kiln
  demo   build; make packs for the drivers of this system, run the case studies from
         them on a photograph, show what a start costs
  quick  build for development (preset dev) and run the quick tests
  test   build; test what an ordinary change can break, on Debian's own drivers
  lab    the same set-up; bring the laboratory (drivers of other Debian suites, about 750 MB once,
         kept in ~/.cache/kiln), test fleets, applications and packages
  check  the rest, in groups; `all` is each of them, `next` the one whose turn it is by the number of
         commits:
           applications  the layer under the applications that take longest, the fleet's page in Chromium
           clang         the runtime by Clang, each source by the preset for development, the AAR,
                         Kiln as a part of other projects
           develop       the commands that documents show to developers, each in a new Debian 12
           fuzz          mutated packs and overlays, generated programs, libFuzzer
           install       the commands that documents show to users, likewise
           kernels       every variant of the case studies, more sizes and drivers
           machines      the runtime on AArch64, 32-bit Arm and 32-bit x86
           release       what `release` makes, on Debian 11, 12 and 13
           sanitizers    addresses, undefined behaviour, threads; valgrind
           tidy          clang-tidy
           windows       the runtime and kiln.exe under Wine
  release [--key FILE] [--apt-key NAME] [--ndk FOLDER]
         make dist/: tarballs for x86_64 and aarch64, Debian packages, wheels and a container image that
         need only an old C library; the same commit is to give the same bytes. minisign
         signs by the secret key in FILE, gpg by its key NAME; the Android NDK in FOLDER builds a Maven
         repository with the AAR
  fresh [--ccache] [--laboratory] [--no-downloads] COMMAND...
         runs another command as root in a new Debian 12 where nothing is installed but git, on a clone of
         the last commit; prints what it installed, and how long each part took. With the compiler
         cache, the laboratory's files, and without the packages that apt fetched before
  packages
         no step: prints what each command installs

`test`, `lab` and `check` print a table of what ran. A skipped test is a failure, unless --allow-skips
follows the command's name: then a package that this system does not have is left out, too. Each command
prints the time that it and each of its steps took.

No GPU is needed: the drivers run on the processor.
USAGE
}

groups="kernels machines windows applications install clang fuzz sanitizers develop release tidy"  # in their turn

say() { printf '\n== %s\n' "$*"; }
die() { printf 'bootstrap: %s\n' "$*" >&2; exit 1; }

# What the commands install. tests/packages.txt says what each package is for, and the test `installs`
# fails when a list and that table differ.
# Programs that may also come from elsewhere : the package.
tools="cmake:cmake ninja:ninja-build g++:g++ python3:python3 flatc:flatbuffers-compiler help2man:help2man
       spirv-val:spirv-tools"
compilers="clang llvm-spirv"  # of one version, as clang-15 and llvm-spirv-15
libraries="libflatbuffers-dev libzstd-dev libxxhash-dev libsodium-dev libsqlite3-dev
           libtomlplusplus-dev libcli11-dev libfmt-dev nlohmann-json3-dev libstb-dev opencl-c-headers"
# What launches kernels, with what tests are written with.
drivers="ocl-icd-libopencl1 pocl-opencl-icd mesa-opencl-icd intel-opencl-icd catch2"
# What `quick` and `test` use besides, with an application that knows nothing of Kiln.
testing="bubblewrap ccache clang-format-14 clpeak curl doxygen groff-base jq minisign pkg-config
         python3-xxhash python3-yaml python3-zstandard strace"
laboratory="cargo oclgrind qemu-user-static g++-aarch64-linux-gnu debian-archive-keyring
            dpkg-dev file ocl-icd-opencl-dev python3-pip openjdk-17-jdk-headless"
# Applications that know nothing of Kiln, for the layer's tests, and what bundles them.
applications="python3-pyopencl python3-opencv libclblast-dev hashcat clinfo ffmpeg
              flatpak flatpak-builder elfutils dbus-daemon python3-setuptools python3-wheel"
# What delivers packs to devices, for its tests.
delivery="skopeo docker-registry openssl python3-kubernetes"
# What spreads builds over machines, ships reports and calls kiln fleet watch, for the tests of
# docs/operate/ scaling.md, harvest.md and watch.md.
engines="parallel slurm-wlm munge ansible-core openssh-server openssh-client faketime
         busybox mksh shellcheck rsync rsyslog rpm systemd"
# What makes a release, by one version of Clang on every machine.
releasing="apt-utils binutils bubblewrap clang-15 debian-archive-keyring dpkg-dev file git
           gpg gpg-agent lld-15 llvm-15 minisign zstd"
# Compilers for devices that are not there.
virtual="libclc-15 lld-15 rocm-device-libs"

# What a group of `check` uses besides the laboratory.
packages_of() {
  case "$1" in
    applications) echo chromium darktable ;;
    clang) echo gradle llvm-15; clang_runtime_packages ;;
    fuzz) echo libclang-15-dev llvm-15-dev; clang_runtime_packages ;;
    develop | install) echo mmdebstrap ;;
    machines) echo g++-i686-linux-gnu g++-arm-linux-gnueabihf ;;
    release) echo "$releasing" mmdebstrap ;;
    sanitizers) echo valgrind ;;
    tidy) echo clang-tidy-14 ;;
    windows) echo g++-mingw-w64-x86-64-posix wine64 ;;
  esac
}

# packages_for COMMAND [GROUP]: what a command installs, for `check` also what all of its groups use.
packages_for() {
  local entry
  [ "$1" != fresh ] || { echo mmdebstrap python3; return; }
  for entry in $tools; do echo "${entry##*:}"; done
  echo "$compilers $libraries"
  case "$1" in
    demo) echo "$drivers" ;;
    quick | test) echo "$drivers $testing" ;;
    lab) echo "$drivers $testing $laboratory $applications $delivery $virtual $engines" ;;
    check)
      echo "$drivers $testing $laboratory $applications $delivery $virtual"
      packages_of "${2:-}" ;;
    release) echo "$releasing" ;;
  esac
}

# A line for each command.
print_packages() {
  local command
  for command in build demo quick test lab release fresh; do
    # shellcheck disable=SC2046
    echo "$command:" $(packages_for "$command")
  done
  # shellcheck disable=SC2046
  for command in $groups; do echo "check $command:" $(packages_for check "$command"); done
}

installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }

# Whether the program of the package is here, wherever it came from.
have_tool() {
  local entry
  for entry in $tools; do
    [ "${entry##*:}" != "$1" ] || { command -v "${entry%%:*}" >/dev/null; return; }
  done
  return 1
}

missing_packages() {
  local package
  for package; do
    case "$package" in
      clang | llvm-spirv) have_clang || echo "$package" ;;
      *) have_tool "$package" || installed "$package" || echo "$package" ;;
    esac
  done
}

# Clang and llvm-spirv must have the same major version.
have_clang() {
  local n
  for n in 20 19 18 17 16 15 14 13 12 11; do
    command -v "clang-$n" >/dev/null && command -v "llvm-spirv-$n" >/dev/null && return 0
  done
  return 1
}

clang_packages() {
  local n
  for n in 15 18 17 16 14 19; do
    if apt-cache show "clang-$n" >/dev/null 2>&1 &&
      apt-cache show "llvm-spirv-$n" >/dev/null 2>&1; then
      echo "clang-$n llvm-spirv-$n"
      return 0
    fi
  done
  die "no clang-N and llvm-spirv-N of one version among this system's packages"
}

# libFuzzer and the sanitizers of that Clang, where they are a package of their own.
clang_runtime_packages() {
  local n
  for n in 20 19 18 17 16 15 14; do
    command -v "clang++-$n" >/dev/null || continue
    [ -n "$(find "/usr/lib/llvm-$n/lib/clang/" -name 'libclang_rt.fuzzer*' 2>/dev/null)" ] ||
      echo "libclang-rt-$n-dev"
    return 0
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else die "needs root or sudo for: $*"; fi
}

# known PACKAGE...: those that this system has.
known() {
  local package
  for package; do
    if apt-cache show "$package" >/dev/null 2>&1; then echo "$package"
    else echo "bootstrap: this system has no package $package" >&2; fi
  done
}

install_packages() {
  local packages log start=$SECONDS
  packages=$(missing_packages "$@" | tr '\n' ' ')
  [ -n "${packages// /}" ] || return 0
  command -v apt-get >/dev/null || die "no apt-get here; install by hand: $packages"
  say "Installing: $packages"
  as_root apt-get -o APT::Update::Error-Mode=any update -q >/dev/null || die "the package lists cannot be fetched: is this machine offline?"
  case " $packages" in
    *" $compilers "*) packages="${packages/$compilers/} $(clang_packages)" ;;
  esac
  # shellcheck disable=SC2086
  [ -z "$allow_skips" ] || packages=$(known $packages | tr '\n' ' ')
  log=$(mktemp)
  # shellcheck disable=SC2086
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
    $packages >"$log" 2>&1 ||
    { cat "$log" >&2; rm -f "$log"; die "cannot install: $packages"; }
  rm -f "$log"
  steps+="packages $((SECONDS - start))"$'\n'
}

# The tests start daemons of their own: those of the packages are neither started nor enabled.
install_engines() {
  local policy=/usr/sbin/policy-rc.d made='' units='' entry
  # shellcheck disable=SC2086
  [ -n "$(missing_packages $engines)" ] || return 0
  for entry in openssh-server:ssh munge:munge slurmctld:slurmctld slurmd:slurmd \
      rsyslog:rsyslog; do
    installed "${entry%%:*}" || units+="${entry##*:} "
  done
  if [ ! -e $policy ]; then
    made=yes
    trap 'as_root rm -f /usr/sbin/policy-rc.d' EXIT
    printf '#!/bin/sh\nexit 101\n' | as_root tee $policy >/dev/null
    as_root chmod 755 $policy
  fi
  # shellcheck disable=SC2086
  install_packages $engines
  if [ -n "$made" ]; then
    as_root rm -f $policy
    trap - EXIT
  fi
  for entry in $units; do as_root systemctl --quiet disable "$entry" 2>/dev/null || true; done
}

steps=   # "WHAT SECONDS" of each step, a line each
tested=  # the build folders whose tests ran

# took COMMAND: how long each step took, and the command.
took() {
  local what seconds
  printf '%s' "$steps$1 $SECONDS"$'\n' | while read -r what seconds; do
    printf '%s took %d min %02d s\n' "$what" $((seconds / 60)) $((seconds % 60))
  done
}

# fetch_laboratory GROUP...: also what only these groups of `check` use.
fetch_laboratory() {
  local name start=$SECONDS
  say "Fetching the laboratory (cached)"
  python3 tests/lab/lab.py fetch
  for name; do python3 tests/lab/lab.py fetch --check "$name"; done
  KILN_ARM64_ROOT=$(python3 tests/lab/lab.py path bookworm-arm64/dev)
  export KILN_ARM64_ROOT
  steps+="laboratory $((SECONDS - start))"$'\n'
}

# Several tests build parts of Kiln again, which the compiler cache makes cheap. What it does not have
# it compiles without running the preprocessor before.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
cached="-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache"

# build PRESET OPTIONS...; with `targets` set, these alone.
build() {
  local preset=$1 start=$SECONDS
  shift
  say "Building (preset $preset)"
  cmake --preset "$preset" "$@" --log-level=WARNING
  # shellcheck disable=SC2086
  cmake --build --preset "$preset" ${targets:+--target $targets}
  steps+="build-$preset $((SECONDS - start))"$'\n'
}

# run_tests PRESET NAME CTEST-OPTIONS...: what ctest records goes to build/PRESET/tests/results.
run_tests() {
  local preset=$1 name=$2 start=$SECONDS result=0
  shift 2
  case " $tested " in
    *" build/$preset "*) ;;
    *) tested+=" build/$preset"; rm -rf "build/$preset/tests/results" ;;
  esac
  say "Testing (preset $preset, $name)"
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error \
    --output-junit "tests/results/$name.xml" "$@" || result=1
  steps+="test-$preset-$name $((SECONDS - start))"$'\n'
  return $result
}

# make_release OPTIONS...: builds for Debian 11's C library, and makes dist/.
make_release() {
  say "Fetching the libraries of a release (cached)"
  python3 tests/lab/lab.py fetch --check release
  python3 tests/lab/lab.py fetch bookworm-arm64  # whose libraries `lab` uses, too
  say "Making dist/"
  python3 -B cmake/release/release.py dist "$@"
}

# group NAME: builds and runs a group of `check`.
group() {
  local name=$1 preset
  case "$name" in
    clang) build dev; build clang; run_tests clang quick -L quick || return 1 ;;
    sanitizers)
      for preset in asan-runtime tsan-runtime; do
        build $preset
        run_tests $preset quick -L quick || return 1
      done ;;
    fuzz) build fuzz; run_tests fuzz fuzz -L fuzz || return 1 ;;
    develop | install | release)  # whose tests need nothing that is built otherwise
      [ "$name" != release ] || make_release
      cmake --preset release -DKILN_BUILD_TESTS=ON --log-level=WARNING
      run_tests release "$name" -L "^$name\$"
      return ;;
    tidy)  # reads each source alone, and nothing that is built
      cmake --preset dev --log-level=WARNING
      run_tests dev tidy -L tidy
      return ;;
  esac
  # shellcheck disable=SC2086
  targets="all lab_programs checks" build release -DKILN_BUILD_TESTS=ON $cached
  run_tests release "$name" -L "^$name\$" -j "$jobs"
}

# finish COMMAND FAILED: ends with the table of what ran, whose last line names what failed or was
# skipped. A skipped test counts as failed, since this script installed what every test needs.
finish() {
  local command=$1 failed=$2
  say "What ran"
  took "$command"
  echo
  # shellcheck disable=SC2086
  python3 -B tests/support/summary.py ${allow_skips:+--allow-skips} $tested || exit 1
  [ -z "$failed" ] || die "tests failed"
}

jobs=$(($(nproc) + 2))  # some tests wait most of their time
failed=
allow_skips=
if [ "${2:-}" = --allow-skips ]; then
  allow_skips=yes
  set -- "$1" "${@:3}"
fi

# shellcheck disable=SC2046
case "${1:-}" in
  build)
    install_packages $(packages_for build)
    build release -DKILN_BUILD_TESTS=OFF
    say "Built: build/release/bin/kiln"
    took build
    ;;
  demo)
    install_packages $(packages_for demo)
    targets="kiln kiln_layer kiln_case_references kiln_startup" build release -DKILN_BUILD_TESTS=ON
    python3 tests/bench/demo.py --kiln build/release/bin/kiln --work build/demo
    took demo
    ;;
  quick)
    install_packages $(packages_for quick)
    build dev
    run_tests dev quick -L quick -j $(($(nproc) + 1)) || failed=yes
    took quick
    [ -z "$failed" ] || die "tests failed"
    ;;
  test)
    install_packages $(packages_for test)
    # shellcheck disable=SC2086
    build release -DKILN_BUILD_TESTS=ON $cached
    run_tests release test -L '^(quick|test)$' -j "$jobs" || failed=yes
    finish test "$failed"
    ;;
  lab)
    install_engines
    install_packages $(packages_for lab)
    fetch_laboratory
    # shellcheck disable=SC2086
    targets="all lab_programs bench" build release -DKILN_BUILD_TESTS=ON $cached
    # shellcheck disable=SC2086
    targets="kiln kiln_case_references" build aarch64 -DKILN_BUILD_TESTS=OFF -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DKILN_QUICK_BUILD=ON $cached
    run_tests release lab -L '^lab$' -j "$jobs" || failed=yes
    say "The laboratory: targets of the fleet's pack"
    cat build/release/tests/lab/fleet/summary.txt || failed=yes
    finish lab "$failed"
    ;;
  check)
    shift
    wanted=$*
    case "$wanted" in
      all) wanted=$groups ;;
      next)
        # shellcheck disable=SC2086
        set -- $groups
        shift $(($(git rev-list --count HEAD) % $#))
        wanted=$1 ;;
    esac
    [ -n "$wanted" ] || { usage >&2; exit 2; }
    for name in $wanted; do
      case " $groups " in
        *" $name "*) ;;
        *) die "check has no group $name: expected some of $groups, or all" ;;
      esac
    done
    install_packages $(packages_for check)
    for name in $wanted; do install_packages $(packages_of "$name"); done
    # shellcheck disable=SC2086
    fetch_laboratory $wanted
    for name in $wanted; do
      start=$SECONDS
      group "$name" || failed=yes
      steps+="check-$name $((SECONDS - start))"$'\n'
    done
    finish check "$failed"
    ;;
  release)
    shift
    case " $*" in *" --ndk"*) releasing+=" openjdk-17-jdk-headless" ;; esac
    install_packages $(packages_for release)
    make_release "$@"
    took release
    ;;
  fresh)
    shift
    (as_root true && install_packages $(packages_for fresh)) || exit 69  # no such Debian can be made
    as_root env HOME="$HOME" python3 -B tests/lab/fresh.py "$@"
    ;;
  packages)
    print_packages
    ;;
  -h | --help | help)
    usage
    ;;
  *)
    usage >&2
    exit 2
    ;;
esac
