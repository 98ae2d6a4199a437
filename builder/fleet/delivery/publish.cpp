// SPDX-License-Identifier: Apache-2.0
// Splits a pack into its programs and one pack for each target, each kept as a delta.
#include "builder/fleet/delivery/publish.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "builder/inspect/pack_slice.hpp"
#include "kiln/packs/bytes.hpp"
#include "kiln/packs/delta.hpp"
#include "kiln/packs/text.hpp"
#include "kiln/packs/writer.hpp"

namespace kiln::builder {
namespace {

using packs::Contents;
using packs::Target;

std::string fact_of(const Target &target, const std::string &name) {
  for (const auto &[fact, value] : target.identity) {
    if (fact == name) return value;
  }
  return {};
}

PublishedPack pack_of(const Target &target) {
  PublishedPack pack;
  pack.key_hash = packs::hex64(packs::xxh3(target.key));
  pack.profile = target.profile;
  pack.family = target.family;
  pack.model = target.model;
  pack.compiler = target.compiler;
  pack.device = fact_of(target, "device_name");
  pack.driver = fact_of(target, "driver_version");
  return pack;
}

Status refused(const std::string &why) { return {Code::bad_argument, why}; }

class Publisher {
 public:
  Publisher(const Contents &contents, FolderWriter *writer, const PublishRequest &request)
      : contents_(contents), writer_(writer), request_(request) {}

  Result<PublishedIndex> publish() {
    if (Status s = begin(); !s.ok()) return s;
    if (Status s = add_programs(); !s.ok()) return s;
    if (Status s = sign_slices(); !s.ok()) return s;
    if (Status s = each_slice([&](const Slice &slice) { return add_delta(slice); }); !s.ok()) {
      return s;
    }
    if (Status s = add_index(); !s.ok()) return s;
    return std::move(index_);
  }

 private:
  // A pack that devices will get: one target with its programs, or the programs alone.
  struct Slice {
    Contents contents;
    PublishedPack pack;
  };

  // Reads what the folder has, and checks the request.
  Status begin() {
    const auto before = writer_->folder().manifest();
    if (before.ok()) {
      before_ = *before;
      if (Status s = published_index(writer_->folder()).move_to(&index_before_); !s.ok()) return s;
    } else if (before.status().code != Code::not_found) {
      return before.status();
    }
    const std::uint64_t last = index_before_.revision;
    index_.revision = request_.revision.value_or(last + 1);
    index_.created = request_.today;
    index_.expires = request_.expires;
    index_.keys = request_.keys;
    if (index_.revision == 0 || index_.revision > kMaxRevision) {
      return refused("a revision is a number of 1 to 18 digits, and not 0");
    }
    if (index_.revision < last) {
      return refused(
          fmt::format("revision {} is older than {}, which is published", index_.revision, last));
    }
    if (!index_.expires.empty() && !is_date(index_.expires)) {
      return refused(index_.expires + " is not a date YYYY-MM-DD");
    }
    if (!index_.expires.empty() && index_.expires <= request_.today) {
      return refused(index_.expires + " is not in the future");
    }
    return {};
  }

  // Changes Code::io_error to Code::failed for a file in the folder for work.
  static Status failed_write(Status written) {
    if (written.code == Code::io_error) written.code = Code::failed;
    return written;
  }

  // Adds the pack without the targets of devices. This pack has the same bytes in each revision
  // with the same programs, and is not signed, because the packs made from it are signed.
  Status add_programs() {
    const std::string path = writer_->scratch("programs.kiln");
    if (Status s = failed_write(packs::write_pack(without_targets(), path)); !s.ok()) return s;
    if (Status s = writer_->add_file(path).move_to(&index_.programs); !s.ok()) return s;
    return packs::Pack::open_file(writer_->folder().path_of(index_.programs).c_str(), &programs_);
  }

  Contents without_targets() const {
    Cut cut;
    cut.devices.emplace();
    return cut_contents(contents_, cut);
  }

  Status each_slice(const std::function<Status(const Slice &)> &use) const {
    if (Status s = use({without_targets(), {}}); !s.ok()) return s;
    std::vector<const Target *> targets;
    for (const Target &target : contents_.targets) targets.push_back(&target);
    std::sort(targets.begin(), targets.end(),
              [](const Target *a, const Target *b) { return a->key < b->key; });
    Contents one{contents_.producer, contents_.programs,  {},
                 contents_.tunings,  contents_.known_bad, contents_.known_bad_version};
    for (const Target *target : targets) {
      Cut cut;
      cut.devices = Cut::Devices{{target->key}, {target->profile}};
      one.targets = {*target};
      if (Status s = use({cut_contents(one, cut), pack_of(*target)}); !s.ok()) return s;
    }
    return {};
  }

  // Writes the slice over the previous one.
  Status write_slice(const Slice &slice, std::shared_ptr<const packs::Pack> *pack) const {
    const std::string path = writer_->scratch("slice.kiln");
    Status s =
        failed_write(packs::write_pack(slice.contents, path, {.purpose = packs::Purpose::ready}));
    return s.ok() ? packs::Pack::open_file(path.c_str(), pack) : s;
  }

