// SPDX-License-Identifier: Apache-2.0
// Reads ICD files, drivers and C libraries, sets the environment of Intel's driver, and runs jobs
// in it.
#include "builder/virtual/neo.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>

#include <dlfcn.h>
#include <elf.h>
#include <gnu/libc-version.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "builder/virtual/tool_files.hpp"
#include "kiln/packs/writer.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::chrono::milliseconds kListTimeout{90'000};  // longer than the list takes to give up

constexpr char kVendors[] = "etc/OpenCL/vendors";
// Library folders of Debian and Ubuntu, of Intel's own packages, and of others.
constexpr const char *kLibraryFolders[] = {"usr/lib/x86_64-linux-gnu",
                                           "lib/x86_64-linux-gnu",
                                           "usr/lib64",
                                           "lib64",
                                           "usr/lib",
                                           "lib",
                                           "usr/local/lib"};
constexpr char kLoader[] = "ld-linux-x86-64.so.2";
// Libraries that must match the dynamic loader, and compiler libraries that later programs need.
constexpr const char *kSystemLibraries[] = {
    "libc.so.6",      "libm.so.6",         "libdl.so.2",      "libpthread.so.0",
    "librt.so.1",     "libutil.so.1",      "libmvec.so.1",    "libresolv.so.2",
    "libanl.so.1",    "libnss_files.so.2", "libnss_dns.so.2", "libthread_db.so.1",
    "libstdc++.so.6", "libgcc_s.so.1"};
// Libraries that the driver opens if they exist, and that decide which extensions it reports: the
// machine's own must not count.
constexpr const char *kOptionalLibraries[] = {"libva.so.2", "libigdml.so", "libigdml.so.1"};

std::string read_whole(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool is_there(const fs::path &path) {
  std::error_code error;
  return fs::exists(path, error);
}

// Returns the architecture of a 64-bit ELF file; 0 for any other file.
unsigned machine_of(std::string_view file) {
  if (file.size() < sizeof(Elf64_Ehdr) || !file.starts_with(ELFMAG)) return 0;
  if (file[EI_CLASS] != ELFCLASS64) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(file[i]); };
  constexpr std::size_t kMachine = offsetof(Elf64_Ehdr, e_machine);
  return byte(kMachine) | byte(kMachine + 1) << 8U;
}

// Returns the products that a driver knows: it has their names as strings.
std::vector<std::string> known_products(std::string_view library) {
  std::vector<std::string> known;
  for (const std::string &name : neo_products()) {
    const std::string in_library = '\0' + name + '\0';
    if (library.find(in_library) != std::string_view::npos) known.push_back(name);
  }
  return known;
}

// Returns the path that an ICD file of the root names; empty if it is no driver of Intel's GPUs.
fs::path library_of(const fs::path &icd, const fs::path &root,
                    const std::vector<fs::path> &folders) {
  std::ifstream file(icd);
  std::string line;
  std::getline(file, line);
  const fs::path named = line.substr(0, line.find_last_not_of(" \t\r") + 1);
  if (!named.filename().string().starts_with("libigdrcl")) return {};
  if (named.is_absolute()) return root / named.relative_path();
  for (const fs::path &folder : folders) {
    if (is_there(folder / named)) return folder / named;
  }
  return named;
}

std::vector<fs::path> library_folders(const fs::path &root) {
  std::vector<fs::path> folders;
  for (const char *name : kLibraryFolders) {
    if (is_there(root / name)) folders.push_back(root / name);
  }
  return folders;
}

fs::path find_in(const std::vector<fs::path> &folders, const char *name) {
  for (const fs::path &folder : folders) {
    if (is_there(folder / name)) return folder / name;
  }
  return {};
}

unsigned own_glibc() {
  return glibc_version(fmt::format("release version {}.", gnu_get_libc_version()));
}

// Returns the root's dynamic loader, if programs of this machine need it for the root's libraries.
Result<fs::path> loader_of(const fs::path &root, const std::vector<fs::path> &folders) {
  const fs::path libc = find_in(folders, "libc.so.6");
  if (libc.empty() || glibc_version(read_whole(libc)) <= own_glibc()) return fs::path();
  fs::path loader = find_in(folders, kLoader);
  if (!loader.empty()) return loader;
  return Status(Code::no_device,
                fmt::format("{}: its C library is later than this machine's, and it has no {}",
                            root.string(), kLoader));
}

