// SPDX-License-Identifier: Apache-2.0
// Words the faults of packs, and writes packs.
#include "builder/inspect/pack_files.hpp"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include <fmt/format.h>

#include "builder/base/names.hpp"
#include "builder/inspect/pack_check.hpp"
#include "builder/inspect/printable.hpp"
#include "kiln/packs/output_file.hpp"
#include "kiln/packs/path.hpp"

namespace kiln::builder {
namespace {

template <typename Part, typename Key>
void sort_by(std::vector<Part> *parts, Key key) {
  std::sort(parts->begin(), parts->end(),
            [&](const Part &a, const Part &b) { return key(a) < key(b); });
}

void sort_parts(packs::Contents *contents) {
  const auto name = [](const auto &part) -> const std::string & { return part.name; };
  const auto variant = [](const packs::Binary &binary) { return binary.variant; };
  sort_by(&contents->programs, name);
  for (packs::Program &program : contents->programs) sort_by(&program.variants, name);
  sort_by(&contents->targets, [](const packs::Target &t) -> const std::string & { return t.key; });
  for (packs::Target &target : contents->targets) {
    sort_by(&target.binaries, variant);
    sort_by(&target.intermediates, variant);
  }
  sort_by(&contents->tunings, [](const packs::Tuning &t) {
    return std::tie(t.program, t.variant, t.kernel, t.size_class, t.profile, t.family, t.model,
                    t.key_hash);
  });
}

}  // namespace

Status with_code(const Status &status) {
  return {status.code,
          fmt::format("{} [{}]", printable_line(status.message), packs::code_name(status.code))};
}

Result<PackFile> read_pack(const std::string &path) {
  PackFile result;
  Status status = packs::Pack::open_file(path.c_str(), &result.pack);
  if (status.ok()) {
    status = packs::read_contents(result.pack, &result.contents);
    if (!status.ok()) status.message = path + ": " + status.message;
  }
  if (status.ok()) return result;
  return with_code(status);
}

Status in_pack(const std::string &path, const Status &status) {
  return with_code({status.code, path + ": " + status.message});
}

Result<PackFile> read_checked_pack(const std::string &path) {
  auto open = read_pack(path);
  if (!open.ok()) return open;
  if (Status s = check_variants(open->contents); !s.ok()) return in_pack(path, s);
  return open;
}

Status check_program(const packs::Contents &contents, const std::string &pack,
                     const std::string &program) {
  std::vector<std::string> names;
  for (const packs::Program &known : contents.programs) {
    if (known.name == program) return {};
    names.push_back(known.name);
  }
  return {Code::bad_argument,
          fmt::format("{} has no program {}: {}", pack, program, expected_one_of(program, names))};
}

Status check_output(const std::string &path, const std::vector<std::string> &inputs) {
  std::error_code ignored;
  for (const std::string &input : inputs) {
    if (path != input &&
        !std::filesystem::equivalent(packs::to_path(path), packs::to_path(input), ignored))
      continue;
    return {Code::bad_argument,
            fmt::format("{} is an input; writing the output there would destroy it", path)};
  }
  if (path.empty()) return {Code::bad_argument, "the output has no name"};
  packs::OutputFile probe;  // its temporary file is removed with it
  const Status status = probe.open(path);
  return status.ok() ? status : as_failed(with_code(status));
}

Status write_output(const packs::Contents &contents, const std::string &path,
                    const packs::WriteOptions &options) {
  const Status status = packs::write_pack(contents, path, options);
  if (status.ok()) return status;
  if (status.code != Code::blob_corrupt) return as_failed(with_code(status));
  return {
      Code::blob_corrupt,
      fmt::format("{}: not written: an input's {}\nkiln: 'kiln pack verify' says which blob it is",
                  path, with_code(status).message)};
}

bool same_contents(packs::Contents *a, packs::Contents *b) {
  sort_parts(a);
  sort_parts(b);
  return *a == *b;
}

}  // namespace kiln::builder
