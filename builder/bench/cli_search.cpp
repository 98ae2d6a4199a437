// SPDX-License-Identifier: Apache-2.0
// kiln-bench search: what first guesses save the tuner.
#include <algorithm>

#include <fmt/format.h>

#include "builder/bench/cli.hpp"
#include "builder/bench/search_order.hpp"
#include "builder/measure/sampler.hpp"
#include "builder/tune/tuned_kernel.hpp"

namespace kiln::cli {
namespace {

struct SearchArguments : DeviceOptions {
  std::vector<std::string> sizes;
  double timeout_seconds = 600;
};

// A size with the share of the best time that it reaches, "8x8 0.93".
std::string guess_text(const builder::NDSize &local, double time, double best) {
  if (local[0] == 0) return "-";
  if (time <= 0) return builder::local_text(local) + " failed";
  return fmt::format("{} {:.2f}", builder::local_text(local), best / time);
}

// "-": the search ended without.
std::string tried_text(std::size_t tried) { return tried == 0 ? "-" : fmt::format("{}", tried); }

std::string row_text(const builder::SearchOrder &row) {
  return fmt::format(
      "  {:34} {:>6} {:>10} {:>16} {:>16} {:>7} {:>7} {:>7}\n",
      fmt::format("{}/{} {}", row.program, row.variant, builder::size_text(row.size)),
      row.candidates, builder::local_text(row.best),
      guess_text(row.seeds.guess, row.guess_time, row.best_time),
      guess_text(row.seeds.suggested, row.suggested_time, row.best_time),
      tried_text(row.tried_without), tried_text(row.tried_guess), tried_text(row.tried_suggested));
}

// Over the kernels that each way found a good size for, and how often one did not.
std::string summary_text(const std::vector<builder::SearchOrder> &rows) {
  std::vector<double> tried[3];
  std::size_t never[3] = {};
  for (const builder::SearchOrder &row : rows) {
    const std::size_t ways[3] = {row.tried_without, row.tried_guess, row.tried_suggested};
    const bool all = ways[0] != 0 && ways[1] != 0 && ways[2] != 0;
    for (std::size_t i = 0; i < 3; ++i) {
      if (ways[i] == 0) ++never[i];
      if (all) tried[i].push_back(static_cast<double>(ways[i]));
    }
  }
  std::string median = fmt::format("  {:86}", "median");
  std::string mean = fmt::format("  {:86}", "mean");
  std::string ended = fmt::format("  {:86}", "ended without");
  for (std::size_t i = 0; i < 3; ++i) {
    double sum = 0;
    for (const double value : tried[i]) sum += value;
    const auto all = static_cast<double>(std::max<std::size_t>(tried[i].size(), 1));
    median += fmt::format(" {:>7.1f}", builder::median(tried[i]));
    mean += fmt::format(" {:>7.1f}", sum / all);
    ended += fmt::format(" {:>7}", never[i]);
  }
  return median + "\n" + mean + "\n" + ended + "\n";
}

std::string table(const builder::SearchOrders &orders) {
  std::string text =
      fmt::format("{}\n  {:34} {:>6} {:>10} {:>16} {:>16} {:>7} {:>7} {:>7}\n", orders.device,
                  "sizes tried until 95% of the best", "sizes", "best", "guess, of best",
                  "driver, of best", "without", "guess", "both");
  for (const builder::SearchOrder &row : orders.kernels) text += row_text(row);
  if (!orders.kernels.empty()) text += summary_text(orders.kernels);
  for (const std::string &line : orders.left_out) {
    text += "  left out: " + line.substr(0, line.find('\n')) + "\n";
  }
  return text;
}

int run(const SearchArguments &options) {
  builder::SearchOrderOptions search;
  const auto sizes = read_sizes(options.sizes);
  if (!sizes.ok()) return fail(sizes.status());
  search.sizes = *sizes;
  const auto open = open_on_devices(options);
  if (!open.ok()) return fail(open.status());
  search.pack_path = options.pack;
  search.program = options.program;
  search.timeout = in_milliseconds(options.timeout_seconds);
  nlohmann::json rows = nlohmann::json::array();
  for (const builder::DeviceInfo &device : open->devices) {
    const auto orders = builder::search_orders(open->pack.contents, device, search);
    if (!options.json) print(table(orders));
    rows.push_back(builder::to_json(orders));
  }
  if (options.json) print(nlohmann::json{{"schema", 1}, {"devices", rows}});
  return kDone;
}

}  // namespace

void add_search(CLI::App &app, Command *command) {
  auto options = std::make_shared<SearchArguments>();
  CLI::App *sub = app.add_subcommand(
      "search", "How soon tuning finds a good work-group size, with its first guesses and without");
  add_device_options(*sub, options.get(), "Pack to load from");
  sub->add_option("--sizes", options->sizes,
                  "W, WxH or WxHxD, several; default: 1024x1024, 1048576x1 or 64x64x64");
  add_timeout_option(*sub, &options->timeout_seconds, "Seconds for one variant");
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run(*options); }; });
}

}  // namespace kiln::cli
