#!/usr/bin/env bash
# Installs what is missing, builds, and shows or tests Kiln. Debian 12, Ubuntu 22.04 and
# 24.04; as root or with sudo; again and again without harm.
set -euo pipefail
cd "$(dirname "$0")"

usage() {
  cat <<'USAGE'
usage: ./bootstrap.sh build | demo | test

  build  install what is missing and build build/release/bin/kiln
  demo   build; make packs for the drivers of this system, run the case studies from
         them on a photograph, show what a start costs
  test   build; bring the laboratory (drivers of other Debian suites, about 600 MB once,
         kept in ~/.cache/kiln) and run every test

No GPU is needed: the drivers run on the processor.
USAGE
}

say() { printf '\n== %s\n' "$*"; }
die() { printf 'bootstrap: %s\n' "$*" >&2; exit 1; }

# Name of a file that a package brings : the package.
tools="cmake:cmake ninja:ninja-build g++:g++ pkg-config:pkg-config python3:python3
       flatc:flatbuffers-compiler spirv-val:spirv-tools"
libraries="libflatbuffers-dev libzstd-dev libxxhash-dev libsodium-dev
           libtomlplusplus-dev libcli11-dev libfmt-dev nlohmann-json3-dev libstb-dev catch2
           opencl-c-headers"
drivers="ocl-icd-libopencl1 pocl-opencl-icd mesa-opencl-icd intel-opencl-icd bubblewrap"
laboratory="oclgrind qemu-user-static g++-aarch64-linux-gnu debian-archive-keyring
            strace valgrind chromium doxygen"

installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }

missing_packages() {
  local entry package
  for entry in $tools; do
    command -v "${entry%%:*}" >/dev/null || echo "${entry##*:}"
  done
  for package in "$@"; do installed "$package" || echo "$package"; done
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

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else die "needs root or sudo for: $*"; fi
}

install_packages() {
  local packages
  packages=$(missing_packages "$@" | tr '\n' ' ')
  if [ -z "${packages// /}" ] && have_clang; then return 0; fi
  command -v apt-get >/dev/null || die "no apt-get here; install by hand: $packages clang llvm-spirv"
  say "Installing: ${packages}and a clang with its llvm-spirv"
  as_root apt-get -o APT::Update::Error-Mode=any update -q >/dev/null || die "the package lists cannot be fetched: is this machine offline?"
  have_clang || packages="$packages $(clang_packages)"
  local log
  log=$(mktemp)
  # shellcheck disable=SC2086
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
    $packages >"$log" 2>&1 ||
    { cat "$log" >&2; rm -f "$log"; die "cannot install: $packages"; }
  rm -f "$log"
}

build() {
  local preset=$1
  shift
  say "Building (preset $preset)"
  cmake --preset "$preset" "$@" --log-level=WARNING
  cmake --build --preset "$preset"
}

# Runs ctest with these options; a skipped test counts as failed, since this script
# installed what every test needs.
run_tests() {
  local log=build/release/tests.log
  ctest --preset all "$@" | tee "$log" || return 1
  ! grep -q 'Skipped' "$log" || { echo "a test was skipped; its output says why" >&2; return 1; }
}

case "${1:-}" in
  build)
    install_packages $libraries
    build release -DKILN_BUILD_TESTS=OFF
    say "Built: build/release/bin/kiln"
    ;;
  demo)
    install_packages $libraries $drivers
    build release -DKILN_BUILD_TESTS=OFF
    exec python3 tests/bench/demo.py --kiln build/release/bin/kiln --work build/demo
    ;;
  test)
    install_packages $libraries $drivers $laboratory
    say "Fetching the laboratory (cached)"
    python3 tests/lab/lab.py fetch
    KILN_ARM64_ROOT=$(python3 tests/lab/lab.py path bookworm-arm64/dev)
    export KILN_ARM64_ROOT
    build release -DKILN_BUILD_TESTS=ON
    build aarch64 -DKILN_BUILD_TESTS=OFF
    say "Testing on the laboratory's devices"
    failed=
    run_tests -L lab || failed=yes
    say "The laboratory: targets of the fleet's pack"
    cat build/release/tests/lab/fleet/summary.txt || failed=yes
    say "Testing"
    run_tests -LE lab || failed=yes
    [ -z "$failed" ] || die "tests failed"
    ;;
  -h | --help | help) usage ;;
  *)
    usage >&2
    exit 2
    ;;
esac
