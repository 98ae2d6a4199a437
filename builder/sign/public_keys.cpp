// SPDX-License-Identifier: Apache-2.0
// Reads the small files that minisign writes.
#include "builder/sign/public_keys.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "builder/base/whole_file.hpp"
#include "builder/inspect/pack_files.hpp"
#include "kiln/packs/files.hpp"
#include "kiln/packs/path.hpp"

namespace kiln::builder {
namespace {

constexpr std::size_t kMaxText = 16u << 10;  // bytes of a file; minisign's files have about 300

// Returns the text of the key, which it checks.
Result<std::string> read_public_key(const std::string &path_or_line, packs::PublicKey *key) {
  auto text = read_small_file(path_or_line);
  if (text.ok()) {
    const Status s = packs::parse_public_key(*text, key);
    if (s.ok()) return text;
    return Status(s.code, path_or_line + ": " + s.message);
  }
  const bool is_line =
      text.status().code == Code::not_found && packs::parse_public_key(path_or_line, key).ok();
  if (is_line) return path_or_line;
  return as_failed(text.status());
}

}  // namespace

Result<std::string> read_small_file(const std::string &path) {
  std::error_code error;
  const auto status = std::filesystem::status(packs::to_path(path), error);
  if (!std::filesystem::exists(status)) {
    return Status(Code::not_found, path + ": " + std::strerror(ENOENT));
  }
  std::ifstream file = open_file(packs::to_path(path));
  if (!file.is_open()) return Status(Code::failed, path + ": " + packs::open_fault(errno));
  std::string text(kMaxText + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() <= kMaxText) return text;
  return Status(Code::failed, path + ": too large for a file of minisign's");
}

Result<std::vector<packs::PublicKey>> read_public_keys(const std::vector<std::string> &keys) {
  std::vector<packs::PublicKey> read;
  for (const std::string &key : keys) {
    packs::PublicKey one;
    const auto text = read_public_key(key, &one);
    if (!text.ok()) return text.status();
    read.push_back(one);
  }
  return read;
}

Result<std::vector<std::string>> read_public_key_lines(const std::vector<std::string> &keys) {
  std::vector<std::string> lines;
  for (const std::string &key : keys) {
    packs::PublicKey ignored;
    auto text = read_public_key(key, &ignored);
    if (!text.ok()) return text.status();
    text->erase(text->find_last_not_of("\r\n") + 1);
    lines.push_back(text->substr(text->rfind('\n') + 1));  // after the comment, if there is one
  }
  return lines;
}

Result<packs::Demand> PublicKeys::demand() const {
  auto read = read_public_keys(keys);
  if (!read.ok()) return read.status();
  if (threshold > 1 && threshold > read->size()) {
    return Status(Code::bad_argument, "--threshold is greater than the number of --key");
  }
  return packs::Demand{*std::move(read), revision, threshold};
}

Status PublicKeys::check(const std::string &name, std::shared_ptr<const packs::Pack> *pack) const {
  const auto demanded = demand();
  if (!demanded.ok()) return demanded.status();
  if (demanded->keys.empty()) return {};
  const Status status = packs::open_trusted(**pack, *demanded, pack);
  return status.ok() ? status : in_pack(name, status);
}

}  // namespace kiln::builder
