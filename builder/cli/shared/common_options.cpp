// SPDX-License-Identifier: Apache-2.0
// Declares the options with CLI11.
#include "builder/cli/shared/common_options.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "builder/base/names.hpp"
#include "builder/base/this_process.hpp"
#include "builder/cli/shared/parse.hpp"
#include "runtime/load/rungs.hpp"

namespace kiln::cli {

void add_device_option(CLI::App &command, std::string *selector, const char *otherwise) {
  command
      .add_option(
          "--device", *selector,
          fmt::format("Index, or glob over platform and device name; default: {}", otherwise))
      ->type_name("DEVICE");
}

void add_pack_option(CLI::App &command, std::string *pack, const char *what) {
  command.add_option("--pack", *pack, what)->required()->type_name("PACK");
}

void add_program_option(CLI::App &command, std::string *program, const char *what) {
  command.add_option("--program", *program, what)->type_name("NAME");
}

void add_variant_option(CLI::App &command, std::string *variant, const char *what) {
  command.add_option("--variant", *variant, what)->type_name("NAME");
}

void add_overlay_option(CLI::App &command, std::string *folder, const char *what) {
  command.add_option("--overlay", *folder, what)->type_name("DIR");
}

void add_public_keys_option(CLI::App &command, builder::PublicKeys *options) {
  command
      .add_option("--key", options->keys,
                  "Public key, as a file or text; the pack must be signed by this key or, if "
                  "repeated, by one")
      ->allow_extra_args(false)
      ->type_name("KEY");
  command
      .add_option("--threshold", options->threshold,
                  "With several --key: how many of them must have signed; default: 1")
      ->check(CLI::Range(1, 64).description(""))
      ->type_name("N");
}

void add_secret_key_option(CLI::App &command, std::string *file) {
  command
      .add_option("--secret-key", *file,
                  "Sign with this secret key of minisign, which asks for its password")
      ->type_name("FILE");
}

CLI::Option *add_trusted_keys_option(CLI::App &command, std::string *file) {
  return command
      .add_option(
          "--keys", *file,
          "File of public keys, one per line: one of them must have signed what is fetched; "
          "newer keys, when published, replace the file")
      ->type_name("FILE");
}

CLI::Validator not_empty() {
  return {[](const std::string &word) { return std::string(word.empty() ? "it is empty" : ""); },
          ""};
}

void add_least_revision_option(CLI::App &command, std::uint64_t *revision) {
  command.add_option("--min-revision", *revision, "Refuse a pack whose revision is lower")
      ->type_name("N")
      ->check(not_empty());
}

CLI::Option *add_output_option(CLI::App &command, std::string *path, const char *what,
                               const char *kind) {
  return command.add_option("-o,--output", *path, what)->type_name(kind);
}

void add_report_option(CLI::App &command, std::string *file, const char *what) {
  command.add_option("--report", *file, what)->type_name("FILE");
}

void add_json_flag(CLI::App &command, bool *json, int schema) {
  command.add_flag("--json", *json, fmt::format("Print JSON, schema {}", schema));
}

void add_jobs_option(CLI::App &command, std::size_t *jobs) {
  constexpr std::size_t kMaxJobs = 256;  // each holds two descriptors
  *jobs = std::min(builder::usable_cpus(), kMaxJobs);
  command
      .add_option("-j,--jobs", *jobs, "Jobs to run in parallel; default: the number of usable CPUs")
      ->check(CLI::Range(std::size_t{1}, kMaxJobs).description(""))
      ->type_name("N");
}

void add_timeout_option(CLI::App &command, std::chrono::milliseconds *time, const char *what) {
  command
      .add_option_function<double>(
          "--timeout",
          [time](double s) { *time = std::chrono::milliseconds(static_cast<long>(s * 1000)); },
          what)
      ->check(CLI::Range(0.1, 86400.0).description(""))
      ->type_name("SECONDS")
      ->default_str(std::to_string(time->count() / 1000));
}

void add_budget_option(CLI::App &command, std::string *budget, const char *what) {
  command.add_option("--budget", *budget, what)->type_name("TIME")->capture_default_str();
}

Result<double> read_budget(const std::string &text) {
  char *end = nullptr;
  double seconds = std::strtod(text.c_str(), &end);
  const std::string unit(end);
  const bool known = unit.empty() || unit == "s" || unit == "ms" || unit == "m";
  if (unit == "ms") seconds /= 1000;
  if (unit == "m") seconds *= 60;
  if (known && end != text.c_str() && seconds > 0 && seconds <= 86400) return seconds;
  return Status(Code::bad_argument,
                "--budget takes a time like 60s, 500ms or 2m of at most a day, not " + text);
}

Result<std::vector<builder::ProblemSize>> read_sizes(const std::vector<std::string> &texts) {
  std::vector<builder::ProblemSize> sizes;
  for (const std::string &text : texts) {
    const auto size = builder::parse_size(text);
    if (!size) {
      return Status(Code::bad_argument,
                    "--size takes WIDTH, WIDTHxHEIGHT or WIDTHxHEIGHTxDEPTH, not " + text);
    }
    sizes.push_back(*size);
  }
  return sizes;
}

void add_rung_option(CLI::App &command, std::string *rung, const char *each) {
  std::vector<std::string> names;
  for (const runtime::Rung &one : runtime::rungs()) {
    if (one.id != KILN_RUNG_OVERLAY) names.emplace_back(one.name);
  }
  std::string text = fmt::format(
      "Begin at this rung, '{}', as a device does for which there is nothing better; "
      "uses no overlay",
      fmt::join(names, "', '"));
  if (*each != '\0') {
    names.emplace_back(each);
    text += fmt::format(
        "; {}: run once from each rung alone, and compare the results, without a program for all",
        each);
  }
  command.add_option("--rung", *rung, text)
      ->type_name("RUNG")
      ->check(CLI::IsMember(names).description(""));
}

void add_without_option(CLI::App &command, unsigned *flags) {
  std::vector<std::string> words, texts;
  for (const runtime::Rung &rung : runtime::rungs()) {
    if (words.empty() || words.back() != rung.word) words.emplace_back(rung.word);
  }
  for (const std::string &word : words) {
    std::vector<std::string> names;
    for (const runtime::Rung &rung : runtime::rungs()) {
      if (rung.word == word) names.emplace_back(rung.name);
    }
    texts.push_back("'" + word + "'");
    if (names.size() > 1) texts.back() += fmt::format(" ({})", fmt::join(names, ", "));
  }
  command
      .add_option_function<std::vector<std::string>>(
          "--without",
          [flags](const std::vector<std::string> &given) {
            for (const runtime::Rung &rung : runtime::rungs()) {
              if (std::count(given.begin(), given.end(), rung.word) != 0) *flags |= rung.off;
            }
          },
          fmt::format("Do not load {}", fmt::join(texts, ", ")))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(words).description(""))
      ->type_name("RUNG,...");
}

}  // namespace kiln::cli
