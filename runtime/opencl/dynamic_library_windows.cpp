// SPDX-License-Identifier: Apache-2.0
// For Windows: a bare name is looked for in the application's folder and the system's, never in the
// working directory.
#include "runtime/opencl/dynamic_library.hpp"

#include <cstring>
#include <cwchar>
#include <string>

#include "packs/base/windows.hpp"

namespace kiln::runtime {

void *open_library(const char *name) {
  std::wstring path = packs::wide(name);
  // The search is by name alone, or by a whole path with backslashes.
  for (wchar_t &c : path) c = c == L'/' ? L'\\' : c;
  const bool bare = path.find(L'\\') == std::wstring::npos;
  const DWORD beside = bare ? 0 : LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR;
  return LoadLibraryExW(path.c_str(), nullptr, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS | beside);
}

void *library_function(void *library, const char *name) {
  return reinterpret_cast<void *>(GetProcAddress(static_cast<HMODULE>(library), name));
}

const char *library_fault() {
  static thread_local char text[256];
  wchar_t wide[256];
  DWORD size = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr,
                              GetLastError(), 0, wide, 256, nullptr);
  // The text ends with a full stop and a line break.
  while (size != 0 && wcschr(L".\r\n", wide[size - 1]) != nullptr) --size;
  wide[size] = 0;
  const std::string narrow = packs::narrow(wide).substr(0, sizeof(text) - 1);
  std::memcpy(text, narrow.c_str(), narrow.size() + 1);
  return size == 0 ? nullptr : text;
}

}  // namespace kiln::runtime
