// SPDX-License-Identifier: Apache-2.0
// kiln pack sign: puts a signature by minisign into a pack.
#include <algorithm>

#include <fmt/format.h>

#include "builder/cli/shared/common_options.hpp"
#include "builder/sign/minisign.hpp"
#include "builder/sign/public_keys.hpp"

namespace kiln::cli {
namespace {

struct SignArguments {
  std::string path;
  std::string key;
  std::string output;  // empty: the pack itself
  std::optional<std::uint64_t> revision;
  bool json = false;
};

Status with_path(const std::string &path, const Status &status) {
  return {status.code,
          fmt::format("{}: {} [{}]", path, status.message, packs::code_name(status.code))};
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

int print_signature(const SignArguments &options, const packs::Signature &signature,
                    std::size_t count_all) {
  if (options.json) {
    print(nlohmann::json{{"schema", 1},
                         {"output", options.output},
                         {"key", packs::key_text(signature.key)},
                         {"revision", signature.revision},
                         {"signatures", count_all}});
  } else {
    print(fmt::format("{}: signed as revision {} by the key {}, {}\n", options.output,
                      signature.revision, packs::key_text(signature.key),
                      count(count_all, "signature")));
  }
  return kDone;
}

int sign_pack(SignArguments options) {
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
  std::vector<packs::Signature> signatures;
  status = packs::read_signatures(*pack, &signatures);
  if (!status.ok()) return fail(with_path(options.path, status));
  const auto texts = sign_statement(*pack, options, signatures);
  if (!texts.ok()) return fail(texts.status());
  packs::Signature signature;
  status = packs::read_detached(*pack, *texts, &signature);
  if (status.ok()) status = packs::add_signature(signature, &signatures);
  if (!status.ok()) return fail(with_path(options.path, status));
  status = as_failed(packs::write_signed(*pack, signatures, options.output));
  return status.ok() ? print_signature(options, signature, signatures.size()) : fail(status);
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
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return sign_pack(*options); }; });
}

}  // namespace kiln::cli
