// SPDX-License-Identifier: Apache-2.0
// Generated sequences of an application's calls: on the bare driver, at a first start under the
// layer, whose programs `kiln overlay build` then builds, and at a second start, which is served
// them. Each start under the layer must answer as the bare driver.
//
//     kiln_call_cases DRIVER KILN LAYER SEQUENCES [FIRST-SEED]
//
// DRIVER is pocl, rusticl or neo; OCL_ICD_VENDORS chooses the driver itself. One process makes the
// calls of a block of sequences, since a driver takes longer to start than to build: this program
// itself, as `kiln_call_cases worker DRIVER BLOCK`.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>

#include "tests/layer/cases/sequence.hpp"
#include "tests/layer/cases/worker.hpp"

namespace {

namespace fs = std::filesystem;
using namespace kiln::cases;
using Variables = std::vector<std::pair<std::string, std::string>>;
using Lines = std::vector<std::string>;

constexpr std::size_t kWithVariables = 12;  // sequences of a block of variables
constexpr std::size_t kLeastServed = 50;    // percent
constexpr unsigned kPatience = 3600;        // seconds for a block
constexpr int kAttempts = 60;               // to make a fault smaller
constexpr char kDead[] = "dead";

Lines lines_of(const fs::path &path) {
  std::ifstream file(path);
  Lines lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// Runs a program with more variables, from one file to another; its exit code, or -1.
int run(const std::vector<std::string> &command, const Variables &variables, const fs::path &in,
        const fs::path &out, const fs::path &folder) {
  const pid_t process = fork();
  if (process == 0) {
    const int from = open(in.c_str(), O_RDONLY);
    const int to = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const int errors = open((out.string() + ".errors").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(from, STDIN_FILENO);
    dup2(to, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    for (const auto &[name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    if (chdir(folder.c_str()) != 0) _exit(126);
    alarm(kPatience);
    std::vector<char *> words;
    for (const std::string &word : command) words.push_back(const_cast<char *>(word.c_str()));
    words.push_back(nullptr);
    execv(words[0], words.data());
    _exit(127);
  }
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct Counts {
  std::size_t sequences = 0, answers = 0, with_variables = 0, dead = 0, faults = 0;
  std::map<std::string, std::size_t> outcomes;  // of second starts, by outcome or reason
};

class Cases {
 public:
  Cases(std::string driver, std::string kiln, std::string layer)
      : driver_(std::move(driver)), kiln_(std::move(kiln)), layer_(std::move(layer)) {
    std::string name = (fs::temp_directory_path() / "kiln-call-cases-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) root_ = name;
  }
  ~Cases() { fs::remove_all(root_); }
  Cases(const Cases &) = delete;
  Cases &operator=(const Cases &) = delete;

  bool has_device() {
    begin(0);
    write("in", {});
    return run(worker(), {}, root_ / "in", root_ / "out", root_ / "work") != kNoDevice;
  }

  void run_block(std::uint64_t block, std::uint64_t first, std::uint64_t end, Counts *counts) {
    begin(block);
    Lines sequences;
    std::vector<std::uint64_t> seeds;
    for (std::uint64_t seed = first; seed < end; ++seed) {
      if (variables_.any() && seeds.size() == kWithVariables) break;
      seeds.push_back(seed);
      sequences.push_back(line_of(sequence(seed, driver_)));
    }
    // The bare driver is not in the way of the first start.
    auto bare_second =
        std::async(std::launch::async, [&] { return start("bare", sequences, variables_.second); });
    const Lines first_answers = start("layered", sequences, variables_.first);
    const Lines second_right = bare_second.get();
    const Lines first_right = variables_.first == variables_.second
                                  ? second_right
                                  : start("bare", sequences, variables_.first);
    build_overlay();
    fs::remove(root_ / "report");
    const Lines second_answers = start("layered", sequences, variables_.second);
    count_outcomes(counts);
    std::size_t shown = 0;
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      ++counts->sequences;
      if (variables_.any()) ++counts->with_variables;
      if (first_right[i] == kDead || second_right[i] == kDead) {
        ++counts->dead;
        continue;
      }
      counts->answers +=
          static_cast<std::size_t>(std::count(second_right[i].begin(), second_right[i].end(), '='));
      const bool fails_first = first_answers[i] != first_right[i];
      if (!fails_first && second_answers[i] == second_right[i]) continue;
      ++counts->faults;
      if (++shown > 3) continue;
      std::cout << "FAULT: seed " << seeds[i] << " at the " << (fails_first ? "first" : "second")
                << " start\n"
                << difference(fails_first ? first_right[i] : second_right[i],
                              fails_first ? first_answers[i] : second_answers[i])
                << std::flush;
      show_smallest(sequences, i, fails_first);
    }
  }

 private:
  std::vector<std::string> worker() const {
    return {fs::read_symlink("/proc/self/exe").string(), "worker", driver_, std::to_string(block_)};
  }

  void write(const std::string &name, const Lines &lines) const {
    std::ofstream file(root_ / name);
    for (const std::string &line : lines) file << line << "\n";
  }

  void begin(std::uint64_t block) {
    block_ = block;
    variables_ = environment(block, driver_);
    for (const auto &entry : fs::directory_iterator(root_)) fs::remove_all(entry.path());
    fs::create_directories(root_ / "work");
  }

  // The answers of a start, "dead" where the process ended; it is started again then.
  Lines start(const std::string &who, const Lines &sequences, bool has_variable) const {
    Variables variables = {{"POCL_CACHE_DIR", (root_ / who).string()},
                           {"MESA_SHADER_CACHE_DIR", (root_ / who).string()},
                           {"KILN_PACK_PATH", ""},
                           {"POCL_DEVICES", "pthread basic"}};
    fs::create_directories(root_ / who);
    if (who == "layered") {
      variables.insert(variables.end(), {{"OPENCL_LAYERS", layer_},
                                         {"KILN_OVERLAY", (root_ / "overlay").string()},
                                         {"KILN_REPORT", (root_ / "report").string()}});
    }
    if (variables_.any()) {  // which drivers' caches do not notice
      variables.insert(variables.end(),
                       {{"POCL_KERNEL_CACHE", "0"}, {"MESA_SHADER_CACHE_DISABLE", "true"}});
    }
    if (has_variable) variables.emplace_back(variables_.names[0], variables_.values[0]);
    Lines answers;
    while (answers.size() < sequences.size()) {
      const std::string in = who + ".in", out = who + ".out";
      const auto done = static_cast<std::ptrdiff_t>(answers.size());
      const auto end = variables_.any() ? sequences.begin() + done + 1 : sequences.end();
      write(in, Lines(sequences.begin() + done, end));
      const std::size_t wanted = static_cast<std::size_t>(end - sequences.begin());
      run(worker(), variables, root_ / in, root_ / out, root_ / "work");
      for (const std::string &line : lines_of(root_ / out)) answers.push_back(line);
      if (answers.size() < wanted) answers.emplace_back(kDead);
    }
    return answers;
  }

  void build_overlay() const {
    Variables variables = {{"KILN_STORE", "none"}, {"POCL_DEVICES", "pthread basic"}};
    if (variables_.builder) variables.emplace_back(variables_.names[0], variables_.values[0]);
    if (!fs::exists(root_ / "overlay")) return;
    (void)run({kiln_, "overlay", "build", (root_ / "overlay").string()}, variables, "/dev/null",
              root_ / "built", root_ / "work");
  }

  void count_outcomes(Counts *counts) const {
    const auto field = [](const std::string &line, const std::string &key) {
      const std::size_t at = line.find("\"" + key + "\": \"") + key.size() + 5;
      return line.substr(at, line.find('"', at) - at);
    };
    for (const std::string &line : lines_of(root_ / "report")) {
      if (line.find("\"program\"") == std::string::npos) continue;
      const std::string outcome = field(line, "outcome"), reason = field(line, "reason");
      ++counts->outcomes[outcome == "passed" ? reason.substr(0, reason.find("error: ")) : outcome];
    }
  }

  // The first answer that differs, with its place.
  static std::string difference(const std::string &right, const std::string &answer) {
    std::istringstream rights(right), answers(answer);
    std::string before, one, other;
    for (std::size_t at = 1; rights >> one; ++at) {
      other.clear();
      answers >> other;
      if (one != other) {
        return "  answer " + std::to_string(at) + ", after " + before + ": bare " + one +
               ", under the layer " + (other.empty() ? "nothing" : other) + "\n";
      }
      before = one;
    }
    return "  under the layer there are more answers\n";
  }

  // Whether the sequence fails, at its first start or after a start that made others. Drivers'
  // caches stay.
  bool fails(const Lines &before, const std::string &last, bool fails_first) {
    fs::remove_all(root_ / "overlay");
    const Lines right = start("bare", {last}, fails_first ? variables_.first : variables_.second);
    if (right[0] == kDead) return false;
    if (!fails_first) {
      (void)start("layered", before, variables_.first);
      build_overlay();
    }
    answers_ = {right[0],
                start("layered", {last}, fails_first ? variables_.first : variables_.second)[0]};
    return answers_[0] != answers_[1];
  }

  // Leaves out what is not needed, as long as `still_fails`.
  template <typename Item, typename Test>
  static void leave_out(std::vector<Item> *items, int *attempts, const Test &still_fails) {
    for (std::size_t size = std::max<std::size_t>(items->size() / 2, 1); size != 0; size /= 2) {
      for (std::size_t at = 0; at < items->size() && *attempts > 0;) {
        std::vector<Item> fewer = *items;
        const auto from = fewer.begin() + static_cast<std::ptrdiff_t>(at);
        fewer.erase(from, from + static_cast<std::ptrdiff_t>(std::min(size, fewer.size() - at)));
        --*attempts;
        if (still_fails(fewer)) {
          *items = fewer;
        } else {
          at += size;
        }
      }
    }
  }

  void show_smallest(const Lines &sequences, std::size_t which, bool fails_first) {
    Lines before = {sequences[which]};
    std::string last = sequences[which];
    int attempts = kAttempts;
    if (!fails(before, last, fails_first)) {
      before = sequences;
      if (fails_first || !fails(before, last, false)) {
        std::cout << "  it does not fail again alone\n";
        return;
      }
      leave_out(&before, &attempts,
                [&](const Lines &fewer) { return fails(fewer, last, fails_first); });
    }
    Sequence calls = sequence_of(last);
    leave_out(&calls, &attempts,
              [&](const Sequence &fewer) { return fails(before, line_of(fewer), fails_first); });
    last = line_of(calls);
    if (!fails_first) {
      Sequence noted;
      for (const std::string &line : before) {
        for (const Call &call : sequence_of(line)) noted.push_back(call);
      }
      const auto test = [&](const Sequence &fewer) { return fails({line_of(fewer)}, last, false); };
      if (before.size() == 1 || test(noted)) {
        leave_out(&noted, &attempts, test);
        before = {line_of(noted)};
      }
    }
    (void)fails(before, last, fails_first);
    const Vocabulary words = vocabulary(block_, driver_);
    if (!fails_first) std::cout << "  first start:\n" << described(sequence_of(before[0]), words);
    std::cout << "  " << (fails_first ? "first" : "second") << " start:\n"
              << described(calls, words);
    if (variables_.any()) {
      std::cout << "  variable " << variables_.names[0] << "=" << variables_.values[0] << ": first "
                << variables_.first << ", second " << variables_.second << ", builder "
                << variables_.builder << "\n";
    }
    std::cout << "  bare:  " << answers_[0] << "\n  layer: " << answers_[1] << "\n" << std::flush;
  }

  std::string driver_, kiln_, layer_;
  fs::path root_;
  std::uint64_t block_ = 0;
  Environment variables_;
  Lines answers_ = {"", ""};
};

int run_all(const std::string &driver, const std::string &kiln, const std::string &layer,
            std::uint64_t sequences, std::uint64_t first) {
  Cases cases(driver, kiln, layer);
  if (!cases.has_device()) {
    std::cout << "SKIP: there is no OpenCL device\n";
    return kNoDevice;
  }
  Counts counts;
  for (std::uint64_t seed = first; seed < first + sequences;) {
    const std::uint64_t block = seed / kBlock;
    const std::uint64_t end = std::min((block + 1) * kBlock, first + sequences);
    cases.run_block(block, seed, end, &counts);
    seed = end;
    std::cerr << seed - first << " of " << sequences << " sequences, " << counts.faults
              << " faults\n";
  }
  std::size_t programs = 0, not_built = 0;
  for (const auto &[outcome, count] : counts.outcomes) {
    programs += count;
    if (outcome.starts_with("the driver does not build it")) not_built += count;
    if (outcome.find("may change what the driver") != std::string::npos) not_built += count;
    std::cout << "  " << count << "  " << outcome << "\n";
  }
  const std::size_t built = std::max<std::size_t>(programs - not_built, 1);
  const std::size_t served = counts.outcomes["served"] * 100 / built;
  std::cout << counts.sequences << " sequences from seed " << first << " on, "
            << counts.with_variables << " with variables: " << counts.answers
            << " answers compared, " << counts.dead << " deaths of the bare driver, " << served
            << "% of the programs that the driver builds, without a variable, served, "
            << counts.faults << " faults\n";
  if (served < kLeastServed) {
    std::cout << "FAULT: less than " << kLeastServed << "% are served\n";
    return 1;
  }
  return counts.faults == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc == 4 && std::string(argv[1]) == "worker") {
    return work(argv[2], std::strtoull(argv[3], nullptr, 0));
  }
  if (argc < 5) {
    std::cerr << "usage: kiln_call_cases DRIVER KILN LAYER SEQUENCES [FIRST-SEED]\n";
    return 2;
  }
  return run_all(argv[1], fs::absolute(argv[2]).string(), fs::absolute(argv[3]).string(),
                 std::strtoull(argv[4], nullptr, 0),
                 argc > 5 ? std::strtoull(argv[5], nullptr, 0) : 0);
}
