// SPDX-License-Identifier: Apache-2.0
// Encodes and decodes the superblock field by field.
#include "kiln/packs/format.hpp"

#include <cstring>

#include "kiln/packs/bytes.hpp"

namespace kiln::packs {
namespace {

constexpr std::uint8_t kMagic[8] = {0x89, 'K', 'L', 'N', '\r', '\n', 0x1a, '\n'};
constexpr std::size_t kHashedSize = 56;

template <typename T>
void put(std::uint8_t *out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) out[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

template <typename T>
T get(const std::uint8_t *in) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(T{in[i]} << (8 * i));
  return value;
}

Status check_root_place(const Superblock &s) {
  const auto fault = [](Code f, const char *what) {
    return Status::error(f, {"superblock: ", what});
  };
  if (s.pack_size > kMaxPackSize) return fault(Code::over_limit, "pack size is over 1 TiB");
  if (s.root_size > kMaxRootSize) return fault(Code::over_limit, "root is over 256 MiB");
  const bool placed = s.root_offset >= kSuperblockSize && s.root_offset % kAlignment == 0 &&
                      s.root_size > 0 && s.root_offset <= s.pack_size &&
                      s.root_size <= s.pack_size - s.root_offset;
  if (!placed) return fault(Code::out_of_bounds, "root lies outside of the pack");
  return {};
}

}  // namespace

void encode_superblock(const Superblock &s, std::uint8_t *out) {
  std::memcpy(out, kMagic, sizeof(kMagic));
  put<std::uint32_t>(out + 8, s.version);
  put<std::uint32_t>(out + 12, s.incompat);
  put<std::uint32_t>(out + 16, s.compat);
  put<std::uint32_t>(out + 20, s.needed);
  put<std::uint64_t>(out + 24, s.root_offset);
  put<std::uint64_t>(out + 32, s.root_size);
  put<std::uint64_t>(out + 40, s.root_xxh3);
  put<std::uint64_t>(out + 48, s.pack_size);
  put<std::uint64_t>(out + kHashedSize, xxh3(out, kHashedSize));
}

Status decode_superblock(const std::uint8_t *bytes, std::uint64_t available, Superblock *out) {
  if (available == 0) return Status::error(Code::empty, "pack is empty");
  const std::size_t magic_size =
      available < sizeof(kMagic) ? static_cast<std::size_t>(available) : sizeof(kMagic);
  if (std::memcmp(bytes, kMagic, magic_size) != 0) {
    return Status::error(Code::bad_magic, "not a Kiln pack: the first bytes are not its magic");
  }
  if (available < kSuperblockSize) {
    return Status::error(Code::truncated,
                         {"superblock needs 64 bytes, there are ", decimal(available)});
  }
  if (get<std::uint64_t>(bytes + kHashedSize) != xxh3(bytes, kHashedSize)) {
    return Status::error(Code::bad_superblock, "superblock does not have its recorded hash");
  }
  Superblock s;
  s.version = get<std::uint32_t>(bytes + 8);
  s.incompat = get<std::uint32_t>(bytes + 12);
  s.compat = get<std::uint32_t>(bytes + 16);
  s.needed = get<std::uint32_t>(bytes + 20);
  s.root_offset = get<std::uint64_t>(bytes + 24);
  s.root_size = get<std::uint64_t>(bytes + 32);
  s.root_xxh3 = get<std::uint64_t>(bytes + 40);
  s.pack_size = get<std::uint64_t>(bytes + 48);
  if (s.version < kOldestReadableVersion || s.version > kCurrentVersion) {
    return Status::error(Code::newer_version,
                         {"pack has format version ", decimal(s.version),
                          ", this reader knows version ", decimal(kCurrentVersion)});
  }
  if ((s.incompat & ~kKnownIncompat) != 0) {
    const bool has_version = s.needed != 0;
    return Status::error(
        Code::unknown_feature,
        {"pack needs features that this reader lacks: bits ", decimal(s.incompat & ~kKnownIncompat),
         has_version ? "; Kiln " : "", has_version ? decimal(s.needed / 10000) : "",
         has_version ? "." : "", has_version ? decimal(s.needed / 100 % 100) : "",
         has_version ? " reads it" : ""});
  }
  if (s.incompat == 0 && s.needed != 0) {
    return Status::error(Code::reserved_not_zero, "superblock: reserved field is not zero");
  }
  if (s.pack_size > available) {
    return Status::error(Code::truncated, {"pack needs ", decimal(s.pack_size),
                                           " bytes, there are ", decimal(available)});
  }
  if (Status status = check_root_place(s); !status.ok()) return status;
  *out = s;
  return {};
}

}  // namespace kiln::packs
