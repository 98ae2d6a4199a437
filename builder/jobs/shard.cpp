// SPDX-License-Identifier: Apache-2.0
// Reads the words of --shard, and hashes jobs to shards.
#include "builder/jobs/shard.hpp"

#include <charconv>

#include "kiln/packs/hash.hpp"

namespace kiln::builder {
namespace {

bool read_number(const char *begin, const char *end, std::uint32_t *out) {
  const auto [stop, error] = std::from_chars(begin, end, *out);
  return error == std::errc() && stop == end;
}

}  // namespace

Result<Shard> parse_shard(const std::string &text) {
  const char *begin = text.data();
  const char *end = begin + text.size();
  const std::size_t slash = text.find('/');
  Shard shard;
  if (slash != std::string::npos && read_number(begin, begin + slash, &shard.index) &&
      read_number(begin + slash + 1, end, &shard.count) && shard.index >= 1 &&
      shard.index <= shard.count) {
    return shard;
  }
  return Status::error(Code::bad_argument, "\"" + text +
                                               "\" is no shard: expected I/N with I from 1 to N, "
                                               "such as 1/3");
}

bool has_job(const Shard &shard, const std::string &key, const packs::Digest &variant) {
  std::string job = key;
  job.append(variant.begin(), variant.end());
  return packs::xxh3(job) % shard.count + 1 == shard.index;
}

}  // namespace kiln::builder
