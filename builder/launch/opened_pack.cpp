// SPDX-License-Identifier: Apache-2.0
#include "builder/launch/opened_pack.hpp"

namespace kiln::builder {

Status OpenedPack::open(const DeviceInfo &info, const std::string &pack_path,
                        const kiln::LoaderOptions &options) {
  Status status = child.open(info);
  if (status.ok()) status = take(kiln::OpenCL::open(), &opencl);
  if (status.ok()) status = take(opencl.device_from_cl(child.device->id), &device);
  if (status.ok()) status = take(kiln::Pack::open_file(pack_path), &pack);
  if (status.ok()) status = take(kiln::Loader::create(device, pack, options), &loader);
  if (status.ok()) status = take(kiln::Queue::create(loader), &queue);
  if (!status.ok()) return status;
  std::shared_ptr<const packs::Pack> file;
  status = packs::Pack::open_file(pack_path.c_str(), &file);
  if (status.ok()) status = packs::read_contents(file, &contents);
  return status.ok() ? status : pack_changed();
}

Status pack_changed() { return {Code::failed, "the pack changed while it was in use"}; }

const packs::Program *find_program(const packs::Contents &contents, const std::string &name) {
  for (const packs::Program &program : contents.programs) {
    if (program.name == name) return &program;
  }
  return nullptr;
}

const packs::Variant *find_variant(const packs::Program &program, const std::string &name) {
  for (const packs::Variant &variant : program.variants) {
    if (variant.name == name) return &variant;
  }
  return nullptr;
}

}  // namespace kiln::builder
