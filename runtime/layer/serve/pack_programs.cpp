// SPDX-License-Identifier: Apache-2.0
// Opens the packs that the settings name, and loads a program from the first that fits, or a cached
// program from the overlay.
#include "runtime/layer/serve/pack_programs.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "kiln/packs/linked_source.hpp"
#include "kiln/packs/pack_folder.hpp"
#include "kiln/packs/text.hpp"
#include "runtime/layer/base/build_report.hpp"
#include "runtime/layer/base/settings.hpp"
#include "runtime/layer/record/launches.hpp"
#include "runtime/layer/record/record.hpp"
#include "runtime/layer/serve/signed_packs.hpp"
#include "runtime/source/whole_program.hpp"

namespace kiln::layer {
namespace {

// Each pack holds a file open, and an application may need most of its 1,024 files itself.
constexpr std::size_t kMaxPacks = 256;

struct ServedPack {
  std::string path;  // empty: of a shared overlay
  kiln_pack *pack;
};

void add_pack(const std::string &path, std::vector<ServedPack> *packs) {
  kiln_error error{};
  if (packs->size() >= kMaxPacks) {
    complain_once("there are over " + std::to_string(kMaxPacks) + " packs, and " + path +
                  " and those after it are not used: kiln pack merge joins packs");
    return;
  }
  kiln_pack *pack = nullptr;
  if (kiln_pack_open_file(path.c_str(), &pack, &error) == KILN_OK) {
    packs->push_back({path, pack});
  } else {
    complain(std::string(error.message) + (settings().require == Require::nothing
                                               ? "; its programs are built as without Kiln"
                                               : "; it is not used"));
  }
}

// Opens the packs at the first program; they stay open until the process ends. Opens a pack again
// if the application has closed its descriptor.
std::vector<kiln_pack *> all_packs() {
  static std::mutex &mutex = *new std::mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  static std::vector<ServedPack> &opened = *[] {
    auto *packs = new std::vector<ServedPack>;
    for (const std::string &path : settings().packs) {
      std::vector<std::string> files;
      if (const packs::Status s = packs::packs_at(path, &files); !s.ok()) complain(s.message);
      for (const std::string &file : files) add_pack(file, packs);
    }
    for (const auto &pack : signed_packs()) packs->push_back({"", new kiln_pack{pack}});
    return packs;
  }();
  std::vector<kiln_pack *> packs;
  for (ServedPack &served : opened) {
    kiln_pack *again = nullptr;  // the other one may be in use
    if (!served.path.empty() && served.pack->pack->is_lost() &&
        kiln_pack_open_file(served.path.c_str(), &again, nullptr) == KILN_OK) {
      served.pack = again;
    }
    packs.push_back(served.pack);
  }
  return packs;
}

// Returns the device's own binary of a variant, or none.
packs::BinaryRef binary_of(const kiln_pack &pack, const kiln_device &device,
                           packs::VariantRef variant) {
  packs::TargetRef target;
  const std::string key = device.device->description.key.text();
  if (!pack.pack->find_target(key, &target).ok() || !target) return {};
  return target.find_binary(variant.hash());
}

// Returns whether it is linked of compiled programs: then it is loaded as a binary or not at all.
bool is_link(const packs::VariantRef &variant) {
  const std::string_view begin = source::kLinkedVariant;
  return variant.name().substr(0, begin.size()) == begin;
}

struct Found {
  kiln_pack *pack = nullptr;  // null: no pack has the program
  std::string variant;        // empty: any that can be loaded
};

// Returns the first pack with a binary of the program for this device, else the first with the
// program in a form that can be compiled.
Found find_pack(const std::string &name, const kiln_device &device) {
  Found first;
  for (kiln_pack *pack : all_packs()) {
    packs::ProgramRef program;
    if (!pack->pack->find_program(name, &program).ok()) {
      if (first.pack == nullptr) first.pack = pack;  // the load says what is wrong with it
      continue;
    }
    if (!program) continue;
    bool is_compilable = true;
    for (const packs::VariantRef variant : program.variants()) {
      if (binary_of(*pack, device, variant)) return {pack, std::string(variant.name())};
      is_compilable = is_compilable && !is_link(variant);
    }
    if (first.pack == nullptr && is_compilable) first.pack = pack;
  }
  return first;
}

using PartOf = std::multimap<std::string, std::string>;  // a part's name, and the link's

void add_parts(const packs::Pack &pack, const packs::ProgramRef &program, PartOf *links) {
  for (const packs::VariantRef variant : program.variants()) {
    packs::Bytes scratch;
    packs::View text;
    if (!is_link(variant) || variant.source() == 0 ||
        !pack.read_blob(pack.blob(variant.source()), &scratch, &text).ok()) {
      continue;
    }
    std::vector<packs::LinkedPart> parts;
    const std::string_view all(reinterpret_cast<const char *>(text.data), text.size);
    if (!packs::read_linked_source(all, &parts)) continue;
    for (const packs::LinkedPart &part : parts) {
      links->emplace(source::program_name(part.source, part.options), program.name());
    }
  }
}

// Reads the texts of all links in the packs at the first call, when an application compiles a
// program that it will link.
const PartOf &packed_links() {
  static const PartOf &links = *[] {
    auto *found = new PartOf;
    for (const kiln_pack *pack : all_packs()) {
      packs::ProgramRefs programs;
      if (!pack->pack->programs(&programs).ok()) continue;
      for (const packs::ProgramRef program : programs) {
        add_parts(*pack->pack, program, found);
      }
    }
    return found;
  }();
  return links;
}

// Returns whether a pack has a binary for the device of a link that the program is a part of.
bool is_packed_part(const std::string &name, const kiln_device &device) {
  const auto [begin, end] = packed_links().equal_range(name);
  return std::any_of(begin, end, [&](const auto &link) {
    return !find_pack(link.second, device).variant.empty();
  });
}

// Returns whether `holds` is true for all devices.
template <typename Holds>
bool hold(const Devices &devices, const Holds &holds) {
  if (next_opencl() == nullptr) return false;
  for (const cl_device_id id : devices) {
    kiln_device *device = nullptr;
    if (find_device(id, &device, nullptr) != KILN_OK || !holds(*device)) return false;
  }
  return true;
}

// Tells why nothing was loaded from the rungs that were tried.
std::string misses(const runtime::Report &report) {
  std::string text;
  for (const runtime::RungResult &result : report.rungs) {
    if (result.outcome == KILN_OUTCOME_SKIPPED || result.reason.empty()) continue;
    if (!text.empty()) text += "; ";
    text += packs::concat({runtime::rung_name(result.rung), ": ", result.reason});
  }
  return text;
}

// Tells why no binary was loaded, if the program was compiled.
void explain(const runtime::Report &report, Served *served) {
  if (!runtime::is_compiled(served->rung)) return;
  served->miss = settings().rung.empty() ? misses(report) : "forced to " + settings().rung;
  runtime::append_nearest(report, &served->nearest);
}

// Gives a loader the overlay that all loaders of its device share.
constexpr kiln_overlay_part kDeviceOverlay{
    [](const kiln_loader_options &, runtime::Loader *loader) {
      const DeviceOverlay &shared = overlay_of(*loader->device);
      loader->persistence = shared.overlay;
      if (!shared.status.ok()) loader->no_overlay += ": " + shared.status.message;
    }};

// Returns a loader for the pack in the application's context; null, with `*why`, if there is none.
kiln_loader *open_loader(kiln_pack *pack, kiln_device *device, cl_context context,
                         std::string *why) {
  kiln_error error{};
  kiln_loader_options options = {};
  options.size = sizeof(options);
  options.context = context;
  if (!settings().overlay.empty()) {
    options.overlay = settings().overlay.c_str();
    options.overlay_part = &kDeviceOverlay;
  }
  kiln_loader *loader = nullptr;
  if (kiln_loader_create(device, pack, &options, &loader, &error) != KILN_OK) *why = error.message;
  return loader;
}

// An application's source is compiled by way of IL only if KILN_RUNG says so; its IL always is.
unsigned flags_for(const kiln_pack &pack, const std::string &name) {
  packs::ProgramRef program;
  (void)pack.pack->find_program(name, &program);
  const bool is_il =
      program && program.variants().size() != 0 && program.variants()[0].source() == 0;
  unsigned flags = settings().above_rung;
  if (!is_il && settings().rung != "il") flags |= KILN_LOAD_NO_IL;
  if (settings().require != Require::nothing) flags |= KILN_LOAD_NO_SOURCE;
  if (settings().require == Require::exact) flags |= KILN_LOAD_REQUIRE_EXACT;
  if (settings().require == Require::final) flags |= KILN_LOAD_REQUIRE_FINAL;
  return flags;
}

// Returns whether the program would be compiled, and fills in why.
bool would_compile(const std::string &name, const Found &found, kiln_device *device,
                   cl_context context, Served *served) {
  kiln_loader *loader = open_loader(found.pack, device, context, &served->reason);
  if (loader == nullptr) return false;
  const runtime::LoadResult result =
      loader->programs.load(name, found.variant, flags_for(*found.pack, name) | runtime::kDryRun);
  kiln_loader_release(loader);
  served->rung = runtime::rung_name(result.report->rung);
  explain(*result.report, served);
  return result.error.ok() && runtime::is_compiled(served->rung);
}

// Returns whether the driver does not list a kernel of `names`, which are the variant's: the
// application alone creates kernels.
bool lacks_kernel(cl_program program, const std::vector<std::string> &names) {
  const auto listed = runtime::kernel_names(next_table(), program);
  const std::set<std::string> has(listed.begin(), listed.end());
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string &name) { return has.count(name) == 0; });
}

