// SPDX-License-Identifier: Apache-2.0
// Raises the limit of open files.
#include "builder/base/open_files.hpp"

#include <sys/resource.h>

namespace kiln::builder {

void allow_many_files() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace kiln::builder
