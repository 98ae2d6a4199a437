// kiln explain: which rung a load takes, and why not a higher one.
#include "builder/cli/load_options.hpp"

namespace kiln::cli {
namespace {

int run(const LoadOptions &options, bool as_json) {
  int exit_code = kDone;
  const auto request = make_request(options, &exit_code);
  if (!request) return exit_code;
  const builder::RunResult result = builder::run_program(*request);
  if (!result.report.is_null()) {
    if (as_json) {
      print(result.report);
    } else {
      print(report_text(result.report));
    }
  }
  if (!result.error.empty()) complain(result.error);
  return exit_code_of(result.status);
}

}  // namespace

void add_explain(CLI::App &app, Command *command) {
  struct Options {
    LoadOptions load;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App *sub =
      app.add_subcommand("explain", "Load without launching: which rung, and why not a higher one");
  add_load_options(*sub, &options->load);
  sub->add_flag("--json", options->json, "Print the load report as JSON, schema 1");
  sub->callback([=] { *command = [=] { return run(options->load, options->json); }; });
}

}  // namespace kiln::cli
