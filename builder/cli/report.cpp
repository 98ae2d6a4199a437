// SPDX-License-Identifier: Apache-2.0
// kiln report: sums the lines that the layer, the Python module and the runtime appended to
// reports.
#include "builder/cli/shared/common_options.hpp"
#include "builder/under_layer/report_sum.hpp"

namespace kiln::cli {
namespace {

struct ReportArguments {
  std::vector<std::string> files;
  bool json = false;
};

int run(const ReportArguments &arguments) {
  builder::ReportSums sums;
  for (const std::string &file : arguments.files) {
    if (Status s = builder::add_report(file, &sums); !s.ok()) return fail(s);
  }
  if (arguments.json) {
    print(builder::report_sums_json(sums));
  } else {
    print(builder::report_sums_text(sums));
  }
  return kDone;
}

}  // namespace

void add_report(CLI::App &app, Command *command) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App *sub = app.add_subcommand(
      "report", "Summarise report files: what was loaded, how fast, and why the rest was not");
  sub->add_option(
         "file", arguments->files,
         "Report of 'kiln serve', 'kiln record' or kiln.pyopencl, load reports, or a folder of "
         "them; '-' is standard input")
      ->required();
  add_json_flag(*sub, &arguments->json);
  sub->callback([=] { *command = [=] { return run(*arguments); }; });
}

}  // namespace kiln::cli
