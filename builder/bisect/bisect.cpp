// SPDX-License-Identifier: Apache-2.0
// Asks the driver again and again, each time in a new process.
#include "builder/bisect/bisect.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>

#include <unistd.h>

#include <fmt/format.h>

#include "builder/base/this_process.hpp"
#include "builder/bisect/reduce_text.hpp"
#include "builder/compile/toolchain.hpp"
#include "builder/jobs/job_runner.hpp"
#include "builder/jobs/workarounds.hpp"
#include "builder/machine/driver_caches.hpp"
#include "builder/process/fork_call.hpp"
#include "builder/process/run_tool.hpp"
#include "builder/process/temporary_folder.hpp"
#include "builder/prove/result_check.hpp"
#include "builder/run/workload.hpp"
#include "kiln/packs/text.hpp"

namespace kiln::builder {
namespace {

constexpr std::size_t kMostTries = 5000;

// What a driver did with a text.
struct Observed {
  ChildResult child;
  Status status{};
  Results results{};

  bool died() const { return !child.ok(); }
  bool has_results() const { return !results.outputs.empty() && results.none.empty(); }
};

// What is tried: the variant with another text and other options, on a problem.
struct Try {
  std::vector<std::string> lines;  // statement_lines(), or the whole text as it is
  std::vector<std::string> options;
  ProblemSize size;
  bool is_split = true;

  std::string text() const { return is_split ? joined_lines(lines) : lines.front(); }
};

class Bisection {
 public:
  Bisection(const BisectRequest &request, std::string folder)
      : request_(request), folder_(std::move(folder)) {
    if (const auto clang = find_clang(""); clang.ok()) clang_ = clang->path;
  }

  Result<BisectResult> run(const std::string &source) {
    Try now{
        {source}, option_words(request_.variant.options), small_problem(request_.program), false};
    if (const Status s = find_fault(now); !s.ok()) return s;
    if (out_.finding.empty()) return out_;
    out_.is_guarded = is_guarded(source, now.options);
    guards_ = out_.is_guarded;
    reduce_size(&now);
    reduce_options(&now);
    const std::vector<std::string> statements = statement_lines(source);
    out_.lines_before = statements.size();
    if (can_change_text_) {
      for (Try other : {Try{statement_lines(preprocessed(source, now.options)), {}, now.size},
                        Try{statements, {}, now.size}}) {
        other.options = now.options;
        if (other.lines.empty() || !shows(other)) continue;
        now = std::move(other);
        reduce_lines(&now);
        reduce_options(&now);
        break;
      }
    }
    describe(now, statements.size());
    return out_;
  }

 private:
  // Sets the fault, and how to tell that it still shows.
  Status find_fault(const Try &now) {
    const Observed plain = observe(variant_of(now), now.size, request_.device);
    if (plain.died()) {
      death_ = plain.child;
      out_.finding = plain.child.reason().substr(0, plain.child.reason().find('\n'));
      out_.printed = plain.child.output;
    } else if (!plain.status.ok()) {
      return {Code::requirement, "the driver refuses the program: " + plain.status.message};
    } else if (!plain.has_results()) {
      return {Code::requirement, "the program cannot be launched: " + plain.results.none};
    }
    const std::optional<Results> expected = reference_results(now.size);
    const auto is_expected = [&](const Observed &other) {
      return !expected ||
             compare_results(other.results, *expected, tolerance()).check != Check::wrong;
    };
    if (!plain.died() && expected && is_expected(plain)) return {};
    const auto is_right = [&](const Observed &other) {
      if (!other.has_results()) return plain.died() && !expected && other.status.ok();
      return (plain.died() || differ(plain, other)) && is_expected(other);
    };
    std::vector<Workaround> all = workarounds_for(variant_of(now), request_.device);
    std::stable_partition(all.begin(), all.end(),
                          [](const Workaround &one) { return !one.is_other_text; });
    for (const Workaround &one : all) {
      if (plain.died() && one.is_other_text) break;  // which would not be in the report
      if (!is_right(observe(one.variant, now.size, request_.device))) continue;
      out_.right_with = one.name;
      can_change_text_ = plain.died() || !one.is_other_text;
      break;
    }
    for (const DeviceInfo &other : request_.others) {
      if (can_change_text_) break;
      if (!is_right(observe(variant_of(now), now.size, other))) continue;
      out_.right_with = other.label();  // a workaround's text would not be in the report
      out_.is_device = can_change_text_ = true;
      other_ = &other;
    }
    out_.is_confirmed = expected.has_value();
    if (plain.died()) {
      can_change_text_ = true;
    } else if (!out_.right_with.empty() || expected) {
      out_.finding = expected ? "its results are wrong" : "its results depend on how it is built";
      if (!can_change_text_) expected_ = expected;
    }
    return {};
  }