// Loads the program, and its binary unless `bytes` is null.
Served load(const std::string &name, const Found &found, kiln_device *device, cl_context context,
            packs::Bytes *bytes) {
  Served served;
  kiln_loader *loader = open_loader(found.pack, device, context, &served.reason);
  if (loader == nullptr) return served;
  const runtime::LoadResult result = loader->programs.load(
      name, found.variant, flags_for(*found.pack, name) | runtime::kWithoutKernels);
  packs::Status status = result.error;
  if (status.ok()) {
    for (const packs::KernelRef kernel : result.program->variant.kernels()) {
      served.kernels.emplace_back(kernel.name());
    }
  }
  if (status.ok() && lacks_kernel(result.program->built.program.get(), served.kernels)) {
    status = packs::Status::error(packs::Code::failed, "the driver lost a kernel of its binary");
  }
  if (status.ok()) {
    served.program = result.program->built.program.get();
    next.clRetainProgram(served.program);
    launches().set_program(served.program, "");  // the driver may reuse a handle
    served.rung = runtime::rung_name(result.report->rung);
    explain(*result.report, &served);
    // Without Kiln, the driver would compile the same text and launch the same code.
    if (!runtime::is_compiled(served.rung)) served.unlaunched = Unlaunched::of(*result.program);
    served.options = runtime::binary_options(*device->device, result.program->variant.options());
    if (settings().tuned) {
      served.tuned = {found.pack, device, name, std::string(result.program->variant.name())};
    }
    served.logs.resize(1);
    if (result.report->rung == KILN_RUNG_EXACT) {
      const packs::BinaryRef binary = binary_of(*found.pack, *device, result.program->variant);
      if (binary) served.logs[0] = binary.provenance.build_log();
    }
  }
  if (status.ok() && bytes != nullptr) {
    status =
        runtime::ask_for_binary(*loader->loader, result.program->variant, served.program, bytes);
  }
  if (!status.ok()) {
    if (settings().require != Require::nothing && !result.error.ok()) {
      served.reason = misses(*result.report);
    }
    if (served.reason.empty()) served.reason = status.message;
    runtime::append_nearest(*result.report, &served.nearest);
  }
  kiln_loader_release(loader);
  return served;
}

