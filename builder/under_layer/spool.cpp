// SPDX-License-Identifier: Apache-2.0
// Merges the packs of a spool, and finds the programs whose text differs at each start.
#include "builder/under_layer/spool.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <map>
#include <set>

#include "builder/base/whole_file.hpp"
#include "builder/inspect/pack_files.hpp"
#include "kiln/packs/files.hpp"
#include "kiln/packs/pack_folder.hpp"
#include "kiln/packs/path.hpp"
#include "runtime/cached/started_programs.hpp"

namespace kiln::builder {
namespace {

using Names = std::set<std::string>;

// A pack in memory: a spool may have more packs than a process can keep open.
struct HeldPack {
  std::string bytes;
  std::shared_ptr<const packs::Pack> pack;
};

Result<packs::Contents> read_program(const std::string &path) {
  auto held = std::make_shared<HeldPack>();
  auto bytes = read_whole_file(packs::to_path(path));
  if (!bytes) return Status(Code::io_error, path + ": " + packs::open_fault(errno));
  held->bytes = *std::move(bytes);
  packs::Contents contents;
  Status status = packs::Pack::open_memory(
      {reinterpret_cast<const std::uint8_t *>(held->bytes.data()), held->bytes.size()},
      &held->pack);
  const packs::Pack *pack = held->pack.get();
  if (status.ok()) status = packs::read_contents({std::move(held), pack}, &contents);
  if (!status.ok()) return Status(status.code, path + ": " + status.message);
  contents.targets.clear();
  return contents;
}

// Merges halves recursively, because each merge looks at both sides completely.
Result<packs::Contents> merged(const std::vector<std::string> &files, std::size_t begin,
                               std::size_t end) {
  if (end - begin == 1) return read_program(files[begin]);
  const std::size_t middle = begin + (end - begin) / 2;
  auto some = merged(files, begin, middle);
  if (!some.ok()) return some;
  const auto more = merged(files, middle, end);
  if (!more.ok()) return more;
  if (Status s = packs::merge(*more, &*some); !s.ok()) return s;
  return some;
}

}  // namespace

std::vector<std::string> programs_with_varying_source(const packs::Contents &contents,
                                                      std::string_view starts) {
  std::map<std::string, std::string> shapes;
  for (const packs::Program &program : contents.programs) {
    shapes[program.name] = cached::shape_of(program);
  }
  const auto shape_of = [&](const std::string &program, const std::string &) {
    const auto shape = shapes.find(program);
    return shape == shapes.end() ? std::string() : shape->second;
  };
  Names varying, stable;
  for (const auto &[key, family] : cached::families_of(starts, shape_of)) {
    for (const auto &[program, its_starts] : family.programs) {
      (family.is_varying() ? varying : stable).insert(program);
    }
  }
  std::vector<std::string> names;
  std::set_difference(varying.begin(), varying.end(), stable.begin(), stable.end(),
                      std::back_inserter(names));
  return names;
}

Result<Spool> read_spool(const std::string &folder) {
  std::vector<std::string> files;
  if (Status s = packs::packs_in(folder, &files); !s.ok()) return s;
  if (files.empty()) {
    return Status(Code::failed,
                  folder + ": no program was recorded: the folder has no *.kiln files");
  }
  auto contents = merged(files, 0, files.size());
  if (!contents.ok()) return with_code(contents.status());
  Spool spool{*std::move(contents), {}};
  const std::string starts =
      read_whole_file(packs::to_path(folder + "/" + packs::kStartsFile)).value_or("");
  spool.changing = programs_with_varying_source(spool.contents, starts);
  return spool;
}

}  // namespace kiln::builder
