// SPDX-License-Identifier: Apache-2.0
// kiln explain: which rung a load takes, and why not a higher one.
#include <fmt/format.h>

#include "builder/cli/shared/common_options.hpp"
#include "builder/cli/shared/load_options.hpp"
#include "builder/inspect/printable.hpp"
#include "builder/run/dry_run_text.hpp"

namespace kiln::cli {
namespace {

// Shows for each program which rung would serve it, and what the driver would have to compile.
int explain_all(const LoadOptions &options, bool as_json) {
  if (const auto pack = read_pack(options.pack_path); !pack.ok()) return fail(pack.status());
  const auto request = make_request(options);
  if (!request.ok()) return fail(request.status());
  const auto reports = builder::dry_run_loads(*request);
  if (!reports.ok()) return fail(reports.status());
  const builder::DryRunText text = builder::dry_run_text(*reports);
  if (as_json) {
    print(nlohmann::json{{"schema", 1}, {"reports", *reports}});
  } else {
    for (const std::string &line : text.lines) print(builder::printable_line(line) + "\n");
    print(text.sum + "\n");
  }
  if (text.failed == 0) return kDone;
  return fail({Code::failed, fmt::format("{} of {} programs cannot be loaded from any rung",
                                         text.failed, reports->size())});
}

int explain(const LoadOptions &options, bool as_json) {
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
  CLI::App *sub = app.add_subcommand(
      "explain",
      "Load without launching; show which code serves (binary, SPIR-V, source), and why nothing "
      "better does");
  add_load_options(*sub, &options->load);
  CLI::Option *program = sub->get_option("program")->required(false)->description(
      "Program of the pack; default: load nothing, and show for all programs which code would "
      "serve, and how long the driver would compile");
  sub->get_option("--variant")->needs(program);
  add_json_flag(*sub, &options->json);
  sub->callback([=] {
    *command = [=] {
      return options->load.program.empty() ? explain_all(options->load, options->json)
                                           : explain(options->load, options->json);
    };
  });
}

}  // namespace kiln::cli
