// SPDX-License-Identifier: Apache-2.0
// Generated programs on a driver, without the layer and under it. A case is some starts of an
// application, between which files are edited and put back, or in the midst of which; each start
// under the layer must answer as the bare one.
//
//     kiln_driver_cases KILN LAYER CASES [FIRST-SEED]
//
// OCL_ICD_VENDORS chooses the driver. Two processes live through many cases, since a driver takes
// longer to start than to build: this program itself, as `kiln_driver_cases worker`, which does
// what it reads and answers a line to each line.
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <utility>

#include "tests/source/place.hpp"

namespace {

namespace fs = std::filesystem;
using namespace kiln::cases;

constexpr int kPatience = 60000;      // milliseconds for an answer
constexpr std::size_t kInPacks = 40;  // cases that are recorded, built and served
constexpr int kNoDevice = 77;

// ---- The worker.

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

  // In `folder` stands the case; beside it, its source and options.
  std::string answer(const std::string &command, const std::string &folder) {
    if (!folder.empty() && chdir(folder.c_str()) != 0) return "no folder";
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
    program_ = create(text_of("../source.cl"));
    return told(
        clBuildProgram(program_, 1, &device_, text_of("../options").c_str(), nullptr, nullptr));
  }

  std::string compile() {
    end();
    part_ = create(text_of("../source.cl"));
    return told(clCompileProgram(part_, 1, &device_, text_of("../options").c_str(), 0, nullptr,
                                 nullptr, nullptr, nullptr));
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
    return told(code);
  }

