// SPDX-License-Identifier: Apache-2.0
// kiln-bench pack: what packs cost, beside what they should.
#include <fmt/format.h>

#include "builder/bench/cli.hpp"
#include "builder/bench/pack_figures.hpp"

namespace kiln::cli {
namespace {

struct PackArguments {
  std::vector<std::string> packs;
  bool json = false;
};

int run_pack(const PackArguments &options) {
  const auto figures = builder::measure_forms(options.packs);
  if (!figures.ok()) return fail(figures.status());
  if (options.json) {
    print(nlohmann::json{{"schema", 1}, {"figures", builder::to_json(*figures)}});
  } else {
    print(builder::figures_text(*figures));
  }
  return kDone;
}

}  // namespace

void add_pack(CLI::App &app, Command *command) {
  auto options = std::make_shared<PackArguments>();
  CLI::App *sub = app.add_subcommand("pack", "What packs cost: forms and decoding of a corpus");
  sub->add_option("packs", options->packs,
                  "The corpus: packs of devices (tests/bench/pack_corpus.py)")
      ->required();
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run_pack(*options); }; });
}

}  // namespace kiln::cli
