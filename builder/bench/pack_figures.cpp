// SPDX-License-Identifier: Apache-2.0
// Sizes and decoding times of a corpus in each form.
#include "builder/bench/pack_figures.hpp"

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <zstd.h>

#include "builder/measure/sampler.hpp"
#include "builder/process/fork_call.hpp"
#include "kiln/packs/delta.hpp"
#include "kiln/packs/dictionary.hpp"
#include "kiln/packs/layout.hpp"
#include "kiln/packs/writer.hpp"

namespace kiln::builder {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kRounds = 15;

struct Form {
  const char *name;
  packs::Purpose purpose;
  bool compressed = true;
  bool has_il = true;
};
const Form kForms[] = {{"startup", packs::Purpose::startup},
                       {"fleet", packs::Purpose::fleet},
                       {"archive", packs::Purpose::archive},
                       {"uncompressed", packs::Purpose::startup, false},
                       // Without IL and dictionaries each binary is by itself.
                       {"level 19", packs::Purpose::fleet, true, false}};

Result<packs::Contents> read_all(const std::vector<std::string> &paths) {
  packs::Contents all;
  for (const std::string &path : paths) {
    std::shared_ptr<const packs::Pack> pack;
    packs::Contents contents;
    if (auto s = packs::Pack::open_file(path.c_str(), &pack); !s.ok()) return Status(s);
    if (auto s = packs::read_contents(pack, &contents); !s.ok()) return Status(s);
    if (auto s = packs::merge(contents, &all); !s.ok()) return Status(s);
  }
  return all;
}

// Each blob once, in the order of the programs and then of the targets.
std::vector<packs::BlobSource> blobs_of(const packs::Contents &contents) {
  std::vector<packs::BlobSource> blobs;
  std::set<packs::Digest> known;
  const auto add = [&](const std::optional<packs::BlobSource> &blob) {
    if (blob && known.insert(blob->name()).second) blobs.push_back(*blob);
  };
  for (const packs::Program &program : contents.programs) {
    for (const packs::Variant &each : program.variants) {
      for (const auto *blob : {&each.source, &each.il32, &each.il64, &each.launches}) add(*blob);
    }
  }
  for (const packs::Target &target : contents.targets) {
    add(target.auxiliary);
    for (const auto *binaries : {&target.binaries, &target.intermediates}) {
      for (const packs::Binary &binary : *binaries) {
        add(binary.blob);
        add(binary.auxiliary);
      }
    }
  }
  return blobs;
}

std::size_t zstd_size(const packs::Bytes &raw, bool solid) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, 19);
  if (solid) {
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_enableLongDistanceMatching, 1);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, 27);
  }
  packs::Bytes frame(ZSTD_compressBound(raw.size()));
  const std::size_t size =
      ZSTD_compress2(context.get(), frame.data(), frame.size(), raw.data(), raw.size());
  return ZSTD_isError(size) != 0 ? raw.size() : size;
}

struct Plain {
  double raw = 0;
  double solid = 0;   // all blobs as one stream, level 19 with a window of 128 MiB
  double single = 0;  // each blob by itself, level 19, or raw
  std::map<packs::Digest, std::size_t> each;
};

Result<Plain> measure_plain(const packs::Contents &contents) {
  Plain plain;
  packs::Bytes all;
  for (const packs::BlobSource &blob : blobs_of(contents)) {
    packs::Bytes raw;
    if (auto s = blob.read(&raw); !s.ok()) return Status(s);
    const std::size_t size = std::min(raw.size(), zstd_size(raw, false));
    plain.single += static_cast<double>(size);
    plain.each[blob.name()] = size;
    all.insert(all.end(), raw.begin(), raw.end());
  }
  plain.raw = static_cast<double>(all.size());
  plain.solid = static_cast<double>(zstd_size(all, true));
  return plain;
}

// Medians of the microseconds in which single binaries are decoded, with all that they need, by the
// target's profile. Each round has a pack that was opened anew, and memory for the bytes that is
// used again, as in a loader.
Result<std::map<std::string, std::vector<double>>> decode_times(const std::string &path) {
  std::map<std::string, std::map<packs::Digest, std::vector<double>>> samples;
  for (std::size_t round = 0; round < kRounds; ++round) {
    std::shared_ptr<const packs::Pack> pack;
    packs::Contents contents;
    if (auto s = packs::Pack::open_file(path.c_str(), &pack); !s.ok()) return Status(s);
    if (auto s = packs::read_contents(pack, &contents); !s.ok()) return Status(s);
    packs::Bytes scratch;
    std::set<packs::Digest> known;
    for (const packs::Target &target : contents.targets) {
      for (const packs::Binary &binary : target.binaries) {
        if (!known.insert(binary.blob.name()).second) continue;
        packs::View raw;
        const auto start = Clock::now();
        const auto status = pack->read_blob(binary.blob.blob(), &scratch, &raw);
        const std::chrono::duration<double, std::micro> took = Clock::now() - start;
        if (!status.ok()) return Status(status);
        samples[target.profile][binary.blob.name()].push_back(took.count());
      }
    }
  }
  std::map<std::string, std::vector<double>> medians;
  for (const auto &[profile, blobs] : samples) {
    for (const auto &[name, times] : blobs) medians[profile].push_back(median(times));
  }
  return medians;
}

