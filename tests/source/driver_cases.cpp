// SPDX-License-Identifier: Apache-2.0
// Generated programs on a driver, without the layer and under it. A case is some starts of an
// application, between which files are edited and put back, or in the midst of which; each start
// under the layer must answer as the bare one.
//
//     kiln_driver_cases DRIVER KILN LAYER CASES [FIRST-SEED [wild]]
//
// DRIVER is pocl, rusticl or neo: whose variables and headers wild cases try. OCL_ICD_VENDORS
// chooses the driver itself. With `wild`, all cases are wild. Two processes live through many
// cases, since a driver takes longer to start than to build: this program itself, as
// `kiln_driver_cases worker`, which does what it reads and answers a line to each line.
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <thread>
#include <utility>

#include "builder/finish/intel_binary.hpp"
#include "tests/source/place.hpp"

namespace {

namespace fs = std::filesystem;
using namespace kiln::cases;

constexpr int kPatience = 60000;            // milliseconds for an answer
constexpr std::size_t kInPacks = 24;        // cases that are recorded, built and served
constexpr std::size_t kLeastAccepted = 50;  // percent of the programs that the driver builds
constexpr std::size_t kLeastServed = 20;
// Reasons of the layer: nothing is wrong with a program, or the driver refuses it.
constexpr char kOfNoPack[] = "no pack has it";
constexpr char kNotBuilt[] = "the driver does not build it";
constexpr int kNoDevice = 77;

// ---- The worker.

// The headers of clCompileProgram, in the case's place.
std::string header_name(std::size_t i) { return "header-" + std::to_string(i) + ".name"; }
std::string header_text(std::size_t i) { return "header-" + std::to_string(i) + ".text"; }

std::string text_of(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Application {
 public:
  bool open() {
    cl_platform_id platform = nullptr;
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device_, nullptr) != CL_SUCCESS) {
      return false;
    }
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, nullptr);
    queue_ = clCreateCommandQueue(context_, device_, 0, nullptr);
    return queue_ != nullptr;
  }

  // `words`: a command, the case's place with its source and options, and the current folder.
  std::string answer(const std::vector<std::string> &words) {
    const std::string &command = words[0];
    if (words.size() > 1) place_ = words[1];
    if (words.size() > 2 && chdir(words[2].c_str()) != 0) return "no folder";
    if (command == "build") return build();
    if (command == "compile") return compile();
    if (command == "link") return link(false);
    if (command == "link-more") return link(true);
    if (command == "launch") return launch(1);
    if (command == "launch-more") return launch(8);
    if (command == "end") return end();
    return "what?";
  }

 private:
  cl_program create(const std::string &text) const {
    const char *start = text.data();
    const std::size_t size = text.size();
    return clCreateProgramWithSource(context_, 1, &start, &size, nullptr);
  }

  std::string build() {
    end();
    text_ = text_of(place_ / "source.cl");
    options_ = text_of(place_ / "options");
    program_ = create(text_);
    return outcome_of(clBuildProgram(program_, 1, &device_, options_.c_str(), nullptr, nullptr));
  }

  std::string compile() {
    end();
    text_ = text_of(place_ / "source.cl");
    options_ = text_of(place_ / "options");
    part_ = create(text_);
    std::vector<std::string> names;
    std::vector<cl_program> headers;
    for (std::size_t i = 0; fs::exists(place_ / header_name(i)); ++i) {
      names.push_back(text_of(place_ / header_name(i)));
      headers.push_back(create(text_of(place_ / header_text(i))));
    }
    std::vector<const char *> pointers;
    for (const std::string &name : names) pointers.push_back(name.c_str());
    const auto count = static_cast<cl_uint>(headers.size());
    const cl_int code = clCompileProgram(part_, 1, &device_, text_of(place_ / "options").c_str(),
                                         count, count == 0 ? nullptr : headers.data(),
                                         count == 0 ? nullptr : pointers.data(), nullptr, nullptr);
    for (const cl_program header : headers) clReleaseProgram(header);
    return outcome_of(code);
  }

  // With `more`, another program is linked to it, so that it is another link.
  std::string link(bool more) {
    cl_program parts[2] = {part_, nullptr};
    if (more) {
      more_ = create("int more_" + std::to_string(++links_) + "(void) { return 1; }\n");
      clCompileProgram(more_, 1, &device_, "", 0, nullptr, nullptr, nullptr, nullptr);
      parts[1] = more_;
    }
    cl_int code = CL_SUCCESS;
    program_ =
        clLinkProgram(context_, 1, &device_, "", more ? 2 : 1, parts, nullptr, nullptr, &code);
    return outcome_of(code);
  }

  std::string launch(std::size_t size) {
    cl_int code = CL_SUCCESS, value = 0;
    const cl_kernel kernel = program_ == nullptr ? nullptr : clCreateKernel(program_, "k", &code);
    if (kernel == nullptr) return "no kernel " + std::to_string(code);
    std::size_t required[3] = {};
    clGetKernelWorkGroupInfo(kernel, device_, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof(required),
                             static_cast<void *>(required), nullptr);
    const std::string told_size = ", required size " + std::to_string(required[0]);
    if (!executes_) {
      clReleaseKernel(kernel);
      return "value 0" + told_size + binary();
    }
    if (required[0] != 0) size = required[0];
    const cl_mem out = clCreateBuffer(context_, CL_MEM_COPY_HOST_PTR, sizeof(value), &value, &code);
    code = clSetKernelArg(kernel, 0, sizeof(out), static_cast<const void *>(&out));
    if (code == CL_SUCCESS) {
      code = clEnqueueNDRangeKernel(queue_, kernel, 1, nullptr, &size, &size, 0, nullptr, nullptr);
    }
    if (code == CL_SUCCESS) {
      code =
          clEnqueueReadBuffer(queue_, out, CL_TRUE, 0, sizeof(value), &value, 0, nullptr, nullptr);
    }
    clReleaseMemObject(out);
    clReleaseKernel(kernel);
    return code == CL_SUCCESS ? "value " + std::to_string(value) + told_size : outcome_of(code);
  }

  // A hash of the binary, in place of results, of a program that includes no files and has no -I:
  // the layer builds others from another text and with other options, which the binary may hold. A
  // pack's binaries of Intel have no SPIR-V.
  std::string binary() const {
    if (text_.find("include") != std::string::npos || options_.find("-I") != std::string::npos)
      return "";
    std::size_t size = 0;
    if (clGetProgramInfo(program_, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr) !=
        CL_SUCCESS) {
      return ", no binary";
    }
    std::string bytes(size, '\0');
    char *pointer = bytes.data();
    clGetProgramInfo(program_, CL_PROGRAM_BINARIES, sizeof(pointer), static_cast<void *>(&pointer),
                     nullptr);
    const auto lean = kiln::builder::without_spirv(
        {reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size()});
    if (lean) bytes.assign(lean->begin(), lean->end());
    return ", binary " + std::to_string(std::hash<std::string>()(bytes));
  }

  std::string end() {
    clFinish(queue_);
    for (cl_program *program : {&program_, &part_, &more_}) {
      if (*program != nullptr) clReleaseProgram(*program);
      *program = nullptr;
    }
    return "over";
  }

  // Drivers differ in codes, and one driver in those of two refusals; none may come of a program
  // that the other way builds.
  static std::string outcome_of(cl_int code) { return code == CL_SUCCESS ? "done" : "refused"; }

  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr, part_ = nullptr, more_ = nullptr;
  int links_ = 0;
  fs::path place_;
  std::string text_, options_;
  // Intel's driver without hardware builds programs, and does not run them.
  bool executes_ = std::getenv("SetCommandStreamReceiver") == nullptr;
};