Served serve_one(const std::string &name, cl_context context, cl_device_id id,
                 packs::Bytes *bytes) {
  Served served;
  kiln_error error{};
  kiln_device *device = nullptr;
  if (find_device(id, &device, &error) != KILN_OK) {
    served.reason = error.message;
    return served;
  }
  const Found found = find_pack(name, *device);
  CachedProgram cached;
  if (found.variant.empty()) cached = open_cached_program(name, *device);
  if (cached.pack == nullptr) {
    if (found.pack != nullptr) {
      // The overlay's binary is made in another process, from what the driver builds for the
      // application.
      const bool is_noted = found.variant.empty() && bytes == nullptr &&
                            !settings().overlay.empty() &&
                            would_compile(name, found, device, context, &served);
      if (!is_noted) return load(name, found, device, context, bytes);
      served.rung.clear();
      served.is_unknown = true;
      served.reason = std::move(served.miss);
      return served;
    }
    served.is_unknown = true;
    served.reason = missing_text(name, *device);
    return served;
  }
  served = load(name, {cached.pack, ""}, device, context, bytes);
  kiln_pack_release(cached.pack);
  packs::Bytes binary;
  const bool loaded = served.program != nullptr && !runtime::is_compiled(served.rung);
  if (!loaded && !cached.binary->read(&binary).ok()) {
    if (served.program != nullptr) next.clReleaseProgram(served.program);
    served = {};
    served.is_unknown = true;  // so that it is cached again
    served.reason = "the overlay's file is damaged";
    return served;
  }
  served.launches = std::move(cached.launches);
  served.tuned = {};  // the pack is closed
  return served;
}

