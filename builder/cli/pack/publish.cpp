// SPDX-License-Identifier: Apache-2.0
// kiln pack publish and kiln pack fetch: put a pack into an OCI image layout, and get one device's
// pack from there.
#include <fmt/format.h>

#include "builder/cli/common_options.hpp"
#include "builder/publish/minisign.hpp"
#include "builder/publish/publish.hpp"

namespace kiln::cli {
namespace {

struct PublishArguments {
  std::string pack;
  std::string to;
  std::string key;  // file; empty: packs are not signed
  std::uint64_t revision = 0;
  builder::PublishRequest request;
  bool json = false;
};

struct FetchArguments {
  std::string from;
  std::string output;
  builder::FetchRequest request;
  bool json = false;
};

// Returns the folder in "oci:DIR".
Result<std::string> layout_folder(const std::string &word) {
  const std::string folder = word.starts_with("oci:") ? word.substr(4) : std::string();
  if (!folder.empty() && folder.find(':') == std::string::npos) return folder;
  return Status(Code::bad_argument,
                fmt::format("expected oci:DIR without another colon, not {}", word));
}

nlohmann::json layers_json(const builder::Artifact &published) {
  nlohmann::json layers = nlohmann::json::array();
  for (const builder::ArtifactLayer &layer : published.layers) {
    layers.push_back({{"label", layer.label},
                      {"media_type", layer.blob.media_type},
                      {"digest", layer.blob.digest},
                      {"size", layer.blob.size},
                      {"annotations", layer.blob.annotations}});
  }
  return layers;
}

std::string published_text(const PublishArguments &options, const builder::Artifact &published) {
  std::string text;
  for (const builder::ArtifactLayer &layer : published.layers) {
    text += fmt::format("{}  {:>9} bytes  {}\n", layer.blob.digest.substr(0, 19), layer.blob.size,
                        layer.label);
  }
  return text + fmt::format("{}:{}: revision {}, {}\n", options.to, options.request.tag,
                            published.revision, published.digest);
}

int run_publish(const PublishArguments &options) {
  const auto folder = layout_folder(options.to);
  if (!folder.ok()) return fail(folder.status());
  builder::PublishRequest request = options.request;
  if (!options.key.empty()) {
    request.sign = [&](const std::vector<std::string> &statements, std::uint64_t revision) {
      return builder::sign_by_minisign(options.key, statements, revision);
    };
  }
  const auto pack = open_pack(options.pack);
  if (!pack.ok()) return fail(pack.status());
  auto layout = builder::OciFolder::open_to_add(*folder, [](const std::string &where) {
    complain("waiting for another command that writes to " + where);
  });
  if (!layout.ok()) return fail(layout.status());
  const auto published = builder::publish_pack(pack->contents, &*layout, request);
  if (!published.ok()) return fail(published.status());
  if (options.json) {
    print(nlohmann::json{{"schema", 1},
                         {"output", options.to},
                         {"tag", options.request.tag},
                         {"revision", published->revision},
                         {"digest", published->digest},
                         {"layers", layers_json(*published)}});
  } else {
    print(published_text(options, *published));
  }
  return kDone;
}

int run_fetch(const FetchArguments &options) {
  const auto folder = layout_folder(options.from);
  if (!folder.ok()) return fail(folder.status());
  const auto layout = builder::OciFolder::open(*folder);
  if (!layout.ok()) return fail(layout.status());
  if (Status s = check_output(options.output, {}); !s.ok()) return fail(s);
  const auto fetched = builder::fetch_pack(*layout, options.request, options.output);
  if (!fetched.ok()) return fail(fetched.status());
  if (options.json) {
    print(nlohmann::json{{"schema", 1},
                         {"output", options.output},
                         {"revision", fetched->revision},
                         {"target", fetched->label},
                         {"size", fetched->size},
                         {"blake2b", fetched->blake2b}});
  } else {
    print(fmt::format("{}: revision {}, {}; {} bytes, BLAKE2b {}\n", options.output,
                      fetched->revision, fetched->label, fetched->size, fetched->blake2b));
  }
  return kDone;
}

}  // namespace

void add_publish(CLI::App &app, Command *command) {
  auto options = std::make_shared<PublishArguments>();
  CLI::App *sub = app.add_subcommand("publish",
                                     "Add a pack to an OCI image layout: source and SPIR-V, and "
                                     "for each target a delta that adds it");
  sub->add_option("pack", options->pack, "Pack to publish")->required();
  sub->add_option("--to", options->to, "Folder of the layout; made if it does not exist")
      ->type_name("oci:DIR")
      ->required();
  sub->add_option("--tag", options->request.tag, "Tag to give it; default: latest")
      ->type_name("NAME");
  add_secret_key_option(*sub, &options->key);
  CLI::Option *revision = sub->add_option("--revision", options->revision,
                                          "Revision; default: one more than the highest there is")
                              ->type_name("N");
  add_json_flag(*sub, &options->json);
  sub->callback([=] {
    if (!revision->empty()) options->request.revision = options->revision;
    *command = [=] { return run_publish(*options); };
  });
}

void add_fetch(CLI::App &app, Command *command) {
  auto options = std::make_shared<FetchArguments>();
  builder::FetchRequest &request = options->request;
  CLI::App *sub = app.add_subcommand("fetch", "Make one target's pack from an OCI image layout");
  sub->add_option("from", options->from, "Folder of the layout")->type_name("oci:DIR")->required();
  add_output_option(*sub, &options->output, "Pack to write")->required();
  sub->add_option("--tag", request.tag, "Tag; default: latest")->type_name("NAME");
  sub->add_option("--target", request.target,
                  "Hash of its key, or glob over device and driver; default: the programs alone")
      ->type_name("TARGET");
  add_least_revision_option(*sub, &request.smallest_revision);
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run_fetch(*options); }; });
}

}  // namespace kiln::cli
