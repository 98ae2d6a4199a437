// SPDX-License-Identifier: Apache-2.0
// A delta for a golden pack. Its size, names and hashes are repaired, so that mutations come past
// them; what it then makes is made the same twice.
#include "kiln/packs/delta.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "kiln/packs/bytes.hpp"
#include "tests/fuzz/targets/target.hpp"

using namespace kiln::packs;

namespace {

constexpr std::size_t kHeader = 112;
constexpr std::uint64_t kMaxMade = 1u << 22;

const std::shared_ptr<const Pack> &old_pack() {
  static const std::shared_ptr<const Pack> pack = [] {
    std::shared_ptr<const Pack> opened;
    const char *path = KILN_SOURCE_DIR "/packs/golden/good-v1.kiln";
    if (!Pack::open_file(path, &opened).ok()) std::abort();
    return opened;
  }();
  return pack;
}

std::uint64_t word_at(const Bytes &bytes, std::size_t at, std::size_t size) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, size);
  return word;
}

void set_word(Bytes *bytes, std::size_t at, std::uint64_t word) {
  std::memcpy(bytes->data() + at, &word, sizeof(word));
}

// Hashes of the parts, as far as their sizes can be followed, then the header.
void repair(Bytes *bytes) {
  if (bytes->size() < kHeader) return;
  for (std::size_t at = kHeader; at + 24 <= bytes->size();) {
    const std::uint64_t size = 24 +
                               24 * (word_at(*bytes, at + 8, 4) + word_at(*bytes, at + 12, 4)) +
                               word_at(*bytes, at + 4, 4);
    if (size > bytes->size() - at) break;
    const auto hashed = static_cast<std::size_t>(size - 8);
    set_word(bytes, at + hashed, xxh3(bytes->data() + at, hashed));
    at += static_cast<std::size_t>(size);
  }
  static const Bytes golden = [] {
    std::ifstream in(KILN_SOURCE_DIR "/packs/golden/good-v1.kdelta", std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(in), {});
  }();
  std::copy_n(golden.begin(), 56, bytes->begin());
  set_word(bytes, 96, bytes->size());
  set_word(bytes, 104, xxh3(bytes->data(), 104));
}

Status run_delta(const Bytes &bytes, std::uint64_t *made) {
  Storage delta;
  delta.borrow({bytes.data(), bytes.size()});
  const DeltaSink sink = [made](View view) {
    *made += view.size;
    return *made <= kMaxMade ? Status() : Status::error(Code::no_space, "enough");
  };
  DeltaFacts facts;
  return apply_delta(*old_pack(), delta, sink, &facts);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Bytes bytes(data, data + size);
  std::uint64_t made = 0;
  (void)run_delta(bytes, &made);
  repair(&bytes);
  std::uint64_t once = 0;
  std::uint64_t twice = 0;
  const Status first = run_delta(bytes, &once);
  const Status second = run_delta(bytes, &twice);
  if (first.code != second.code || once != twice) std::abort();
  return 0;
}
