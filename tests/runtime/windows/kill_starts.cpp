// SPDX-License-Identifier: Apache-2.0
// Starts a program again and again, and ends it at a random time, as Windows ends processes.
//   kill_starts COUNT SECONDS "COMMAND LINE"
// Stops after COUNT starts or SECONDS. Exit code 1 if a start that was not ended in time failed.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include <windows.h>

namespace {

using Clock = std::chrono::steady_clock;

struct Start {
  bool was_killed = false;
  DWORD code = 0;
  DWORD milliseconds = 0;
};

Start start(std::string command, DWORD milliseconds) {
  STARTUPINFOA how{};
  how.cb = sizeof(how);
  how.dwFlags = STARTF_USESTDHANDLES;  // which are null: what it prints is dropped
  PROCESS_INFORMATION process;
  const auto begin = Clock::now();
  // Wine 8 sometimes fails with an internal error after a process was ended.
  int tries = 8;
  while (CreateProcessA(nullptr, command.data(), nullptr, nullptr, FALSE, 0, nullptr, nullptr, &how,
                        &process) == 0) {
    if (GetLastError() == ERROR_INTERNAL_ERROR && --tries != 0) continue;
    std::printf("error %lu: cannot start %s\n", GetLastError(), command.c_str());
    std::exit(2);
  }
  Start done;
  done.was_killed = WaitForSingleObject(process.hProcess, milliseconds) == WAIT_TIMEOUT &&
                    TerminateProcess(process.hProcess, 9) != 0;
  WaitForSingleObject(process.hProcess, INFINITE);
  GetExitCodeProcess(process.hProcess, &done.code);
  CloseHandle(process.hThread);
  CloseHandle(process.hProcess);
  done.milliseconds = static_cast<DWORD>(
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count());
  return done;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const unsigned count = static_cast<unsigned>(std::atoi(argv[1]));
  const auto end = Clock::now() + std::chrono::seconds(std::atoi(argv[2]));
  std::mt19937 random(37);
  DWORD shortest = INFINITE;  // of the starts that were not ended
  unsigned starts = 0, killed = 0, failed = 0;
  for (; starts < count && Clock::now() < end; ++starts) {
    const Start done =
        start(argv[3], starts == 0 ? INFINITE : static_cast<DWORD>(random() % shortest));
    killed += done.was_killed ? 1 : 0;
    if (done.was_killed) continue;
    failed += done.code == 0 ? 0 : 1;
    if (done.code != 0) std::printf("start %u: %lu\n", starts, done.code);
    shortest = std::max<DWORD>(1, std::min(shortest, done.milliseconds));
  }
  std::printf("%u starts: %u were ended, %u failed\n", starts, killed, failed);
  return failed == 0 && killed != 0 ? 0 : 1;
}
