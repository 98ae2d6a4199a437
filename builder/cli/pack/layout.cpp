// SPDX-License-Identifier: Apache-2.0
// kiln pack list, tag, keys and remove: what an OCI image layout holds, which revision a tag names,
// whose signatures count, and how old revisions go.
#include <fmt/format.h>

#include "builder/cli/common_options.hpp"
#include "builder/cli/pack/layout_options.hpp"
#include "builder/inspect/printable.hpp"
#include "builder/publish/revisions.hpp"

namespace kiln::cli {

Result<std::string> layout_folder(const std::string &word) {
  const std::string folder = word.starts_with("oci:") ? word.substr(4) : std::string();
  if (!folder.empty() && folder.find(':') == std::string::npos) return folder;
  return Status(Code::bad_argument,
                fmt::format("expected oci:DIR without another colon, not {}", word));
}

Result<builder::OciFolder> open_layout_to_add(const std::string &word) {
  const auto folder = layout_folder(word);
  if (!folder.ok()) return folder.status();
  return builder::OciFolder::open_to_add(*folder, [](const std::string &where) {
    complain("waiting for another command that writes to " + where);
  });
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

namespace {

struct LayoutArguments {
  std::string layout;
  std::vector<std::string> revisions;
  std::string keys;
  builder::TagRequest tag;
  std::vector<std::string> secret_keys;
  bool json = false;
};

nlohmann::json listing_json(const builder::Listing &listing) {
  nlohmann::json revisions = nlohmann::json::array();
  for (const builder::Revision &revision : listing.revisions) {
    nlohmann::json targets = nlohmann::json::array();
    for (const auto &target : revision.targets) {
      targets.push_back(
          {{"key_hash", target.key_hash}, {"label", target.label}, {"bytes", target.size}});
    }
    revisions.push_back({{"revision", revision.revision},
                         {"digest", revision.digest},
                         {"created", revision.created},
                         {"tags", revision.tags},
                         {"bytes", revision.size},
                         {"targets", targets}});
  }
  nlohmann::json signed_tags = nlohmann::json::array();
  for (const builder::TagStatement &tag : listing.signed_tags) {
    signed_tags.push_back({{"tag", tag.tag},
                           {"revision", tag.revision},
                           {"made", tag.made},
                           {"expires", tag.expires}});
  }
  nlohmann::json keys = nullptr;
  if (listing.keys) {
    nlohmann::json ids = nlohmann::json::array();
    for (const auto &key : listing.keys->keys) ids.push_back(packs::key_text(key.id));
    keys = {{"version", listing.keys->version},
            {"expires", listing.keys->expires},
            {"threshold", listing.keys->threshold},
            {"keys", ids}};
  }
  return {{"schema", 1}, {"revisions", revisions}, {"signed", signed_tags}, {"keys", keys}};
}

std::string listing_text(const builder::Listing &listing) {
  std::string text;
  for (const builder::Revision &revision : listing.revisions) {
    std::string tags;
    for (const std::string &tag : revision.tags) tags += (tags.empty() ? "" : ", ") + tag;
    text += builder::printable_line(fmt::format("{:10}  {:>10}  {:>12} bytes  {}", revision.created,
                                                count(revision.targets.size(), "target"),
                                                revision.size, tags)) +
            "\n";
  }
  for (const builder::TagStatement &tag : listing.signed_tags) {
    text += builder::printable_line(fmt::format("{} is signed as revision {} until {}", tag.tag,
                                                tag.revision, tag.expires)) +
            "\n";
  }
  if (listing.keys) {
    text += fmt::format("keys: version {} until {}, {} of {} must sign\n", listing.keys->version,
                        listing.keys->expires, listing.keys->threshold, listing.keys->keys.size());
  }
  return text;
}

int run_list(const LayoutArguments &options) {
  const auto folder = layout_folder(options.layout);
  if (!folder.ok()) return fail(folder.status());
  const auto layout = builder::OciFolder::open(*folder);
  if (!layout.ok()) return fail(layout.status());
  const auto listing = builder::list_revisions(*layout);
  if (!listing.ok()) return fail(listing.status());
  options.json ? print(listing_json(*listing)) : print(listing_text(*listing));
  return kDone;
}

// Warns if devices need more signatures than there are.
void warn_of_threshold(const builder::SignedBy &by) {
  if (by.signers >= by.required) return;
  complain(
      fmt::format("signed by {} of the {} required keys: devices refuse it until others have "
                  "signed, by the same command with their keys",
                  by.signers, by.required));
}

int run_tag(const LayoutArguments &options) {
  builder::TagRequest request = options.tag;
  request.signers = signers(options.secret_keys);
  request.today = builder::today();
  if (request.signers.empty() != request.expires.empty()) {
    return fail({Code::bad_argument, "--secret-key and --expires need each other"});
  }
  auto layout = open_layout_to_add(options.layout);
  if (!layout.ok()) return fail(layout.status());
  const auto tagged = builder::move_tag(&*layout, request);
  if (!tagged.ok()) return fail(tagged.status());
  if (tagged->signed_by) warn_of_threshold(*tagged->signed_by);
  if (options.json) {
    nlohmann::json shown{{"schema", 1},
                         {"output", options.layout},
                         {"tag", request.to},
                         {"revision", tagged->revision},
                         {"digest", tagged->digest}};
    shown["signers"] = tagged->signed_by ? tagged->signed_by->signers : 0;
    shown["threshold"] = tagged->signed_by ? tagged->signed_by->required : 0;
    print(shown);
  } else {
    print(fmt::format("{}:{}: revision {}, {}{}\n", options.layout, request.to, tagged->revision,
                      tagged->digest,
                      tagged->signed_by ? ", signed until " + request.expires : std::string()));
  }
  return kDone;
}

int run_keys(const LayoutArguments &options) {
  const auto text = builder::read_small_file(options.keys);
  if (!text.ok()) return fail(as_failed(text.status()));
  const auto keys = builder::read_keys_statement(*text);
  if (!keys.ok()) return fail({keys.status().code, options.keys + ": " + keys.status().message});
  auto layout = open_layout_to_add(options.layout);
  if (!layout.ok()) return fail(layout.status());
  const auto by = builder::publish_keys(&*layout, *text, signers(options.secret_keys));
  if (!by.ok()) return fail(by.status());
  warn_of_threshold(*by);
  if (options.json) {
    print(nlohmann::json{{"schema", 1},
                         {"output", options.layout},
                         {"version", keys->version},
                         {"signers", by->signers},
                         {"threshold", by->required}});
  } else {
    print(fmt::format("{}:keys: version {} until {}, {} of {} must sign\n", options.layout,
                      keys->version, keys->expires, keys->threshold, keys->keys.size()));
  }
  return kDone;
}

int run_remove(const LayoutArguments &options) {
  auto layout = open_layout_to_add(options.layout);
  if (!layout.ok()) return fail(layout.status());
  const auto removed = builder::remove_revisions(&*layout, options.revisions);
  if (!removed.ok()) return fail(removed.status());
  if (options.json) {
    print(nlohmann::json{{"schema", 1},
                         {"output", options.layout},
                         {"removed", options.revisions},
                         {"blobs", removed->blobs},
                         {"bytes", removed->bytes}});
  } else {
    print(fmt::format("{}: removed {} and {} of {} bytes\n", options.layout,
                      count(options.revisions.size(), "revision"), count(removed->blobs, "blob"),
                      removed->bytes));
  }
  return kDone;
}

CLI::Option *add_layout(CLI::App &sub, LayoutArguments *options) {
  return sub.add_option("layout", options->layout, "Folder of the layout")
      ->type_name("oci:DIR")
      ->required();
}

}  // namespace

void add_list(CLI::App &app, Command *command) {
  auto options = std::make_shared<LayoutArguments>();
  CLI::App *sub = app.add_subcommand("list", "List an OCI image layout's revisions and tags");
  add_layout(*sub, options.get());
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run_list(*options); }; });
}

