// SPDX-License-Identifier: Apache-2.0
// Options that several subcommands share, each with one text and one meaning.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "builder/cli/shared/common.hpp"
#include "builder/run/run_program.hpp"
#include "builder/sign/public_keys.hpp"

namespace kiln::cli {

// Adds --device; `otherwise` says which devices are the default.
void add_device_option(CLI::App &command, std::string *selector, const char *otherwise = "all");
// Each adds the option of its name; `what` is its text in the help.
void add_pack_option(CLI::App &command, std::string *pack, const char *what);
void add_program_option(CLI::App &command, std::string *program,
                        const char *what = "Only this program; default: all");
void add_variant_option(CLI::App &command, std::string *variant, const char *what);
void add_overlay_option(CLI::App &command, std::string *folder, const char *what);
void add_report_option(CLI::App &command, std::string *file, const char *what);
CLI::Option *add_output_option(CLI::App &command, std::string *path, const char *what,
                               const char *kind = "PACK");
// --key takes public keys only, and --secret-key a secret one; --revision is the revision to give,
// and --min-revision the oldest to accept.
void add_public_keys_option(CLI::App &command, builder::PublicKeys *options);  // and --threshold
void add_secret_key_option(CLI::App &command, std::string *file);
// Adds --keys, the file of a device's trusted keys.
CLI::Option *add_trusted_keys_option(CLI::App &command, std::string *file);
void add_least_revision_option(CLI::App &command, std::uint64_t *revision);
// Refuses an empty word: in a script, that of a command that failed.
CLI::Validator not_empty();
// Adds --json.
void add_json_flag(CLI::App &command, bool *json, int schema = 1);
// Adds --jobs, with its default.
void add_jobs_option(CLI::App &command, std::size_t *jobs);
// Adds --timeout; `what` is its text in the help.
void add_timeout_option(CLI::App &command, std::chrono::milliseconds *time, const char *what);

// Parses "90", "90s", "500ms" or "2m", and returns seconds, at most a day. Fails with
// Code::bad_argument for any other text.
Result<double> read_budget(const std::string &text);
void add_budget_option(CLI::App &command, std::string *budget, const char *what);

// Parses the values of --size. Fails with Code::bad_argument.
Result<std::vector<builder::ProblemSize>> read_sizes(const std::vector<std::string> &texts);

// Adds --rung, which names the rung to begin at; empty: the best. `each`: the word, if there is
// one, for a run from each rung alone.
void add_rung_option(CLI::App &command, std::string *rung, const char *each = "");
// Adds --without, which adds the KILN_LOAD_* bits that leave out the named rungs.
void add_without_option(CLI::App &command, unsigned *flags);

}  // namespace kiln::cli
