// SPDX-License-Identifier: Apache-2.0
// kiln report: sums the lines that the layer and the Python module appended to report files.
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>

#include "builder/cli/common_options.hpp"
#include "builder/inspect/report_sum.hpp"

namespace kiln::cli {
namespace {

// A line that is longer is cut, and is then no JSON: a file without line ends must not fill the
// memory.
constexpr std::size_t kLongestLine = 1u << 20u;

struct ReportArguments {
  std::vector<std::string> files;
  bool json = false;
};

Status add_lines(std::istream &in, const std::string &name, builder::ReportSums *sums) {
  std::string line(kLongestLine + 1, '\0');
  errno = 0;
  for (std::size_t number = 1; in.good(); ++number) {
    in.getline(line.data(), static_cast<std::streamsize>(line.size()));
    if (in.bad()) break;
    const std::size_t end = in.good() ? 1 : 0;  // the line end, which is counted
    const std::size_t size = static_cast<std::size_t>(in.gcount()) - end;
    if (in.fail() && !in.eof()) {
      in.clear();
      in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    builder::add_report_line({line.data(), size}, name, number, sums);
  }
  if (!in.bad()) return {};
  return {Code::failed, name + ": " + std::strerror(errno == 0 ? EIO : errno)};
}

Status add_file(const std::string &path, builder::ReportSums *sums) {
  if (path == "-") {
    std::ios::sync_with_stdio(false);  // else each byte is read by a call
    return add_lines(std::cin, "standard input", sums);
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) return {Code::failed, path + ": " + std::strerror(errno)};
  return add_lines(file, path, sums);
}

int run(const ReportArguments &arguments) {
  builder::ReportSums sums;
  for (const std::string &file : arguments.files) {
    if (Status s = add_file(file, &sums); !s.ok()) return fail(s);
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
      "report", "Sum report files: what was loaded, how fast, and why the rest was not");
  sub->add_option("file", arguments->files,
                  "Report of 'kiln serve', 'kiln record' or kiln.pyopencl; '-' is standard input")
      ->required();
  add_json_flag(*sub, &arguments->json);
  sub->callback([=] { *command = [=] { return run(*arguments); }; });
}

}  // namespace kiln::cli