std::vector<std::string> words_of(const std::string &line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  if (words.empty()) words.emplace_back();
  return words;
}

int work() {
  // The driver may write to standard output.
  const int out = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  Application application;
  if (!application.open()) return kNoDevice;
  for (std::string line; std::getline(std::cin, line);) {
    const std::string answer = application.answer(words_of(line)) + "\n";
    if (write(out, answer.data(), answer.size()) < 0) return 1;
  }
  return 0;
}

// ---- The other side.

using Variables = std::map<std::string, std::string>;

class Worker {
 public:
  Worker(std::vector<std::string> command, Variables variables)
      : command_(std::move(command)), variables_(std::move(variables)) {}
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;
  ~Worker() { stop(); }

  // One like this, with more variables.
  Worker with(const Variables &more) const {
    Variables all = variables_;
    for (const auto &[name, value] : more) all[name] = value;
    return Worker(command_, all);
  }

  // Its answer; "dead" if it ended or hung. It is started if it does not live.
  std::string ask(const std::string &line) {
    if (process_ == 0) start();
    const std::string text = line + "\n";
    if (write(in_, text.data(), text.size()) < 0) return stop(), "dead";
    std::string answer;
    for (char c = 0;;) {
      pollfd waits = {out_, POLLIN, 0};
      if (poll(&waits, 1, kPatience) <= 0) kill(process_, SIGKILL);
      if (read(out_, &c, 1) != 1) return stop(), "dead";
      if (c == '\n') return answer;
      answer += c;
    }
  }

