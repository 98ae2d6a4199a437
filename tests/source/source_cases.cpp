// SPDX-License-Identifier: Apache-2.0
// Generated programs: Kiln's reader of includes against Clang's preprocessor. README.md of this
// folder's parent says how to run many.
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <string>

#include "tests/source/check.hpp"
#include "tests/source/place.hpp"

namespace {

namespace fs = std::filesystem;
using namespace kiln::cases;

constexpr std::uint64_t kFirstSeed = 1;
constexpr unsigned kLongest = 20;           // seconds of the processor for a case
constexpr std::size_t kLeastAccepted = 50;  // percent
constexpr std::size_t kFaultsShown = 5;

struct Settings {
  std::uint64_t cases = 10000, seed = kFirstSeed;
  bool one = false;
  std::string write;
  std::string clang;
  std::size_t sample = 0;  // every so many cases are given to the program clang, too
  std::size_t faults = kFaultsShown;
};

// Not by the clock on the wall: a busy machine makes no case slow.
void limit_time(unsigned seconds) {
  const itimerval timer{{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

int usage() {
  std::cerr << "usage: kiln_source_cases [--cases N] [--seed S] [--faults N] [--clang CLANG-15]\n"
               "       kiln_source_cases --one SEED [--write FOLDER]\n";
  return 2;
}

bool parse(int argc, char **argv, Settings *settings) {
  if (const char *cases = std::getenv("KILN_CASES"))
    settings->cases = std::strtoull(cases, nullptr, 0);
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) return false;
    const std::string name = argv[i], value = argv[i + 1];
    const std::uint64_t number = std::strtoull(argv[i + 1], nullptr, 0);
    if (name == "--cases")
      settings->cases = number;
    else if (name == "--seed")
      settings->seed = number;
    else if (name == "--faults")
      settings->faults = number;
    else if (name == "--one")
      settings->one = true, settings->seed = number;
    else if (name == "--write")
      settings->write = value;
    else if (name == "--clang")
      settings->clang = value;
    else
      return false;
  }
  return true;
}

std::uint64_t current_seed;

// Kiln must not hang where the compiler does not.
extern "C" void too_long(int) {
  char text[96];
  const int size = std::snprintf(text, sizeof(text), "seed %llu: no answer after %u s\n",
                                 static_cast<unsigned long long>(current_seed), kLongest);
  if (write(STDERR_FILENO, text, static_cast<std::size_t>(size)) < 0) _exit(2);
  _exit(1);
}

// Bytes that a terminal would not show.
std::string shown(const std::string &text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || (c >= ' ' && c <= '~')) {
      out += c;
    } else {
      char code[8];
      std::snprintf(code, sizeof(code), "<%02X>",
                    static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += code;
    }
  }
  return out;
}

std::string described(const Case &example) {
  std::string text = "options: " + shown(options_of(example)) +
                     (example.current.empty() ? "" : "\ncurrent folder: " + example.current) +
                     "\n---- source:\n" + shown(example.source);
  const auto entries = [&text](const char *word, const std::vector<Entry> &all) {
    for (const Entry &entry : all) {
      switch (entry.kind) {
        case Kind::file:
          text += std::string("\n---- ") + word + entry.path + ":\n" + shown(entry.text);
          break;
        case Kind::symbolic_link:
          text += std::string("\n---- ") + word + entry.path + " -> " + entry.text;
          break;
        case Kind::hard_link:
          text += std::string("\n---- ") + word + entry.path + " = " + entry.text;
          break;
        case Kind::removed: text += std::string("\n---- ") + word + entry.path + " removed"; break;
        case Kind::renamed:
          text += std::string("\n---- ") + word + entry.path + " becomes " + entry.text;
          break;
      }
    }
  };
  entries("", example.files);
  entries("then ", example.edit);
  return text + "\n";
}

// Without the names and numbers in which reasons differ.
std::string reason_of(const std::string &refused) {
  const std::size_t error = refused.find("error: "), colon = refused.find(": ");
  const std::size_t begin = error != std::string::npos   ? error
                            : colon == std::string::npos ? 0
                                                         : colon + 2;
  if (refused[begin] == '#' || refused[begin] == '_') {  // a line that is not known
    return refused.substr(begin, refused.find_first_of(" (\"<\n", begin) - begin);
  }
  std::string reason;
  bool skips = false, quoted = false;
  for (const char c : refused.substr(begin, refused.find('\n', begin) - begin)) {
    if (c == '"') quoted = !quoted;
    if (c == ':' && reason != "error") break;
    skips = (skips || c == '#' || c == '<' || c == '-') && c != ',' && c != ' ';
    if (!skips && !quoted && c != '"' && (c < '0' || c > '9')) reason += c;
  }
  return reason;
}

int run_one(const Settings &settings, Checker &checker) {
  const Case example = case_of(settings.seed);
  const Verdict verdict = checker.check(example, false);
  std::cout << described(example)
            << "\n==== " << (verdict.fault.empty() ? "no fault" : verdict.fault) << "\n"
            << shown(verdict.detail)
            << (verdict.refused.empty() ? "" : "refused: " + verdict.refused) << "\n";
  if (!settings.write.empty())
    write_out(example, settings.write, described(example) + verdict.detail);
  return verdict.fault.empty() ? 0 : 1;
}

int run_many(const Settings &settings, Checker &checker) {
  std::size_t accepted[3] = {}, total[3] = {}, compared = 0, edits = 0, faults = 0, programs = 0;
  std::map<std::string, std::size_t> refused, kinds;
  const auto begin = std::chrono::steady_clock::now();
  auto printed_at = begin;
  for (std::uint64_t i = 0; i < settings.cases; ++i) {
    current_seed = settings.seed + i;
    limit_time(kLongest);
    const Case example = case_of(current_seed);
    const auto sort = static_cast<std::size_t>(sort_of(current_seed));
    const bool plain = sort_of(current_seed) == Sort::plain;
    Verdict verdict = checker.check(example, true);
    ++total[sort];
    if (verdict.refused.empty()) {
      ++accepted[sort];
    } else {
      ++refused[reason_of(verdict.refused)];
    }
    if (plain && !verdict.refused.empty())
      verdict.fault = "a plain program is refused", verdict.detail = verdict.refused;
    if (plain && verdict.refused.empty() && !verdict.compiles)
      verdict.fault = "a plain program does not compile: the generator is wrong";
    compared += verdict.refused.empty() && verdict.compiles ? 1 : 0;
    edits += verdict.edit_seen ? 1 : 0;
    if (!settings.clang.empty() && verdict.refused.empty() && i % 250 == 1) {
      ++programs;
      if (const std::string differs = checker.against_program(example, settings.clang);
          !differs.empty()) {
        verdict.fault = "this process and the program clang differ", verdict.detail = differs;
      }
    }
    if (!verdict.fault.empty()) {
      ++kinds[verdict.fault];
      if (faults++ < settings.faults) {
        limit_time(0);
        const Case small = checker.smallest(example);
        const Verdict again = checker.check(small, false);
        std::cout << "\n==== seed " << current_seed << ": " << verdict.fault << " (smallest form)\n"
                  << described(small) << "---- "
                  << shown(again.detail.empty() ? verdict.detail : again.detail) << std::endl;
      }
    }
    const auto now = std::chrono::steady_clock::now();
    if (now - printed_at > std::chrono::seconds(10)) {
      printed_at = now;
      std::cerr << i + 1 << " of " << settings.cases << " cases, " << faults << " faults, "
                << std::chrono::duration_cast<std::chrono::seconds>(now - begin).count() << " s\n";
    }
  }
  limit_time(0);
  const std::size_t all = total[0] + total[1] + total[2];
  const std::size_t taken = accepted[0] + accepted[1] + accepted[2];
  std::cout << all << " cases of seeds from " << settings.seed << "; accepted: " << accepted[0]
            << " of " << total[0] << " plain, " << accepted[1] << " of " << total[1] << " odd, "
            << accepted[2] << " of " << total[2] << " wild, "
            << taken * 100 / std::max<std::size_t>(all, 1) << "% in all\n"
            << "texts compared: " << compared
            << "; accepted before and after an edit that counts: " << edits
            << "; compared with the program clang: " << programs << "\nrefused:\n";
  for (const auto &[reason, count] : refused)
    std::cout << "  " << count << "  " << shown(reason) << "\n";
  for (const auto &[kind, count] : kinds) std::cout << "FAULTS: " << count << "  " << kind << "\n";
  if (taken * 100 < all * kLeastAccepted) {
    std::cout << "FAULT: less than " << kLeastAccepted << "% are accepted\n";
    return 1;
  }
  return faults == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char **argv) {
  Settings settings;
  if (!parse(argc, argv, &settings)) return usage();
  std::signal(SIGPROF, too_long);
  // In memory where there is such a place: a case is some twenty files.
  std::string root = (fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path().string()) +
                     "/kiln-cases-XXXXXX";
  if (!settings.write.empty()) settings.write = fs::absolute(settings.write).string();
  if (mkdtemp(root.data()) == nullptr) {
    std::cerr << "cannot make a folder in " << root << "\n";
    return 1;
  }
  fs::create_directories(fs::path(root) / "empty");
  Checker checker(fs::path(root) / "case", fs::path(root) / "empty");
  const int result = settings.one ? run_one(settings, checker) : run_many(settings, checker);
  fs::current_path("/");
  fs::remove_all(root);
  return result;
}
