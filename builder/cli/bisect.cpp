// SPDX-License-Identifier: Apache-2.0
// kiln bisect: the smallest text that a driver builds wrongly, for a report.
#include <fmt/format.h>

#include "builder/base/whole_file.hpp"
#include "builder/bisect/bisect.hpp"
#include "builder/cli/shared/common_options.hpp"
#include "builder/cli/shared/load_options.hpp"
#include "builder/cli/shared/supervised.hpp"
#include "builder/inspect/printable.hpp"
#include "builder/run/pack_on_device.hpp"

namespace kiln::cli {
namespace {

struct BisectArguments {
  LoadOptions load;  // program, variant, pack, device and time of a try
  builder::ReferenceOptions references;
  std::string budget = "10m";
  std::string report;
  bool json = false;
};

void print_result(const BisectArguments &options, const builder::BisectResult &result,
                  const std::string &device) {
  if (options.json) {
    return print(nlohmann::json{{"schema", 1},
                                {"device", device},
                                {"fault", result.finding},
                                {"printed", result.printed},
                                {"right_with", result.right_with},
                                {"confirmed", result.is_confirmed},
                                {"options", result.options},
                                {"size", builder::size_text(result.size)},
                                {"lines_before", result.lines_before},
                                {"lines", result.lines},
                                {"tries", result.tries},
                                {"cut_short", result.was_cut_short},
                                {"text", result.text}});
  }
  if (result.finding.empty()) {
    return print(fmt::format("{}/{} for {}: nothing is wrong\n", options.load.program,
                             options.load.variant, device));
  }
  print(fmt::format("{}/{} for {}: {}{}{}\n", options.load.program, options.load.variant, device,
                    builder::printable_line(result.finding),
                    result.right_with.empty() ? ""
                    : result.is_device        ? "; right on "
                                              : "; right with: ",
                    result.right_with));
  print(fmt::format("{} of {} lines are left, options \"{}\", {}; tries: {}{}\n", result.lines,
                    result.lines_before, result.options, builder::size_text(result.size),
                    result.tries, result.was_cut_short ? ", cut short by --budget" : ""));
  print(result.text);
}

int run(BisectArguments options) {
  supervise_command("interrupted; nothing is kept");
  auto budget = read_budget(options.budget);
  if (!budget.ok()) return fail(budget.status());
  const auto pack = open_program(options.load);
  if (!pack.ok()) return fail(pack.status());
  if (!options.report.empty()) {
    const Status s = check_output(options.report, {options.load.pack_path});
    if (!s.ok()) return fail(s);
  }
  const auto devices = find_devices(options.load.selector);
  if (!devices.ok()) return fail(devices.status());
  const packs::Program &program = *builder::find_program(pack->contents, options.load.program);
  if (options.load.variant.empty()) options.load.variant = program.variants.front().name;
  const packs::Variant *variant = builder::find_variant(program, options.load.variant);
  builder::BisectRequest request{program, *variant, devices->front(), {}, options.load.pack_path};
  if (const auto all = find_devices(""); all.ok()) {
    std::copy_if(all->begin(), all->end(), std::back_inserter(request.others),
                 [&](const auto &one) {
                   return one.identity.text(runtime::Field::platform_name) !=
                          devices->front().identity.text(runtime::Field::platform_name);
                 });
  }
  request.limits.timeout = options.load.timeout;
  request.budget_seconds = *budget;
  request.references = options.references;
  request.progress = [all = std::size_t{0}](std::size_t lines, std::size_t tries) mutable {
    all = std::max(all, lines);
    progress(fmt::format("{} left, try {}", count(lines, "line"), tries), all - lines, all);
  };
  auto result = builder::bisect(request);
  end_progress();
  if (!result.ok()) return fail(result.status());
  result->printed = builder::printable(result->printed);
  result->printed.erase(result->printed.find_last_not_of('\n') + 1);
  print_result(options, *result, devices->front().label());
  if (result->finding.empty() || options.report.empty()) return kDone;
  const Status written = builder::write_whole_file(
      options.report, builder::bisect_report(*result, program, *variant, devices->front()));
  return written.ok() ? kDone : fail(as_failed(written));
}

}  // namespace

void add_bisect(CLI::App &app, Command *command) {
  auto options = std::make_shared<BisectArguments>();
  CLI::App *sub = app.add_subcommand(
      "bisect", "Find the smallest text that a driver builds wrongly, for a report to its vendor");
  sub->add_option("program", options->load.program, "Program of the pack")->required();
  add_pack_option(*sub, &options->load.pack_path, "Pack with the program's source");
  add_device_option(*sub, &options->load.selector, "the first device");
  add_variant_option(*sub, &options->load.variant, "Variant; default: the first");
  add_report_option(*sub, &options->report, "Write a report in Markdown to FILE");
  add_budget_option(*sub, &options->budget, "Time for the search: 60s, 500ms, 2m");
  add_timeout_option(*sub, &options->load.timeout, "Seconds that the driver may take for a try");
  add_reference_options(*sub, &options->references);
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run(*options); }; });
}

}  // namespace kiln::cli
