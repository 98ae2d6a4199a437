// SPDX-License-Identifier: Apache-2.0
// kiln keygen: a pair of keys to sign packs with.
#include <fmt/format.h>

#include "builder/cli/device_options.hpp"
#include "kiln/packs/key_files.hpp"

namespace kiln::cli {
namespace {

struct KeygenArguments {
  std::string name;
  bool force = false;
  bool json = false;
};

int keygen(const KeygenArguments &options) {
  packs::SecretKey key;
  if (Status s = packs::make_secret_key(&key); !s.ok()) return fail(s);
  Status written = packs::write_key_files(key, options.name, options.force);
  if (!written.ok()) return fail(as_failed(written));
  const packs::PublicKey &made = key.public_key();
  const std::string line = packs::public_key_line(made);
  if (options.json) {
    print(nlohmann::json{{"schema", 1},
                         {"key", packs::key_text(made.id)},
                         {"public_key", line},
                         {"public_file", options.name + ".pub"},
                         {"secret_file", options.name + ".key"}});
  } else {
    print(
        fmt::format("{}.key: the secret key, which only you can read: keep it so\n"
                    "{}.pub: public key {}\n{}\n",
                    options.name, options.name, packs::key_text(made.id), line));
  }
  return kDone;
}

}  // namespace

void add_keygen(CLI::App &app, Command *command) {
  auto options = std::make_shared<KeygenArguments>();
  CLI::App *sub = app.add_subcommand("keygen", "Make a key to sign packs with, in minisign's form");
  sub->add_option("-o,--output", options->name, "Writes NAME.key, the secret key, and NAME.pub")
      ->required()
      ->type_name("NAME");
  sub->add_flag("--force", options->force, "Replace keys of that name");
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return keygen(*options); }; });
}

}  // namespace kiln::cli