  // Lets it end as applications do; its exit code.
  int stop() {
    if (process_ == 0) return code_;
    close(in_);
    close(out_);
    int status = 0;
    waitpid(std::exchange(process_, 0), &status, 0);
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    return code_;
  }

 private:
  void start() {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) std::exit(1);
    process_ = fork();
    if (process_ == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      for (const auto &[name, value] : variables_) setenv(name.c_str(), value.c_str(), 1);
      std::vector<char *> words;
      for (std::string &word : command_) words.push_back(word.data());
      words.push_back(nullptr);
      execv(words[0], words.data());
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    in_ = in[1];
    out_ = out[0];
  }

  std::vector<std::string> command_;
  Variables variables_;
  pid_t process_ = 0;
  int in_ = -1, out_ = -1, code_ = 0;
};

// One step of a case: files are edited or put back, or the application does something.
const std::vector<std::vector<std::string>> kStories = {
    // Starts, an edit between them, and back.
    {"build", "launch", "end", "build", "launch", "end", "(edit)", "build", "launch", "end",
     "(back)", "build", "launch", "end"},
    // An edit between the build and the first launch, and one of another size.
    {"build", "(edit)", "launch", "end", "(back)", "build", "launch", "(edit)", "launch-more",
     "end", "(back)", "build", "launch", "launch-more", "end"},
    // An edit between compilation and link.
    {"compile", "link", "launch", "end", "compile", "(edit)", "link-more", "launch", "end",
     "(back)", "compile", "link-more", "launch", "end", "compile", "link", "launch", "end"},
    {"compile", "(edit)", "link", "launch", "end", "(back)", "compile", "link", "launch", "end"},
    // Other headers of clCompileProgram.
    {"compile", "link", "launch", "end", "compile", "link", "launch", "end", "(edit)", "compile",
     "link", "launch", "end"},
};
constexpr std::size_t kOfHeaders = 4;

class Stage {
 public:
  // `at_end` is called when a start under the layer has ended.
  explicit Stage(
      fs::path root, std::function<void()> at_end = [] {})
      : root_(std::move(root)), at_end_(std::move(at_end)) {}

  // Asks the worker under the layer to do the step.
  std::string ask(Worker &layered, const Case &example, const std::string &step) const {
    std::string answer = layered.ask(command(example, step));
    if (step == "end") at_end_();
    return answer;
  }

