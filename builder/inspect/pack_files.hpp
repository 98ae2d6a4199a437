// SPDX-License-Identifier: Apache-2.0
// Reads and writes the packs of a command; messages end with the name of a pack's fault.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/contents.hpp"
#include "kiln/packs/pack.hpp"
#include "kiln/packs/writer.hpp"

namespace kiln::builder {

struct PackFile {
  std::shared_ptr<const packs::Pack> pack;
  packs::Contents contents;
};

// Reads a pack with every section. Fails with the code of the pack's fault, whose name ends the
// message.
Result<PackFile> read_pack(const std::string &path);
// Returns the status with the name of the file at the beginning of its message, and the name of the
// code at the end.
Status in_pack(const std::string &path, const Status &status);
// Adds the name of the code to the end of the message, which becomes printable.
Status with_code(const Status &status);
// Reads a pack as read_pack() does, for commands that trust the hashes and names of programs. Also
// fails with Code::conflict if check_variants() does.
Result<PackFile> read_checked_pack(const std::string &path);
// Checks that the pack has the program. Fails with Code::bad_argument; the message names `pack`,
// the file, and lists its programs.
Status check_program(const packs::Contents &contents, const std::string &pack,
                     const std::string &program);

// Checks that a file can be made at `path`, before any work is done for it. Fails with
// Code::bad_argument if the path is empty or one of `inputs`, which would be lost, and with
// Code::failed if the folder does not allow it.
Status check_output(const std::string &path, const std::vector<std::string> &inputs);

// Writes the pack. Fails with Code::blob_corrupt if a blob of an input is damaged, and otherwise
// with Code::failed.
Status write_output(const packs::Contents &contents, const std::string &path,
                    const packs::WriteOptions &options = {});

// Returns whether packs of both would have the same contents, however their blobs are stored. Sorts
// the parts of both, as a pack does.
bool same_contents(packs::Contents *a, packs::Contents *b);

}  // namespace kiln::builder
