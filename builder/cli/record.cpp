// SPDX-License-Identifier: Apache-2.0
// kiln record: runs an application that does not know Kiln, and records the programs that it
// builds.
#include <filesystem>

#include "builder/cli/shared/layer_options.hpp"
#include "builder/cli/shared/parse.hpp"
#include "builder/process/temporary_folder.hpp"
#include "builder/under_layer/record_summary.hpp"
#include "builder/under_layer/report_sum.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

// Runs the application to its end, and then says what was recorded.
Result<builder::ProcessExit> run_recording(LayerArguments arguments) {
  if (Status s = make_spool(arguments.spool); !s.ok()) return s;
  const auto loader = choose_loader();
  if (!loader.ok()) return loader.status();
  if (!loader->why_not.empty()) return Status(Code::no_opencl, loader->why_not);
  const auto folder = builder::TemporaryFolder::make();
  if (!folder.ok()) return folder.status();
  if (arguments.report.empty()) arguments.report = folder->path() + "/report";
  const auto variables = variables_of(arguments, *loader);
  if (!variables.ok()) return variables.status();
  print_preload(*loader);
  std::error_code error;
  const std::uintmax_t before = fs::file_size(arguments.report, error);
  auto exit = run_under_layer(arguments.command, *variables, "record");
  if (!exit.ok()) return exit;
  complain(builder::recording_text(report_lines(arguments.report, before), arguments.spool,
                                   builder::own_cache_folders(variable("HOME"))));
  return exit;
}

int record(const LayerArguments &arguments) {
  const auto exit = run_recording(arguments);
  return exit.ok() ? builder::end_as(*exit) : fail(exit.status());
}

}  // namespace

void add_record(CLI::App &app, Command *command) {
  auto arguments = std::make_shared<LayerArguments>();
  CLI::App *sub =
      app.add_subcommand("record", "Run an application, and record the programs that it builds");
  add_output_option(*sub, &arguments->spool, "Folder to add to, for 'kiln compile'", "DIR")
      ->required();
  add_application(*sub, arguments.get());
  sub->get_option("command")->required();
  add_report_option(*sub, &arguments->report, "Append a line of JSON for each program");
  sub->callback([=] { *command = [=] { return record(*arguments); }; });
}

}  // namespace kiln::cli
