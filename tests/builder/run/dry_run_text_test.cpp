// SPDX-License-Identifier: Apache-2.0
#include "builder/run/dry_run_text.hpp"

#include "tests/support/catch.hpp"

using namespace kiln::builder;
using nlohmann::json;

namespace {

json report(const char *rung, json estimate, json final, const char *why_not = nullptr) {
  json made = {{"program", "p"},
               {"variant", "v"},
               {"rung", rung},
               {"rungs", json::array()},
               {"estimated_milliseconds", std::move(estimate)},
               {"final", std::move(final)}};
  if (why_not != nullptr) made["why_not_final"] = why_not;
  return made;
}

}  // namespace

TEST_CASE("a dry run counts what is compiled, and what may be at its first launch") {
  const DryRunText text = dry_run_text(
      {report("exact", 0.0, true), report("overlay", 0.0, nullptr, "no launch"),
       report("exact", nullptr, false, "its first launch compiles"),
       report("source", 20.0, false, "it was compiled here"), report("error", nullptr, nullptr)});
  CHECK(text.sum ==
        "2 of 5 programs need no compilation; 2 are compiled, 1 of them in about 20 ms; of 1 it is "
        "not known whether the first launch compiles");
  CHECK(text.failed == 1);
  CHECK(text.lines ==
        std::vector<std::string>{"p/v: exact", "p/v: overlay; no launch",
                                 "p/v: exact, not measured; its first launch compiles",
                                 "p/v: source, about 20 ms", "p/v: error"});
}
