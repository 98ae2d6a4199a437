// SPDX-License-Identifier: Apache-2.0
// kiln fleet publish and kiln fleet fetch: put a pack into a folder that devices fetch from, and
// get one device's pack from there.
#include <filesystem>

#include <fmt/format.h>

#include "builder/base/this_process.hpp"
#include "builder/cli/shared/common_options.hpp"
#include "builder/cli/shared/supervised.hpp"
#include "builder/fleet/delivery/fetch.hpp"
#include "builder/fleet/delivery/publish.hpp"
#include "builder/process/temporary_folder.hpp"

namespace kiln::cli {
namespace {

struct PublishArguments {
  std::string pack;
  std::string to;
  std::vector<std::string> secret_keys;  // none: nothing is signed
  std::vector<std::string> keys;
  builder::PublishRequest request;
  bool json = false;
};

struct FetchArguments {
  builder::FetchRequest request;
  std::string output;
  bool json = false;
};

nlohmann::json packs_json(const builder::PublishedIndex &index) {
  nlohmann::json packs = nlohmann::json::array();
  for (const builder::PublishedPack &pack : index.packs) {
    packs.push_back({{"key_hash", pack.key_hash},
                     {"target", pack.label()},
                     {"delta_size", pack.delta.size},
                     {"size", pack.size},
                     {"blake2b", pack.blake2b}});
  }
  return packs;
}

std::string published_text(const std::string &to, const builder::PublishedIndex &index) {
  std::string text = fmt::format("{:>12} bytes  programs\n", index.programs.size);
  for (const builder::PublishedPack &pack : index.packs) {
    text += fmt::format("{:>12} bytes  {}\n", pack.delta.size, pack.label());
  }
  return text + fmt::format("{}: revision {}{}\n", to, index.revision,
                            index.expires.empty() ? "" : ", signed until " + index.expires);
}

std::vector<builder::Signer> signers(const std::vector<std::string> &secret_keys) {
  std::vector<builder::Signer> made;
  for (const std::string &key : secret_keys) {
    made.push_back([key](const std::vector<std::string> &texts, const std::string &comment) {
      return builder::sign_by_minisign(key, texts, comment);
    });
  }
  return made;
}

int run_publish(const PublishArguments &options) {
  builder::PublishRequest request = options.request;
  request.signers = signers(options.secret_keys);
  request.today = builder::today();
  if (Status s = builder::read_public_key_lines(options.keys).move_to(&request.keys); !s.ok()) {
    return fail(s);
  }
  packs::Contents contents;
  std::error_code ignored;
  const bool is_published = std::filesystem::is_directory(options.pack, ignored);
  if (!is_published) {
    auto pack = read_pack(options.pack);
    if (!pack.ok()) return fail(pack.status());
    contents = std::move(pack->contents);
  }
  auto writer = builder::FolderWriter::open(options.to, [](const std::string &where) {
    complain("waiting for another command that writes to " + where);
  });
  if (!writer.ok()) return fail(writer.status());
  if (is_published) {
    builder::allow_many_files();  // each target's pack stays open
    Status s =
        builder::published_contents(builder::PublishedFolder(options.pack), writer->scratch(""))
            .move_to(&contents);
    if (!s.ok()) return fail(s);
  }
  const auto index = builder::publish_pack(contents, &*writer, request);
  if (!index.ok()) return fail(index.status());
  if (options.json) {
    print(nlohmann::json{{"schema", 1},
                         {"output", options.to},
                         {"revision", index->revision},
                         {"expires", index->expires},
                         {"programs_size", index->programs.size},
                         {"packs", packs_json(*index)}});
  } else {
    print(published_text(options.to, *index));
  }
  return kDone;
}

int run_fetch(const FetchArguments &options) {
  if (Status s = check_output(options.output, {}); !s.ok()) return fail(s);
  supervise_command("interrupted");
  builder::FetchRequest request = options.request;
  std::optional<builder::TemporaryFolder> temporary;
  if (builder::is_url(request.from) && request.cache.empty()) {
    auto made = builder::TemporaryFolder::make();
    if (!made.ok()) return fail(made.status());
    request.cache = temporary.emplace(*std::move(made)).path();
  }
  request.today = builder::today();
  const auto fetched = builder::fetch_pack(request, options.output);
  if (!fetched.ok()) return fail(fetched.status());
  if (fetched->fell_back) {
    complain("no target has the key " + request.target +
             ": these are the programs alone, which the device compiles");
  }
  const builder::PublishedPack &pack = fetched->pack;
  if (options.json) {
    print(nlohmann::json{{"schema", 1},
                         {"output", options.output},
                         {"revision", fetched->revision},
                         {"target", pack.label()},
                         {"size", pack.size},
                         {"blake2b", pack.blake2b}});
  } else {
    print(fmt::format("{}: revision {}, {}; {} bytes, BLAKE2b {}\n", options.output,
                      fetched->revision, pack.label(), pack.size, pack.blake2b));
  }
  return kDone;
}

}  // namespace

void add_publish(CLI::App &app, Command *command) {
  auto options = std::make_shared<PublishArguments>();
  CLI::App *sub = app.add_subcommand("publish",
                                     "Put a pack into a folder for a web server or registry, in "
                                     "parts that devices fetch one by one");
  sub->add_option("pack", options->pack, "Pack to publish, or a folder with one published before")
      ->required();
  sub->add_option("--to", options->to, "Folder, made if it does not exist")
      ->type_name("DIR")
      ->required();
  auto *secret =
      sub->add_option("--secret-key", options->secret_keys,
                      "Sign with this secret key of minisign, which asks for its password; "
                      "repeatable")
          ->allow_extra_args(false)
          ->type_name("FILE");
  auto *expires = sub->add_option("--expires", options->request.expires,
                                  "Day (UTC) from which devices refuse this revision")
                      ->type_name("YYYY-MM-DD");
  secret->needs(expires);
  expires->needs(secret);
  sub->add_option("--key", options->keys,
                  "Public key, as a file or text, that devices trust from now on instead of "
                  "theirs; repeatable")
      ->allow_extra_args(false)
      ->type_name("KEY")
      ->needs(secret);
  sub->add_option("--revision", options->request.revision,
                  "Revision; default: one more than the folder's")
      ->type_name("N");
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run_publish(*options); }; });
}

void add_fetch(CLI::App &app, Command *command) {
  auto options = std::make_shared<FetchArguments>();
  builder::FetchRequest &request = options->request;
  CLI::App *sub = app.add_subcommand("fetch", "Make one device's pack from a published folder");
  sub->add_option("from", request.from,
                  "Folder, or its URL: http:// or https:// (by curl), docker:// (by skopeo)")
      ->required();
  add_output_option(*sub, &options->output, "Pack to write")->required();
  sub->add_option("--cache", request.cache,
                  "Keep what a URL gave in this folder, so that the next fetch brings only what "
                  "changed")
      ->type_name("DIR");
  sub->add_option("--target", request.target,
                  "Hash of its key, or glob over device and driver; default, and if no target has "
                  "the key: the programs alone")
      ->type_name("TARGET")
      ->check(not_empty());
  add_trusted_keys_option(*sub, &request.keys);
  add_least_revision_option(*sub, &request.smallest_revision);
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run_fetch(*options); }; });
}

}  // namespace kiln::cli