  // Slices are written twice rather than kept, because many targets would take much space. The same
  // contents give the same bytes.
  Status sign_slices() {
    if (request_.signers.empty()) return {};
    std::vector<std::string> statements;
    Status s = each_slice([&](const Slice &slice) {
      std::shared_ptr<const packs::Pack> pack;
      if (Status written = write_slice(slice, &pack); !written.ok()) return written;
      statements.push_back(
          packs::statement(pack->superblock(), packs::root_name(*pack), index_.revision));
      return Status();
    });
    const std::string comment = fmt::format("kiln pack, revision {}", index_.revision);
    for (const Signer &sign : request_.signers) {
      if (s.ok()) s = sign(statements, comment).move_to(&signatures_.emplace_back());
    }
    return s;
  }

  Status add_signatures(std::shared_ptr<const packs::Pack> *pack) {
    std::vector<packs::Signature> signatures;
    for (const std::vector<packs::Detached> &of_signer : signatures_) {
      packs::Signature signature;
      Status s = packs::read_detached(**pack, of_signer.at(index_.packs.size()), &signature);
      if (s.ok()) s = packs::add_signature(signature, &signatures);
      if (!s.ok()) return s;
    }
    const std::string path = writer_->scratch("signed.kiln");
    Status s = failed_write(packs::write_signed(**pack, signatures, path));
    return s.ok() ? packs::Pack::open_file(path.c_str(), pack) : s;
  }

  Status add_delta(const Slice &slice) {
    const std::string path = writer_->scratch("slice.kdelta");
    std::shared_ptr<const packs::Pack> pack;
    if (Status s = write_slice(slice, &pack); !s.ok()) return s;
    if (!signatures_.empty()) {
      if (Status s = add_signatures(&pack); !s.ok()) return s;
    }
    packs::DeltaFacts facts;
    Status s = failed_write(packs::make_delta(*programs_, *pack, path, &facts));
    PublishedPack published = slice.pack;
    if (s.ok()) s = writer_->add_file(path).move_to(&published.delta);
    if (!s.ok()) return s;
    published.blake2b = packs::hex(facts.new_name);
    published.size = facts.new_size;
    index_.packs.push_back(std::move(published));
    return {};
  }

  Status add_index() {
    if (index_.revision == index_before_.revision && !index_.has_contents_of(index_before_)) {
      return refused(
          fmt::format("revision {} is published already, with other contents", index_.revision));
    }
    const std::string text = index_json(index_);
    PublishedManifest manifest;
    if (Status s = writer_->add_text(text).move_to(&manifest.index); !s.ok()) return s;
    const std::string comment = fmt::format("kiln index, revision {}", index_.revision);
    for (const Signer &sign : request_.signers) {
      const auto made = sign({text}, comment);
      if (!made.ok()) return made.status();
      Status s =
          writer_->add_text(made->front().signature).move_to(&manifest.signatures.emplace_back());
      if (!s.ok()) return s;
    }
    manifest.parts = {index_.programs};
    for (const PublishedPack &pack : index_.packs) manifest.parts.push_back(pack.delta);
    if (Status s = writer_->commit(manifest); !s.ok()) return s;
    writer_->folder().remove_other_files({before_, manifest});
    return {};
  }

  const Contents &contents_;
  FolderWriter *writer_;
  const PublishRequest &request_;
  PublishedManifest before_;
  PublishedIndex index_before_;  // revision 0: the folder has none
  std::shared_ptr<const packs::Pack> programs_;
  // For each signer one for each slice, in the order of slices.
  std::vector<std::vector<packs::Detached>> signatures_;
  PublishedIndex index_;
};

}  // namespace

Result<PublishedIndex> publish_pack(const Contents &contents, FolderWriter *writer,
                                    const PublishRequest &request) {
  return Publisher(contents, writer, request).publish();
}

Result<PublishedIndex> published_index(const PublishedFolder &folder) {
  const auto manifest = folder.manifest();
  if (!manifest.ok()) return manifest.status();
  const auto text = folder.text(manifest->index);
  if (!text.ok()) return text.status();
  auto index = read_index_json(*text);
  if (index.ok()) return index;
  return Status(index.status().code,
                folder.path_of(manifest->index) + ": " + index.status().message);
}

Result<Contents> published_contents(const PublishedFolder &folder, const std::string &work) {
  const auto index = published_index(folder);
  if (!index.ok()) return index.status();
  std::shared_ptr<const packs::Pack> programs;
  Status s = folder.check(index->programs);
  if (s.ok()) s = packs::Pack::open_file(folder.path_of(index->programs).c_str(), &programs);
  Contents merged;
  for (std::size_t i = 0; s.ok() && i < index->packs.size(); ++i) {
    const Blob &delta = index->packs[i].delta;
    const std::string path = fmt::format("{}/old-{}.kiln", work, i);
    packs::DeltaFacts facts;
    std::shared_ptr<const packs::Pack> pack;
    Contents slice;
    s = folder.check(delta);
    if (s.ok()) s = packs::apply_delta(*programs, folder.path_of(delta), path, &facts);
    if (s.ok()) s = packs::Pack::open_file(path.c_str(), &pack);
    if (s.ok()) s = packs::read_contents(pack, &slice);
    if (s.ok()) s = packs::merge(slice, &merged);
  }
  return s.ok() ? Result(std::move(merged)) : Result<Contents>(s);
}

}  // namespace kiln::builder