  double tolerance() const { return request_.variant.tolerance; }

  bool differ(const Observed &a, const Observed &b) const {
    return compare_results(a.results, b.results, tolerance()).check == Check::wrong;
  }

  std::optional<Results> reference_results(const ProblemSize &size) {
    const std::vector<packs::Program> one = {request_.program};
    std::vector<ResultCheck> checks =
        find_checks(one, request_.references, request_.pack_path, request_.pack_path);
    if (!checks[0].has_reference(one[0], request_.variant)) return std::nullopt;
    if (checks[0].size(one[0]) != size) return std::nullopt;
    const Job job = job_of(request_.variant, &checks[0], request_.device);
    ExpectedResults references;
    Results results = references.of(job);
    if (results.outputs.empty()) return std::nullopt;
    return results;
  }

  Job job_of(const packs::Variant &variant, const ResultCheck *check,
             const DeviceInfo &device) const {
    Job job{{request_.limits, false}, device, request_.program, variant};
    job.check = check;
    return job;
  }

  packs::Variant variant_of(const Try &now) const {
    packs::Variant variant = request_.variant;
    variant.options = joined_options(now.options);
    const std::string text = now.text();
    variant.source = packs::BlobSource(packs::Bytes(text.begin(), text.end()));
    return variant;
  }

  // Builds the variant, and launches it if that is known.
  Observed observe(const packs::Variant &variant, const ProblemSize &size,
                   const DeviceInfo &device) {
    ++out_.tries;
    ResultCheck check;
    check.at = size;
    const Job job = job_of(variant, &check, device);
    const std::string place = fmt::format("{}/{}", folder_, out_.tries);
    Observed seen;
    seen.child = fork_call(
        [&] {
          use_driver_caches(place);
          PackOnDevice opened;
          if (const Status s = opened.open_device(job.device); !s.ok()) return to_json(s);
          return compile_job(job, &opened, place + ".kiln", [](JobStage) {});
        },
        request_.limits.timeout);
    std::error_code ignored;
    std::filesystem::remove_all(place, ignored);
    if (!seen.child.ok()) return seen;
    seen.status = status_from(seen.child.answer);
    if (seen.child.answer.contains("results")) {
      seen.results = results_from(seen.child.answer["results"]);
    }
    return seen;
  }

  bool is_over() const {
    return out_.tries >= kMostTries || milliseconds_since(start_) > 1000 * request_.budget_seconds;
  }

  // Returns whether the driver does with these what it did with the variant.
  bool shows(const Try &now) {
    if (is_over()) {
      out_.was_cut_short = true;
      return false;
    }
    if (now.is_split && !is_balanced(now.lines)) return false;
    if (guards_ && !is_guarded(now.text(), now.options)) return false;
    const packs::Variant variant = variant_of(now);
    Observed plain = observe(variant, now.size, request_.device);
    if (death_) {
      const bool is_same =
          plain.died() && plain.child.end == death_->end && plain.child.code == death_->code;
      if (is_same) out_.printed = plain.child.output;
      return is_same;
    }
    if (!plain.has_results()) return false;
    if (expected_) {
      return compare_results(plain.results, *expected_, tolerance()).check == Check::wrong;
    }
    std::optional<Observed> other;
    if (other_ != nullptr) {
      other = observe(variant, now.size, *other_);
    } else {
      for (const Workaround &one : workarounds_for(variant, request_.device)) {
        if (one.name == out_.right_with) other = observe(one.variant, now.size, request_.device);
      }
    }
    if (!other || !other->has_results() || !differ(plain, *other)) return false;
    found_ = std::move(plain.results.outputs);
    right_ = std::move(other->results.outputs);
    return true;
  }

