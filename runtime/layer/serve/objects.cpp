// SPDX-License-Identifier: Apache-2.0
// Counts references as the application does, and finds the stand-in of a program.
#include "runtime/layer/serve/objects.hpp"

#include "runtime/layer/base/process.hpp"
#include "runtime/layer/record/launches.hpp"
#include "runtime/layer/serve/seen_variables.hpp"

namespace kiln::layer {

using Lock = std::lock_guard<std::mutex>;

StandIn::~StandIn() {
  launches().set_program(program, "");  // the driver may reuse its handle
  next.clReleaseProgram(program);
}

namespace {

// Fails if a variable changes what one of the program's drivers compiles.
packs::Status check_variables(const Program &program) {
  for (const cl_device_id id : devices_of(program.handle)) {
    kiln_device *device = nullptr;
    const bool is_known = find_device(id, &device, nullptr) == KILN_OK;
    const char *profile = is_known ? device->device->description.profile : "";
    const std::string found = seen_variable(profile);
    if (!found.empty()) {
      const char *verb = variable(found.c_str()).empty() ? " was set" : " is set";
      return packs::Status::error(packs::Code::failed,
                                  {found, verb, ", which may change what the driver compiles"});
    }
  }
  return {};
}

}  // namespace

packs::Result<WholeProgram> whole_of(const Program &program, std::string_view options,
                                     const Headers &headers) {
  if (packs::Status s = check_variables(program); !s.ok()) return s;
  if (!program.is_il) return whole_program(program.source, options, headers);
  if (program.specialised) {
    return packs::Status::error(packs::Code::failed, "its specialisation constants were set");
  }
  return whole_module(program.source, options);
}

// Removed objects are declared before the lock, so that the driver is called after it is released.
void Objects::add(const ProgramPointer &program) {
  ProgramPointer before;
  const Lock lock(mutex_);
  ProgramPointer &slot = programs_[program->handle];
  before = std::move(slot);
  slot = program;
}

ProgramPointer Objects::find(cl_program handle) const {
  const Lock lock(mutex_);
  const auto found = programs_.find(handle);
  return found == programs_.end() ? nullptr : found->second;
}

ProgramPointer Objects::find(cl_program handle, Program::Kind kind) const {
  const ProgramPointer found = find(handle);
  return found == nullptr || found->kind != kind ? nullptr : found;
}

void Objects::retain(cl_program handle) {
  const Lock lock(mutex_);
  const auto found = programs_.find(handle);
  if (found != programs_.end()) ++found->second->references;
}

void Objects::release(cl_program handle) {
  ProgramPointer last;
  const Lock lock(mutex_);
  const auto found = programs_.find(handle);
  if (found == programs_.end() || found->second->references == 0) return;
  last = found->second;
  --last->references;
  forget_if_unused(*last);
}

template <typename Pointer>
Pointer Objects::member_of(cl_program handle, Pointer Program::*member) const {
  const Lock lock(mutex_);
  const auto found = programs_.find(handle);
  return found == programs_.end() ? nullptr : (*found->second).*member;
}

template <typename Pointer>
void Objects::set_member(Program *program, Pointer Program::*member, Pointer value) {
  const Lock lock(mutex_);
  (program->*member).swap(value);  // the parameter outlives the lock
}

StandInPointer Objects::stand_in_of(cl_program handle) const {
  return member_of(handle, &Program::stand_in);
}

void Objects::set_stand_in(const ProgramPointer &program, StandInPointer stand_in) {
  set_member(program.get(), &Program::stand_in, std::move(stand_in));
}

CompilationPointer Objects::compilation_of(cl_program handle) const {
  return member_of(handle, &Program::compilation);
}

void Objects::set_compilation(const ProgramPointer &program, CompilationPointer compilation) {
  set_member(program.get(), &Program::compilation, std::move(compilation));
}

RefusalPointer Objects::refusal_of(cl_program handle) const {
  return member_of(handle, &Program::refusal);
}

void Objects::set_refusal(const ProgramPointer &program, RefusalPointer refusal) {
  set_member(program.get(), &Program::refusal, std::move(refusal));
}

bool Objects::has_kernels(const ProgramPointer &program) const {
  const Lock lock(mutex_);
  return program->stand_in != nullptr && program->kernels != 0;
}

StandInPointer Objects::begin_kernel(const ProgramPointer &program) {
  const Lock lock(mutex_);
  if (program->stand_in != nullptr) ++program->kernels;
  return program->stand_in;
}

void Objects::end_kernel(const ProgramPointer &program) {
  const Lock lock(mutex_);
  --program->kernels;
  forget_if_unused(*program);
}

void Objects::add_kernel(cl_kernel kernel, const ProgramPointer &program) {
  const Lock lock(mutex_);
  kernels_[kernel] = {program, 1};
  ++program->kernels;
}

ProgramPointer Objects::program_of(cl_kernel kernel) const {
  const Lock lock(mutex_);
  const auto found = kernels_.find(kernel);
  return found == kernels_.end() ? nullptr : found->second.program;
}

unsigned Objects::uncounted(cl_program handle) const {
  const Lock lock(mutex_);
  const auto found = programs_.find(handle);
  return found == programs_.end() || found->second->counts_kernels ? 0 : found->second->kernels;
}

void Objects::retain_kernel(cl_kernel kernel) {
  const Lock lock(mutex_);
  const auto found = kernels_.find(kernel);
  if (found != kernels_.end()) ++found->second.references;
}

cl_program Objects::release_kernel(cl_kernel kernel) {
  ProgramPointer program;
  const Lock lock(mutex_);
  const auto found = kernels_.find(kernel);
  if (found == kernels_.end() || --found->second.references != 0) return nullptr;
  program = found->second.program;
  kernels_.erase(found);
  --program->kernels;
  forget_if_unused(*program);
  return program->handle;
}

void Objects::forget_if_unused(const Program &program) {
  if (program.references == 0 && program.kernels == 0) programs_.erase(program.handle);
}

Objects &objects() {
  static Objects &all = *new Objects;
  return all;
}

}  // namespace kiln::layer
