// SPDX-License-Identifier: Apache-2.0
// The part of a plan that one of several builds does.
#pragma once

#include <cstdint>
#include <string>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// The first of one by default, which is everything.
struct Shard {
  std::uint32_t index = 1;  // from 1 to count
  std::uint32_t count = 1;
};

// Of "2/3" the second of three; else bad_argument. Both numbers have decimal digits alone.
Result<Shard> parse_shard(const std::string &text);

// Whether that shard has the jobs of the target with this binary key and of the variant with this
// hash. Exactly one of `count` shards does, the same one on every machine and in every version,
// whatever else is in the plan.
bool has_job(const Shard &shard, const std::string &key, const packs::Digest &variant);

}  // namespace kiln::builder
