// SPDX-License-Identifier: Apache-2.0
// kiln run: launches a program on a PNG image, through the runtime.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "builder/base/whole_file.hpp"
#include "builder/cli/shared/common_options.hpp"
#include "builder/cli/shared/load_options.hpp"
#include "builder/problem/plane.hpp"
#include "builder/problem/png.hpp"
#include "builder/run/pack_on_device.hpp"
#include "builder/run/rung_runs.hpp"
#include "builder/run/work.hpp"
#include "kiln/packs/path.hpp"

namespace kiln::cli {

namespace {

constexpr char kEachRung[] = "each";
constexpr char kReferenceAlone[] = "none";  // of --device

struct RunArguments {
  LoadOptions load;
  std::string image;
  std::string size;
  std::string output;  // a PNG if is_png() says so, else the outputs' bytes
  std::string report;
  std::vector<std::string> parameters;
  std::vector<std::size_t> local;
  builder::ReferenceOptions references;
  bool json = false;

  bool each_rung() const { return load.rung == kEachRung; }
  bool only_reference() const { return load.selector == kReferenceAlone; }
};

// Parses "1,2.5"; returns nothing for any other text.
std::vector<double> parse_values(const std::string &text) {
  std::vector<double> values;
  for (const char *at = text.c_str();; ++at) {
    char *end = nullptr;
    values.push_back(std::strtod(at, &end));
    if (end == at || !std::isfinite(values.back())) return {};
    at = end;
    if (*at != ',') return *at == '\0' ? values : std::vector<double>{};
  }
}

// Parses words such as "NAME=VALUE" and "NAME=X,Y". Fails with Code::bad_argument for others.
Result<builder::Parameters> parse_parameters(const std::vector<std::string> &words) {
  builder::Parameters parameters;
  for (const std::string &word : words) {
    const std::size_t equals = std::min(word.find('='), word.size());
    std::vector<double> values = parse_values(word.substr(std::min(equals + 1, word.size())));
    if (equals == 0 || values.empty()) {
      return Status(Code::bad_argument,
                    fmt::format("--parameter takes NAME=VALUE with a number, not {}", word));
    }
    parameters[word.substr(0, equals)] = std::move(values);
  }
  return parameters;
}

// Returns "out.png", or "out-x.png" for a plane called x.
std::string plane_path(const std::string &path, const std::string &plane) {
  if (plane.empty()) return path;
  const std::filesystem::path p = packs::to_path(path);
  const std::string name =
      packs::from_path(p.stem()) + "-" + plane + packs::from_path(p.extension());
  return packs::from_path(p.parent_path() / packs::to_path(name));
}

Status write_planes(const std::vector<builder::Plane> &planes, const std::string &path) {
  for (const builder::Plane &plane : planes) {
    const Status status = builder::write_png(plane, plane_path(path, plane.name));
    if (!status.ok()) return as_failed(status);
  }
  return {};
}

bool is_png(const std::string &path) { return path.ends_with(".png") || path.ends_with(".PNG"); }

// Writes the outputs if the options ask for it.
Status write_outputs(const RunArguments &options, const std::vector<builder::Plane> &planes) {
  if (options.output.empty()) return {};
  if (is_png(options.output)) return write_planes(planes, options.output);
  std::string bytes;
  for (const builder::Plane &plane : planes) bytes.append(plane.pixels.begin(), plane.pixels.end());
  return as_failed(builder::write_whole_file(options.output, bytes));
}

// Returns the variants that the options allow, at least one, from a pack of open_program().
std::vector<packs::Variant> find_variants(const packs::Program &program, const LoadOptions &load) {
  std::vector<packs::Variant> variants;
  for (const packs::Variant &variant : program.variants) {
    if (load.variant.empty() || variant.name == load.variant) variants.push_back(variant);
  }
  return variants;
}

// Checks as much of the files as is possible before a driver is loaded. Fails with
// Code::bad_argument or Code::failed.
Status check_files(const RunArguments &options, const packs::Program &program) {
  if (!options.image.empty()) {
    if (const Status s = builder::check_png(options.image); !s.ok()) return as_failed(s);
  }
  std::vector<std::string> outputs = {options.report};
  const auto shapes = builder::program_shape(program).outputs;
  if (shapes.empty() && !options.output.empty()) {
    return {Code::bad_argument,
            fmt::format("program {} has no output that could be written", program.name)};
  }
  if (!is_png(options.output)) outputs.push_back(options.output);
  for (const builder::PlaneShape &shape : shapes) {
    if (!is_png(options.output)) break;
    if (!builder::is_picture(shape)) {
      return {
          Code::bad_argument,
          fmt::format("program {} gives no picture: name the output otherwise than .png for its "
                      "bytes",
                      program.name)};
    }
    outputs.push_back(plane_path(options.output, shape.name));
  }
  for (const std::string &path : outputs) {
    if (path.empty()) continue;
    Status status = check_output(path, {options.image, options.load.pack_path});
    if (!status.ok()) return status;
  }
  if (!options.only_reference() || !options.output.empty()) return {};
  return {Code::bad_argument, "--device none needs --output"};
}

// Writes the outputs of the reference, without a device. Fails with Code::failed.
Status run_reference_only(const RunArguments &options, const packs::Variant &variant,
                          const builder::Work &work, const builder::Parameters &given,
                          const builder::Reference &reference) {
  if (!reference.exists()) {
    return {Code::failed, fmt::format("program {} names no reference", options.load.program)};
  }
  const builder::Parameters parameters = builder::all_parameters(variant, given);
  const auto planes = reference.expected({variant, work.size, work.inputs, parameters, nullptr});
  return planes.ok() ? write_outputs(options, *planes) : planes.status();
}

nlohmann::json check_json(const packs::Program &program, const builder::CheckedRun &checked) {
  if (checked.comparison.check == builder::Check::unchecked) return nullptr;
  return {{"reference", program.reference},
          {"different_elements", checked.comparison.different},
          {"worst", checked.comparison.worst},
          {"tolerance", checked.tolerance}};
}

std::string check_text(const builder::CheckedRun &checked) {
  const char *other = checked.is_with_another ? "the first result" : "the reference";
  const builder::Comparison &comparison = checked.comparison;
  switch (comparison.check) {
    case builder::Check::unchecked: return "compared with no reference\n";
    case builder::Check::exact: return fmt::format("equals {} byte for byte\n", other);
    default:
      return fmt::format("differs from {} in {} values, by at most {:g}\n", other,
                         comparison.different, comparison.worst);
  }
}

// Returns the sides of --local, with 1 for missing ones; zeros without the option.
runtime::NDSize asked_local(const RunArguments &options) {
  runtime::NDSize local{};
  if (!options.local.empty()) local = {1, 1, 1};
  std::copy(options.local.begin(), options.local.end(), local.begin());
  return local;
}

std::string stage_text(const RunArguments &options, const kiln_ndrange &range) {
  const auto text = [&](const std::size_t *size) {
    return runtime::size_text(range.dimensions, {size[0], size[1], size[2]});
  };
  if (range.local[0] == 0)
    return text(range.global) + " work-items in groups that the driver chose";
  const runtime::NDSize asked = asked_local(options);
  const bool clamped =
      asked[0] != 0 && !std::equal(range.local, range.local + range.dimensions, asked.begin());
  return fmt::format("{} work-items in groups of {}{}", text(range.global), text(range.local),
                     clamped
                         ? fmt::format(" (not {}, which the kernel or the device does not take)",
                                       text(asked.data()))
                         : "");
}

nlohmann::json stage_json(const kiln_times &t, const kiln_ndrange &range) {
  return {{"global", range.global},
          {"local", range.local},
          {"times",
           {{"queued", t.queued},
            {"submit", t.submit},
            {"start", t.start},
            {"end", t.end},
            {"complete", t.complete}}}};
}

nlohmann::json launch_json(const RunArguments &options, const builder::RunResult &result,
                           const nlohmann::json &checked) {
  const builder::Launched &launched = result.launched;
  nlohmann::json stages = nlohmann::json::array();
  for (std::size_t i = 0; i < launched.times.size(); ++i) {
    stages.push_back(stage_json(launched.times[i], launched.ranges[i]));
  }
  return {{"schema", 1},
          {"report", result.report},
          {"check", checked},
          {"printed", options.load.prints ? nlohmann::json(result.printed) : nlohmann::json()},
          {"stages", stages},
          {"device_nanoseconds", launched.device_nanoseconds()},
          {"host_nanoseconds", launched.host_nanoseconds}};
}

// Prints a summary. `checked`: the JSON of the comparison.
void summarise(const RunArguments &options, const builder::RunResult &result,
               const nlohmann::json &checked) {
  const builder::Launched &launched = result.launched;
  if (options.json) return print(launch_json(options, result, checked));
  print(result.report_text);
  const std::string time =
      fmt::format("{:.3f} ms on the device\n", launched.device_nanoseconds() / 1e6);
  for (const kiln_ndrange &range : launched.ranges) {
    const bool last = &range == &launched.ranges.back();
    print(fmt::format("launched {}{}", stage_text(options, range), last ? ": " + time : "\n"));
  }
  if (!result.printed.empty()) print("printed:\n" + result.printed);
}

Status write_report(const RunArguments &options, const builder::RunResult &result) {
  if (options.report.empty() || result.report.is_null()) return {};
  return as_failed(builder::write_whole_file(options.report, one_line(result.report) + "\n"));
}

// Compares the results, prints what was launched, and writes the outputs.
int finish(const RunArguments &options, const packs::Program &program,
           const builder::RunRequest &request, const builder::RunResult &result,
           const builder::Reference &reference) {
  const auto checked = builder::check_run(program, request, result, reference);
  summarise(options, result, check_json(program, checked.ok() ? *checked : builder::CheckedRun()));
  if (!checked.ok()) return fail(checked.status());
  if (!options.json) print(check_text(*checked));
  if (checked->comparison.check == builder::Check::wrong) {
    return fail({Code::failed, "the result is wrong; no picture was written"});
  }
  const Status written = write_outputs(options, result.outputs);
  return written.ok() ? kDone : fail(written);
}

// Makes the request for the launch. Fails as make_request() of the load options does.
Result<builder::RunRequest> make_request(const RunArguments &options, const builder::Work &work,
                                         const builder::Parameters &parameters) {
  auto request = make_request(options.load);
  if (!request.ok()) return request;
  request->launch = true;
  request->size = work.size;
  request->inputs = work.inputs;
  request->parameters = parameters;
  request->local = asked_local(options);
  return request;
}

std::string rung_text(const builder::RungRun &run) {
  if (!run.reason.empty()) return fmt::format("{:12}  {}: {}\n", run.rung, run.outcome, run.reason);
  return fmt::format("{:12}  {:.3f} ms on the device, {}", run.rung,
                     run.result.launched.device_nanoseconds() / 1e6,
                     run.status.ok() ? check_text(run.checked) : run.status.message + "\n");
}

// What a run of a program needs besides a device.
struct Prepared {
  builder::Reference reference;
  builder::Work work;
};

// Checks the options against the program, and reads or makes its inputs.
Result<Prepared> prepare(const RunArguments &options, const packs::Program &program,
                         const builder::Parameters &parameters) {
  const auto variants = find_variants(program, options.load);
  if (Status s = builder::check_parameters(program.name, variants, parameters); !s.ok()) return s;
  if (Status s = check_files(options, program); !s.ok()) return s;
  builder::ReferenceOptions references = options.references;
  if (options.only_reference()) references.no_check = false;
  auto reference = builder::Reference::find(program, options.load.pack_path, references);
  if (!reference.ok()) return reference.status();
  std::string size = options.size;
  if (options.image.empty() && size.empty() && !program.sizes.empty()) {
    const auto &[width, height, depth] = program.sizes.front();
    size = builder::size_text({width, height, depth});
  }
  if (options.image.empty() && size.empty()) {
    const bool needed = std::any_of(variants.begin(), variants.end(), [](const auto &variant) {
      return !variant.launches && builder::check_launchable(variant).ok();
    });
    if (!needed) return Prepared{*std::move(reference), {}};  // recorded launches have sizes
    return Status(Code::bad_argument,
                  fmt::format("kiln run needs --image or --size: the manifest names no sizes of {}",
                              program.name));
  }
  auto work =
      builder::read_work(program, {options.image, size, !options.parameters.empty()}, *reference);
  if (!work.ok()) return work.status();
  return Prepared{*std::move(reference), *std::move(work)};
}

// Runs a program from each rung alone. Prints each run, or adds it to `*runs`.
Status run_rungs(const RunArguments &options, const packs::Program &program,
                 const builder::Parameters &parameters, nlohmann::json *runs) {
  const auto prepared = prepare(options, program, parameters);
  if (!prepared.ok()) return prepared.status();
  auto request = make_request(options, prepared->work, parameters);
  if (!request.ok()) return request.status();
  request->program = program.name;
  return builder::run_each_rung(
      program, *request, prepared->reference, [&](const builder::RungRun &run) {
        if (!options.json) return print(rung_text(run));
        runs->push_back(launch_json(options, run.result, check_json(program, run.checked)));
      });
}

// Does so for the named program, or for all.
int run_rungs(const RunArguments &options, const packs::Contents &contents,
              const builder::Parameters &parameters) {
  const bool all = options.load.program.empty();
  nlohmann::json runs = nlohmann::json::array();
  Status status;
  std::size_t failed = 0;
  for (const packs::Program &program : contents.programs) {
    if (!all && program.name != options.load.program) continue;
    if (all && !options.json) print(program.name + "\n");
    const Status one = run_rungs(options, program, parameters, &runs);
    if (one.ok()) continue;
    if (all) complain(program.name + ": " + one.message);
    status = one;
    ++failed;
  }
  if (options.json && (all || !runs.empty())) print(nlohmann::json{{"schema", 1}, {"runs", runs}});
  if (status.ok()) return kDone;
  if (!all) return fail(status);
  return fail(
      {Code::failed, fmt::format("{} of {} programs failed", failed, contents.programs.size())});
}

int run(const RunArguments &options) {
  const auto parameters = parse_parameters(options.parameters);
  if (!parameters.ok()) return fail(parameters.status());
  const auto pack = open_program(options.load);
  if (!pack.ok()) return fail(pack.status());
  if (options.each_rung()) return run_rungs(options, pack->contents, *parameters);
  const packs::Program &program = *builder::find_program(pack->contents, options.load.program);
  const auto prepared = prepare(options, program, *parameters);
  if (!prepared.ok()) return fail(prepared.status());
  const auto &[reference, work] = *prepared;
  if (options.only_reference()) {
    const packs::Variant variant = find_variants(program, options.load).front();
    const Status status = run_reference_only(options, variant, work, *parameters, reference);
    return status.ok() ? kDone : fail(status);
  }
  const auto request = make_request(options, work, *parameters);
  if (!request.ok()) return fail(request.status());
  const builder::RunResult result = builder::run_program(*request);
  const Status reported = write_report(options, result);
  if (!reported.ok()) complain(reported.message);
  if (!result.status.ok()) return fail(result.status);
  const int code = finish(options, program, *request, result, reference);
  return code == kDone ? exit_code_of(reported) : code;
}

}  // namespace

void add_run(CLI::App &app, Command *command) {
  auto options = std::make_shared<RunArguments>();
  CLI::App *sub = app.add_subcommand("run", "Launch a program and check its result");
  add_load_options(*sub, &options->load, kEachRung);
  sub->get_option("--device")
      ->description(
          "Index, or glob over platform and device name; none: write the reference's result; "
          "default: "
          "the first device");
  CLI::Option *image =
      sub->add_option("--image", options->image, "PNG to work on")->type_name("PNG");
  sub->add_option(
         "--size", options->size,
         "WxH or WxHxD: work on generated input of this size; default: the first of the manifest's "
         "sizes")
      ->type_name("SIZE")
      ->excludes(image);
  add_output_option(
      *sub, &options->output,
      "Where to write the result: NAME.png is a picture (of several planes NAME-x.png, "
      "NAME-y.png); any other file gets the bytes, one plane after the other",
      "FILE");
  add_report_option(*sub, &options->report, "Write the load report here, as one line of JSON");
  sub->add_option("--parameter", options->parameters,
                  "Use VALUE instead of the default, or X,Y,... for several components; repeatable")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  sub->add_option("--local", options->local,
                  "Work-group size: one to three numbers, separated by spaces")
      ->expected(1, 3)
      ->check(CLI::Range(1, 1 << 30).description(""))
      ->type_name("N");
  sub->add_flag("--printf", options->load.prints, "Show what the kernels and the driver print");
  add_reference_options(*sub, &options->references);
  CLI::Option *program = sub->get_option("program")->required(false);
  add_json_flag(*sub, &options->json);
  sub->callback([=] {
    const bool each = options->each_rung();
    if (program->empty() && !each) throw CLI::RequiredError("PROGRAM or --rung each");
    for (const char *other : {"--without", "--overlay", "--output", "--report"}) {
      if (each && sub->count(other) != 0) throw CLI::ExcludesError("--rung each", other);
    }
    *command = [=] { return run(*options); };
  });
}

}  // namespace kiln::cli
