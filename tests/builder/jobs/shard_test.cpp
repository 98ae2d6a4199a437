// SPDX-License-Identifier: Apache-2.0
#include "builder/jobs/plan.hpp"

#include "tests/support/catch.hpp"

using namespace kiln;
using builder::has_job;
using builder::Shard;

namespace {

packs::Digest variant_of(std::size_t number) {
  return packs::variant_hash("source " + std::to_string(number), "", {"k"});
}

// The shard of five that has the job.
std::uint32_t shard_of_five(const std::string &key, const packs::Digest &variant) {
  std::uint32_t found = 0;
  for (std::uint32_t index = 1; index <= 5; ++index) {
    if (!has_job({index, 5}, key, variant)) continue;
    CHECK(found == 0);
    found = index;
  }
  return found;
}

}  // namespace

TEST_CASE("a shard is one number of another") {
  for (const auto &[text, index, count] :
       {std::tuple("1/1", 1U, 1U), {"2/3", 2U, 3U}, {"4294967295/4294967295", ~0U, ~0U}}) {
    const auto shard = builder::parse_shard(text);
    REQUIRE(shard.ok());
    CHECK(shard->index == index);
    CHECK(shard->count == count);
  }
}

TEST_CASE("what is not a shard is refused, with what is expected") {
  for (const char *text : {"", "/", "1", "1/", "/3", "0/3", "4/3", "1/0", "a/b", "-1/3", "+1/3",
                           "1/-3", " 1/3", "1/3 ", "1/3/5", "1.0/3", "1/4294967296"}) {
    const auto shard = builder::parse_shard(text);
    REQUIRE_FALSE(shard.ok());
    CHECK(shard.status().code == packs::Code::bad_argument);
    CHECK(shard.status().message ==
          "\"" + std::string(text) +
              "\" is not a shard: expected I/N with I from 1 to N, such as 1/3");
  }
}

TEST_CASE("each job is in one shard, and no shard has much more than its part") {
  std::array<std::size_t, 6> jobs{};
  for (std::size_t target = 0; target < 50; ++target) {
    for (std::size_t number = 0; number < 40; ++number) {
      ++jobs[shard_of_five("driver " + std::to_string(target), variant_of(number))];
    }
  }
  CHECK(jobs[0] == 0);
  for (std::size_t index = 1; index <= 5; ++index) {
    CHECK(jobs[index] > 320);  // four standard deviations around 400
    CHECK(jobs[index] < 480);
  }
}

TEST_CASE("the first of one shard has everything") {
  CHECK(has_job({}, "", {}));
  CHECK(has_job({1, 1}, "key", variant_of(7)));
}

// XXH3 of key and hash, modulo 5: shards of several machines fit together as long as it stays.
TEST_CASE("shards are the same in every version") {
  CHECK(shard_of_five("", {}) == 5);
  CHECK(shard_of_five("key", packs::Digest{}) == 1);
  CHECK(shard_of_five("key", variant_of(1)) == 2);
  CHECK(shard_of_five("another key", variant_of(1)) == 1);
}
