// SPDX-License-Identifier: Apache-2.0
// The same in C++.
#include <kiln/kiln.hpp>

#include <cstdio>

int main(int argc, char **argv) {
  auto pack = kiln::Pack::open_file(argc == 2 ? argv[1] : "");
  if (!pack) {
    std::printf("fault: %s\n", pack.error().message);
    return 1;
  }
  std::puts("OK");
  return 0;
}
