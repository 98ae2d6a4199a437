// SPDX-License-Identifier: Apache-2.0
// kiln-bench pack: what packs cost, beside what they should.
#include <fmt/format.h>

#include "builder/bench/cli.hpp"
#include "builder/bench/pack_figures.hpp"

namespace kiln::cli {
namespace {

struct PackArguments {
  std::vector<std::string> packs;
  builder::PackScale scale;
  bool json = false;
};

int run_pack(const PackArguments &options) {
  if (options.scale.targets < options.scale.packs) {
    return fail({Code::bad_argument, "--targets is less than --packs"});
  }
  auto figures = builder::measure_scale(options.scale);
  if (!figures.ok()) return fail(figures.status());
  if (!options.packs.empty()) {
    const auto forms = builder::measure_forms(options.packs);
    if (!forms.ok()) return fail(forms.status());
    figures->insert(figures->end(), forms->begin(), forms->end());
  }
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
  CLI::App *sub = app.add_subcommand(
      "pack", "What packs cost: forms and decoding of a corpus, a pack of very many binaries");
  sub->add_option("packs", options->packs,
                  "The corpus: packs of devices (tests/bench/pack_corpus.py); none: scale alone");
  sub->add_option("--targets", options->scale.targets, "Targets of the pack of many binaries")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  sub->add_option("--packs", options->scale.packs, "Packs that are merged at once")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run_pack(*options); }; });
}

}  // namespace kiln::cli
