// SPDX-License-Identifier: Apache-2.0
// Puts the words before a finisher's name, and takes them away.
#include "builder/device/virtual_device.hpp"

namespace kiln::builder {
namespace {

constexpr char kVirtualFinisher[] = "virtual-";
constexpr char kVersion[] = " 1 as ";
constexpr char kAnd[] = ", ";
constexpr char kLaunches[] = ", launches ";  // what repeated launches add to any finisher

}  // namespace

bool is_virtual(const packs::Finish &finish) {
  return finish.finisher.starts_with(kVirtualFinisher);
}

void mark_virtual(const std::string &device, packs::Finish *finish) {
  if (is_virtual(*finish) || finish->finality != packs::Finality::not_launched) return;
  const std::size_t colon = device.find(':');
  const std::string &before = finish->finisher;
  const bool alone = before.empty() || before.starts_with(kLaunches);
  finish->finisher = kVirtualFinisher + device.substr(0, colon) + kVersion +
                     device.substr(colon + 1) + (alone ? "" : kAnd) + before;
  finish->why_not = "no device of this kind has launched it; its driver has loaded it without one";
}

void unmark_virtual(packs::Finish *finish) {
  if (!is_virtual(*finish)) return;
  finish->finisher.erase(0, finish->finisher.find(kAnd));
  if (!finish->finisher.starts_with(kLaunches)) finish->finisher.erase(0, sizeof(kAnd) - 1);
}

}  // namespace kiln::builder
