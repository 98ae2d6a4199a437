// SPDX-License-Identifier: Apache-2.0
// Finds the products that drivers know, and sets the environment of Intel's driver.
#include "builder/virtual/neo.hpp"

#include <algorithm>
#include <fstream>

#include <dlfcn.h>
#include <gnu/libc-version.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "builder/virtual/driver_root.hpp"
#include "builder/virtual/posing_device.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;
// Libraries that must match the dynamic loader, and compiler libraries that later programs need.
constexpr const char *kSystemLibraries[] = {
    "libc.so.6",      "libm.so.6",         "libdl.so.2",      "libpthread.so.0",
    "librt.so.1",     "libutil.so.1",      "libmvec.so.1",    "libresolv.so.2",
    "libanl.so.1",    "libnss_files.so.2", "libnss_dns.so.2", "libthread_db.so.1",
    "libstdc++.so.6", "libgcc_s.so.1"};
// Libraries that the driver opens if they exist, and that decide which extensions it reports: the
// machine's own must not count.
constexpr const char *kOptionalLibraries[] = {"libva.so.2", "libigdml.so", "libigdml.so.1"};

bool is_there(const fs::path &path) {
  std::error_code error;
  return fs::exists(path, error);
}

// Returns the products that a driver knows: it has their names as strings.
std::vector<std::string> known_products(std::string_view library) {
  std::vector<std::string> known;
  for (const std::string &name : neo_products()) {
    if (has_string(library, name)) known.push_back(name);
  }
  return known;
}

Result<std::vector<NeoDriver>> find_in_root(const fs::path &root, bool is_own) {
  const auto files = find_drivers(root, "libigdrcl");
  if (!files.ok()) return files.status();
  std::vector<NeoDriver> drivers;
  for (const DriverFile &file : *files) {
    NeoDriver driver{file.library, known_products(file.bytes)};
    if (!is_own) {
      driver.folders = library_folders(root);
      if (Status s = loader_of(root, driver.folders).move_to(&driver.loader); !s.ok()) return s;
    }
    drivers.push_back(std::move(driver));
  }
  if (!drivers.empty()) return drivers;
  return Status(Code::no_device,
                fmt::format("no file {} names a driver of Intel's GPUs, as their package "
                            "intel-opencl-icd has it",
                            icd_files(root)));
}

// Links this process's system libraries, which replace a root's earlier ones.
void link_system_libraries(const fs::path &folder) {
  Dl_info libc{};
  if (dladdr(reinterpret_cast<const void *>(&gnu_get_libc_version), &libc) == 0) return;
  const fs::path own = fs::path(libc.dli_fname).parent_path();
  std::error_code ignored;
  for (const char *name : kSystemLibraries) {
    if (is_there(own / name)) fs::create_symlink(own / name, folder / name, ignored);
  }
}

// Returns the stepping to set; null for the driver's own choice. With stepping 0 of Tiger Lake,
// which was never sold, a driver reports one more workaround.
const char *stepping_of(const std::string &product) { return product == "tgllp" ? "1" : nullptr; }

Status unknown_product(const std::vector<NeoDriver> &drivers) {
  std::string known;
  for (const NeoDriver &driver : drivers) {
    known +=
        fmt::format("{}{} knows {}", known.empty() ? "" : "; ", driver.library.string(),
                    driver.products.empty() ? "no product that Kiln knows"
                                            : fmt::format("{}", fmt::join(driver.products, ", ")));
  }
  return {Code::no_device, "this driver does not know it: " + known};
}

}  // namespace

Result<DeviceInfo> neo_device(const std::vector<NeoDriver> &drivers, const std::string &product) {
  const auto driver = std::find_if(drivers.begin(), drivers.end(), [&](const NeoDriver &d) {
    return std::find(d.products.begin(), d.products.end(), product) != d.products.end();
  });
  if (driver == drivers.end()) return unknown_product(drivers);
  auto place = NeoPlace::make(*driver);
  if (!place.ok()) return place.status();
  const auto shared = std::make_shared<const NeoPlace>(*std::move(place));
  return posing_device({"neo:" + product, product, kNeoFinisher,
                        [=](std::vector<std::string> arguments, const std::string &) {
                          return shared->request(product, std::move(arguments));
                        },
                        ""});
}

const std::vector<std::string> &neo_products() {
  static const std::vector<std::string> names = {
      "bdw",       "skl",   "kbl", "cfl",  "bxt",  "glk",  "icllp", "ehl",
      "lkf",       "tgllp", "rkl", "adls", "adlp", "adln", "dg1",   "dg2",
      "xe_hp_sdv", "pvc",   "mtl", "arl",  "lnl",  "bmg",  "ptl"};
  return names;
}

Result<std::vector<NeoDriver>> find_neo_drivers(const fs::path &root) {
  if (root.empty()) return find_in_root("/", true);
  const auto whole = canonical_root(root);
  return whole.ok() ? find_in_root(*whole, false) : whole.status();
}

Result<NeoPlace> NeoPlace::make(const NeoDriver &driver) {
  auto folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.status();
  const fs::path place = folder->path();
  std::error_code error;
  fs::create_directories(place / "vendors", error);
  fs::create_directories(place / "system", error);
  std::ofstream icd(place / "vendors" / "driver.icd");
  icd << driver.library.string() << '\n';
  icd.close();
  if (!icd) return Status(Code::failed, "cannot write to " + place.string());
  if (driver.loader.empty()) link_system_libraries(place / "system");
  for (const char *name : kOptionalLibraries) {  // an empty file cannot be opened as a library
    if (find_in(driver.folders, name).empty()) std::ofstream(place / "system" / name).flush();
  }
  return NeoPlace(driver, *std::move(folder));
}

ProcessRequest NeoPlace::request(const std::string &product,
                                 std::vector<std::string> arguments) const {
  std::error_code error;
  ProcessRequest request;
  request.program = fs::read_symlink("/proc/self/exe", error);
  if (!driver_.loader.empty()) {
    arguments.insert(arguments.begin(), request.program.string());
    request.program = driver_.loader;
  }
  request.arguments = std::move(arguments);
  request.environment = {{"OCL_ICD_VENDORS", folder_.path() + "/vendors"},
                         {"OCL_ICD_FILENAMES", std::nullopt},
                         {"OPENCL_LAYERS", std::nullopt},
                         {"NEOReadDebugKeys", "1"},
                         {"SetCommandStreamReceiver", "1"},
                         {"ProductFamilyOverride", product},
                         {"AUBDumpCaptureFileName", "/dev/null"},
                         {"NEO_CACHE_PERSISTENT", "0"}};
  if (const char *stepping = stepping_of(product); stepping != nullptr) {
    request.environment.emplace_back("OverrideRevision", stepping);
  }
  if (driver_.folders.empty()) return request;
  std::vector<std::string> path{folder_.path() + "/system"};
  for (const fs::path &folder : driver_.folders) path.push_back(folder.string());
  request.environment.emplace_back("LD_LIBRARY_PATH", fmt::format("{}", fmt::join(path, ":")));
  return request;
}

}  // namespace kiln::builder
