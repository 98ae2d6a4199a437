// SPDX-License-Identifier: Apache-2.0
// Telling the application what a loader does.
#include "runtime/load/loader.hpp"

namespace kiln::runtime {

void notify(const Loader &loader, const kiln_notice &notice) {
  if (loader.notice != nullptr) loader.notice(&notice, loader.notice_user);
}

}  // namespace kiln::runtime
