// SPDX-License-Identifier: Apache-2.0
// For Windows, whose variables are UTF-16; no process has another user's rights by its file alone.
#include "runtime/layer/base/process.hpp"

#include <cwchar>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/files.hpp"
#include "packs/base/windows.hpp"

namespace kiln::layer {

std::string variable(const char *name, const char *otherwise) {
  const std::wstring wide = packs::wide(name);
  std::wstring value(1, L'\0');
  for (;;) {
    SetLastError(ERROR_SUCCESS);
    const DWORD size =
        GetEnvironmentVariableW(wide.c_str(), value.data(), static_cast<DWORD>(value.size()));
    if (GetLastError() == ERROR_ENVVAR_NOT_FOUND) return otherwise;
    const bool fits = size < value.size();
    value.resize(size);
    if (fits) return packs::narrow(value.c_str());
  }
}

const char *const *all_variables() { return _environ; }

bool has_other_rights() { return false; }

void stay_loaded() {
  HMODULE own = nullptr;
  (void)GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                           reinterpret_cast<const wchar_t *>(&stay_loaded), &own);
}

std::chrono::microseconds age_of_process() {
  FILETIME began, now, unused;
  if (GetProcessTimes(GetCurrentProcess(), &began, &unused, &unused, &unused) == 0) return {};
  GetSystemTimeAsFileTime(&now);
  const auto ticks = [](const FILETIME &time) {
    return static_cast<std::int64_t>(time.dwHighDateTime) << 32 | time.dwLowDateTime;
  };
  return std::chrono::microseconds((ticks(now) - ticks(began)) / 10);
}

std::uint64_t this_command() {
  const wchar_t *line = GetCommandLineW();
  return packs::xxh3(line, std::wcslen(line) * sizeof(wchar_t));
}

bool is_readable(const std::string &path) {
  struct stat info {};
  return packs::status_at(packs::kWorkingFolder, path.c_str(), &info);
}

void make_shared_folder(const std::string &path) {
  (void)CreateDirectoryW(packs::wide(path.c_str()).c_str(), nullptr);
}

int open_to_append(const std::string &path) {
  return packs::open_at(packs::kWorkingFolder, path.c_str(), O_WRONLY | O_APPEND | O_CREAT);
}

}  // namespace kiln::layer
