// SPDX-License-Identifier: Apache-2.0
// Reads the files of each program from the spool, and proves several programs at once.
#include "builder/compile/prove_spool.hpp"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <future>
#include <iterator>
#include <map>

#include "builder/base/cpus.hpp"
#include "builder/compile/prove_text.hpp"
#include "runtime/source/recorded_files.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;

struct Job {
  std::size_t program;  // in the contents
  std::vector<fs::path> files;
  Status status{};
};

// The spool's files of recorded includes, by the program's name.
std::map<std::string, std::vector<fs::path>> recorded_files_in(const std::string &folder) {
  std::map<std::string, std::vector<fs::path>> found;
  std::error_code error;
  for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error)) {
    const std::string stem = i->path().stem().string();
    const bool is_one = i->path().extension() == source::kRecordedFiles;
    if (is_one) found[stem.substr(0, stem.rfind('-'))].push_back(i->path());
  }
  for (auto &[name, paths] : found) std::sort(paths.begin(), paths.end());
  return found;
}

Status read_texts(const packs::Variant &variant, source::WholeProgram *program) {
  packs::Bytes bytes;
  if (variant.source) {
    if (Status s = variant.source->read(&bytes); !s.ok()) return s;
  }
  program->source.assign(bytes.begin(), bytes.end());
  program->options = variant.options;
  return {};
}

Status prove_with(const fs::path &clang, const fs::path &path, source::WholeProgram *program) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (Status s = source::read_recorded_files(bytes, program); !s.ok()) {
    return {Code::failed, program->name + ": " + path.string() + ": " + s.message};
  }
  return prove_recorded(clang, *program);
}

Status prove(const fs::path &clang, const packs::Program &recorded, const Job &job) {
  source::WholeProgram program;
  program.name = recorded.name;
  std::string before;
  for (const packs::Variant &variant : recorded.variants) {  // differ in their kernels
    if (Status s = read_texts(variant, &program); !s.ok()) return s;
    if (program.source == before) continue;
    before = program.source;
    if (job.files.empty() && !source::is_put_together(program.source)) {
      if (Status s = prove_recorded(clang, program); !s.ok()) return s;
    } else if (job.files.empty()) {
      return {Code::failed, program.name +
                                ": it includes files, of which the spool has no record: record it "
                                "again with this Kiln"};
    }
    for (const fs::path &path : job.files) {
      if (Status s = prove_with(clang, path, &program); !s.ok()) return s;
    }
  }
  return {};
}

// Of the programs that include files, or may.
Result<std::vector<Job>> jobs_of(const std::string &folder, const packs::Contents &contents) {
  auto recorded = recorded_files_in(folder);
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < contents.programs.size(); ++i) {
    auto &files = recorded[contents.programs[i].name];
    source::WholeProgram program;
    bool may_include_files = !files.empty();
    for (const packs::Variant &variant : contents.programs[i].variants) {
      if (may_include_files) break;
      if (Status s = read_texts(variant, &program); !s.ok()) return s;
      may_include_files = source::is_put_together(program.source) || may_include(program.source);
    }
    if (may_include_files) jobs.push_back({i, std::move(files)});
  }
  return jobs;
}

}  // namespace

Status prove_spool(const std::string &folder, const std::string &clang, packs::Contents *contents,
                   std::vector<VariantFailure> *failures) {
  auto jobs = jobs_of(folder, *contents);
  if (!jobs.ok()) return jobs.status();
  if (jobs->empty()) return {};
  const auto tool = find_clang(clang);
  if (!tool.ok()) return tool.status();
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = 0; (i = next++) < jobs->size();) {
      Job &job = (*jobs)[i];
      job.status = prove(tool->path, contents->programs[job.program], job);
    }
  };
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < std::min(usable_cpus(), jobs->size()); ++i) {
    others.push_back(std::async(std::launch::async, work));
  }
  work();
  for (auto &other : others) other.get();
  for (auto job = jobs->rbegin(); job != jobs->rend(); ++job) {
    if (job->status.ok()) continue;
    const auto program = contents->programs.begin() + static_cast<std::ptrdiff_t>(job->program);
    failures->push_back({program->name, "", std::move(job->status)});
    contents->programs.erase(program);
  }
  std::reverse(failures->begin(), failures->end());
  return {};
}

}  // namespace kiln::builder