  // Tries squares and cubes.
  void reduce_size(Try *now) {
    if (expected_) return;
    const ProblemSize most = now->size;
    for (std::uint32_t side = 1; side < std::max({most.width, most.height, most.depth});
         side *= 2) {
      Try smaller = *now;
      smaller.size = {std::min(side, most.width), std::min(side, most.height),
                      std::min(side, most.depth)};
      if (!shows(smaller)) continue;
      *now = smaller;
      return;
    }
  }

  void reduce_options(Try *now) {
    now->options = reduce_parts(now->options, kMostTries, [&](const auto &options) {
      return shows({now->lines, options, now->size, now->is_split});
    });
  }

  void reduce_lines(Try *now) {
    const auto still_shows = [&](const std::vector<std::string> &lines) {
      if (request_.progress) request_.progress(lines.size(), out_.tries);
      return shows({lines, now->options, now->size});
    };
    for (std::size_t before = 0; before != now->lines.size();) {
      before = now->lines.size();
      now->lines = reduce_blocks(std::move(now->lines), still_shows);
      now->lines = reduce_parts(std::move(now->lines), kMostTries, still_shows);
    }
  }

  // Runs clang with the options that define macros or choose the language.
  ProcessResult run_clang(std::vector<std::string> arguments, const std::string &text,
                          const std::vector<std::string> &options) const {
    ProcessRequest request;
    request.program = clang_;
    request.arguments = {"-x", "cl"};
    for (const std::string &word : options) {
      if (word.starts_with("-D") || word.starts_with("-cl-std")) request.arguments.push_back(word);
    }
    request.arguments.insert(request.arguments.end(), arguments.begin(), arguments.end());
    request.arguments.emplace_back("-");
    request.input = text;
    return run_tool(request);
  }

  // The results of a text that reads uninitialized variables depend on the options without any
  // fault.
  bool is_guarded(const std::string &text, const std::vector<std::string> &options) const {
    if (clang_.empty()) return false;
    return run_clang(
               {"-Xclang", "-finclude-default-header", "-fsyntax-only", "-Wno-everything",
                "-Werror=uninitialized", "-Werror=sometimes-uninitialized",
                "-Werror=conditional-uninitialized", "-Werror=array-bounds", "-Werror=return-type"},
               text, options)
        .ok();
  }

  // Returns the text without macros and conditions; empty if clang cannot tell.
  std::string preprocessed(const std::string &text, const std::vector<std::string> &options) const {
    if (clang_.empty()) return {};
    ProcessResult done = run_clang({"-cl-no-stdinc", "-E", "-P"}, text, options);
    return done.ok() ? std::move(done.out) : std::string();
  }

  void describe(const Try &now, std::size_t before) {
    if (!death_) (void)observe_values(now);
    out_.options = variant_of(now).options;
    out_.text = now.text();
    out_.lines = now.is_split ? now.lines.size() : before;
    out_.size = now.size;
  }

  // Takes the values of the last text that showed it.
  Status observe_values(const Try &now) {
    guards_ = false;
    start_ = Clock::now();
    if (!shows(now)) return {Code::failed, "it does not show again"};
    out_.inputs = make_inputs(request_.program, now.size);
    out_.found = std::move(found_);
    out_.expected = std::move(right_);
    return {};
  }

