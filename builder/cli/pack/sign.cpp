// SPDX-License-Identifier: Apache-2.0
// kiln pack sign: puts a signature by minisign into a pack, or beside it.
#include <algorithm>

#include <fmt/format.h>

#include "builder/base/whole_file.hpp"
#include "builder/cli/common_options.hpp"
#include "builder/sign/minisign.hpp"
#include "builder/sign/public_keys.hpp"

namespace kiln::cli {
namespace {

struct SignArguments {
  std::string path;
  std::string key;
  std::string output;  // empty: the pack itself, or beside it
  std::string statement;
  std::optional<std::uint64_t> revision;
  bool detached = false;
  bool json = false;
};

constexpr std::string_view kStatement = ".statement";
constexpr std::string_view kSignature = ".minisig";

// Returns the path of a detached statement. -o may name the statement, its signature, or the common
// beginning of both names.
std::string statement_path(std::string output) {
  if (output.ends_with(std::string(kStatement) + std::string(kSignature))) {
    output.resize(output.size() - kSignature.size());
  }
  return output.ends_with(kStatement) ? output : output + std::string(kStatement);
}

std::string signature_path(const std::string &statement) {
  return statement + std::string(kSignature);
}

Status with_path(const std::string &path, const Status &status) {
  return {status.code,
          fmt::format("{}: {} [{}]", path, status.message, packs::code_name(status.code))};
}

// Returns the pack's signatures and, with --detached, the signature beside the pack if there is
// one.
Result<std::vector<packs::Signature>> known_signatures(const packs::Pack &pack,
                                                       const SignArguments &options) {
  std::vector<packs::Signature> signatures;
  if (Status s = packs::read_signatures(pack, &signatures); !s.ok()) return s;
  if (!options.detached) return signatures;
  const auto texts = builder::read_detached_files(signature_path(options.statement));
  packs::Signature beside;
  if (texts.ok() && packs::read_detached(pack, *texts, &beside).ok()) {
    (void)packs::add_signature(beside, &signatures);  // unless the pack has a newer one
  }
  return signatures;
}

// Has minisign sign the pack, with the highest revision of its signatures unless the command line
// gives another.
Result<packs::Detached> sign_statement(const packs::Pack &pack, const SignArguments &options,
                                       const std::vector<packs::Signature> &signatures) {
  std::uint64_t revision = 1;
  for (const packs::Signature &known : signatures) revision = std::max(revision, known.revision);
  revision = options.revision.value_or(revision);
  const std::string text = packs::statement(pack.superblock(), packs::root_name(pack), revision);
  auto signed_texts = builder::sign_by_minisign(options.key, {text},
                                                fmt::format("kiln pack, revision {}", revision));
  if (!signed_texts.ok()) return signed_texts.status();
  return std::move(signed_texts->front());
}

Status write_detached(const packs::Detached &texts, const std::string &path) {
  // The statement first: a signature without its statement is useless.
  Status s = builder::write_whole_file(path, texts.statement);
  if (s.ok()) s = builder::write_whole_file(signature_path(path), texts.signature);
  return as_failed(s);
}

int print_signature(const SignArguments &options, const packs::Signature &signature,
                    std::size_t count_all) {
  const std::string written = options.detached ? signature_path(options.statement) : options.output;
  if (options.json) {
    print(nlohmann::json{{"schema", 1},
                         {"output", written},
                         {"key", packs::key_text(signature.key)},
                         {"revision", signature.revision},
                         {"signatures", count_all}});
  } else if (options.detached) {
    print(fmt::format("{}: revision {}, by the key {}\n", written, signature.revision,
                      packs::key_text(signature.key)));
  } else {
    print(fmt::format("{}: signed as revision {} by the key {}, {}\n", written, signature.revision,
                      packs::key_text(signature.key), count(count_all, "signature")));
  }
  return kDone;
}

int sign_pack(SignArguments options) {
  if (options.detached) {
    options.statement = options.output.empty() ? options.path + std::string(kStatement)
                                               : statement_path(options.output);
    if (Status s = check_output(options.statement, {options.path}); !s.ok()) return fail(s);
  }
  if (options.output.empty()) options.output = options.path;
  const packs::FolderLock lock = lock_output(options.output);
  std::shared_ptr<const packs::Pack> pack;
  Status status = packs::Pack::open_file(options.path.c_str(), &pack);
  if (!status.ok()) {
    return fail(
        {status.code, fmt::format("{} [{}]", status.message, packs::code_name(status.code))});
  }
  if (status = packs::check_names(*pack); !status.ok()) {
    return fail(with_path(options.path + ": not signed", status));
  }
  auto signatures = known_signatures(*pack, options);
  if (!signatures.ok()) return fail(with_path(options.path, signatures.status()));
  const auto texts = sign_statement(*pack, options, *signatures);
  if (!texts.ok()) return fail(texts.status());
  packs::Signature signature;
  status = packs::read_detached(*pack, *texts, &signature);
  if (status.ok()) status = packs::add_signature(signature, &*signatures);
  if (!status.ok()) return fail(with_path(options.path, status));
  status = options.detached ? write_detached(*texts, options.statement)
                            : as_failed(packs::write_signed(*pack, *signatures, options.output));
  return status.ok() ? print_signature(options, signature, signatures->size()) : fail(status);
}

}  // namespace

void add_sign(CLI::App &app, Command *command) {
  auto options = std::make_shared<SignArguments>();
  CLI::App *sub = app.add_subcommand("sign", "Sign a pack with a minisign key");
  sub->add_option("pack", options->path, "Pack to sign")->required();
  add_secret_key_option(*sub, &options->key);
  sub->get_option("--secret-key")->required();
  add_output_option(*sub, &options->output, "Signed pack to write; default: the pack itself");
  sub->add_option("--revision", options->revision,
                  "Never decreases; default: the highest of the pack's signatures, or 1")
      ->check(CLI::Range(std::uint64_t{1}, UINT64_MAX).description(""))
      ->type_name("N");
  sub->add_flag("--detached", options->detached,
                "Leave the pack as it is; write PACK.statement and PACK.statement.minisig, which "
                "'kiln pack verify' reads if the pack is not signed");
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return sign_pack(*options); }; });
}

}  // namespace kiln::cli