// Stored bytes of each blob of a pack.
Result<std::map<packs::Digest, double>> stored_sizes(const packs::Pack &pack) {
  packs::Layout layout;
  if (auto s = packs::read_layout(pack, &layout); !s.ok()) return Status(s);
  std::map<packs::Digest, double> stored;
  const auto add = [&](const std::vector<packs::BlobRef> &blobs) {
    for (const packs::BlobRef blob : blobs) {
      stored[blob.name()] = static_cast<double>(blob.stored_size());
    }
  };
  add(layout.blobs);
  for (const auto &section : layout.sections) add(section.blobs);
  return stored;
}

// The delta that adds one target to a pack of all others, against the stored blobs that it brings.
Result<double> delta_ratio(const std::string &path, std::size_t target, const std::string &folder) {
  std::shared_ptr<const packs::Pack> pack;
  std::shared_ptr<const packs::Pack> without;
  packs::Contents contents;
  if (auto s = packs::Pack::open_file(path.c_str(), &pack); !s.ok()) return Status(s);
  if (auto s = packs::read_contents(pack, &contents); !s.ok()) return Status(s);
  contents.targets.erase(contents.targets.begin() + static_cast<std::ptrdiff_t>(target));
  const std::string old_path = folder + "/without";
  if (auto s = packs::write_pack(contents, old_path); !s.ok()) return Status(s);
  if (auto s = packs::Pack::open_file(old_path.c_str(), &without); !s.ok()) return Status(s);
  packs::DeltaFacts facts;
  const auto made = packs::make_delta(*without, *pack, folder + "/delta", &facts);
  if (!made.ok()) return Status(made);
  const auto all = stored_sizes(*pack);
  const auto known = stored_sizes(*without);
  if (!all.ok()) return all.status();
  if (!known.ok()) return known.status();
  double own = 0;
  for (const auto &[name, size] : *all) own += known->count(name) == 0 ? size : 0;
  return own == 0 ? 0 : static_cast<double>(facts.delta_size) / own;
}

void drop_il(packs::Contents *contents) {
  for (packs::Program &program : contents->programs) {
    for (packs::Variant &each : program.variants) {
      each.il32.reset();
      each.il64.reset();
    }
  }
}

double file_size(const std::string &path) {
  std::error_code error;
  return static_cast<double>(std::filesystem::file_size(path, error));
}

double mean(const std::vector<double> &values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

void add_sizes(const std::string &form, double size, double other, const Plain &plain,
               Figures *figures) {
  figures->push_back({form + ": size of the pack", size / 1000, "KB"});
  Figure solid{form + ": of one solid stream", size / plain.solid, "times"};
  if (form == "fleet") solid.most = 2.0;
  if (form == "archive") solid.most = 1.3;
  figures->push_back(solid);
  if (form != "startup") return;
  figures->push_back(
      {form + ": of each blob at level 19", size / (other + plain.single), "times", 1.25});
}

void add_times(const std::string &form, const std::map<std::string, std::vector<double>> &times,
               Figures *figures) {
  for (const auto &[profile, medians] : times) {
    Figure figure{form + ": decoding a binary, " + profile, median(medians), "us"};
    if (form == "startup" && profile == "intel") figure.most = 20;
    figures->push_back(figure);
    figures->push_back({form + ": the same, mean", mean(medians), "us"});
  }
}

}  // namespace

Result<Figures> measure_forms(const std::vector<std::string> &packs) {
  auto contents = read_all(packs);
  if (!contents.ok()) return contents.status();
  auto folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.status();
  const auto plain = measure_plain(*contents);
  if (!plain.ok()) return plain.status();
  Figures figures{{"blobs, decoded", plain->raw / 1000, "KB"},
                  {"one solid stream of them", plain->solid / 1000, "KB"},
                  {"each at level 19", plain->single / 1000, "KB"}};
  for (const Form &form : kForms) {
    const std::string path = folder->path() + "/" + form.name;
    packs::WriteOptions options;
    options.purpose = form.purpose;
    if (form.has_il) options.train = packs::train_dictionary;
    options.compress_binaries = form.compressed;
    packs::Contents stored_contents = *contents;
    if (!form.has_il) drop_il(&stored_contents);
    if (auto s = packs::write_pack(stored_contents, path, options); !s.ok()) return Status(s);
    std::shared_ptr<const packs::Pack> pack;
    if (auto s = packs::Pack::open_file(path.c_str(), &pack); !s.ok()) return Status(s);
    const auto stored = stored_sizes(*pack);
    if (!stored.ok()) return stored.status();
    double other = file_size(path);
    for (const auto &[name, size] : *stored) other -= size;
    if (form.has_il) add_sizes(form.name, file_size(path), other, *plain, &figures);
    const auto times = decode_times(path);
    if (!times.ok()) return times.status();
    add_times(form.name, *times, &figures);
  }
  const std::string startup = folder->path() + "/" + kForms[0].name;
  double worst = 0;
  for (std::size_t i = 0; i < contents->targets.size(); ++i) {
    const auto ratio = delta_ratio(startup, i, folder->path());
    if (!ratio.ok()) return ratio.status();
    worst = std::max(worst, *ratio);
  }
  figures.push_back({"a delta with one more target, of its blobs, at most", worst, "times", 1.2});
  return figures;
}

}  // namespace kiln::builder