  const BisectRequest &request_;
  std::string folder_;
  std::filesystem::path clang_;
  Clock::time_point start_ = Clock::now();
  BisectResult out_;
  bool guards_ = false;
  bool can_change_text_ = false;
  std::optional<ChildResult> death_;
  std::optional<Results> expected_;    // of the variant, where the text cannot be changed
  const DeviceInfo *other_ = nullptr;  // to compare with
  std::vector<Plane> found_, right_;
};

template <typename T, typename Shown>
void add_values(const Plane &plane, std::size_t most, std::string *text, Shown shown) {
  const std::size_t count = std::min(most, plane.pixels.size() / sizeof(T));
  for (std::size_t i = 0; i < count; ++i) {
    *text += fmt::format("{}{}", i == 0 ? "" : ", ", shown(plane.as<T>()[i]));
  }
  if (count < plane.pixels.size() / sizeof(T)) *text += ", ...";
}

// The first values of a plane.
std::string values_text(const Plane &plane) {
  constexpr std::size_t kMost = 64;
  std::string text;
  const auto as_is = [](auto value) { return value; };
  switch (plane.type) {
    case Type::char_: add_values<std::int8_t>(plane, kMost, &text, [](int v) { return v; }); break;
    case Type::short_: add_values<std::int16_t>(plane, kMost, &text, as_is); break;
    case Type::ushort_: add_values<std::uint16_t>(plane, kMost, &text, as_is); break;
    case Type::int_: add_values<std::int32_t>(plane, kMost, &text, as_is); break;
    case Type::uint_: add_values<std::uint32_t>(plane, kMost, &text, as_is); break;
    case Type::long_: add_values<std::int64_t>(plane, kMost, &text, as_is); break;
    case Type::ulong_: add_values<std::uint64_t>(plane, kMost, &text, as_is); break;
    case Type::float_: add_values<float>(plane, kMost, &text, as_is); break;
    case Type::double_: add_values<double>(plane, kMost, &text, as_is); break;
    case Type::half_: add_values<std::uint16_t>(plane, kMost, &text, float_of_half); break;
    default: add_values<std::uint8_t>(plane, kMost, &text, [](unsigned v) { return v; }); break;
  }
  return text;
}

void add_planes(const char *what, const std::vector<Plane> &planes, std::string *text) {
  for (const Plane &plane : planes) {
    *text += fmt::format("* {}{}{}: {}\n", what, plane.name.empty() ? "" : " ", plane.name,
                         values_text(plane));
  }
}

// "1" for four bytes of a uint; the bytes for other types.
std::string value_text(const std::string &type, const std::vector<std::uint8_t> &bytes) {
  const auto as = [&](auto value) {
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::uint8_t *>(&value));
    return fmt::format("{}", value);
  };
  if (bytes.size() == 4 && type == "uint") return as(std::uint32_t{});
  if (bytes.size() == 4 && type == "int") return as(std::int32_t{});
  if (bytes.size() == 4 && type == "float") return as(float{});
  return "the bytes " + packs::hex(bytes.data(), bytes.size());
}

std::string binding_text(const Workload &workload, const Binding &binding,
                         const std::string &type) {
  if (binding.memory != SIZE_MAX) {
    const Memory &memory = workload.memories[binding.memory];
    const bool is_image = memory.storage != Storage::buffer;
    return fmt::format("{}{} of {} x {} ({} bytes){}", memory.role == Role::input ? "input, " : "",
                       is_image ? "image" : "buffer",
                       memory.columns * memory.channels * memory.rows,
                       packs::kTypeNames[static_cast<std::size_t>(memory.type)], memory.bytes(),
                       memory.role == Role::input ? "" : ", zeros before the launch");
  }
  if (binding.local != 0) return fmt::format("{} bytes of local memory", binding.local);
  if (binding.sampler) return "a sampler";
  return "by value, " + value_text(type, binding.bytes);
}

// The NDRange and the arguments of each kernel.
std::string launch_text(const Workload &workload, const packs::Variant &variant) {
  std::string text;
  for (std::size_t k = 0; k < workload.stages.size(); ++k) {
    const Stage &stage = workload.stages[k];
    const auto &parameters = variant.kernels[k].parameters;
    text += fmt::format("`{}`, global size", stage.kernel);
    for (unsigned i = 0; i < stage.dimensions; ++i) {
      text += fmt::format("{}{}", i == 0 ? " " : " x ", stage.global[i]);
    }
    text += ", no offset, any local size:\n\n";
    for (std::size_t i = 0; i < stage.bindings.size(); ++i) {
      const packs::Parameter parameter = i < parameters.size() ? parameters[i] : packs::Parameter();
      text +=
          fmt::format("* argument {}{}{}: {}\n", i, parameter.name.empty() ? "" : ", ",
                      parameter.name, binding_text(workload, stage.bindings[i], parameter.type));
    }
  }
  return text;
}

// The variables of this process that name the driver, a line for each.
std::string driver_variables(std::string prefix) {
  for (char &c : prefix) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string text;
  for (char **entry = environ; *entry != nullptr; ++entry) {
    if (std::string_view(*entry).starts_with(prefix + "_")) {
      text += fmt::format("* Environment: `{}`\n", *entry);
    }
  }
  return text;
}

}  // namespace

