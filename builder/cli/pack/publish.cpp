// SPDX-License-Identifier: Apache-2.0
// kiln pack publish and kiln pack fetch: put a pack into an OCI image layout, and get one device's
// pack from there.
#include <fmt/format.h>

#include "builder/cli/common_options.hpp"
#include "builder/cli/compiling.hpp"
#include "builder/cli/pack/layout_options.hpp"
#include "builder/inspect/pack_json.hpp"
#include "builder/process/temporary_folder.hpp"
#include "builder/publish/http_layout.hpp"
#include "builder/publish/statements.hpp"

namespace kiln::cli {
namespace {

struct PublishArguments {
  std::string pack;
  std::string to;
  std::vector<std::string> secret_keys;  // none: packs are not signed
  std::uint64_t revision = 0;
  builder::PublishRequest request;
  bool json = false;
};

struct FetchArguments {
  std::string from;
  std::string cache;  // folder of a registry's parts; empty: none is kept
  std::string output;
  builder::PublicKeys keys;
  builder::FetchRequest request;
  bool json = false;
};

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

// Reads "oci:DIR:TAG", in a layout that may be the one that is added to, by files in the folder
// `work`.
Result<packs::Contents> read_published(const std::string &word, const std::string &work) {
  const std::size_t colon = word.rfind(':');
  const auto folder = layout_folder(word.substr(0, colon));
  if (!folder.ok()) return folder.status();
  const auto layout = builder::OciFolder::open(*folder);
  if (!layout.ok()) return layout.status();
  builder::allow_many_files();  // each target's pack stays open
  return builder::published_contents(*layout, word.substr(colon + 1), work);
}

int run_publish(const PublishArguments &options) {
  builder::PublishRequest request = options.request;
  request.signers = signers(options.secret_keys);
  request.today = builder::today();
  const bool is_published = options.pack.starts_with("oci:");
  packs::Contents contents;
  if (!is_published) {
    auto pack = open_pack(options.pack);
    if (!pack.ok()) return fail(pack.status());
    contents = std::move(pack->contents);
  }
  auto layout = open_layout_to_add(options.to);
  if (!layout.ok()) return fail(layout.status());
  if (is_published) {
    Status s = read_published(options.pack, layout->scratch()).move_to(&contents);
    if (!s.ok()) return fail(s);
  }
  const auto published = builder::publish_pack(contents, &*layout, request);
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

// Fetches from the layout in the folder.
int fetch_from(const std::string &folder, const FetchArguments &options) {
  const auto layout = builder::OciFolder::open(folder);
  if (!layout.ok()) return fail(layout.status());
  builder::FetchRequest request = options.request;
  if (Status s = options.keys.demand().move_to(&request.demand); !s.ok()) return fail(s);
  request.smallest_revision = request.demand.revision;
  request.today = builder::today();
  const auto fetched = builder::fetch_pack(*layout, request, options.output);
  if (!fetched.ok()) return fail(fetched.status());
  if (fetched->fell_back) {
    complain("no target has the key " + request.target +
             ": these are the programs alone, which the device compiles");
  }
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

int run_fetch(const FetchArguments &options) {
  if (Status s = check_output(options.output, {}); !s.ok()) return fail(s);
  if (!builder::is_url(options.from)) {
    const auto folder = layout_folder(options.from);
    return folder.ok() ? fetch_from(*folder, options) : fail(folder.status());
  }
  supervise_command("interrupted");
  const auto temporary = builder::TemporaryFolder::make();
  if (!temporary.ok()) return fail(temporary.status());
  const std::string folder = options.cache.empty() ? temporary->path() : options.cache;
  const builder::FetchRequest &request = options.request;
  const Status status = builder::fetch_layout(options.from, request.tag, request.target,
                                              !request.keys.empty(), folder);
  return status.ok() ? fetch_from(folder, options) : fail(status);
}

}  // namespace

void add_publish(CLI::App &app, Command *command) {
  auto options = std::make_shared<PublishArguments>();
  CLI::App *sub = app.add_subcommand("publish",
                                     "Add a pack to an OCI image layout: source and SPIR-V, and "
                                     "for each target a delta that adds it");
  sub->add_option("pack", options->pack,
                  "Pack to publish, or oci:DIR:TAG for what a layout has under a tag")
      ->required();
  sub->add_option("--to", options->to, "Folder of the layout, made if it does not exist")
      ->type_name("oci:DIR")
      ->required();
  sub->add_option("--tag", options->request.tag, "Tag to give it; default: latest")
      ->type_name("NAME");
  add_secret_keys_option(*sub, &options->secret_keys);
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
  sub->add_option(
         "from", options->from,
         "oci:DIR, the folder of the layout, or the URL of a registry's repository (by curl)")
      ->required();
  add_output_option(*sub, &options->output, "Pack to write")->required();
  sub->add_option("--cache", options->cache,
                  "Keep what a URL gave in this folder, so that the next fetch brings only what "
                  "changed")
      ->type_name("DIR");
  sub->add_option("--tag", request.tag, "Tag; default: latest")->type_name("NAME");
  sub->add_option("--target", request.target,
                  "Hash of its key, or glob over device and driver; default, and if no target has "
                  "the key: the programs alone")
      ->type_name("TARGET")
      ->check(not_empty());
  sub->add_option("--keys", request.keys,
                  "Statement of the keys that must have signed the tag; replaced by a newer one")
      ->type_name("FILE");
  add_public_keys_option(*sub, &options->keys);
  add_least_revision_option(*sub, &options->keys.revision);
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run_fetch(*options); }; });
}

}  // namespace kiln::cli