// Opens a driver. Fails if the library does not exist or cannot run here.
Result<NeoDriver> open_driver(const fs::path &library) {
  const std::string file = read_whole(library);
  if (file.empty()) {
    return Status(Code::no_device,
                  library.string() + ": an ICD file names it, and it is not there");
  }
  const unsigned machine = machine_of(file);
  if (machine == machine_of(read_whole("/proc/self/exe"))) {
    return NeoDriver{library, known_products(file)};
  }
  return Status(Code::no_device,
                library.string() + (machine == 0 ? ": no shared library of 64 bits"
                                                 : ": of another architecture than this program"));
}

Result<std::vector<NeoDriver>> find_in_root(const fs::path &root, bool is_own) {
  std::error_code error;
  std::vector<fs::path> icds;
  for (const auto &entry : fs::directory_iterator(root / kVendors, error)) {
    if (entry.path().extension() == ".icd") icds.push_back(entry.path());
  }
  std::sort(icds.begin(), icds.end());
  const std::vector<fs::path> folders = library_folders(root);
  std::vector<NeoDriver> drivers;
  for (const fs::path &icd : icds) {
    const fs::path library = library_of(icd, root, folders);
    if (library.empty()) continue;
    auto driver = open_driver(library);
    if (!driver.ok()) return driver.status();
    if (!is_own) {
      if (Status s = loader_of(root, folders).move_to(&driver->loader); !s.ok()) return s;
      driver->folders = folders;
    }
    drivers.push_back(*std::move(driver));
  }
  if (!drivers.empty()) return drivers;
  return Status(Code::no_device,
                fmt::format("no file {} names a driver of Intel's GPUs, as their package "
                            "intel-opencl-icd has it",
                            (root / kVendors / "*.icd").string()));
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

// Returns what another process of this program wrote on standard error, without the program's name.
std::string last_words(const ProcessResult &result) {
  std::string text = result.err;
  if (text.starts_with("kiln: ")) text.erase(0, 6);
  text.erase(text.find_last_not_of('\n') + 1);
  return text.empty() ? result.reason : text;
}

Code code_from(const std::string &name) {
  for (int code = 0; code < static_cast<int>(Code::failed); ++code) {
    if (name == packs::code_name(static_cast<Code>(code))) return static_cast<Code>(code);
  }
  return Code::failed;
}

// Returns the end of a build's only job, from the build's events.
Result<json> end_of_job(const ProcessResult &built) {
  std::istringstream lines(built.out);
  for (std::string line; std::getline(lines, line);) {
    json event = json::parse(line, nullptr, false);
    if (!event.is_object()) break;
    const std::string what = event.value("event", "");
    if (what == "done") return event;
    if (what == "failed") {
      return Status(code_from(event.value("code", "")), event.value("cl_error", 0),
                    event.value("reason", ""));
    }
  }
  return Status(Code::process, "its build ended with " + last_words(built));
}

class NeoDevice final : public VirtualDevice {
 public:
  NeoDevice(std::shared_ptr<const NeoPlace> place, std::string product, std::string key)
      : place_(std::move(place)), product_(std::move(product)), key_(std::move(key)) {}

  const std::string &name() const override { return name_; }
  const std::string &finisher() const override { return finisher_; }
  const std::string &driver() const override { return driver_; }

  Result<Made> compile(const packs::Variant &variant, const CallLimits &limits,
                       bool finish) const override {
    const auto folder = ToolFolder::make();
    if (!folder.ok()) return folder.status();
    packs::Contents base;
    base.programs = {{variant.name, "", {variant}}};
    base.programs[0].variants[0].requirements.clear();  // the plan has checked them
    const std::string input = folder->path("base.kiln"), output = folder->path("made.kiln");
    if (Status s = packs::write_pack(base, input, {}); !s.ok()) return s;
    // No device computes results that could be compared.
    std::vector<std::string> arguments = {
        "build",
        input,
        "-o",
        output,
        "--events",
        "-",
        "--jobs",
        "1",
        "--store",
        "none",
        "--no-check",
        "--memory",
        std::to_string(limits.memory),
        "--timeout",
        fmt::format("{}", static_cast<double>(limits.timeout.count()) / 1000)};
    if (!finish) arguments.emplace_back("--no-finish");
    ProcessRequest request = place_->request(product_, std::move(arguments));
    request.limits = 20 * limits.timeout + kListTimeout;  // the process limits its own steps
    const auto end = end_of_job(run_tool(request));
    if (!end.ok()) return end.status();
    auto made = take(output);
    if (!made.ok()) return made;
    made->build_microseconds = end->value("build_microseconds", std::uint64_t{0});
    made->load_microseconds = end->value("load_microseconds", std::uint64_t{0});
    return made;
  }

 private:
  // Reads the binary of a pack with one binary.
  Result<Made> take(const std::string &path) const {
    std::shared_ptr<const packs::Pack> pack;
    packs::Contents contents;
    if (Status s = packs::Pack::open_file(path.c_str(), &pack); !s.ok()) return s;
    if (Status s = packs::read_contents(pack, &contents); !s.ok()) return s;
    const auto &targets = contents.targets;
    if (targets.size() != 1 || targets[0].key != key_ || targets[0].binaries.size() != 1) {
      return Status(Code::no_device, "the driver is no longer the one that was listed");
    }
    const packs::Binary &binary = targets[0].binaries[0];
    Made made{{}, binary.build_log, binary.finish, binary.kernels};
    if (Status s = binary.blob.read(&made.binary); !s.ok()) return s;
    mark(&made.finish);
    return made;
  }

  // Puts the way the binary was made before the finisher, and says that no device launched it.
  void mark(packs::Finish *finish) const {
    const bool alone = finish->finisher.empty() || finish->finisher.starts_with(", ");
    finish->finisher =
        fmt::format("{} as {}{}{}", finisher_, product_, alone ? "" : ", ", finish->finisher);
    finish->finality = packs::Finality::not_launched;
    finish->proof.clear();
    finish->unproven.clear();
    finish->why_not = "loaded by its driver without hardware";
  }

  const std::shared_ptr<const NeoPlace> place_;
  const std::string product_, key_;
  const std::string name_ = "neo:" + product_;
  const std::string finisher_ = kNeoFinisher;
  const std::string driver_;  // any: its version is in the key
};

}  // namespace