Result<BisectResult> bisect(const BisectRequest &request) {
  if (!request.variant.source) {
    return Status(Code::requirement, "the pack has no source of the variant");
  }
  packs::Bytes source;
  if (const Status s = request.variant.source->read(&source); !s.ok()) return s;
  const auto folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.status();
  return Bisection(request, folder->path()).run({source.begin(), source.end()});
}

std::string bisect_report(const BisectResult &result, const packs::Program &program,
                          const packs::Variant &variant, const DeviceInfo &device) {
  using runtime::Field;
  const auto fact = [&](Field field) {
    const std::string all = device.identity.text(field);
    return all.substr(0, all.find_last_not_of(' ') + 1);
  };
  std::string text =
      fmt::format("# {} {}: kernel `{}`: {}\n\n", fact(Field::platform_name),
                  fact(Field::driver_version), variant.kernels.front().name, result.finding);
  text += fmt::format("* Platform: {} of {}, {}\n", fact(Field::platform_name),
                      fact(Field::platform_vendor), fact(Field::platform_version));
  text +=
      fmt::format("* Device: {}, {}\n", fact(Field::device_name), fact(Field::opencl_c_version));
  text += fmt::format("* Driver version: {}\n", fact(Field::driver_version));
  const std::string &compiler = device.description.compiler;
  if (fact(Field::device_name).find(compiler) == std::string::npos) {
    text += fmt::format("* Compiler: {}\n", compiler);
  }
  text += result.options.empty() ? "* Build options: none\n"
                                 : fmt::format("* Build options: `{}`\n", result.options);
  text += driver_variables(device.description.profile);
  const bool has_values = !result.found.empty();
  if (!result.right_with.empty()) {
    text += fmt::format("* {} {} {}.\n",
                        has_values ? "The source below gives the expected values"
                                   : "The program that it was reduced from is right",
                        result.is_device ? "on" : "with:", result.right_with);
  }
  if (result.is_confirmed && has_values) {
    text += "* The program that it was reduced from also differs from an independent reference.\n";
  }
  if (result.is_guarded && has_values) {
    text += "* clang finds no variable in it that is used without a value.\n";
  }
  text += "* Built from source, in a process with empty caches of the driver.\n";
  const auto workload = plan_workload(program, variant, result.size, {});
  if (workload.ok()) text += "\n## Launch\n\n" + launch_text(*workload, variant);
  if (has_values) {
    text += "\n## Values\n\n";
    add_planes("input", result.inputs, &text);
    add_planes("expected", result.expected, &text);
    add_planes("found", result.found, &text);
  }
  if (!result.printed.empty()) {
    text += "\n## Output\n\nThe process that died printed:\n\n```\n" + result.printed + "\n```\n";
  }
  text += "\n## Source\n\nThe whole program, reduced from a larger one.\n\n```c\n" + result.text +
          "```\n";
  return text;
}

}  // namespace kiln::builder
