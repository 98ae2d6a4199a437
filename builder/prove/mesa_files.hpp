// SPDX-License-Identifier: Apache-2.0
// Mesa's shader cache with a file for each entry. Mesa looks at the files whenever it needs an
// entry: what is put there or taken away counts at once, for a process that opened its device long
// ago, too.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/packs/contents.hpp"

namespace kiln::builder {

class MesaFiles {
 public:
  // Points Mesa at `folder` in this process, which has not loaded it, and at no other cache.
  static void use(const std::string &folder);

  explicit MesaFiles(std::string folder) : folder_(std::move(folder)) {}

  // What is there now is there from then on: what Mesa makes when it opens the device.
  void keep();
  // Removes what is not kept.
  void reset();
  // Puts the entries of an auxiliary blob there. From version 26 on Mesa's files have longer names
  // than its databases have keys: `names` are the new_names() with which the blob was taken.
  // Entries that cannot be read or written are left out: they are compiled, and seen.
  void put(packs::View blob, const std::vector<std::string> &names = {});

  // What Mesa wrote since reset(), beside what was put there; call await_mesa() before.
  std::vector<std::string> new_names() const;
  // Those that are of `place`, "<driver's id>/<driver>", as an auxiliary blob of a variant.
  // rusticl's own, from source to SPIR-V, are not needed where a binary is loaded.
  packs::Bytes take(std::string_view place) const;

 private:
  std::set<std::string> names() const;

  std::string folder_;
  std::set<std::string> kept_;
  std::set<std::string> put_;
};

}  // namespace kiln::builder
