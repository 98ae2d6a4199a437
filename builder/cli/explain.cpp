// SPDX-License-Identifier: Apache-2.0
// kiln explain: which rung a load takes, and why not a higher one.
#include "builder/cli/load_options.hpp"

namespace kiln::cli {
namespace {

int run(const LoadOptions &options, bool as_json) {
  if (const auto pack = open_program(options); !pack.ok()) return fail(pack.status());
  const auto request = make_request(options);
  if (!request.ok()) return fail(request.status());
  const builder::RunResult result = builder::run_program(*request);
  if (!result.report.is_null()) {
    if (as_json) {
      print(result.report);
    } else {
      print(result.report_text);
    }
  }
  return result.status.ok() ? kDone : fail(result.status);
}

}  // namespace

void add_explain(CLI::App &app, Command *command) {
  struct ExplainArguments {
    LoadOptions load;
    bool json = false;
  };
  auto options = std::make_shared<ExplainArguments>();
  CLI::App *sub =
      app.add_subcommand("explain", "Load without launching: which rung, and why not a higher one");
  add_load_options(*sub, &options->load);
  sub->add_flag("--json", options->json, "Print the load report as JSON, schema 1");
  sub->callback([=] { *command = [=] { return run(options->load, options->json); }; });
}

}  // namespace kiln::cli
