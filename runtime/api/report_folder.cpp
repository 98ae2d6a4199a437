// SPDX-License-Identifier: Apache-2.0
// The C API: writing each load's report to a folder.
#include "kiln/report_folder.h"

#include "kiln/packs/atomic_file.hpp"
#include "runtime/api/api.hpp"
#include "runtime/load/reporter.hpp"
#include "runtime/overlay/private_folder.hpp"
#include "runtime/reports/report_folder.hpp"
#include "runtime/text/json.hpp"

using namespace kiln::runtime;

namespace kiln::runtime {
namespace {

struct NamedFolder {
  std::mutex mutex;
  std::shared_ptr<ReportFolder> folder;  // guarded by `mutex`
};

// Never destroyed: threads may still load while the process ends.
NamedFolder &named_folder() {
  static NamedFolder &made = *new NamedFolder;
  return made;
}

// What identifies this run of the process.
const std::string &process() {
  static const std::string &made = *new std::string(packs::hex64(packs::unique_number()));
  return made;
}

void write_report(const Report &report) {
  std::shared_ptr<ReportFolder> folder;
  {
    const std::lock_guard<std::mutex> lock(named_folder().mutex);
    folder = named_folder().folder;
  }
  if (folder == nullptr) return;
  Report line = report;
  for (RungResult &result : line.rungs) {
    result.log.clear();
    result.reason = without_folders(result.reason);
  }
  for (std::string &note : line.notes) note = without_folders(note);
  folder->append(packs::concat({"{\"process\": \"", process(), "\", ", line.json({}).substr(1)}));
}

}  // namespace
}  // namespace kiln::runtime

kiln_status kiln_report_folder(const char *folder, kiln_error *error) {
  std::shared_ptr<ReportFolder> made;
  int code = 0;
  if (folder != nullptr && *folder != '\0') {
    made = std::make_shared<ReportFolder>();
    code = made->open(folder);
  }
  if (made != nullptr && code == 0) {
    std::string line =
        kiln::packs::concat({"{\"process\": \"", process(),
                             "\", \"schema\": 1, \"outcome\": \"started\", \"application\": "});
    append_json(without_folders(executable_path()), &line);
    code = made->append(line + "}");
  }
  const bool is_used = made != nullptr && code == 0;
  {
    const std::lock_guard<std::mutex> lock(named_folder().mutex);
    named_folder().folder = is_used ? std::move(made) : nullptr;
  }
  on_report = is_used ? write_report : nullptr;
  return code == 0 ? KILN_OK : report_error(file_failure(folder, code), error);
}
