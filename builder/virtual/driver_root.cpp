// SPDX-License-Identifier: Apache-2.0
// Reads ICD files, the headers of drivers, and C libraries.
#include "builder/virtual/driver_root.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <fstream>

#include <elf.h>
#include <gnu/libc-version.h>

#include <fmt/format.h>

#include "builder/base/whole_file.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;

constexpr char kVendors[] = "etc/OpenCL/vendors";
// Library folders of Debian and Ubuntu, of Intel's own packages, and of others; this program's
// architecture first.
constexpr const char *kLibraryFolders[] = {
#ifdef __aarch64__
    "usr/lib/aarch64-linux-gnu",
    "lib/aarch64-linux-gnu",
    "usr/lib/x86_64-linux-gnu",
    "lib/x86_64-linux-gnu",
#else
    "usr/lib/x86_64-linux-gnu",
    "lib/x86_64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
    "lib/aarch64-linux-gnu",
#endif
    "usr/lib64",
    "lib64",
    "usr/lib",
    "lib",
    "usr/local/lib"};
#ifdef __aarch64__
constexpr char kLoader[] = "ld-linux-aarch64.so.1";
#else
constexpr char kLoader[] = "ld-linux-x86-64.so.2";
#endif

bool is_present(const fs::path &path) {
  std::error_code error;
  return fs::exists(path, error);
}

// Returns the architecture of a 64-bit ELF file; 0 for any other file.
unsigned machine_of(std::string_view file) {
  if (file.size() < sizeof(Elf64_Ehdr) || !file.starts_with(ELFMAG)) return 0;
  if (file[EI_CLASS] != ELFCLASS64) return 0;
  const auto byte = [&](std::size_t i) -> unsigned { return static_cast<unsigned char>(file[i]); };
  constexpr std::size_t kMachine = offsetof(Elf64_Ehdr, e_machine);
  return byte(kMachine) | byte(kMachine + 1) << 8U;
}

// Returns the path that an ICD file of the root names; empty if it is no driver of that name.
fs::path library_of(const fs::path &icd, const fs::path &root, std::string_view begins,
                    const std::vector<fs::path> &folders) {
  std::ifstream file = open_file(icd);
  std::string line;
  std::getline(file, line);
  const fs::path named = line.substr(0, line.find_last_not_of(" \t\r") + 1);
  if (!named.filename().string().starts_with(begins)) return {};
  if (named.is_absolute()) return root / named.relative_path();
  const fs::path found = find_in(folders, named.string());
  return found.empty() ? named : found;
}

unsigned own_glibc() {
  return glibc_version(fmt::format("release version {}.", gnu_get_libc_version()));
}

// Returns the bytes of a file, none if it cannot be read.
std::string text_of(const fs::path &path) { return read_whole_file(path).value_or(""); }

// Fails if the library does not exist or is of another architecture than the program.
Status check_library(const fs::path &library, const std::string &file, const fs::path &program) {
  if (file.empty()) {
    return {Code::no_device, library.string() + ": an ICD file names it, and it is not there"};
  }
  const unsigned machine = machine_of(file);
  if (machine == machine_of(text_of(program))) return {};
  const std::string whose = program == kThisProgram ? "this program" : program.string();
  return {Code::no_device,
          library.string() + (machine == 0 ? ": no shared library of 64 bits"
                                           : ": of another architecture than " + whose)};
}

}  // namespace

Result<fs::path> canonical_root(const fs::path &root) {
  std::error_code error;
  fs::path whole = fs::canonical(root, error);
  if (error || !fs::is_directory(whole, error)) {
    return Status(Code::bad_argument, root.string() + ": no such folder");
  }
  if (whole.string().find_first_of(":;") == std::string::npos) return whole;
  return Status(Code::bad_argument, whole.string() +
                                        ": a path with a colon or semicolon cannot "
                                        "be handed to the dynamic loader");
}

std::vector<fs::path> library_folders(const fs::path &root) {
  std::vector<fs::path> folders;
  for (const char *name : kLibraryFolders) {
    if (is_present(root / name)) folders.push_back(root / name);
  }
  return folders;
}

fs::path find_in(const std::vector<fs::path> &folders, std::string_view name) {
  for (const fs::path &folder : folders) {
    if (is_present(folder / name)) return folder / name;
  }
  return {};
}

std::string icd_files(const fs::path &root) { return (root / kVendors / "*.icd").string(); }

std::string emulator_of(const fs::path &program) {
  const unsigned machine = machine_of(text_of(program));
  if (machine == machine_of(text_of(kThisProgram))) return {};
  return machine == EM_AARCH64  ? "qemu-aarch64-static"
         : machine == EM_X86_64 ? "qemu-x86_64-static"
                                : "qemu-user";
}

Result<std::vector<DriverFile>> find_drivers(const fs::path &root, std::string_view begins,
                                             const fs::path &program) {
  std::error_code error;
  std::vector<fs::path> icds;
  for (const auto &entry : fs::directory_iterator(root / kVendors, error)) {
    if (entry.path().extension() == ".icd") icds.push_back(entry.path());
  }
  std::sort(icds.begin(), icds.end());
  const std::vector<fs::path> folders = library_folders(root);
  std::vector<DriverFile> drivers;
  for (const fs::path &icd : icds) {
    const fs::path library = library_of(icd, root, begins, folders);
    if (library.empty()) continue;
    std::string file = text_of(library);
    if (Status s = check_library(library, file, program); !s.ok()) return s;
    drivers.push_back({library, std::move(file)});
  }
  return drivers;
}

bool has_earlier_libc(const std::vector<fs::path> &folders) {
  const fs::path libc = find_in(folders, "libc.so.6");
  return !libc.empty() && glibc_version(text_of(libc)) < own_glibc();
}

Result<fs::path> loader_of(const fs::path &root, const std::vector<fs::path> &folders) {
  const fs::path libc = find_in(folders, "libc.so.6");
  if (libc.empty() || glibc_version(text_of(libc)) <= own_glibc()) return fs::path();
  fs::path loader = find_in(folders, kLoader);
  if (!loader.empty()) return loader;
  return Status(Code::no_device,
                fmt::format("{}: its C library is later than this machine's, and it has no {}",
                            root.string(), kLoader));
}

unsigned glibc_version(std::string_view file) {
  constexpr std::string_view kBefore = "release version ";
  const std::size_t place = file.find(kBefore);
  if (place == std::string_view::npos) return 0;
  const char *const end = file.data() + file.size();
  unsigned major = 0, minor = 0;
  const auto first = std::from_chars(file.data() + place + kBefore.size(), end, major);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') return 0;
  if (std::from_chars(first.ptr + 1, end, minor).ec != std::errc()) return 0;
  return major * 1000 + minor;
}

bool has_string(std::string_view file, std::string_view text) {
  const std::string whole = '\0' + std::string(text) + '\0';
  return file.find(whole) != std::string_view::npos;
}

}  // namespace kiln::builder