Result<DeviceInfo> neo_device(const std::vector<NeoDriver> &drivers, const std::string &product) {
  const auto driver = std::find_if(drivers.begin(), drivers.end(), [&](const NeoDriver &d) {
    return std::find(d.products.begin(), d.products.end(), product) != d.products.end();
  });
  if (driver == drivers.end()) return unknown_product(drivers);
  auto place = NeoPlace::make(*driver);
  if (!place.ok()) return place.status();
  ProcessRequest request = place->request(product, {"devices", "--json"});
  request.limits = kListTimeout;
  const ProcessResult listed = run_tool(request);
  if (!listed.ok()) return Status(Code::no_device, last_words(listed));
  const json answer = json::parse(listed.out, nullptr, false);
  if (answer.is_discarded() || answer.value("devices", json::array()).size() != 1) {
    return Status(Code::no_device, "the driver does not report one device");
  }
  DeviceInfo info;
  info.identity = identity_from(answer["devices"][0]["identity"]);
  info.description = runtime::describe(info.identity);
  info.capabilities = answer["devices"][0]["capabilities"];
  info.capabilities.profile = info.description.profile;
  info.virtual_device = std::make_shared<NeoDevice>(
      std::make_shared<const NeoPlace>(*std::move(place)), product, info.description.key.text());
  return info;
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

const std::vector<std::string> &neo_products() {
  static const std::vector<std::string> names = {
      "bdw",       "skl",   "kbl", "cfl",  "bxt",  "glk",  "icllp", "ehl",
      "lkf",       "tgllp", "rkl", "adls", "adlp", "adln", "dg1",   "dg2",
      "xe_hp_sdv", "pvc",   "mtl", "arl",  "lnl",  "bmg",  "ptl"};
  return names;
}

Result<std::vector<NeoDriver>> find_neo_drivers(const fs::path &root) {
  if (root.empty()) return find_in_root("/", true);
  std::error_code error;
  const fs::path whole = fs::canonical(root, error);
  if (error || !fs::is_directory(whole, error)) {
    return Status(Code::bad_argument, root.string() + ": no such folder");
  }
  if (whole.string().find_first_of(":;") != std::string::npos) {
    return Status(Code::bad_argument, whole.string() +
                                          ": a path with a colon or semicolon cannot "
                                          "be handed to the dynamic loader");
  }
  return find_in_root(whole, false);
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