void add_tag(CLI::App &app, Command *command) {
  auto options = std::make_shared<LayoutArguments>();
  CLI::App *sub =
      app.add_subcommand("tag", "Move a tag to a revision that is not older, or sign it");
  add_layout(*sub, options.get());
  sub->add_option("from", options->tag.from, "Revision (rN) or tag to move it to")->required();
  sub->add_option("to", options->tag.to, "Tag to move")->required();
  add_secret_keys_option(*sub, &options->secret_keys);
  sub->add_option("--expires", options->tag.expires,
                  "With --secret-key: day (UTC) from which devices refuse the signature")
      ->type_name("YYYY-MM-DD");
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run_tag(*options); }; });
}

void add_keys(CLI::App &app, Command *command) {
  auto options = std::make_shared<LayoutArguments>();
  CLI::App *sub =
      app.add_subcommand("keys", "Add the next version of the keys whose signatures count");
  add_layout(*sub, options.get());
  sub->add_option("keys", options->keys, "Statement of the keys")->type_name("FILE")->required();
  add_secret_keys_option(*sub, &options->secret_keys)->required();
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run_keys(*options); }; });
}

void add_remove(CLI::App &app, Command *command) {
  auto options = std::make_shared<LayoutArguments>();
  CLI::App *sub = app.add_subcommand(
      "remove", "Remove old revisions from an OCI image layout, and the blobs of no other");
  add_layout(*sub, options.get());
  sub->add_option("revisions", options->revisions, "Revisions (rN) that have no other tag")
      ->required();
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run_remove(*options); }; });
}

}  // namespace kiln::cli
