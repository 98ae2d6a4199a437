#include "builder/launch/workbench.hpp"

namespace kiln::builder {

std::string Workbench::open(const DeviceInfo &info, const std::string &pack_path,
                            const kiln::LoaderOptions &options) {
  std::string error = child.open(info);
  if (error.empty()) error = take(kiln::OpenCL::open(), &opencl);
  if (error.empty()) error = take(opencl.device_from_cl(child.device->id), &device);
  if (error.empty()) error = take(kiln::Pack::open_file(pack_path), &pack);
  if (error.empty()) error = take(kiln::Loader::create(device, pack, options), &loader);
  if (error.empty()) error = take(kiln::Queue::create(loader), &queue);
  if (!error.empty()) return error;
  std::shared_ptr<const packs::Pack> file;
  packs::Status status = packs::Pack::open_file(pack_path.c_str(), &file);
  if (status.ok()) status = packs::read_contents(file, &contents);
  return status.ok() ? std::string() : "the pack changed while it was in use";
}

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