  fs::path folder(std::uint64_t seed) const { return root_ / std::to_string(seed); }

  // The application's current folder stays the same one, if it is the case's.
  void set(const Case &example) const {
    const fs::path place = folder(example.seed);
    const fs::path here = place / "case";
    fs::create_directories(here);
    for (const auto &entry : fs::directory_iterator(here)) fs::remove_all(entry.path());
    put_on_disk(example.files, here);
    set_source(example, "");
    write(place / "options", placed(options_of(example), here));
    set_headers(example.headers, place);
    make_kept();
  }

  // Folders in the case's folder that must always be there, such as a driver's cache.
  void keep(const std::vector<fs::path> &folders) { kept_ = folders; }

  // With a line behind the source, which makes it another program.
  void set_source(const Case &example, const std::string &line) const {
    const fs::path place = folder(example.seed);
    write(place / "source.cl", placed(example.source, place / "case") + line);
  }

  // Does a step on the disk, if it is one.
  bool edits(const Case &example, const std::string &step) const {
    if (step == "(edit)") {
      put_on_disk(example.edit, folder(example.seed) / "case");
      set_headers(example.edited_headers, folder(example.seed));
      make_kept();
    }
    if (step == "(back)") set(example);
    return step.front() == '(';
  }

  // What a worker is told to do it in the case's place.
  std::string command(const Case &example, const std::string &step) const {
    const fs::path place = folder(example.seed);
    return step + " " + place.string() + " " + (place / "case" / example.current).string();
  }

 private:
  static void write(const fs::path &path, const std::string &text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  static void set_headers(const std::vector<std::pair<std::string, std::string>> &headers,
                          const fs::path &place) {
    for (std::size_t i = 0; i < headers.size(); ++i) {
      write(place / header_name(i), headers[i].first);
      write(place / header_text(i), headers[i].second);
    }
  }

  void make_kept() const {
    std::error_code error;
    for (const fs::path &folder : kept_) fs::create_directories(folder, error);
  }

  fs::path root_;
  std::function<void()> at_end_;
  std::vector<fs::path> kept_;
};

// Which cases a driver is given.
struct Mix {
  std::string driver;
  bool only_wild = false;

