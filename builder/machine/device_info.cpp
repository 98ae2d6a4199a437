// SPDX-License-Identifier: Apache-2.0
// Labels of devices, and their facts and capabilities as JSON between processes.
#include "builder/machine/device_info.hpp"

#include "runtime/device/device.hpp"

namespace kiln::runtime {
namespace {

// Gives name and value of each member to `visit`. The line with all names stops compiling if
// Capabilities gains or loses a member.
template <typename AnyCapabilities, typename Visit>
void visit_members(AnyCapabilities &capabilities, Visit visit) {
  auto &[profile, images, fp16, fp64, subgroups, integer_dot_product, opencl_3, opencl_3_1,
         unified_memory, compiler, non_uniform_work_groups, address_bits, compute_capability,
         max_work_group_size, max_work_item_sizes, local_memory, il_versions, extensions, features,
         il_support] = capabilities;
  visit("images", images);
  visit("fp16", fp16);
  visit("fp64", fp64);
  visit("subgroups", subgroups);
  visit("integer_dot_product", integer_dot_product);
  visit("opencl_3", opencl_3);
  visit("opencl_3_1", opencl_3_1);
  visit("unified_memory", unified_memory);
  visit("compiler", compiler);
  visit("non_uniform_work_groups", non_uniform_work_groups);
  visit("address_bits", address_bits);
  visit("compute_capability", compute_capability);
  visit("max_work_group_size", max_work_group_size);
  visit("max_work_item_sizes", max_work_item_sizes);
  visit("local_memory", local_memory);
  visit("il_versions", il_versions);
  visit("extensions", extensions);
  visit("features", features);
  visit("il_support", il_support);
}

}  // namespace

void to_json(nlohmann::json &out, const Capabilities &capabilities) {
  visit_members(capabilities, [&](const char *name, const auto &value) { out[name] = value; });
}

void from_json(const nlohmann::json &in, Capabilities &capabilities) {
  visit_members(capabilities, [&](const char *name, auto &value) {
    if (const auto member = in.find(name); member != in.end()) member->get_to(value);
  });
}

}  // namespace kiln::runtime

namespace kiln::builder {

using nlohmann::json;
using runtime::Field;

std::string DeviceInfo::label() const {
  if (virtual_device != nullptr) return virtual_device->name();
  return identity.text(Field::platform_name) + ": " +
         runtime::device_label(identity.text(Field::device_name),
                               identity.text(Field::driver_version));
}

json to_json(const runtime::Identity &identity) {
  json facts = json::object();
  for (const auto &[name, value] : identity.facts()) facts[name] = value;
  return facts;
}

runtime::Identity identity_from(const json &facts) {
  runtime::Identity identity;
  for (const auto &[name, value] : facts.items()) {
    if (const auto field = runtime::field_from_name(name)) identity.set(*field, value);
  }
  return identity;
}

}  // namespace kiln::builder
