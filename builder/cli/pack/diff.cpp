// SPDX-License-Identifier: Apache-2.0
// kiln pack diff: compares what two packs hold.
#include "builder/cli/shared/common_options.hpp"
#include "builder/inspect/pack_diff.hpp"

namespace kiln::cli {
namespace {

struct DiffArguments {
  std::string a;
  std::string b;
  bool json = false;
};

int diff(const DiffArguments &options) {
  const auto a = read_pack(options.a);
  if (!a.ok()) return fail(a.status());
  const auto b = read_pack(options.b);
  if (!b.ok()) return fail(b.status());
  const auto differences = builder::compare_packs(a->contents, b->contents);
  if (options.json) {
    print(builder::differences_json(differences));
  } else {
    print(builder::differences_text(differences, options.a, options.b));
  }
  return differences.empty() ? kDone : kSomeFailed;
}

}  // namespace

void add_diff(CLI::App &app, Command *command) {
  auto options = std::make_shared<DiffArguments>();
  CLI::App *sub =
      app.add_subcommand("diff", "Compare what two packs hold; exit code 1 if they differ");
  sub->add_option("pack", options->a, "Pack")->required();
  sub->add_option("other", options->b, "Pack to compare it with")->required();
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return diff(*options); }; });
}

}  // namespace kiln::cli
