// SPDX-License-Identifier: Apache-2.0
// The text of a binary key: what is read is what is written.
#include <cstdlib>
#include <string>

#include "runtime/identity/identity.hpp"
#include "tests/fuzz/targets/target.hpp"

using namespace kiln::runtime;

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string text(reinterpret_cast<const char *>(data), size);
  const auto key = parse_facts(text);
  if (!key) return 0;
  if (facts_text(*key) != text || distance(*key, *key) != 0) std::abort();
  return 0;
}
