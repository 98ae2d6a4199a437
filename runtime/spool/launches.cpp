// SPDX-License-Identifier: Apache-2.0
// Follows kernels, their arguments and references, to see which launches are new.
#include "runtime/spool/launches.hpp"

#include <cstring>

#include "kiln/packs/contents.hpp"

namespace kiln::layer {
namespace {

using Lock = std::lock_guard<std::mutex>;

cl_uint argument_count(cl_kernel kernel) {
  cl_uint count = 0;
  next.clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(count), &count, nullptr);
  return count;
}

}  // namespace

void Launches::set_program(cl_program program, const std::string &file, const std::string &lines,
                           GivenPointer given) {
  const Lock lock(mutex_);
  if (file.empty()) {
    programs_.erase(program);
  } else {
    programs_[program] = {file, lines, std::move(given)};
    has_files_ = true;
  }
}

std::optional<std::string> Launches::unite(cl_program program, const std::string &lines) {
  const Lock lock(mutex_);
  const auto found = programs_.find(program);
  if (found == programs_.end()) return std::nullopt;
  std::string &known = found->second.lines;
  std::string united = packs::united_launches(known, lines);
  if (united == known || united.size() < known.size() + lines.size()) return std::nullopt;
  return known = std::move(united);
}

// The driver is not called under the lock, which it may call back into.
void Launches::add_kernel(cl_kernel kernel, cl_program program) {
  if (is_idle()) return;
  Watched watched{program, kernel_name(kernel), {}};
  watched.arguments.resize(argument_count(kernel));
  const Lock lock(mutex_);
  kernels_.erase(kernel);
  if (programs_.count(program) != 0) kernels_[kernel] = std::move(watched);
}

void Launches::add_clone(cl_kernel clone, cl_kernel of) {
  const Lock lock(mutex_);
  kernels_.erase(clone);
  const auto found = kernels_.find(of);
  if (found == kernels_.end()) return;
  Watched watched = found->second;
  watched.references = 1;
  kernels_[clone] = std::move(watched);
}

void Launches::retain(cl_kernel kernel) {
  const Lock lock(mutex_);
  const auto found = kernels_.find(kernel);
  if (found != kernels_.end()) ++found->second.references;
}

void Launches::release(cl_kernel kernel) {
  const Lock lock(mutex_);
  const auto found = kernels_.find(kernel);
  if (found != kernels_.end() && --found->second.references == 0) kernels_.erase(found);
}

void Launches::add_object(const void *handle, SetArgument::Kind kind) {
  const Lock lock(mutex_);
  objects_[handle] = {kind};
}

void Launches::retain_object(const void *handle) {
  const Lock lock(mutex_);
  const auto found = objects_.find(handle);
  if (found != objects_.end()) ++found->second.references;
}

void Launches::release_object(const void *handle) {
  const Lock lock(mutex_);
  const auto found = objects_.find(handle);
  if (found != objects_.end() && --found->second.references == 0) objects_.erase(found);
}

// With those named that are objects.
std::vector<SetArgument> Launches::resolved(const Watched &watched) const {
  std::vector<SetArgument> arguments = watched.arguments;
  for (SetArgument &argument : arguments) {
    const void *handle = nullptr;
    if (argument.bytes.size() != sizeof(handle)) continue;
    std::memcpy(&handle, argument.bytes.data(), sizeof(handle));
    const auto found = objects_.find(handle);
    if (found != objects_.end()) argument.kind = found->second.kind;
  }
  return arguments;
}

void Launches::set_argument(cl_kernel kernel, cl_uint index, SetArgument argument) {
  const Lock lock(mutex_);
  const auto found = kernels_.find(kernel);
  if (found == kernels_.end() || index >= found->second.arguments.size()) return;
  found->second.arguments[index] = std::move(argument);
}

std::optional<Launches::Fresh> Launches::see(cl_kernel kernel, const Range &range) {
  Fresh fresh;
  std::vector<SetArgument> arguments;
  {
    const Lock lock(mutex_);
    const auto found = kernels_.find(kernel);
    if (found == kernels_.end()) return std::nullopt;
    const Watched &watched = found->second;
    const auto known = programs_.find(watched.program);
    if (known == programs_.end()) return std::nullopt;
    fresh = {
        watched.program,    known->second.file, watched.name, launch_kind(watched.name, range), "",
        known->second.given};
    if (has_kind(known->second.lines, fresh.kind) ||
        !seen_.insert(fresh.file + fresh.kind).second) {
      return std::nullopt;
    }
    arguments = resolved(watched);
  }
  fresh.text = launch_text(fresh.kind, kernel, range, arguments);
  return fresh;
}

void Launches::forget(const Fresh &launch) {
  const Lock lock(mutex_);
  seen_.erase(launch.file + launch.kind);
}

Launches &launches() {
  static Launches &all = *new Launches;
  return all;
}

}  // namespace kiln::layer
