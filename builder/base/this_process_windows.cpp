// SPDX-License-Identifier: Apache-2.0
// For Windows.
#include "builder/base/this_process.hpp"

#include <algorithm>
#include <cstdio>
#include <thread>

#include <io.h>
#define PSAPI_VERSION 2  // in kernel32, not psapi
#include "packs/base/windows.hpp"

#include <psapi.h>

namespace kiln::builder {

std::size_t usable_cpus() { return std::max(std::thread::hardware_concurrency(), 1U); }

std::string variable(const char *name) {
  const wchar_t *value = _wgetenv(packs::wide(name).c_str());
  return value != nullptr ? packs::narrow(value) : "";
}

void allow_many_files() { _setmaxstdio(8192); }  // msvcrt.dll allows no more

std::uint64_t resident_bytes(pid_t pid) {
  const HANDLE process =
      OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(pid));
  PROCESS_MEMORY_COUNTERS counters{};
  const bool told =
      process != nullptr && GetProcessMemoryInfo(process, &counters, sizeof(counters)) != 0;
  if (process != nullptr) CloseHandle(process);
  return told ? counters.WorkingSetSize : 0;
}

std::size_t terminal_columns(int output) {
  constexpr std::size_t kUsualColumns = 80;
  CONSOLE_SCREEN_BUFFER_INFO info{};
  const auto console = reinterpret_cast<HANDLE>(_get_osfhandle(output));
  if (GetConsoleScreenBufferInfo(console, &info) == 0) return kUsualColumns;
  return static_cast<std::size_t>(info.srWindow.Right - info.srWindow.Left + 1);
}

std::filesystem::path executable_folder() {
  std::wstring path(32768, L'\0');  // the longest path of Windows
  path.resize(GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size())));
  return std::filesystem::path(path).parent_path();
}

}  // namespace kiln::builder
