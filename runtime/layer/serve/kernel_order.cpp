// SPDX-License-Identifier: Apache-2.0
// Takes the order from the pack, or from a program that the driver builds from the text.
#include "runtime/layer/serve/kernel_order.hpp"

#include <algorithm>
#include <set>

#include "runtime/layer/record/launches.hpp"
#include "runtime/layer/serve/builds.hpp"
#include "runtime/layer/serve/cached_programs.hpp"
#include "runtime/load/build.hpp"
#include "runtime/source/logical_lines.hpp"

namespace kiln::layer {
namespace {

using Names = std::vector<std::string>;
using Owned = runtime::Handle<cl_program>;

// Adds the names of kernels that the text of the program, or of its parts, has.
void add_written(const WholeProgram &whole, Names *names) {
  if (whole.is_il) return;
  for (const WholeProgram &part : whole.parts) add_written(part, names);
  if (!whole.parts.empty()) return;
  for (std::string &name : source::kernels_in(whole.source)) names->push_back(std::move(name));
}

// Returns whether the pack's order is the driver's. Packs of before have the names sorted, which
// only the text can confirm.
bool is_drivers(const Names &names, Names written) {
  if (names.size() < 2 || !std::is_sorted(names.begin(), names.end())) return true;
  const auto is_other = [&](const std::string &name) {
    return !std::binary_search(names.begin(), names.end(), name);
  };
  written.erase(std::remove_if(written.begin(), written.end(), is_other), written.end());
  return written == names;
}

// Has the driver compile and link the parts of a linked program again. Returns null if it fails.
Owned link_again(const Program &program) {
  if (requires_binaries()) return {};
  std::vector<Owned> parts;
  std::vector<cl_program> handles;
  const Devices devices = devices_of(program.handle);
  const auto count = static_cast<cl_uint>(devices.size());
  for (const CompilationPointer &part : program.parts) {
    if (part->is_library) return {};
    parts.emplace_back(create_named(program.context, part->whole), next.clReleaseProgram);
    handles.push_back(parts.back().get());
    if (!parts.back() || next.clCompileProgram(handles.back(), count, devices.data(),
                                               part->options.or_null(part->whole.options), 0,
                                               nullptr, nullptr, nullptr, nullptr) != CL_SUCCESS) {
      return {};
    }
  }
  cl_int code = CL_SUCCESS;
  return {next.clLinkProgram(program.context, count, devices.data(), program.source.c_str(),
                             static_cast<cl_uint>(handles.size()), handles.data(), nullptr, nullptr,
                             &code),
          next.clReleaseProgram};
}

Names ask(const Program &program, StandIn *stand_in) {
  if (stand_in != nullptr) {
    const cl_program built = built_from_text(stand_in);
    return built == nullptr ? Names() : runtime::kernel_names(next_table(), built);
  }
  const Owned linked = link_again(program);
  return linked ? runtime::kernel_names(next_table(), linked.get()) : Names();
}

// Returns the order; empty if the driver's own is right or no other is known. Holds no lock while
// the driver builds.
Names order_of(const ProgramPointer &program, StandIn *stand_in) {
  KernelOrder &order = stand_in == nullptr ? program->order : stand_in->order;
  Names names;
  {
    const std::lock_guard<std::mutex> lock(order.mutex);
    if (order.is_known) return order.names;
    names = order.names;
  }
  Names written;
  if (stand_in != nullptr) add_written(stand_in->whole, &written);
  for (const CompilationPointer &part : program->parts) add_written(part->whole, &written);
  if (!is_drivers(names, std::move(written))) names = ask(*program, stand_in);
  const std::lock_guard<std::mutex> lock(order.mutex);
  order.names = names;
  order.is_known = true;
  return names;
}

}  // namespace

void put_in_order(const ProgramPointer &program, StandIn *stand_in, cl_kernel *kernels,
                  std::size_t count) {
  if (count < 2) return;
  const Names order = order_of(program, stand_in);
  if (order.empty()) return;
  std::vector<std::pair<std::size_t, cl_kernel>> placed;
  for (std::size_t i = 0; i < count; ++i) {
    const auto place = std::find(order.begin(), order.end(), kernel_name(kernels[i]));
    placed.emplace_back(place - order.begin(), kernels[i]);
  }
  std::stable_sort(placed.begin(), placed.end(),
                   [](const auto &a, const auto &b) { return a.first < b.first; });
  for (std::size_t i = 0; i < count; ++i) kernels[i] = placed[i].second;
}

std::optional<std::string> names_in_order(const ProgramPointer &program, StandIn *stand_in) {
  const Names order = order_of(program, stand_in);
  const Names own = runtime::kernel_names(
      next_table(), stand_in == nullptr ? program->handle : stand_in->program);
  if (order.empty() || std::set<std::string>(order.begin(), order.end()) !=
                           std::set<std::string>(own.begin(), own.end())) {
    return {};
  }
  std::string answer;
  for (const std::string &name : order) answer += (answer.empty() ? "" : ";") + name;
  return answer;
}

}  // namespace kiln::layer
