// SPDX-License-Identifier: Apache-2.0
#include "builder/inspect/pack_files.hpp"

#include <functional>

#include "tests/support/catch.hpp"

using namespace kiln;

namespace {

packs::Bytes content(const std::string &text) { return {text.begin(), text.end()}; }

packs::Contents contents() {
  packs::Contents made;
  made.producer = "kiln";
  packs::Variant first, second;
  first.name = "a";
  first.hash = {1};
  first.kernels = {{"k", 1}};
  first.arguments = {packs::Argument()};
  first.source.emplace(content("source"));
  second.name = "b";
  second.hash = {2};
  made.programs = {{"blur", "", {first, second}}, {"copy", "", {second}}};
  packs::Target target, other;
  target.key = "one";
  target.binaries = {{first.hash, packs::BlobSource(content("1")), "log", {{1, 2, 3, 4}}},
                     {second.hash, packs::BlobSource(content("2")), ""}};
  other.key = "two";
  made.targets = {target, other};
  made.tunings.resize(2);
  made.tunings[0].program = "blur";
  made.tunings[1].program = "copy";
  return made;
}

bool same_after(const std::function<void(packs::Contents *)> &change) {
  packs::Contents a = contents(), b = contents();
  change(&b);
  return builder::same_contents(&a, &b);
}

}  // namespace

TEST_CASE("contents are the same in any order of their parts") {
  CHECK(same_after([](packs::Contents *) {}));
  CHECK(same_after([](packs::Contents *c) {
    std::swap(c->programs[0], c->programs[1]);
    std::swap(c->programs[1].variants[0], c->programs[1].variants[1]);
    std::swap(c->targets[0].binaries[0], c->targets[0].binaries[1]);
    std::swap(c->targets[0], c->targets[1]);
    std::swap(c->tunings[0], c->tunings[1]);
  }));
}

TEST_CASE("contents differ by any member of any part") {
  const std::vector<std::function<void(packs::Contents *)>> changes = {
      [](packs::Contents *c) { c->producer = "other"; },
      [](packs::Contents *c) { c->programs.pop_back(); },
      [](packs::Contents *c) { c->programs[0].preferred = {"a"}; },
      [](packs::Contents *c) { c->programs[0].variants[0].options = "-DA"; },
      [](packs::Contents *c) { c->programs[0].variants[0].kernels[0].arguments = 2; },
      [](packs::Contents *c) { c->programs[0].variants[0].arguments[0].value = 2; },
      [](packs::Contents *c) { c->programs[0].variants[0].source.emplace(content("other")); },
      [](packs::Contents *c) { c->programs[0].variants[0].source.reset(); },
      [](packs::Contents *c) { c->programs[0].variants[0].launches.emplace(content("l")); },
      [](packs::Contents *c) { c->targets[0].model = "other"; },
      [](packs::Contents *c) {
        c->targets[0].identity = {{"name", "GPU"}};
      },
      [](packs::Contents *c) { c->targets[0].cache_entries.emplace(content("cache")); },
      [](packs::Contents *c) { c->targets[0].binaries.pop_back(); },
      [](packs::Contents *c) { c->targets[0].binaries[0].blob = packs::BlobSource(content("3")); },
      [](packs::Contents *c) { c->targets[0].binaries[0].build_log = ""; },
      [](packs::Contents *c) { c->targets[0].binaries[0].kernels[0].local_bytes = 5; },
      [](packs::Contents *c) { c->targets[0].binaries[0].finish.finisher = "f"; },
      [](packs::Contents *c) { c->targets[0].intermediates = c->targets[0].binaries; },
      [](packs::Contents *c) { c->tunings[0].nanoseconds = 1; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    INFO("change " << i);
    CHECK_FALSE(same_after(changes[i]));
  }
}
