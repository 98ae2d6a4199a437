// SPDX-License-Identifier: Apache-2.0
// For Windows, which has neither numbers of users nor sticky folders, and for Android, where each
// application is a user of its own and has a folder of its own.
#include "runtime/overlay/shared_folder.hpp"

namespace kiln::runtime {
namespace {

packs::Status not_here(const char *shared) {
  return packs::Status::error(packs::Code::io_error,
                              {shared, ": users of this system cannot share an overlay"});
}

}  // namespace

packs::Status own_overlay(const char *shared, std::string *) { return not_here(shared); }

std::vector<std::shared_ptr<const packs::Pack>> open_others(const char *) { return {}; }

packs::Status write_for_others(const char *shared, packs::View) { return not_here(shared); }

std::uint32_t machine_number() { return 1; }

}  // namespace kiln::runtime
