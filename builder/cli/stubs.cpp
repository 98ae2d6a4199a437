// SPDX-License-Identifier: Apache-2.0
// kiln stubs: the kernels of a pack as a header.
#include <fmt/format.h>

#include "builder/base/whole_file.hpp"
#include "builder/cli/shared/common_options.hpp"
#include "builder/stubs/stubs.hpp"

namespace kiln::cli {
namespace {

struct StubsArguments {
  std::string pack;
  std::string output;
  std::string name = "kernels";
};

int run(const StubsArguments &options) {
  const auto open = read_pack(options.pack);
  if (!open.ok()) return fail(open.status());
  if (Status s = check_output(options.output, {options.pack}); !s.ok()) return fail(s);
  builder::StubRequest request;
  request.name = options.name;
  if (options.output.ends_with(".h")) request.language = builder::StubLanguage::c;
  const auto text = builder::make_stubs(*open->pack, open->contents, request);
  if (!text.ok()) {
    const bool of_pack = text.status().code == Code::not_in_pack;
    return fail({text.status().code,
                 of_pack ? options.pack + ": " + text.status().message : text.status().message});
  }
  const Status status = as_failed(builder::write_whole_file(options.output, *text));
  return status.ok() ? kDone : fail(status);
}

}  // namespace

void add_stubs(CLI::App &app, Command *command) {
  auto options = std::make_shared<StubsArguments>();
  CLI::App *sub =
      app.add_subcommand("stubs", "Write a C++ or C header for a pack's programs and kernels");
  sub->add_option("pack", options->pack, "Pack that 'kiln compile' or 'kiln build' made")
      ->required();
  add_output_option(*sub, &options->output, "Header to write: in C if it ends in .h, else in C++",
                    "FILE")
      ->required();
  sub->add_option("--namespace", options->name, "Namespace of all names; in C, their prefix")
      ->type_name("NAME")
      ->capture_default_str();
  sub->callback([=] { *command = [=] { return run(*options); }; });
}

}  // namespace kiln::cli