  Case of(std::uint64_t seed) const {
    // Without execution, only wild programs show what they were made of.
    if (only_wild || (driver == "neo" && seed % 4 != 0)) return wild_case(seed, driver);
    if (seed % 4 == 0) return plain_case(seed);
    return seed % 4 == 1 ? odd_case(seed, true) : wild_case(seed, driver);
  }
};

struct Found {
  std::size_t starts = 0, moved = 0, with_variables = 0, values = 0, differing_values = 0, dead = 0,
              faults = 0;
};

void say_fault(const Case &example, const std::string &story, const fs::path &kept, Found *found) {
  ++found->faults;
  write_out(example, kept / std::to_string(example.seed), story);
  std::cout << "seed " << example.seed << ": the layer's answers differ; written to "
            << (kept / std::to_string(example.seed)).string() << "\n"
            << story << std::endl;
}

// Plays the story to both; the first answer that differs is a fault. Returns whether the rest of
// the case's stories makes sense.
bool play(const Case &example, const std::vector<std::string> &steps, const Stage &stage,
          Worker &bare, Worker &layered, const fs::path &kept, Found *found,
          const std::string &before = "") {
  std::string story = before, last;
  std::size_t refused = 0;
  stage.set(example);
  for (const std::string &step : steps) {
    if (stage.edits(example, step)) {
      story += "  " + step + "\n";
      continue;
    }
    const std::string right = bare.ask(stage.command(example, step));
    const std::string answer = stage.ask(layered, example, step);
    story +=
        "  " + step + ": " + right + (answer == right ? "" : ", under the layer " + answer) + "\n";
    if (right == "dead") {
      ++found->dead;
      layered.stop();
      return false;
    }
    if (answer != right) return say_fault(example, story, kept, found), false;
    // Few of those that do not compile: nothing is kept of them.
    if (right == "refused" && ++refused == 1 && example.seed % 8 != 0) return true;
    if (step == "build" || step == "compile") ++found->starts;
    if (!right.starts_with("value ")) continue;
    ++found->values;
    if (!last.empty() && right != last) ++found->differing_values;
    last = right;
  }
  return true;
}

const std::vector<std::string> kOneStart = {"build", "launch", "end"};

// Starts of applications with the case's variables, among starts without them.
void play_variables(const Case &example, Stage stage, Worker &bare, Worker &layered,
                    const fs::path &kept, Found *found) {
  const fs::path place = stage.folder(example.seed) / "case";
  std::vector<fs::path> folders;
  const auto with = [&](const Worker &worker, const std::string &who) {
    Variables more;
    for (const auto &[name, value] : example.variables) {
      std::string text = placed(value, place);
      if (const std::size_t at = text.find(kWho); at != std::string::npos) {
        text.replace(at, sizeof(kWho) - 1, who);
        folders.emplace_back(text);
      }
      more[name] = text;
    }
    return worker.with(more);
  };
  std::string list;
  for (const auto &[name, value] : example.variables) list += "  " + name + "=" + value + "\n";
  if (!play(example, kOneStart, stage, bare, layered, kept, found, "  without variables\n")) return;
  {
    Worker bare_with = with(bare, "bare"), layered_with = with(layered, "layered");
    stage.keep(folders);
    ++found->with_variables;
    if (!play(example, {"build", "launch", "end", "(edit)", "build", "launch", "end"}, stage,
              bare_with, layered_with, kept, found, list)) {
      return;
    }
  }
  play(example, {"build", "launch", "end", "(edit)", "build", "launch", "end"}, stage, bare,
       layered, kept, found, list + "  and then without variables\n");
}

// Builds programs under the layer while the edit comes and goes. When it has come to rest, the
// layer must answer as the bare driver, before and after the edit.
void play_moves(const Case &example, const Stage &stage, Worker &bare, Worker &layered,
                const fs::path &kept, Found *found) {
  constexpr std::size_t kBuilds = 4;
  const fs::path here = stage.folder(example.seed) / "case";
  const auto line = [](std::size_t i) { return "// " + std::to_string(i) + "\n"; };
  stage.set(example);
  std::atomic<bool> over = false;
  std::thread mover([&] {
    while (!over) {
      for (const auto *entries : {&example.edit, &example.back}) {
        put_on_disk(*entries, here);
        usleep(example.pause);
      }
    }
  });
  bool alive = true;
  for (std::size_t i = 0; i < kBuilds && alive; ++i) {
    stage.set_source(example, line(i));
    for (const std::string &step : kOneStart) {
      alive = alive && stage.ask(layered, example, step) != "dead";
    }
  }
  over = true;
  mover.join();
  ++found->moved;
  for (const char *state : {"(back)", "(edit)"}) {
    stage.set(example);
    stage.edits(example, state);
    for (std::size_t i = 0; i < kBuilds; ++i) {
      stage.set_source(example, line(i));
      for (const std::string &step : kOneStart) {
        const std::string right = bare.ask(stage.command(example, step));
        const std::string answer = stage.ask(layered, example, step);
        if (right == "dead") return void(++found->dead);
        if (step == "build") ++found->starts;
        if (right.starts_with("value ")) ++found->values;
        if (answer == right) continue;
        return say_fault(example,
                         "  edit and back alternated each " + std::to_string(example.pause) +
                             " us during builds; then " + state + ", build " + std::to_string(i) +
                             ", " + step + ": " + right + ", under the layer " + answer + "\n",
                         kept, found);
      }
    }
  }
}

void play_case(const Case &example, std::size_t number, const Stage &stage, Worker &bare,
               Worker &layered, const fs::path &kept, Found *found) {
  if (example.pause != 0) return play_moves(example, stage, bare, layered, kept, found);
  if (!example.variables.empty()) return play_variables(example, stage, bare, layered, kept, found);
  const std::size_t kind = !example.headers.empty()             ? kOfHeaders
                           : number % 2 == 0 || number % 3 != 0 ? 0
                                                                : 1 + number / 6 % 3;
  play(example, kStories[kind], stage, bare, layered, kept, found);
}

// Without the file, line and column in which reasons differ.
std::string without_place(const std::string &reason) {
  const std::size_t error = reason.find("error: ");
  return error == std::string::npos ? reason : reason.substr(error);
}

// PoCL writes headers named by `..` into its cache, where it finds them for later programs.
void clean_cache(const fs::path &cache) {
  constexpr std::size_t kOfPocl = 2;  // characters of the names of PoCL's own folders
  for (const auto &entry : fs::directory_iterator(cache)) {
    const bool is_own = entry.is_directory() && entry.path().filename().string().size() == kOfPocl;
    if (!is_own) fs::remove_all(entry.path());
  }
}

int run(const std::string &command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int run_all(const Mix &mix, const std::string &self, const std::string &kiln,
            const std::string &layer, std::size_t cases, std::uint64_t seed) {
  std::string name = (fs::temp_directory_path() / "kiln-driver-cases-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) return 1;
  const fs::path root = name, kept = fs::current_path() / "driver_cases_faults";
  fs::remove_all(kept);
  const auto variables = [&root](const std::string &who, Variables more) {
    fs::create_directories(root / who);
    // PoCL's own cache does not notice that a file of the assembler's changes.
    more.insert({{"POCL_CACHE_DIR", (root / who).string()},
                 {"POCL_KERNEL_CACHE", "0"},
                 {"MESA_SHADER_CACHE_DISABLE", "true"},
                 {"KILN_PACK_PATH", ""},
                 {"KILN_BACKGROUND", "0"}});
    return more;
  };
  const std::string overlay = (root / "overlay").string(), report = (root / "report").string();
  const std::vector<std::string> command = {self, "worker"};
  Found found;
  {
    Worker bare(command, variables("bare", {}));
    Worker layered(command, variables("layered", {{"OPENCL_LAYERS", layer},
                                                  {"KILN_OVERLAY", overlay},
                                                  {"KILN_REPORT", report}}));
    if (bare.ask("end") == "dead" && bare.stop() == kNoDevice) {
      std::cout << "SKIP: there is no OpenCL device\n";
      fs::remove_all(root);
      return kNoDevice;
    }
    // What the background does for an overlay; it fails for what the builder does not build.
    const Stage stage(root, [&] {
      if (fs::exists(overlay)) {
        (void)run("'" + kiln + "' overlay build '" + overlay + "' > /dev/null 2>&1");
      }
    });
    for (std::size_t i = 0; i < cases; ++i) {
      const Case example = mix.of(seed + i);
      play_case(example, i, stage, bare, layered, kept, &found);
      if (!example.headers.empty()) {
        clean_cache(root / "bare");
        clean_cache(root / "layered");
      }
      fs::remove_all(stage.folder(example.seed));
      if ((i + 1) % 50 == 0) {
        std::cerr << i + 1 << " of " << cases << " cases, " << found.faults << " faults\n";
      }
    }

    // Recorded, built, served. The folders stay, since their paths may be in options.
    const Stage packed(root);
    const std::string spool = (root / "app.spool").string(), base = (root / "base.kiln").string(),
                      pack = (root / "app.kiln").string();
    const auto packed_case = [&mix](std::uint64_t number) {
      Case example = mix.of(number);
      example.variables.clear();
      return example;
    };
    const std::uint64_t first = seed + cases;
    {
      Worker recorded({kiln, "record", "-o", spool, "--", self, "worker"},
                      variables("recorded", {}));
      for (std::size_t i = 0; i < std::min(cases, kInPacks); ++i) {
        play(packed_case(first + i), kOneStart, packed, bare, recorded, kept, &found);
      }
    }
    // What is not proven is left out, which is right.
    if (run("'" + kiln + "' compile -k '" + spool + "' -o '" + base + "'; '" + kiln + "' build '" +
            base + "' -o '" + pack + "' > /dev/null; test -f '" + pack + "'") != 0) {
      std::cout << "what was recorded cannot be built\n";
      ++found.faults;
    }
    const Variables from_pack = {
        {"OPENCL_LAYERS", layer}, {"KILN_PACK", pack}, {"KILN_REPORT", report}};
    Worker served(command, variables("served", from_pack));
    for (std::size_t i = 0; i < std::min(cases, kInPacks); ++i) {
      play(packed_case(first + i), {"build", "launch", "end", "(edit)", "build", "launch", "end"},
           packed, bare, served, kept, &found);
    }
  }
  std::map<std::string, std::size_t> outcomes;
  std::size_t programs = 0;
  std::ifstream lines(report);
  const auto field = [](const std::string &line, const std::string &key) {
    const std::size_t at = line.find("\"" + key + "\": \"") + key.size() + 5;
    return line.substr(at, line.find('"', at) - at);
  };
  std::map<std::string, std::size_t> reasons;
  std::size_t noted = 0, not_built = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("\"program\"") == std::string::npos) continue;
    ++programs;
    const std::string outcome = field(line, "outcome"), reason = field(line, "reason");
    ++outcomes[outcome];
    if (outcome != "passed") continue;
    ++reasons[without_place(reason)];
    if (reason.starts_with(kNotBuilt)) {
      ++not_built;
    } else if (reason.starts_with(kOfNoPack)) {
      ++noted;
    }
  }
  std::cout << cases << " cases of seeds from " << seed << ": " << found.starts
            << " programs started, " << found.values << " values equal, " << found.differing_values
            << " after an edit that counts, " << found.dead << " deaths of the bare driver, "
            << found.moved << " cases of moves, " << found.with_variables
            << " of variables; of the layer's programs ";
  for (const auto &[outcome, count] : outcomes) std::cout << count << " " << outcome << ", ";
  std::cout << found.faults << " faults\n";
  for (const auto &[reason, count] : reasons) {
    std::cout << "  " << count << "  " << reason << "\n";
  }
  fs::remove_all(root);
  // A layer that serves nothing passes every comparison. The first build is never served, so it
  // counts if the layer would serve the next one.
  const std::size_t taken = outcomes["served"] + outcomes["compiled"] + noted;
  const std::size_t built = std::max<std::size_t>(programs - not_built, 1);
  std::cout << "accepted: " << taken * 100 / built << "% of the programs that the driver builds; "
            << "served: " << outcomes["served"] * 100 / built << "%\n";
  if (taken * 100 < built * kLeastAccepted) {
    std::cout << "FAULT: less than " << kLeastAccepted << "% are accepted\n";
    return 1;
  }
  if (outcomes["served"] * 100 < built * kLeastServed) {
    std::cout << "FAULT: less than " << kLeastServed << "% are served\n";
    return 1;
  }
  return found.faults == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char **argv) {
  std::signal(SIGPIPE, SIG_IGN);
  if (argc == 2 && std::string(argv[1]) == "worker") return work();
  if (argc < 5) {
    std::cerr << "usage: kiln_driver_cases DRIVER KILN LAYER CASES [FIRST-SEED [wild]]\n";
    return 2;
  }
  const std::uint64_t seed = argc > 5 ? std::strtoull(argv[5], nullptr, 0) : 1;
  return run_all({argv[1], argc > 6}, fs::read_symlink("/proc/self/exe").string(),
                 fs::absolute(argv[2]).string(), fs::absolute(argv[3]).string(),
                 std::strtoull(argv[4], nullptr, 0), seed);
}
