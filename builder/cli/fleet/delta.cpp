// SPDX-License-Identifier: Apache-2.0
// kiln fleet delta: one pack as its difference from another, and back.
#include <fmt/format.h>

#include "builder/cli/shared/common_options.hpp"
#include "kiln/packs/delta.hpp"

namespace kiln::cli {
namespace {

struct DeltaArguments {
  std::string old_pack;
  std::string new_pack;
  std::string delta;  // to apply to the old pack; empty: one is made
  std::string output;
  bool json = false;
};

Status with_fault(Status status, const std::string &path) {
  if (!status.ok()) status.message = fmt::format("{}: {}", path, status.message);
  return status;
}

nlohmann::json delta_json(const std::string &output, const packs::DeltaFacts &facts) {
  return {{"schema", 1},
          {"output", output},
          {"delta_size", facts.delta_size},
          {"copied", facts.copied},
          {"old", {{"size", facts.old_size}, {"name", packs::hex(facts.old_name)}}},
          {"new", {{"size", facts.new_size}, {"name", packs::hex(facts.new_name)}}}};
}

// Opens only the pack, because a delta reads only the sections that it needs.
Result<std::shared_ptr<const packs::Pack>> open_alone(const std::string &path) {
  std::shared_ptr<const packs::Pack> pack;
  const Status status = packs::Pack::open_file(path.c_str(), &pack);
  if (status.ok()) return pack;
  return Status(status.code, fmt::format("{} [{}]", status.message, packs::code_name(status.code)));
}

int run_delta(const DeltaArguments &options) {
  const auto old_pack = read_pack(options.old_pack);
  if (!old_pack.ok()) return fail(old_pack.status());
  const auto new_pack = read_pack(options.new_pack);
  if (!new_pack.ok()) return fail(new_pack.status());
  Status status = check_output(options.output, {options.old_pack, options.new_pack});
  if (!status.ok()) return fail(status);
  packs::DeltaFacts facts;
  status = packs::make_delta(*old_pack->pack, *new_pack->pack, options.output, &facts);
  if (!status.ok()) return fail(as_failed(with_fault(status, options.output)));
  if (options.json) {
    print(delta_json(options.output, facts));
  } else {
    print(fmt::format("{}: {} bytes; of {} of {} it copies {} from {}\n", options.output,
                      facts.delta_size, facts.new_size, options.new_pack, facts.copied,
                      options.old_pack));
  }
  return kDone;
}

int run_apply(const DeltaArguments &options) {
  const auto pack = open_alone(options.old_pack);
  if (!pack.ok()) return fail(pack.status());
  Status status = check_output(options.output, {options.delta});
  if (!status.ok()) return fail(status);
  packs::DeltaFacts facts;
  status = packs::apply_delta(**pack, options.delta, options.output, &facts);
  if (!status.ok()) return fail(status);
  if (options.json) {
    print(delta_json(options.output, facts));
  } else {
    print(fmt::format("{}: {} bytes, BLAKE2b {}\n", options.output, facts.new_size,
                      packs::hex(facts.new_name)));
  }
  return kDone;
}

}  // namespace

void add_delta(CLI::App &app, Command *command) {
  auto options = std::make_shared<DeltaArguments>();
  CLI::App *sub = app.add_subcommand(
      "delta", "Write the difference of two packs, or make the new pack from it");
  sub->add_option("old", options->old_pack, "Pack that is there")->required();
  CLI::Option *made = sub->add_option("new", options->new_pack, "Pack to be made from the old one");
  CLI::Option *applied =
      sub->add_option("--apply", options->delta, "Delta to apply to the old pack")
          ->type_name("FILE")
          ->excludes(made);
  add_output_option(*sub, &options->output,
                    "Delta to write; with --apply the new pack, which may be the old one", "FILE")
      ->required();
  add_json_flag(*sub, &options->json);
  sub->callback([=] {
    if (made->empty() && applied->empty()) throw CLI::RequiredError("new or --apply");
    *command = [=] { return applied->empty() ? run_delta(*options) : run_apply(*options); };
  });
}

}  // namespace kiln::cli
