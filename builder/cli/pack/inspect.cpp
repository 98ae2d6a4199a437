// SPDX-License-Identifier: Apache-2.0
// kiln pack inspect: shows the contents of a pack or a spool.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "builder/base/table.hpp"
#include "builder/base/whole_file.hpp"
#include "builder/cli/shared/common_options.hpp"
#include "builder/inspect/note_text.hpp"
#include "builder/inspect/pack_json.hpp"
#include "builder/inspect/pack_sizes.hpp"
#include "builder/inspect/printable.hpp"
#include "builder/under_layer/spool.hpp"
#include "kiln/packs/bytes.hpp"
#include "kiln/packs/path.hpp"
#include "kiln/packs/signatures.hpp"

namespace kiln::cli {
namespace {

// Returns cells such as "  scalar", "-cl-std=CL1.2, needs images".
std::string variant_text(const packs::Program &program, const packs::Variant &variant) {
  std::string facts = variant.options;
  for (const std::string &requirement : variant.requirements) {
    if (&requirement == &variant.requirements.front()) facts += facts.empty() ? "needs" : ", needs";
    facts += " " + requirement;
  }
  return "  " + variant.name + builder::recorded_kernels(program, variant) + "\t" + facts;
}

std::string records_text(const packs::Contents &contents) {
  std::string text;
  for (const packs::Tuning &t : contents.tunings) {
    const std::string local =
        fmt::format("{}x{}x{}", t.local_size[0], t.local_size[1], t.local_size[2]);
    text += fmt::format(
        "tuning {}/{} {}, {}, on {}: {}, {:.3f} ms, {:.3f} ms with the driver's size; {}, "
        "spread {:.1f}%{}{}\n",
        t.program, t.variant, t.kernel.empty() ? "as a whole" : t.kernel,
        builder::size_class_name(t.size_class), builder::tuning_place(t),
        t.kernel.empty() ? "best sizes" : local, static_cast<double>(t.nanoseconds) / 1e6,
        static_cast<double>(t.default_nanoseconds) / 1e6, count(t.samples, "sample"),
        t.spread / 10.0, t.conditions.empty() ? "" : "; ", t.conditions);
  }
  if (contents.known_bad_version != 0) {
    text += fmt::format("known-bad notes, version {}\n", contents.known_bad_version);
  }
  for (const packs::KnownBad &note : contents.known_bad) {
    const packs::NoteView texts = note.view();
    text +=
        fmt::format("known bad: {}: {}; {}{}{}\n", builder::note_subject(note),
                    builder::rung_words(note.rungs), texts[packs::NoteText::reason],
                    texts[packs::NoteText::link].empty() ? "" : "; ", texts[packs::NoteText::link]);
  }
  return text;
}

std::string binary_text(const packs::Contents &contents, const packs::Binary &binary,
                        const char *kind) {
  const packs::BlobRef blob = binary.blob.blob();
  return fmt::format(
      "  {}\t{} bytes,\t{} stored\t{}\t{}{}\n{}", builder::variant_title(contents, binary.variant),
      blob.raw_size(), blob.stored_size(), packs::hex(binary.blob.name()).substr(0, 16),
      builder::finish_text(binary.finish), kind, builder::statistics_text(contents, binary));
}

// Whether kiln compile found no parameters of a recorded kernel.
bool lacks_parameters(const packs::Program &program, const packs::Variant &variant) {
  const auto lacks = [](const packs::Kernel &k) {
    return k.arguments != 0 && k.parameters.empty();
  };
  return !builder::recorded_kernels(program, variant).empty() &&
         std::any_of(variant.kernels.begin(), variant.kernels.end(), lacks);
}

// A spool has no parameters: only kiln compile finds them.
std::string programs_text(const packs::Contents &contents, bool is_spool) {
  std::string text;
  for (const packs::Program &program : contents.programs) {
    text += fmt::format("program {}\n", program.name);
    for (const packs::Variant &variant : program.variants) {
      text += variant_text(program, variant) + "\n";
      for (const packs::Kernel &kernel : variant.kernels) {
        if (!kernel.parameters.empty()) text += "    " + builder::kernel_text(kernel) + "\n";
      }
      if (!is_spool && lacks_parameters(program, variant)) {
        text += "    the parameters of its kernels are not known\n";
      }
    }
  }
  return builder::table_text(text);
}

// Returns the signatures as text, or their fault, which is not a fault of the pack.
std::string signatures_text(const packs::Pack &pack) {
  std::vector<packs::Signature> signatures;
  if (Status s = packs::read_signatures(pack, &signatures); !s.ok()) return s.message + "\n";
  std::string text;
  for (const packs::Signature &signature : signatures) {
    text += fmt::format("signature by the key {}, revision {}\n", packs::key_text(signature.key),
                        signature.revision);
  }
  return text;
}

// Returns "; source of 1 of 3 variants" or "; no source"; empty if every variant has its source.
std::string source_text(const packs::Contents &contents) {
  std::size_t variants = 0;
  std::size_t with = 0;
  for (const packs::Program &program : contents.programs) {
    variants += program.variants.size();
    for (const packs::Variant &variant : program.variants) with += variant.source ? 1 : 0;
  }
  std::string text;
  if (with == 0 && variants != 0) text = "; no source";
  if (with != 0 && with < variants) {
    text = fmt::format("; source of {} of {} variants", with, variants);
  }
  return text;
}

std::string pack_text(const PackFile &open) {
  std::string text = fmt::format("format {}, {} bytes; IL by {}{}\n",
                                 open.pack->superblock().version, open.pack->superblock().pack_size,
                                 open.contents.producer, source_text(open.contents));
  text += signatures_text(*open.pack);
  text += programs_text(open.contents, false);
  for (const packs::Target &target : open.contents.targets) {
    text += fmt::format("target {}, key_hash {:016x}\n", builder::target_label(target),
                        packs::xxh3(target.key));
    std::vector<std::string> lines;
    for (const packs::Binary &binary : target.binaries) {
      lines.push_back(binary_text(open.contents, binary, ""));
    }
    for (const packs::Binary &binary : target.intermediates) {
      lines.push_back(binary_text(open.contents, binary, "  intermediate"));
    }
    std::sort(lines.begin(), lines.end());  // by program and variant
    text += builder::table_text(fmt::format("{}", fmt::join(lines, "")), "<>>");
  }
  return text + records_text(open.contents);
}

std::string spool_text(const builder::Spool &spool) {
  std::string text = programs_text(builder::printable_contents(spool.contents), true);
  for (const std::string &name : spool.changing) {
    text += fmt::format("not reproducible: {}: each start had a text of its own\n",
                        builder::printable_line(name));
  }
  return text;
}

int inspect_spool(const std::string &path, bool as_json) {
  const auto spool = builder::read_spool(path);
  if (!spool.ok()) return fail(spool.status());
  if (as_json) {
    nlohmann::json listed = builder::describe_contents(spool->contents);
    listed["not_reproducible"] = spool->changing;
    print(listed);
  } else {
    print(spool_text(*spool));
  }
  return kDone;
}

int inspect_sizes(const std::string &path, bool as_json) {
  const auto open = read_pack(path);
  if (!open.ok()) return fail(open.status());
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error) return fail({Code::failed, path + ": " + error.message()});
  const auto sizes = builder::measure_pack(
      *open->pack, as_json ? open->contents : builder::printable_contents(open->contents), size);
  if (!sizes.ok()) return fail({sizes.status().code, path + ": " + sizes.status().message});
  if (as_json) {
    print(builder::sizes_json(*sizes));
  } else {
    print(builder::sizes_text(*sizes, path));
  }
  return kDone;
}

// Writes blobs into a folder and remembers the first failure.
class Files {
 public:
  explicit Files(std::string folder) : folder_(std::move(folder)) {}