  std::string launch(std::size_t size) {
    cl_int code = CL_SUCCESS, value = 0;
    const cl_kernel kernel = program_ == nullptr ? nullptr : clCreateKernel(program_, "k", &code);
    if (kernel == nullptr) return "no kernel " + std::to_string(code);
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
    return code == CL_SUCCESS ? "value " + std::to_string(value) : told(code);
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
  static std::string told(cl_int code) { return code == CL_SUCCESS ? "done" : "refused"; }

  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr, part_ = nullptr, more_ = nullptr;
  int links_ = 0;
};

int work() {
  Application application;
  if (!application.open()) return kNoDevice;
  // The driver may write to standard output.
  const int out = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  for (std::string line; std::getline(std::cin, line);) {
    const std::size_t blank = std::min(line.find(' '), line.size());
    const std::string folder = blank < line.size() ? line.substr(blank + 1) : "";
    const std::string answer = application.answer(line.substr(0, blank), folder) + "\n";
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
};

class Stage {
 public:
  explicit Stage(fs::path root) : root_(std::move(root)) {}

  fs::path folder(std::uint64_t seed) const { return root_ / std::to_string(seed); }

  // The application's current folder stays the same one.
  void set(const Case &example) const {
    const fs::path place = folder(example.seed);
    const fs::path here = place / "case";
    fs::create_directories(here);
    for (const auto &entry : fs::directory_iterator(here)) fs::remove_all(entry.path());
    put_on_disk(example.files, here);
    std::ofstream(place / "source.cl", std::ios::binary) << placed(example.source, here);
    std::ofstream(place / "options", std::ios::binary) << placed(options_of(example), here);
  }

  // Does a step on the disk, if it is one.
  bool edits(const Case &example, const std::string &step) const {
    if (step == "(edit)") put_on_disk(example.edit, folder(example.seed) / "case");
    if (step == "(back)") set(example);
    return step.front() == '(';
  }

 private:
  fs::path root_;
};

Case driver_case(std::uint64_t seed) {
  return seed % 4 == 0 ? plain_case(seed) : odd_case(seed, true);
}

struct Found {
  std::size_t starts = 0, values = 0, differing_values = 0, dead = 0, faults = 0;
};

void say_fault(const Case &example, const std::string &story, const fs::path &kept, Found *found) {
  ++found->faults;
  write_out(example, kept / std::to_string(example.seed), story);
  std::cout << "seed " << example.seed << ": the layer's answers differ; written to "
            << (kept / std::to_string(example.seed)).string() << "\n"
            << story << std::endl;
}

// Plays the story to both; the first answer that differs is a fault.
void play(const Case &example, const std::vector<std::string> &steps, const Stage &stage,
          Worker &bare, Worker &layered, const fs::path &kept, Found *found) {
  std::string story, last;
  std::size_t refused = 0;
  stage.set(example);
  const std::string here = (stage.folder(example.seed) / "case").string();
  for (const std::string &step : steps) {
    if (stage.edits(example, step)) {
      story += "  " + step + "\n";
      continue;
    }
    const std::string right = bare.ask(step + " " + here);
    const std::string answer = layered.ask(step + " " + here);
    story +=
        "  " + step + ": " + right + (answer == right ? "" : ", under the layer " + answer) + "\n";
    if (right == "dead") {
      ++found->dead;
      layered.stop();
      return;
    }
    if (answer != right) return say_fault(example, story, kept, found);
    // Few of those that do not compile: nothing is kept of them.
    if (right == "refused" && ++refused == 1 && example.seed % 8 != 0) return;
    if (step == "build" || step == "compile") ++found->starts;
    if (!right.starts_with("value ")) continue;
    ++found->values;
    if (!last.empty() && right != last) ++found->differing_values;
    last = right;
  }
}

int run(const std::string &command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int run_all(const std::string &self, const std::string &kiln, const std::string &layer,
            std::size_t cases, std::uint64_t seed) {
  std::string name = (fs::temp_directory_path() / "kiln-driver-cases-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) return 1;
  const fs::path root = name, kept = fs::current_path() / "driver_cases_faults";
  fs::remove_all(kept);
  const auto variables = [&root](const std::string &who, Variables more) {
    fs::create_directories(root / who);
    more.insert({{"POCL_CACHE_DIR", (root / who).string()},
                 {"MESA_SHADER_CACHE_DISABLE", "true"},
                 {"KILN_PACK_PATH", ""}});
    return more;
  };
  const std::string overlay = (root / "overlay").string(), report = (root / "report").string();
  const std::vector<std::string> command = {self, "worker"};
  Found found;
  {
    Worker bare(command, variables("bare", {{"POCL_KERNEL_CACHE", "0"}}));
    Worker layered(command, variables("layered", {{"OPENCL_LAYERS", layer},
                                                  {"KILN_OVERLAY", overlay},
                                                  {"KILN_REPORT", report}}));
    if (bare.ask("end") == "dead" && bare.stop() == kNoDevice) {
      std::cout << "SKIP: there is no OpenCL device\n";
      fs::remove_all(root);
      return kNoDevice;
    }
    const Stage stage(root);
    for (std::size_t i = 0; i < cases; ++i) {
      const Case example = driver_case(seed + i);
      play(example, i % 2 == 0 ? kStories[0] : kStories[1 + i / 2 % 3], stage, bare, layered, kept,
           &found);
      fs::remove_all(stage.folder(example.seed));
      if ((i + 1) % 50 == 0) {
        std::cerr << i + 1 << " of " << cases << " cases, " << found.faults << " faults\n";
      }
    }

    // Recorded, built, served. The folders stay, since their paths may be in options.
    const Stage packed(root);
    const std::string spool = (root / "app.spool").string(), base = (root / "base.kiln").string(),
                      pack = (root / "app.kiln").string();
    const std::vector<std::string> start = {"build", "launch", "end"};
    const std::uint64_t first = seed + cases;
    {
      Worker recorded({kiln, "record", "-o", spool, "--", self, "worker"},
                      variables("recorded", {}));
      for (std::size_t i = 0; i < std::min(cases, kInPacks); ++i) {
        play(driver_case(first + i), start, packed, bare, recorded, kept, &found);
      }
    }
    if (run("'" + kiln + "' compile '" + spool + "' -o '" + base + "' && '" + kiln + "' build '" +
            base + "' -o '" + pack + "' > /dev/null") != 0) {
      std::cout << "what was recorded cannot be built\n";
      ++found.faults;
    }
    const Variables from_pack = {
        {"OPENCL_LAYERS", layer}, {"KILN_PACK", pack}, {"KILN_REPORT", report}};
    Worker served(command, variables("served", from_pack));
    for (std::size_t i = 0; i < std::min(cases, kInPacks); ++i) {
      play(driver_case(first + i), {"build", "launch", "end", "(edit)", "build", "launch", "end"},
           packed, bare, served, kept, &found);
    }
  }
  std::map<std::string, std::size_t> outcomes;
  std::ifstream lines(report);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find("\"outcome\": \"") + 12;
    ++outcomes[line.substr(at, line.find('"', at) - at)];
  }
  std::cout << cases << " cases of seeds from " << seed << ": " << found.starts
            << " programs started, " << found.values << " values equal, " << found.differing_values
            << " after an edit that counts, " << found.dead
            << " deaths of the bare driver; of the layer's programs ";
  for (const auto &[outcome, count] : outcomes) std::cout << count << " " << outcome << ", ";
  std::cout << found.faults << " faults\n";
  fs::remove_all(root);
  // A layer that serves nothing passes every comparison.
  if (outcomes["served"] * 10 < found.starts) {
    std::cout << "FAULT: less than a tenth is served\n";
    return 1;
  }
  return found.faults == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char **argv) {
  std::signal(SIGPIPE, SIG_IGN);
  if (argc == 2 && std::string(argv[1]) == "worker") return work();
  if (argc < 4) {
    std::cerr << "usage: kiln_driver_cases KILN LAYER CASES [FIRST-SEED]\n";
    return 2;
  }
  const std::uint64_t seed = argc > 4 ? std::strtoull(argv[4], nullptr, 0) : 1;
  return run_all(fs::read_symlink("/proc/self/exe").string(), fs::absolute(argv[1]).string(),
                 fs::absolute(argv[2]).string(), std::strtoull(argv[3], nullptr, 0), seed);
}
