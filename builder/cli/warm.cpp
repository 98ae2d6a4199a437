// SPDX-License-Identifier: Apache-2.0
// kiln warm: launch every program of a pack once, where only a driver's own cache helps.
#include "builder/startup/warm.hpp"

#include <fmt/format.h>

#include "builder/cli/device_options.hpp"

namespace kiln::cli {
namespace {

struct WarmArguments : DeviceOptions {
  std::string overlay;
  double timeout_seconds = 120;
};

std::string row_text(const builder::WarmRow &row) {
  const Status &status = row.status;
  if (!status.ok() && row.before == 0) {
    return fmt::format("  {:24} {}\n", row.program, status.message);
  }
  return fmt::format("  {:24} {:12} {:10.3f} {:10.3f} {:10.3f}{}{}\n",
                     row.program + "/" + row.variant, row.rung, row.before, row.after,
                     row.before - row.after, status.ok() ? "" : "  ", status.message);
}

int run(const WarmArguments &options) {
  const auto open = open_on_devices(options);
  if (!open.ok()) return fail(open.status());
  const builder::WarmOptions warm{options.pack, options.program, options.overlay,
                                  in_milliseconds(options.timeout_seconds)};
  int exit_code = kDone;
  nlohmann::json all = nlohmann::json::array();
  for (const builder::DeviceInfo &device : open->devices) {
    const auto rows = builder::warm(open->pack.contents, device, warm, progress);
    end_progress();
    nlohmann::json programs = nlohmann::json::array();
    double before = 0;
    double after = 0;
    std::string text = fmt::format("{}\n  {:24} {:12} {:>10} {:>10} {:>10}\n", device.label(),
                                   "milliseconds", "rung", "now", "from now", "saved");
    for (const builder::WarmRow &row : rows) {
      if (!row.status.ok()) exit_code = kSomeFailed;
      before += row.before;
      after += row.after;
      text += row_text(row);
      programs.push_back(builder::to_json(row));
    }
    text += fmt::format("  {:24} {:12} {:10.3f} {:10.3f} {:10.3f}\n", "together", "", before, after,
                        before - after);
    if (!options.json) print(text);
    all.push_back({{"device", device.label()},
                   {"before_ms", before},
                   {"after_ms", after},
                   {"saved_ms", before - after},
                   {"programs", programs}});
  }
  if (options.json) print(nlohmann::json{{"schema", 1}, {"devices", all}});
  return exit_code;
}

}  // namespace

void add_warm(CLI::App &app, Command *command) {
  auto options = std::make_shared<WarmArguments>();
  CLI::App *sub = app.add_subcommand(
      "warm", "Launch every program of a pack once, so that the drivers' own caches are warm");
  add_device_options(*sub, options.get(), "Pack to start from");
  sub->add_option("--overlay", options->overlay, "Overlay folder to fill, too");
  add_timeout_option(*sub, &options->timeout_seconds, "Seconds that one start may take");
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run(*options); }; });
}

}  // namespace kiln::cli
