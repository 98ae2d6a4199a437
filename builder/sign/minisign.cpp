// SPDX-License-Identifier: Apache-2.0
// Gives the statements to minisign as files in a temporary folder; minisign writes a signature
// beside each file.
#include "builder/sign/minisign.hpp"

#include <fmt/format.h>

#include "builder/base/whole_file.hpp"
#include "builder/process/run_tool.hpp"
#include "builder/process/temporary_folder.hpp"
#include "builder/sign/public_keys.hpp"

namespace kiln::builder {
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
    auto signature = read_small_file(path_of(i) + ".minisig");
    if (!signature.ok()) return as_failed(signature.status());
    made.push_back({statements[i], *std::move(signature)});
  }
  return made;
}

}  // namespace kiln::builder