// The log of one device's load, and the binary that the driver then reports.
struct Loaded {
  std::uint64_t key = 0;  // hash of the device's binary key
  std::string log;
  packs::Bytes bytes;
  const char *options = nullptr;
};

// Loads for each device; devices with the same key share a binary. Returns the result of the last
// load, without a program.
Served load_each(const std::string &name, cl_context context, const Devices &devices,
                 std::vector<Loaded> *each) {
  Served served;
  Served worst;
  for (const cl_device_id id : devices) {
    kiln_device *device = nullptr;
    (void)find_device(id, &device, nullptr);  // can_serve() found it
    const std::uint64_t key = device->device->key().hash();
    const auto same = std::find_if(each->begin(), each->end(),
                                   [key](const Loaded &other) { return other.key == key; });
    if (same != each->end()) {
      each->push_back(Loaded(*same));
      continue;
    }
    Loaded loaded{key, "", {}, nullptr};
    served = serve_one(name, context, id, &loaded.bytes);
    if (served.program != nullptr) next.clReleaseProgram(served.program);
    served.program = nullptr;
    if (!served.reason.empty()) break;
    if (worst.rung.empty() || runtime::is_compiled(served.rung)) worst = served;
    loaded.log = served.logs[0];
    loaded.options = served.options;
    each->push_back(std::move(loaded));
  }
  served.rung = worst.rung;
  served.miss = worst.miss;
  served.nearest = worst.nearest;
  return served;
}

// Makes one program from the binaries. The driver took each of them alone before, behind the
// overlay's markers. Returns null if the driver refuses them together.
cl_program program_of_binaries(cl_context context, const Devices &devices,
                               const std::vector<Loaded> &each) {
  std::vector<std::size_t> sizes;
  std::vector<const unsigned char *> places;
  for (const Loaded &loaded : each) {
    sizes.push_back(loaded.bytes.size());
    places.push_back(loaded.bytes.data());
  }
  const auto count = static_cast<cl_uint>(devices.size());
  std::vector<cl_int> statuses(count, CL_SUCCESS);
  cl_int code = CL_SUCCESS;
  const cl_program made = next.clCreateProgramWithBinary(
      context, count, devices.data(), sizes.data(), places.data(), statuses.data(), &code);
  if (made == nullptr) return nullptr;
  const bool good =
      code == CL_SUCCESS &&
      std::all_of(statuses.begin(), statuses.end(), [](cl_int s) { return s == CL_SUCCESS; }) &&
      next.clBuildProgram(made, count, devices.data(), each[0].options, nullptr, nullptr) ==
          CL_SUCCESS;
  if (good) return made;
  next.clReleaseProgram(made);
  return nullptr;
}

Served serve_several(const std::string &name, cl_context context, const Devices &devices) {
  Served served;
  served.is_unknown = !can_serve(name, devices);
  if (served.is_unknown) {
    served.reason = "no pack has it for each device";
    return served;
  }
  std::vector<Loaded> each;
  served = load_each(name, context, devices, &each);
  if (!served.reason.empty()) return served;
  served.program = program_of_binaries(context, devices, each);
  if (served.program == nullptr) {
    served.reason = "the driver does not take the binaries of its devices together";
    return served;
  }
  launches().set_program(served.program, "");  // the driver may reuse a handle
  served.tuned = {};
  served.unlaunched = nullptr;
  served.logs.clear();
  for (Loaded &loaded : each) served.logs.push_back(std::move(loaded.log));
  served.launches = {};
  return served;
}

}  // namespace

Served serve_program(const std::string &name, cl_context context, const Devices &devices) {
  if (next_opencl() == nullptr) {
    Served none;
    none.reason = "the ICD loader is too old";
    return none;
  }
  return devices.size() == 1 ? serve_one(name, context, devices[0], nullptr)
                             : serve_several(name, context, devices);
}

bool can_serve(const std::string &name, const Devices &devices) {
  return hold(devices, [&](const kiln_device &device) {
    return !find_pack(name, device).variant.empty() || is_cached(name, device);
  });
}

bool can_serve_link_of(const std::string &name, const Devices &devices) {
  return hold(devices, [&](const kiln_device &device) {
    return is_part(name, device) || is_packed_part(name, device);
  });
}

}  // namespace kiln::layer
