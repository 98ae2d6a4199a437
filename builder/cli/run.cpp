// kiln run: launch a program on a PNG image, through the runtime.
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "image.hpp"
#include "load_options.hpp"
#include "manifest.hpp"
#include "suggest.hpp"
#include "whole_file.hpp"

namespace kiln::cli {
namespace {

struct Options {
  LoadOptions load;
  std::string image;
  std::string output;
  std::string report;
  std::vector<std::string> parameters;
  std::vector<std::size_t> local;
  unsigned launches = 1;
  bool reference = false;
  bool no_check = false;
  bool json = false;
};

// "NAME=VALUE" words; complains and gives nothing for any other.
std::optional<builder::Parameters> parse_parameters(const std::vector<std::string> &words) {
  builder::Parameters parameters;
  for (const std::string &word : words) {
    const std::size_t equals = word.find('=');
    char *end = nullptr;
    const long long value =
        equals == std::string::npos ? 0 : std::strtoll(word.c_str() + equals + 1, &end, 10);
    if (equals == 0 || end == nullptr || *end != '\0' || end == word.c_str() + equals + 1 ||
        value < 0 || value > 0xffffffffLL) {
      complain(fmt::format("--parameter takes NAME=VALUE with a value of 0 to 4294967295, not {}",
                           word));
      return std::nullopt;
    }
    parameters[word.substr(0, equals)] = value;
  }
  return parameters;
}

// "out.png", or for a plane called x "out-x.png".
std::string plane_path(const std::string &path, const std::string &plane) {
  if (plane.empty()) return path;
  const std::filesystem::path p(path);
  return (p.parent_path() /
          fmt::format("{}-{}{}", p.stem().string(), plane, p.extension().string()))
      .string();
}

bool write_planes(const std::vector<builder::Image> &planes, const std::string &path) {
  for (const builder::Image &plane : planes) {
    const std::string error = builder::write_png(plane, plane_path(path, plane.name));
    if (error.empty()) continue;
    complain(error);
    return false;
  }
  return true;
}

struct Comparison {
  std::size_t different = 0;  // bytes
  unsigned worst = 0;         // levels
};

Comparison compare(const std::vector<builder::Image> &a, const std::vector<builder::Image> &b) {
  Comparison result;
  for (std::size_t plane = 0; plane < a.size(); ++plane) {
    for (std::size_t i = 0; i < a[plane].pixels.size(); ++i) {
      const int d = std::abs(a[plane].pixels[i] - b[plane].pixels[i]);
      result.different += d != 0 ? 1u : 0u;
      result.worst = std::max(result.worst, static_cast<unsigned>(d));
    }
  }
  return result;
}

bool same_shape(const std::vector<builder::Image> &a, const std::vector<builder::Image> &b) {
  const auto same = [](const builder::Image &x, const builder::Image &y) {
    return x.pixels.size() == y.pixels.size();
  };
  return !a.empty() && std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

struct Subject {
  packs::Program program;
  packs::Variant variant;
};

// The variants that the options allow, of a pack that open_program took; at least one.
std::vector<Subject> find_subjects(const OpenPack &open, const LoadOptions &load) {
  std::vector<Subject> subjects;
  for (const packs::Program &program : open.contents.programs) {
    if (program.name != load.program) continue;
    for (const packs::Variant &variant : program.variants) {
      if (load.variant.empty() || variant.name == load.variant) {
        subjects.push_back({program, variant});
      }
    }
  }
  return subjects;
}

// Whether one of the variants has each of the parameters.
bool knows_parameters(const std::vector<Subject> &subjects, const builder::Parameters &given) {
  std::vector<std::string> names;
  for (const Subject &subject : subjects) {
    std::string ignored;
    for (const auto &[name, value] : builder::all_parameters(subject.variant, {}, &ignored)) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  for (const auto &[name, value] : given) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    complain(fmt::format("program {} has no parameter {}: {}", subjects.front().program.name, name,
                         names.empty() ? "it takes none" : builder::expected_one_of(name, names)));
    return false;
  }
  return true;
}

// What can be known of the files before a driver is loaded.
int check_files(const Options &options, const std::vector<Subject> &subjects) {
  if (const std::string error = builder::check_png(options.image); !error.empty()) {
    complain(error);
    return kSomeFailed;
  }
  std::vector<std::string> outputs = {options.report};
  for (const Subject &subject : subjects) {
    for (const packs::Argument &argument : subject.variant.arguments) {
      const bool output = static_cast<builder::Role>(argument.role) == builder::Role::output;
      if (output && !options.output.empty()) {
        outputs.push_back(plane_path(options.output, argument.name));
      }
    }
  }
  for (const std::string &path : outputs) {
    if (path.empty()) continue;
    const int code = check_output(path, {options.image, options.load.pack});
    if (code != kDone) return code;
  }
  if (!options.reference || !options.output.empty()) return kDone;
  complain("--reference needs --output");
  return kUsage;
}

// The reference's planes for the input, or empty where the program names no reference.
std::vector<builder::Image> reference_planes(const Subject &subject, const builder::Image &input,
                                             const builder::Parameters &given) {
  std::string unknown;
  return builder::run_reference(subject.program.reference, input,
                                builder::all_parameters(subject.variant, given, &unknown));
}

// Runs the C++ reference alone: no device.
int run_reference_only(const Options &options, const Subject &subject,
                       const builder::Parameters &parameters) {
  std::string error;
  const auto input =
      builder::read_png(options.image, builder::input_channels(subject.variant), &error);
  if (!input) {
    complain(error);
    return kSomeFailed;
  }
  const auto planes = reference_planes(subject, *input, parameters);
  if (planes.empty()) {
    complain(
        fmt::format("program {} names no reference that takes its input", options.load.program));
    return kSomeFailed;
  }
  return write_planes(planes, options.output) ? kDone : kSomeFailed;
}

// Compares with the reference; null where there is none. False when it is wrong.
bool check(const Subject &subject, const builder::RunResult &result,
           const builder::Parameters &given, nlohmann::json *verdict) {
  if (subject.program.reference.empty()) return true;
  const auto expected = reference_planes(subject, result.input, given);
  if (!same_shape(expected, result.execution.outputs)) {
    complain(
        fmt::format("the outputs do not have the shape of reference {}; --no-check leaves "
                    "it out",
                    subject.program.reference));
    return false;
  }
  const Comparison c = compare(result.execution.outputs, expected);
  const unsigned allowed = builder::reference_tolerance(subject.program.reference,
                                                        builder::input_is_image(subject.variant));
  *verdict = {{"reference", subject.program.reference},
              {"different_bytes", c.different},
              {"worst_level", c.worst},
              {"tolerance", allowed}};
  return c.worst <= allowed;
}

void summarise(const Options &options, const builder::RunResult &result,
               const nlohmann::json &verdict) {
  const kiln_times &t = result.execution.times;
  const auto &range = result.execution.range;
  if (options.json) {
    print(nlohmann::json{
        {"schema", 1},
        {"report", result.report},
        {"check", verdict},
        {"global", range.global},
        {"local", range.local},
        {"times",
         {{"queued", t.queued}, {"submit", t.submit}, {"start", t.start}, {"end", t.end}}}});
    return;
  }
  print(report_text(result.report));
  const auto &asked = options.local;
  const bool clamped = !asked.empty() && (asked[0] != range.local[0] || asked[1] != range.local[1]);
  print(fmt::format("launched {}x{} work-items in groups of {}x{}{}: {:.3f} ms on the device\n",
                    range.global[0], range.global[1], range.local[0], range.local[1],
                    clamped ? fmt::format(" (not {}x{}: too large)", asked[0], asked[1]) : "",
                    static_cast<double>(t.end - t.start) / 1e6));
  if (!verdict.is_null()) {
    print(verdict["different_bytes"] == 0
              ? std::string("equals the reference byte for byte\n")
              : fmt::format("differs from the reference in {} bytes, by at most {} levels\n",
                            verdict["different_bytes"].get<std::size_t>(),
                            verdict["worst_level"].get<unsigned>()));
  }
}

bool write_report(const Options &options, const builder::RunResult &result) {
  if (options.report.empty() || result.report.is_null()) return true;
  const std::string error = builder::write_whole_file(
      options.report, nlohmann::json::array({result.report}).dump(2) + "\n");
  if (!error.empty()) complain(error);
  return error.empty();
}

int run(const Options &options) {
  const auto parameters = parse_parameters(options.parameters);
  if (!parameters) return kUsage;
  int exit_code = kDone;
  const auto pack = open_program(options.load, &exit_code);
  if (!pack) return exit_code;
  const std::vector<Subject> subjects = find_subjects(*pack, options.load);
  if (!knows_parameters(subjects, *parameters)) return kUsage;
  if (const int code = check_files(options, subjects); code != kDone) return code;
  if (options.reference) return run_reference_only(options, subjects.front(), *parameters);
  auto request = make_request(options.load, &exit_code);
  if (!request) return exit_code;
  request->image_path = options.image;
  request->parameters = *parameters;
  request->launches = options.launches;
  std::copy(options.local.begin(), options.local.end(), request->local.begin());
  const builder::RunResult result = builder::run_program(*request);
  const bool reported = write_report(options, result);
  if (!result.error.empty()) {
    complain(result.error);
    return exit_code_of(result.status);
  }
  const auto subject = std::find_if(subjects.begin(), subjects.end(), [&](const Subject &s) {
    return s.variant.name == result.variant;
  });
  nlohmann::json verdict;
  const bool right = options.no_check || subject == subjects.end() ||
                     check(*subject, result, *parameters, &verdict);
  summarise(options, result, verdict);
  if (!right) {
    complain("the result is wrong; no picture was written");
    return kSomeFailed;
  }
  if (!options.output.empty() && !write_planes(result.execution.outputs, options.output)) {
    return kSomeFailed;
  }
  return reported ? kDone : kSomeFailed;
}

}  // namespace

void add_run(CLI::App &app, Command *command) {
  auto options = std::make_shared<Options>();
  CLI::App *sub = app.add_subcommand("run", "Launch a program on a PNG image");
  add_load_options(*sub, &options->load);
  sub->add_option("--image", options->image, "PNG to work on")->required();
  sub->add_option("--output", options->output,
                  "PNG to write; several planes give OUT-x.png, OUT-y.png");
  sub->add_option("--report", options->report, "Write the load report here, as a JSON array");
  sub->add_option("--parameter", options->parameters, "NAME=VALUE, instead of the default")
      ->allow_extra_args(false);
  sub->add_option("--local", options->local, "Work-group size: X Y")
      ->expected(2)
      ->check(CLI::Range(1, 1 << 30));
  sub->add_option("--launches", options->launches,
                  "Launch this often; the time shown is that of the last")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  sub->add_flag("--reference", options->reference, "Run the C++ reference instead of a device");
  sub->add_flag("--no-check", options->no_check, "Do not compare with the C++ reference");
  sub->add_flag("--json", options->json, "Print JSON, schema 1");
  sub->callback([=] { *command = [=] { return run(*options); }; });
}

}  // namespace kiln::cli
