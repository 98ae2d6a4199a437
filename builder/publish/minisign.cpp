// SPDX-License-Identifier: Apache-2.0
// Gives the statements to minisign as files in a temporary folder; minisign writes a signature
// beside each file.
#include "builder/publish/minisign.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "builder/base/atomic_text_file.hpp"
#include "builder/inspect/pack_files.hpp"
#include "builder/process/fork_call.hpp"
#include "builder/process/run_tool.hpp"

namespace kiln::builder {
namespace {

constexpr std::string_view kMinisig = ".minisig";
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
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    return Status(Code::not_found, path + ": " + std::strerror(ENOENT));
  }
  if (!std::filesystem::is_regular_file(status)) {
    return Status(Code::failed, path + ": not a regular file");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status(Code::failed, path + ": " + std::strerror(errno));
  std::string text(kMaxText + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() <= kMaxText) return text;
  return Status(Code::failed, path + ": too large for a file of minisign's");
}

Result<std::vector<packs::Detached>> sign_by_minisign(const std::string &key,
                                                      const std::vector<std::string> &statements,
                                                      const std::string &comment) {
  const auto program = find_executable({"minisign"});
  if (!program) {
    return Status(Code::no_device, "no minisign in PATH: it is in the Debian package minisign");
  }
  const auto folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.status();
  const auto path_of = [&](std::size_t i) { return fmt::format("{}/{}", folder->path(), i); };
  ProcessRequest request;
  request.program = *program;
  // Versions before 0.10 need -H; otherwise they make signatures of another form.
  request.arguments = {"-S", "-H", "-s", key, "-t", comment, "-m"};
  for (std::size_t i = 0; i < statements.size(); ++i) {
    request.arguments.push_back(path_of(i));
    if (Status s = write_whole_file(path_of(i), statements[i]); !s.ok()) return as_failed(s);
  }
  const ProcessResult result = run_attached(request);
  if (!result.ok()) {
    return Status(Code::failed, fmt::format("{}: minisign did not sign: {}", key, result.reason));
  }
  std::vector<packs::Detached> made;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    auto texts = read_detached_files(path_of(i) + std::string(kMinisig));
    if (!texts.ok()) return texts.status();
    made.push_back(*std::move(texts));
  }
  return made;
}

Result<packs::Detached> read_detached_files(const std::string &minisig) {
  if (!minisig.ends_with(kMinisig)) {
    return Status(Code::bad_argument,
                  minisig + ": the name of a detached signature ends with .minisig");
  }
  packs::Detached texts;
  Status s = read_small_file(minisig).move_to(&texts.signature);
  if (s.ok()) {
    const std::string statement = minisig.substr(0, minisig.size() - kMinisig.size());
    s = read_small_file(statement).move_to(&texts.statement);
  }
  if (s.ok()) return texts;
  return as_failed(s);
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