  // Returns the file's name for the index; null if there is no blob.
  nlohmann::json write(const std::string &name, const std::optional<packs::BlobSource> &blob) {
    if (!blob || !status_.ok()) return nullptr;
    packs::Bytes bytes;
    const Status status = blob->read(&bytes);
    if (!status.ok()) {
      status_ = {status.code,
                 fmt::format("{}: {} [{}]", name, status.message, packs::code_name(status.code))};
      return nullptr;
    }
    write_text(name, {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
    return name;
  }

  void write_text(const std::string &name, std::string_view text) {
    status_ = as_failed(builder::write_whole_file(folder_ + "/" + name, text));
    ++count_;
  }

  std::size_t count() const { return count_; }
  const Status &status() const { return status_; }

 private:
  std::string folder_;
  std::size_t count_ = 0;
  Status status_;
};

nlohmann::json extract_variant(const packs::Program &program, const packs::Variant &variant,
                               const packs::Contents &contents, Files *files) {
  const std::string stem = program.name + "/" + variant.name;
  nlohmann::json row = {{"program", program.name},
                        {"variant", variant.name},
                        {"options", variant.options},
                        {"kernels", nlohmann::json::array()},
                        {"source", files->write(stem + ".cl", variant.source)},
                        {"il32", files->write(stem + ".32.spv", variant.il32)},
                        {"il64", files->write(stem + ".64.spv", variant.il64)},
                        {"binaries", nlohmann::json::array()}};
  for (const packs::Kernel &kernel : variant.kernels) row["kernels"].push_back(kernel.name);
  for (std::size_t i = 0; i < contents.targets.size(); ++i) {
    for (const packs::Binary &binary : contents.targets[i].binaries) {
      if (binary.variant != variant.hash) continue;
      row["binaries"].push_back(
          {{"target", builder::target_label(contents.targets[i])},
           {"file", files->write(fmt::format("{}.{}.bin", stem, i), binary.blob)}});
    }
    for (const packs::Binary &binary : contents.targets[i].intermediates) {
      if (binary.variant != variant.hash) continue;
      row["intermediates"].push_back(
          {{"target", builder::target_label(contents.targets[i])},
           {"file", files->write(fmt::format("{}.{}.ptx", stem, i), binary.blob)}});
    }
  }
  return row;
}

// Whether the name stays in the folder: a pack may come from anywhere, and its names must not lead
// out.
bool is_file_name(const std::string &name) {
  return name != "." && name != ".." && name.find('/') == std::string::npos;
}

Status make_folders(const std::string &folder_of_all, const packs::Contents &contents) {
  for (const packs::Program &program : contents.programs) {
    for (const packs::Variant &variant : program.variants) {
      if (is_file_name(program.name) && is_file_name(variant.name)) continue;
      return {Code::root_malformed,
              fmt::format("{}/{} is no name for a file", program.name, variant.name)};
    }
    const std::string folder = folder_of_all + "/" + program.name;
    std::error_code error;
    std::filesystem::create_directories(packs::to_path(folder), error);
    if (std::filesystem::is_directory(packs::to_path(folder))) continue;
    return {Code::failed, folder + ": " + (error ? error.message() : "not a folder")};
  }
  return {};
}

// Writes PROGRAM/VARIANT.cl, .32.spv, .64.spv and for each target .N.bin and .N.ptx into the
// folder, and index.json, which says what belongs to which target.
int extract(const std::string &path, const std::string &folder, bool as_json) {
  const auto open = read_pack(path);
  if (!open.ok()) return fail(open.status());
  const packs::Contents &contents = open->contents;
  if (Status s = make_folders(folder, contents); !s.ok()) return fail(s);
  Files files(folder);
  nlohmann::json index = {{"schema", 1}, {"variants", nlohmann::json::array()}};
  for (const packs::Program &program : contents.programs) {
    for (const packs::Variant &variant : program.variants) {
      index["variants"].push_back(extract_variant(program, variant, contents, &files));
    }
  }
  if (!files.status().ok()) return fail(files.status());
  files.write_text("index.json", json_text(index));
  if (!files.status().ok()) return fail(files.status());
  if (as_json) {
    print(index);
  } else {
    print(fmt::format("{}: {}\n", folder, count(files.count(), "file")));
  }
  return kDone;
}

int inspect(const std::string &path, bool as_json) {
  std::error_code ignored;
  if (std::filesystem::is_directory(packs::to_path(path), ignored))
    return inspect_spool(path, as_json);
  const auto open = read_pack(path);
  if (!open.ok()) return fail(open.status());
  if (as_json) {
    print(builder::describe_pack(*open->pack, open->contents));
  } else {
    print(pack_text({open->pack, builder::printable_contents(open->contents)}));
  }
  return kDone;
}

}  // namespace

void add_inspect(CLI::App &app, Command *command) {
  struct InspectArguments {
    std::string path;
    std::string folder;
    bool sizes = false;
    bool json = false;
  };
  auto options = std::make_shared<InspectArguments>();
  CLI::App *sub =
      app.add_subcommand("inspect", "Show programs, variants, targets, binaries and measurements");
  sub->add_option("pack", options->path, "Pack, or spool of kiln record, to look into")->required();
  sub->add_flag("--bytes", options->sizes, "Show where the bytes of a pack are");
  sub->add_option("--extract", options->folder,
                  "Write source, SPIR-V and binaries as files, with an index.json")
      ->type_name("DIR")
      ->excludes("--bytes");
  add_json_flag(*sub, &options->json);
  sub->callback([=] {
    *command = [=] {
      if (!options->folder.empty()) return extract(options->path, options->folder, options->json);
      return options->sizes ? inspect_sizes(options->path, options->json)
                            : inspect(options->path, options->json);
    };
  });
}

}  // namespace kiln::cli
