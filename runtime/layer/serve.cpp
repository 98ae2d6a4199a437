// SPDX-License-Identifier: Apache-2.0
#include "runtime/layer/serve.hpp"

#include <filesystem>

#include "kiln/packs/pack_folder.hpp"
#include "runtime/layer/devices.hpp"
#include "runtime/layer/launches.hpp"
#include "runtime/layer/record.hpp"
#include "runtime/layer/settings.hpp"

namespace kiln::layer {
namespace {

namespace fs = std::filesystem;

// Each holds a file open, of which an application may have 1,024 and need most itself.
constexpr std::size_t kMostPacks = 256;

void open_pack(const std::string &path, std::vector<kiln_pack *> *packs) {
  kiln_error error{};
  if (packs->size() >= kMostPacks) {
    complain_once("there are over " + std::to_string(kMostPacks) + " packs, and " + path +
                  " and those after it are not used: kiln merge joins packs");
    return;
  }
  kiln_pack *pack = nullptr;
  if (kiln_pack_open_file(path.c_str(), &pack, &error) == KILN_OK) {
    packs->push_back(pack);
  } else {
    complain(std::string(error.message) + "; its programs are built as without Kiln");
  }
}

// Opened at the first program and kept to the end of the process.
const std::vector<kiln_pack *> &all_packs() {
  static const std::vector<kiln_pack *> &opened = *[] {
    auto *packs = new std::vector<kiln_pack *>;
    for (const std::string &path : settings().packs) {
      std::error_code error;
      if (!fs::is_directory(path, error)) {
        open_pack(path, packs);
        continue;
      }
      std::vector<std::string> files;
      if (const packs::Status s = packs::packs_in(path, &files); !s.ok()) complain(s.message);
      for (const std::string &file : files) open_pack(file, packs);
    }
    return packs;
  }();
  return opened;
}

// The device's own binary of a variant, or none.
packs::BinaryRef binary_of(const kiln_pack &pack, const kiln_device &device,
                           packs::VariantRef variant) {
  packs::TargetRef target;
  const std::string key = device.device->description.key.text();
  if (!pack.pack->find_target(key, &target).ok() || !target) return {};
  return target.find_binary(variant.hash());
}

struct Found {
  kiln_pack *pack = nullptr;  // null: no pack has the program
  std::string variant;        // empty: whichever can be loaded
};

// The first pack with a binary of the program for this device, else the first with the program.
Found find_pack(const std::string &name, const kiln_device &device) {
  Found first;
  for (kiln_pack *pack : all_packs()) {
    const packs::ProgramRef program = pack->pack->find_program(name);
    if (!program) continue;
    if (first.pack == nullptr) first.pack = pack;
    for (const packs::VariantRef variant : program.variants()) {
      if (binary_of(*pack, device, variant)) return {pack, std::string(variant.name())};
    }
  }
  return first;
}

Served load(const std::string &name, const Found &found, kiln_device *device, cl_context context) {
  Served served;
  kiln_error error{};
  kiln_loader_options options = {};
  options.size = sizeof(options);
  options.context = context;
  if (!settings().overlay.empty()) options.overlay = settings().overlay.c_str();
  kiln_loader *loader = nullptr;
  if (kiln_loader_create(device, found.pack, &options, &loader, &error) != KILN_OK) {
    served.reason = error.message;
    return served;
  }
  // An application's source is not compiled by way of IL; its IL is.
  const packs::VariantRefs variants = found.pack->pack->find_program(name).variants();
  const bool is_il = variants.size() != 0 && variants[0].source() == 0;
  const runtime::LoadResult result =
      loader->programs.load(name, found.variant, is_il ? 0 : KILN_LOAD_NO_IL);
  if (result.error.ok()) {
    served.program = result.program->built.program.get();
    next.clRetainProgram(served.program);
    launches().set_program(served.program, "");  // it may have the handle of another
    served.rung = runtime::rung_name(result.report->rung);
    if (result.report->rung == KILN_RUNG_EXACT) {
      const packs::BinaryRef binary = binary_of(*found.pack, *device, result.program->variant);
      if (binary) served.log = binary.provenance.build_log();
    }
  } else {
    served.reason = result.error.message;
  }
  kiln_loader_release(loader);
  return served;
}

}  // namespace

Served serve_program(const std::string &name, cl_context context, cl_device_id id) {
  Served served;
  if (next_opencl() == nullptr) {
    served.reason = "the ICD loader is too old";
    return served;
  }
  kiln_error error{};
  kiln_device *device = nullptr;
  if (find_device(id, &device, &error) != KILN_OK) {
    served.reason = error.message;
    return served;
  }
  const Found found = find_pack(name, *device);
  if (found.pack != nullptr) return load(name, found, device, context);
  Kept kept = open_kept(name, *device);
  if (kept.pack == nullptr) {
    served.is_unknown = true;
    served.reason = "no pack has it";
    return served;
  }
  served = load(name, {kept.pack, ""}, device, context);
  served.kept = std::move(kept.file);
  kiln_pack_release(kept.pack);
  return served;
}

bool can_serve(const std::string &name, cl_device_id id) {
  kiln_device *device = nullptr;
  if (next_opencl() == nullptr || find_device(id, &device, nullptr) != KILN_OK) return false;
  return !find_pack(name, *device).variant.empty() || is_kept(name, *device);
}

}  // namespace kiln::layer
