// SPDX-License-Identifier: Apache-2.0
// Finds NEW's blobs and sections in OLD, and for the others OLD's bytes in their place.
#include "packs/delta/delta_plan.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "packs/delta/delta_format.hpp"

namespace kiln::packs {
namespace {

constexpr std::uint64_t kCompared = 1u << 20;  // bytes at a time
constexpr std::size_t kMaxAlike = 4;           // OLD's targets that may stand for a missing one

// A blob, a section or the root, as a run of stored bytes.
struct StoredPart {
  ByteRange place;
  Digest name{};
  std::vector<ByteRange> like{};  // in OLD
};

Status same_bytes(const Pack &a, std::uint64_t at_a, const Pack &b, std::uint64_t at_b,
                  std::uint64_t size, bool *same) {
  Bytes scratch_a, scratch_b;
  View view_a, view_b;
  *same = true;
  for (std::uint64_t done = 0; done < size && *same; done += view_a.size) {
    const std::uint64_t count = std::min(kCompared, size - done);
    if (Status s = a.bytes_at(at_a + done, count, &scratch_a, &view_a); !s.ok()) return s;
    if (Status s = b.bytes_at(at_b + done, count, &scratch_b, &view_b); !s.ok()) return s;
    *same = std::memcmp(view_a.data, view_b.data, view_a.size) == 0;
  }
  return {};
}

ByteRange place_of(BlobRef blob) { return {blob.offset(), blob.stored_size()}; }

const fb::TargetEntry &entry_of(const Pack &pack, std::size_t target) {
  return *pack.schema().targets()->Get(static_cast<unsigned>(target));
}

class DeltaPlanner {
 public:
  DeltaPlanner(const Pack &old_pack, const Pack &new_pack) : old_(old_pack), new_(new_pack) {}

  Status plan(DeltaPlan *out) {
    if (Status s = read_layout(old_, &old_layout_); !s.ok()) return s;
    if (Status s = index_old(); !s.ok()) return s;
    std::vector<StoredPart> parts;
    if (Status s = list_new(&parts); !s.ok()) return s;
    for (const StoredPart &part : parts) {
      if (part.place.offset < at_ || part.place.size == 0) continue;  // overlaps another part
      add_literal(part.place.offset - at_);
      if (Status s = add_part(part); !s.ok()) return s;
    }
    add_literal(new_.available() - at_);
    *out = std::move(plan_);
    return {};
  }

 private:
  void index_blobs(const std::vector<BlobRef> &blobs) {
    for (const BlobRef blob : blobs) stored_.emplace(blob.name(), place_of(blob));
  }

  Status index_old() {
    index_blobs(old_layout_.blobs);
    for (std::size_t i = 0; i < old_layout_.sections.size(); ++i) {
      index_blobs(old_layout_.sections[i].blobs);
      stored_.emplace(to_digest(entry_of(old_, i).name()), old_layout_.sections[i].place);
      TargetRef target;
      if (Status s = old_.target(i, &target); !s.ok()) return s;
      const auto &section = target.schema();
      by_key_[section.key()->str()].push_back(i);
      by_model_[model_of(target)].push_back(i);
      by_profile_[section.profile()->str()].push_back(i);
    }
    return {};
  }

  static std::string model_of(TargetRef target) {
    return target.schema().profile()->str() + '\0' + target.schema().model()->str();
  }

  // Returns OLD's targets that are most like this one, the most alike first; among equals the last
  // first, since its compiler is often the newest.
  std::vector<std::size_t> alike(TargetRef target) const {
    std::vector<std::size_t> found;
    const auto add = [&](const auto &index, const std::string &word) {
      const auto at = index.find(word);
      if (at == index.end()) return;
      for (std::size_t i = at->second.size(); i > 0 && found.size() < kMaxAlike; --i) {
        const std::size_t other = at->second[i - 1];
        if (std::find(found.begin(), found.end(), other) == found.end()) found.push_back(other);
      }
    };
    add(by_key_, target.schema().key()->str());
    add(by_model_, model_of(target));
    add(by_profile_, target.schema().profile()->str());
    return found;
  }

  // Finds OLD's raw blob for a variant's binary, or for its intermediate form.
  Status find_like(const std::vector<std::size_t> &targets, const fb::Binary &binary,
                   bool intermediate, std::vector<ByteRange> *like) const {
    const Digest variant = to_digest(binary.variant());
    for (const std::size_t i : targets) {
      TargetRef target;
      if (Status s = old_.target(i, &target); !s.ok()) return s;
      const BinaryRef found =
          intermediate ? target.find_intermediate(variant) : target.find_binary(variant);
      if (!found || found.blob.codec() != Codec::raw) continue;
      like->push_back(place_of(found.blob));
      return {};
    }
    return {};
  }

