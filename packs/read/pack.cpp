// SPDX-License-Identifier: Apache-2.0
// Opens packs, reads sections and blobs at their first use, and checks each before use.
#include "kiln/packs/pack.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <new>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/files.hpp"
#include "packs/read/frames.hpp"
#include "packs/read/partition_point.hpp"
#include "packs/read/verifier.hpp"

namespace kiln::packs {
namespace {

constexpr char kWrongBytes[] = "the bytes do not match the BLAKE2b hash that names them";

Status no_memory() { return Status::error(Code::io_error, "no memory to open the pack"); }

Status blob_error(const char *what) { return Status::error(Code::blob_corrupt, {"blob: ", what}); }

// Returns whether `bytes` hold the blob already: variants of a program often share a binary, and a
// hash costs a tenth of decoding.
bool holds(const Bytes &bytes, BlobRef blob) {
  return !bytes.empty() && bytes.size() == blob.raw_size() &&
         xxh3(bytes.data(), bytes.size()) == blob.xxh3();
}

}  // namespace

// The decoder's state, kept from blob to blob: a base that many blobs share is decoded once.
struct Pack::Decoder {
  struct Base {
    BlobRef blob;  // null: empty
    Bytes scratch;
    View raw;
  };

  FrameDecoder frames;
  Bytes stored;
  Base bases[kMaxBases];  // indexed by how many blobs lie between the base and the requested blob
};

Pack::~Pack() {
  delete spare_decoder_.load();
  for (std::size_t i = 0; i < target_count_; ++i) {
    const std::uint8_t *section = sections_[i].load();
    if (owns(section)) delete[] section;
  }
}

Status Pack::open_file(const char *path, std::shared_ptr<const Pack> *out) {
  const Descriptor file(open_at(kWorkingFolder, path, O_RDONLY));
  if (!file) {
    const Code fault = errno == ENOENT ? Code::not_found : Code::io_error;
    return Status::error(fault, {path, ": ", open_fault(errno)});
  }
  struct stat info {};
  if (!status_of(file.get(), &info)) {
    return Status::error(Code::io_error, {path, ": ", std::strerror(errno)});
  }
  const Status status =
      open_descriptor(file.get(), 0, static_cast<std::uint64_t>(info.st_size), out);
  return status.ok() ? status : Status::error(status.code, {path, ": ", status.message});
}

Status Pack::open_descriptor(int fd, std::uint64_t offset, std::uint64_t length,
                             std::shared_ptr<const Pack> *out) {
  std::shared_ptr<Pack> pack(new (std::nothrow) Pack);
  if (!pack) return no_memory();
  if (Status status = pack->storage_.open(fd, offset, length); !status.ok()) return status;
  if (Status status = pack->open(); !status.ok()) return status;
  *out = std::move(pack);
  return {};
}

Status Pack::open_memory(View memory, std::shared_ptr<const Pack> *out) {
  if (reinterpret_cast<std::uintptr_t>(memory.data) % 8 != 0) {
    return Status::error(Code::bad_argument, "a pack in memory must be aligned to 8 bytes");
  }
  std::shared_ptr<Pack> pack(new (std::nothrow) Pack);
  if (!pack) return no_memory();
  pack->storage_.borrow(memory);
  if (Status status = pack->open(); !status.ok()) return status;
  *out = std::move(pack);
  return {};
}

Status Pack::open_again(std::shared_ptr<const NameCheck> check,
                        std::shared_ptr<const Pack> *out) const {
  std::shared_ptr<Pack> pack(new (std::nothrow) Pack);
  if (!pack) return no_memory();
  pack->check_ = std::move(check);
  if (Status status = pack->storage_.share(storage_); !status.ok()) return status;
  if (Status status = pack->open(); !status.ok()) return status;
  *out = std::move(pack);
  return {};
}

Status Pack::open() {
  std::uint8_t head[kSuperblockSize] = {};
  const auto head_size =
      static_cast<std::size_t>(std::min<std::uint64_t>(storage_.size(), sizeof(head)));
  if (Status status = storage_.read(0, head_size, head); !status.ok()) return status;
  if (Status status = decode_superblock(head, storage_.size(), &superblock_); !status.ok()) {
    return status;
  }
  const auto size = static_cast<std::size_t>(superblock_.root_size);
  const std::uint8_t *root = nullptr;
  if (storage_.memory() != nullptr) {
    root = storage_.memory() + superblock_.root_offset;
  } else {
    Status status = storage_.own(superblock_.root_offset, size, &own_root_);
    if (!status.ok()) return status;
    root = own_root_.get();
  }
  if (xxh3(root, size) != superblock_.root_xxh3) {
    return Status::error(Code::root_corrupt, "root does not have its recorded hash");
  }
  Status status =
      unpack({root, size}, kMaxRootSize, Code::root_malformed, &unpacked_root_, &root_view_);
  if (status.ok()) status = check_root(root_view_, superblock_, &root_);
  if (!status.ok()) return status;
  checked_.reset(new (std::nothrow) std::atomic<bool>[root_->programs()->size() + 1]());
  if (!checked_) return no_memory();
  const std::size_t count = root_->targets()->size();
  sections_.reset(new (std::nothrow) std::atomic<const std::uint8_t *>[count]());
  if (!sections_) return no_memory();
  target_count_ = count;
  return {};
}

// Gives the bytes of a root or a section, which `own` holds if they were in a frame. Fails with
// `malformed` if the frame is.
Status Pack::unpack(View stored, std::uint64_t limit, Code malformed,
                    std::unique_ptr<std::uint8_t[]> *own, View *out) const {
  *out = stored;
  if ((superblock_.incompat & kIncompatFrames) == 0 || !is_frame(stored)) return {};
  return unpack_part(stored, limit, malformed, own, out);
}

View Pack::root_bytes() const {
  const std::uint8_t *own = own_root_.get();
  return {own != nullptr ? own : storage_.memory() + superblock_.root_offset,
          static_cast<std::size_t>(superblock_.root_size)};
}

std::uint64_t Pack::target_key_hash(std::size_t index) const {
  return root_->targets()->Get(static_cast<unsigned>(index))->key_hash();
}

bool Pack::has_name(View bytes, const fb::Hash &name) const {
  return !check_ || check_->accepts(bytes, to_digest(name));
}

// Checks the stored bytes `section`, which it replaces by the unpacked ones.
Status Pack::checked_section(const fb::TargetEntry &entry, std::unique_ptr<std::uint8_t[]> *own,
                             View *section) const {
  if (xxh3(section->data, section->size) != entry.xxh3()) {
    return Status::error(Code::section_corrupt, "its section does not have the recorded hash");
  }
  if (!has_name(*section, entry.name())) {
    return Status::error(Code::section_corrupt, kWrongBytes);
  }
  Status status = unpack(*section, kMaxSectionSize, Code::section_malformed, own, section);
  if (!status.ok()) return status;
  return check_section(*section, entry, superblock_, root_->blobs()->size());
}

// Whether the pack has to delete a section, which is not in the caller's memory.
bool Pack::owns(const std::uint8_t *section) const {
  const std::uint8_t *const memory = storage_.memory();
  const std::less<const std::uint8_t *> before;
  return memory == nullptr || before(section, memory) || !before(section, memory + storage_.size());
}

Status Pack::target(std::size_t index, TargetRef *out) const {
  if (index >= target_count()) {
    return Status::error(Code::bad_argument, {"no target ", decimal(index)});
  }
  std::atomic<const std::uint8_t *> &kept = sections_[index];
  const std::uint8_t *bytes = kept.load(std::memory_order_acquire);
  if (bytes == nullptr) {
    const fb::TargetEntry &entry = *root_->targets()->Get(static_cast<unsigned>(index));
    std::unique_ptr<std::uint8_t[]> own;
    Status status;
    View section{nullptr, static_cast<std::size_t>(entry.size())};
    if (storage_.memory() != nullptr) {
      section.data = storage_.memory() + entry.offset();
    } else {
      status = storage_.own(entry.offset(), section.size, &own);
      section.data = own.get();
    }
    if (status.ok()) status = checked_section(entry, &own, &section);
    if (!status.ok()) {
      return Status::error(status.code, {"target ", decimal(index), ": ", status.message});
    }
    bytes = section.data;
    const std::uint8_t *before = nullptr;
    if (kept.compare_exchange_strong(before, bytes)) {
      (void)own.release();
    } else {
      bytes = before;  // another thread was first
    }
  }
  *out = TargetRef(flatbuffers::GetRoot<fb::Section>(bytes));
  return {};
}

Status Pack::find_target(std::string_view key, TargetRef *out) const {
  *out = TargetRef();
  const std::uint64_t hash = xxh3(key);
  const auto count = static_cast<std::uint32_t>(target_count());
  std::uint32_t i =
      partition_point(0, count, [&](std::uint32_t at) { return target_key_hash(at) < hash; });
  for (; i < count && target_key_hash(i) == hash; ++i) {
    TargetRef candidate;
    if (Status status = target(i, &candidate); !status.ok()) return status;
    if (candidate.key() != key) continue;
    *out = candidate;
    break;
  }
  return {};
}

Status Pack::programs(ProgramRefs *out) const {
  std::atomic<bool> &checked = checked_[root_->programs()->size()];
  if (!checked) {
    if (Status status = check_programs(root_view_, *root_); !status.ok()) return status;
    checked = true;
  }
  *out = ProgramRefs(root_->programs());
  return {};
}

// Programs and variants are not found by LookupByKey, which compares by strcmp: names sort by all
// their bytes.
Status Pack::find_program(std::string_view program, ProgramRef *out) const {
  *out = ProgramRef();
  Status status;
  std::string_view name;
  const auto name_at = [&](std::uint32_t at) {
    if (status.ok()) status = check_name(root_view_, *root_, at, &name);
    return status.ok();
  };
  const std::uint32_t count = root_->programs()->size();
  const std::uint32_t i =
      partition_point(0, count, [&](std::uint32_t at) { return name_at(at) && name < program; });
  if (i == count || !name_at(i) || name != program) return status;
  if (!checked_[i]) {
    status = check_program(root_view_, *root_, i);
    if (!status.ok()) return status;
    checked_[i] = true;
  }
  *out = ProgramRef(root_->programs()->Get(i));
  return {};
}

Status Pack::find_variant(std::string_view program, std::string_view variant,
                          VariantRef *out) const {
  *out = VariantRef();
  ProgramRef found;
  if (Status status = find_program(program, &found); !status.ok() || !found) return status;
  const VariantRefs all = found.variants();
  const std::uint32_t i =
      partition_point(0, all.size(), [&](std::uint32_t at) { return all[at].name() < variant; });
  if (i < all.size() && all[i].name() == variant) *out = all[i];
  return {};
}

BlobRef Pack::blob(std::uint32_t number) const {
  return number == 0 ? BlobRef() : BlobRef(root_->blobs()->Get(number - 1));
}

Status Pack::bytes_at(std::uint64_t offset, std::uint64_t size, Bytes *scratch, View *out) const {
  // Checked before memory is allocated.
  if (size > storage_.size() || offset > storage_.size() - size) {
    return Status::error(Code::out_of_bounds, "the bytes lie outside of the pack");
  }
  const auto count = static_cast<std::size_t>(size);
  if (storage_.memory() != nullptr) {
    *out = {storage_.memory() + offset, count};
    return {};
  }
  if (count > scratch->capacity()) scratch->clear();  // its old content need not be moved
  scratch->resize(count);
  *out = {scratch->data(), count};
  return storage_.read(offset, count, scratch->data());
}

Status Pack::stored_bytes(BlobRef blob, Bytes *scratch, View *out) const {
  Status status = check_blob(blob.schema(), superblock_, root_->blobs()->size());
  if (!status.ok()) return status;
  return bytes_at(blob.offset(), blob.stored_size(), scratch, out);
}

// `depth`: how many other blobs need this one to be decoded first.
Status Pack::decode(Decoder *decoder, BlobRef blob, unsigned depth, Bytes *scratch,
                    View *out) const {
  if (blob.codec() == Codec::raw) return stored_bytes(blob, scratch, out);
  const bool based = blob.codec() == Codec::based;
  if (blob.codec() > Codec::based || based != (blob.base() != 0)) {
    return Status::error(Code::unknown_feature,
                         {"blob has the unknown codec ", decimal(blob.schema().codec())});
  }
  View base;
  if (based) {
    if (depth == kMaxBases) return blob_error("more than 4 bases would have to be decoded first");
    const BlobRef ref = this->blob(blob.base());
    Decoder::Base &kept = decoder->bases[depth];
    if (kept.blob != ref) {
      kept.blob = BlobRef();
      const Status status = decode(decoder, ref, depth + 1, &kept.scratch, &kept.raw);
      if (!status.ok()) return Status::error(status.code, {"the blob's base: ", status.message});
      kept.blob = ref;
    }
    base = kept.raw;
  }
  View stored;
  if (Status s = stored_bytes(blob, &decoder->stored, &stored); !s.ok()) return s;
  const Status status = decoder->frames.decode(base, stored, blob.raw_size(), scratch);
  *out = {scratch->data(), scratch->size()};
  return status;
}

Status Pack::read_blob(BlobRef blob, Bytes *scratch, View *out) const {
  Status status = decode_blob(blob, scratch, out);
  if (!status.ok() || has_name(*out, blob.schema().name())) return status;
  return blob_error(kWrongBytes);
}

Status Pack::decode_blob(BlobRef blob, Bytes *scratch, View *out) const {
  if (holds(*scratch, blob)) {
    *out = {scratch->data(), scratch->size()};
    return {};
  }
  View raw;
  if (blob.codec() == Codec::raw) {
    if (Status s = stored_bytes(blob, scratch, &raw); !s.ok()) return s;
  } else {
    std::unique_ptr<Decoder> decoder(spare_decoder_.exchange(nullptr));
    if (!decoder) decoder.reset(new (std::nothrow) Decoder);
    if (!decoder) return no_memory();
    const Status status = decode(decoder.get(), blob, 0, scratch, &raw);
    decoder.reset(spare_decoder_.exchange(decoder.release()));
    if (!status.ok()) return status;
  }
  if (xxh3(raw.data, raw.size) != blob.xxh3()) {
    return blob_error("its bytes do not have the recorded hash");
  }
  *out = raw;
  return {};
}

}  // namespace kiln::packs
