// SPDX-License-Identifier: Apache-2.0
// Between Windows and the rest of Kiln: errors as numbers of errno, texts as UTF-8, handles as
// descriptors of the C library.
#pragma once

#include <string>

#include <windows.h>

namespace kiln::packs {

// Returns the text in UTF-16; empty, with errno EILSEQ or ENOENT, if it is not UTF-8 or empty.
std::wstring wide(const char *text);
// Returns the text in UTF-8.
std::string narrow(const wchar_t *text);

// Returns the handle that the descriptor owns, or INVALID_HANDLE_VALUE.
HANDLE handle_of(int fd);

// Sets errno for an error of Windows. Returns false.
bool set_errno(DWORD error = GetLastError());

}  // namespace kiln::packs