  Status list_target(std::size_t index, const Layout::Section &section,
                     std::vector<StoredPart> *parts) const {
    TargetRef target;
    if (Status s = new_.target(index, &target); !s.ok()) return s;
    const std::vector<std::size_t> targets = alike(target);
    std::vector<StoredPart> blobs;
    for (const BlobRef blob : section.blobs) blobs.push_back({place_of(blob), blob.name()});
    for (const bool intermediate : {false, true}) {
      const auto *binaries =
          intermediate ? target.schema().intermediates() : target.schema().binaries();
      if (binaries == nullptr) continue;
      for (const fb::Binary *binary : *binaries) {
        if (section.blobs[binary->blob()].codec() != Codec::raw) continue;
        std::vector<ByteRange> *like = &blobs[binary->blob()].like;
        if (Status s = find_like(targets, *binary, intermediate, like); !s.ok()) return s;
      }
    }
    StoredPart own{section.place, to_digest(entry_of(new_, index).name())};
    if (!targets.empty()) own.like.push_back(old_layout_.sections[targets[0]].place);
    parts->insert(parts->end(), blobs.begin(), blobs.end());
    parts->push_back(std::move(own));
    return {};
  }

  Status list_new(std::vector<StoredPart> *parts) const {
    Layout layout;
    if (Status s = read_layout(new_, &layout); !s.ok()) return s;
    for (const BlobRef blob : layout.blobs) parts->push_back({place_of(blob), blob.name()});
    for (std::size_t i = 0; i < layout.sections.size(); ++i) {
      if (Status s = list_target(i, layout.sections[i], parts); !s.ok()) return s;
    }
    parts->push_back({layout.root, {}, {old_layout_.root}});
    const auto before = [](const StoredPart &a, const StoredPart &b) {
      return a.place.offset < b.place.offset;
    };
    std::stable_sort(parts->begin(), parts->end(), before);
    return {};
  }

  void add_literal(std::uint64_t size) {
    if (size == 0) return;
    std::vector<DeltaStep> &steps = plan_.steps;
    if (!steps.empty() && steps.back().old_offset == kLiteralOffset) {
      steps.back().size += size;
    } else {
      steps.push_back({kLiteralOffset, at_, size});
    }
    at_ += size;
  }

  // Joins the copy to the previous one, with the padding in between, if they are neighbours in OLD,
  // too.
  Status add_copy(std::uint64_t old_offset, std::uint64_t size) {
    std::vector<DeltaStep> &steps = plan_.steps;
    const bool padded = steps.size() > 1 && steps.back().old_offset == kLiteralOffset &&
                        steps.back().size < kAlignment;
    const std::uint64_t gap = padded ? steps.back().size : 0;
    if (steps.size() > (padded ? 1u : 0u)) {
      DeltaStep &before = steps[steps.size() - (padded ? 2 : 1)];
      bool same = before.old_offset != kLiteralOffset &&
                  before.old_offset + before.size + gap == old_offset;
      if (same && padded) {
        Status s = same_bytes(old_, old_offset - gap, new_, at_ - gap, gap, &same);
        if (!s.ok()) return s;
      }
      if (same) {
        before.size += gap + size;
        if (padded) steps.pop_back();
        at_ += size;
        return {};
      }
    }
    steps.push_back({old_offset, at_, size});
    at_ += size;
    return {};
  }

  Status add_part(const StoredPart &part) {
    const auto range = stored_.equal_range(part.name);
    for (auto at = range.first; at != range.second; ++at) {
      if (at->second.size != part.place.size) continue;
      bool same = false;
      Status s = same_bytes(old_, at->second.offset, new_, at_, part.place.size, &same);
      if (!s.ok()) return s;
      if (same) return add_copy(at->second.offset, part.place.size);
    }
    for (const ByteRange &like : part.like) plan_.hints.push_back({part.place, like});
    add_literal(part.place.size);
    return {};
  }

  const Pack &old_;
  const Pack &new_;
  Layout old_layout_;
  std::multimap<Digest, ByteRange> stored_;  // OLD's blobs and sections
  std::map<std::string, std::vector<std::size_t>> by_key_;
  std::map<std::string, std::vector<std::size_t>> by_model_;
  std::map<std::string, std::vector<std::size_t>> by_profile_;
  DeltaPlan plan_;
  std::uint64_t at_ = 0;  // position in NEW
};

}  // namespace

Status plan_delta(const Pack &old_pack, const Pack &new_pack, DeltaPlan *out) {
  return DeltaPlanner(old_pack, new_pack).plan(out);
}

}  // namespace kiln::packs
