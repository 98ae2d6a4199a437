// SPDX-License-Identifier: Apache-2.0
#include "kiln/packs/pack.hpp"

#include <cerrno>
#include <cstring>
#include <new>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "kiln/packs/hash.hpp"
#include "packs/validate.hpp"

namespace kiln::packs {
namespace {

// A zstd block takes at least 4 bytes and yields at most 128 KiB.
constexpr std::uint64_t kMaxExpansion = (128 << 10) / 4;

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

Status no_memory() { return Status::error(Code::io_error, "no memory to open the pack"); }

Status blob_error(const char *what) { return Status::error(Code::blob_corrupt, {"blob: ", what}); }

// Whether the bytes are the blob's already: the variants of a program often share a binary,
// and a hash costs a tenth of decoding.
bool holds(const Bytes &bytes, const fb::Blob &blob) {
  return !bytes.empty() && bytes.size() == blob.raw_size() &&
         xxh3(bytes.data(), bytes.size()) == blob.xxh3();
}

// Finds a table by its name. Not LookupByKey, which compares by strcmp where the writer sorts
// by all bytes.
template <typename Table>
const Table *find_named(const flatbuffers::Vector<flatbuffers::Offset<Table>> &tables,
                        std::string_view name) {
  flatbuffers::uoffset_t low = 0;
  flatbuffers::uoffset_t high = tables.size();
  while (low < high) {
    const flatbuffers::uoffset_t middle = low + (high - low) / 2;
    const Table *table = tables.Get(middle);
    const int order = std::string_view(table->name()->c_str(), table->name()->size()).compare(name);
    if (order == 0) return table;
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return nullptr;
}

}  // namespace

Pack::~Pack() { ZSTD_freeDCtx(spare_decoder_.load()); }

Status Pack::open_file(const char *path, std::shared_ptr<const Pack> *out) {
  // O_NONBLOCK is for a pipe at the path: opening one would wait for its writer.
  Descriptor file{::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) {
    const Code fault = errno == ENOENT ? Code::not_found : Code::io_error;
    return Status::error(fault, {path, ": ", std::strerror(errno)});
  }
  struct stat info {};
  if (fstat(file.fd, &info) != 0) {
    return Status::error(Code::io_error, {path, ": ", std::strerror(errno)});
  }
  if (!S_ISREG(info.st_mode)) {
    return Status::error(Code::io_error, {path, ": not a regular file"});
  }
  const Status status = open_descriptor(file.fd, 0, static_cast<std::uint64_t>(info.st_size), out);
  return status.ok() ? status : Status::error(status.code, {path, ": ", status.message});
}

Status Pack::open_descriptor(int fd, std::uint64_t offset, std::uint64_t length,
                             std::shared_ptr<const Pack> *out) {
  std::shared_ptr<Pack> pack(new (std::nothrow) Pack);
  if (!pack) return no_memory();
  if (Status status = pack->storage_.map(fd, offset, length); !status.ok()) return status;
  if (Status status = pack->open(pack->storage_.view()); !status.ok()) return status;
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
  if (Status status = pack->open(memory); !status.ok()) return status;
  *out = std::move(pack);
  return {};
}

Status Pack::open(View view) {
  if (Status status = decode_superblock(view.data, view.size, &superblock_); !status.ok()) {
    return status;
  }
  view_ = {view.data, static_cast<std::size_t>(superblock_.pack_size)};
  const std::uint8_t *root = view_.data + superblock_.root_offset;
  const auto size = static_cast<std::size_t>(superblock_.root_size);
  if (xxh3(root, size) != superblock_.root_xxh3) {
    return Status::error(Code::root_corrupt, "root does not have its recorded hash");
  }
  if (Status status = check_root({root, size}, superblock_, &root_); !status.ok()) return status;
  section_checked_.reset(new (std::nothrow) std::atomic<bool>[target_count()]());
  return section_checked_ ? Status{} : no_memory();
}

Status Pack::section(std::size_t index, const fb::Section **out) const {
  if (index >= target_count()) {
    return Status::error(Code::bad_argument, {"no target ", decimal(index)});
  }
  const fb::TargetEntry &entry = *root_->targets()->Get(static_cast<unsigned>(index));
  const std::uint8_t *bytes = view_.data + entry.offset();
  const auto size = static_cast<std::size_t>(entry.size());
  if (!section_checked_[index].load(std::memory_order_acquire)) {
    Status status;
    const fb::Section *section = nullptr;
    if (xxh3(bytes, size) == entry.xxh3()) {
      status = check_section({bytes, size}, entry, superblock_, &section);
    } else {
      status = Status::error(Code::section_corrupt, "its section does not have the recorded hash");
    }
    if (!status.ok()) {
      return Status::error(status.code, {"target ", decimal(index), ": ", status.message});
    }
    section_checked_[index].store(true, std::memory_order_release);
  }
  *out = flatbuffers::GetRoot<fb::Section>(bytes);
  return {};
}

Status Pack::find_target(std::string_view key, const fb::Section **out) const {
  *out = nullptr;
  const std::uint64_t hash = xxh3(key.data(), key.size());
  const auto &targets = *root_->targets();
  std::size_t low = 0;
  std::size_t high = targets.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (targets.Get(static_cast<unsigned>(middle))->key_hash() < hash) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (; low < targets.size() && targets.Get(static_cast<unsigned>(low))->key_hash() == hash;
       ++low) {
    const fb::Section *candidate = nullptr;
    if (Status status = section(low, &candidate); !status.ok()) return status;
    if (std::string_view(candidate->key()->c_str(), candidate->key()->size()) == key) {
      *out = candidate;
      return {};
    }
  }
  return {};
}

const fb::Program *Pack::find_program(std::string_view program) const {
  return find_named(*root_->programs(), program);
}

const fb::Variant *Pack::find_variant(std::string_view program, std::string_view variant) const {
  const fb::Program *found = find_program(program);
  return found == nullptr ? nullptr : find_named(*found->variants(), variant);
}

Status Pack::stored_bytes(const fb::Blob &blob, View *out) const {
  if (Status status = check_blob(blob, superblock_); !status.ok()) return status;
  *out = {view_.data + blob.offset(), static_cast<std::size_t>(blob.stored_size())};
  return {};
}

// Decodes exactly one zstd frame, whose content size must be exactly raw_size. Each is
// checked before memory is taken: a false raw size must not cost a gibibyte.
Status Pack::decode_zstd(View stored, std::uint64_t raw_size, Bytes *out) const {
  const std::uint8_t magic[] = {0x28, 0xb5, 0x2f, 0xfd};  // not a skippable, not an old frame
  if (stored.size < sizeof(magic) || std::memcmp(stored.data, magic, sizeof(magic)) != 0) {
    return blob_error("not a zstd frame");
  }
  if (ZSTD_getFrameContentSize(stored.data, stored.size) != raw_size) {
    return blob_error("the frame does not have the recorded raw size");
  }
  if (raw_size / kMaxExpansion > stored.size) {
    return blob_error("the frame is too small for the recorded raw size");
  }
  if (ZSTD_findFrameCompressedSize(stored.data, stored.size) != stored.size) {
    return blob_error("not one whole zstd frame");
  }
  if (raw_size > out->capacity()) out->clear();  // what it holds need not be moved
  out->resize(static_cast<std::size_t>(raw_size));
  ZSTD_DCtx *decoder = spare_decoder_.exchange(nullptr);
  if (decoder == nullptr) decoder = ZSTD_createDCtx();
  if (decoder == nullptr) return no_memory();
  const std::size_t got =
      ZSTD_decompressDCtx(decoder, out->data(), out->size(), stored.data, stored.size);
  ZSTD_freeDCtx(spare_decoder_.exchange(decoder));
  if (ZSTD_isError(got)) return blob_error(ZSTD_getErrorName(got));
  if (got != raw_size) return blob_error("the frame ends early");
  return {};
}

Status Pack::read_blob(const fb::Blob &blob, Bytes *scratch, View *out) const {
  View stored;
  if (Status status = stored_bytes(blob, &stored); !status.ok()) return status;
  View raw = stored;
  switch (static_cast<Codec>(blob.codec())) {
    case Codec::raw: break;
    case Codec::zstd:
      if (holds(*scratch, blob)) {
        *out = {scratch->data(), scratch->size()};
        return {};
      }
      if (Status status = decode_zstd(stored, blob.raw_size(), scratch); !status.ok()) {
        return status;
      }
      raw = {scratch->data(), scratch->size()};
      break;
    default:
      return Status::error(Code::unknown_feature,
                           {"blob has the unknown codec ", decimal(blob.codec())});
  }
  if (xxh3(raw.data, raw.size) != blob.xxh3()) {
    return blob_error("its bytes do not have the recorded hash");
  }
  *out = raw;
  return {};
}

const fb::Binary *find_entry(const Entries *entries, const fb::Hash &variant, std::size_t *index) {
  std::size_t low = 0;
  std::size_t high = entries == nullptr ? 0 : entries->size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    const fb::Binary *binary = entries->Get(static_cast<unsigned>(middle));
    const int order = compare(binary->variant(), variant);
    if (order == 0) {
      *index = middle;
      return binary;
    }
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return nullptr;
}

int compare(const fb::Hash &a, const fb::Hash &b) {
  return std::memcmp(a.bytes()->data(), b.bytes()->data(), kDigestSize);
}

}  // namespace kiln::packs
