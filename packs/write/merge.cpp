// SPDX-License-Identifier: Apache-2.0
// Merges the contents of packs, as contents.hpp describes.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "kiln/packs/found_notes.hpp"
#include "kiln/packs/members.hpp"
#include "kiln/packs/text.hpp"
#include "packs/write/record_rows.hpp"
#include "packs/write/variants.hpp"

namespace kiln::packs {
namespace {

// If both sides have a value for the same name, the one that comes first in a total order over all
// written data is kept, so that packs merged in any sequence give the same bytes. order() returns a
// negative number if `a` comes first, zero if they are equal, else a positive number.
template <typename T>
int order(const T &a, const T &b) {
  if (a < b) return -1;
  return b < a ? 1 : 0;
}

// Compares the bits, which can differ where a comparison of numbers finds no difference, as between
// -0.0 and 0.0 or between two NaNs.
int order(const double &a, const double &b) {
  const auto bits = [](double value) {  // std::bit_cast is not in Debian 11's libstdc++
    std::uint64_t result;
    std::memcpy(&result, &value, sizeof result);
    return result;
  };
  return order(bits(a), bits(b));
}

template <Record T>
int order(const T &a, const T &b);

template <typename T>
int order(const std::vector<T> &a, const std::vector<T> &b) {
  const auto less = [](const T &x, const T &y) { return order(x, y) < 0; };
  if (std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), less)) return -1;
  return std::lexicographical_compare(b.begin(), b.end(), a.begin(), a.end(), less) ? 1 : 0;
}

// As order(), but what is not set comes last: an earlier version of Kiln wrote no such value.
template <typename T>
int order_set(const T &a, const T &b, const T &unset = {}) {
  if (const int o = order(a == unset, b == unset); o != 0) return o;
  return order(a, b);
}

// Compares member by member.
template <typename Members, std::size_t... Index>
int order_members(const Members &a, const Members &b, const Members &unset,
                  std::index_sequence<Index...>) {
  int first = 0;
  (void)((first = order_set(std::get<Index>(a), std::get<Index>(b), std::get<Index>(unset))) ||
         ...);
  return first;
}

template <Record T>
int order(const T &a, const T &b) {
  const T unset{};
  using Members = decltype(members(unset));
  return order_members(members(a), members(b), members(unset),
                       std::make_index_sequence<std::tuple_size_v<Members>>());
}

// Takes const and non-const values.
template <typename AnyProgram>
auto hints(AnyProgram &p) {
  return std::tie(p.preferred, p.baseline, p.sizes);
}
template <typename AnyTarget>
auto facts(AnyTarget &t) {
  return std::tie(t.profile, t.family, t.model, t.compiler, t.identity);
}

// Compares names, which are hashes of the bytes, then the stored form in a pack: two versions of
// zstd may store the same bytes differently. Blobs that are in no pack come last.
int order(const BlobSource &a, const BlobSource &b) {
  if (const int o = order(a.name(), b.name()); o != 0) return o;
  if (!a.pack() || !b.pack()) return order(!a.pack(), !b.pack());
  View x;
  View y;
  if (a.pack() == b.pack() && a.blob() == b.blob()) return 0;
  Bytes of_a;
  Bytes of_b;
  if (!a.pack()->stored_bytes(a.blob(), &of_a, &x).ok()) return 0;
  if (!b.pack()->stored_bytes(b.blob(), &of_b, &y).ok()) return 0;
  if (x.size == 0 || y.size == 0) return order(x.size, y.size);
  if (x.size != y.size) return order(x.size, y.size);
  return std::memcmp(x.data, y.data, x.size);
}

int order(const std::optional<BlobSource> &a, const std::optional<BlobSource> &b) {
  return a && b ? order(*a, *b) : order(!a, !b);
}

// The side that has source comes first, else the one that has il32, else il64.
int order_forms(const Variant &a, const Variant &b) {
  const auto lacks = [](const Variant &v) { return std::tuple(!v.source, !v.il32, !v.il64); };
  if (const int o = order(lacks(a), lacks(b)); o != 0) return o;
  if (const int o = order(a.il_version, b.il_version); o != 0) return o;
  if (const int o = order(a.source, b.source); o != 0) return o;
  if (const int o = order(a.il32, b.il32); o != 0) return o;
  return order(a.il64, b.il64);
}

Status read_text(const BlobSource &blob, std::string *out) {
  Bytes bytes;
  if (Status s = blob.read(&bytes); !s.ok()) return s;
  out->assign(bytes.begin(), bytes.end());
  return {};
}

// Unites the recorded launches of both variants in `into`, and changes nothing else there.
Status unite_launches(const Variant &from, Variant *into) {
  if (!from.launches || !into->launches || from.launches->name() == into->launches->name()) {
    if (order(from.launches, into->launches) < 0) into->launches = from.launches;
    return {};
  }
  std::string a;
  std::string b;
  if (Status s = read_text(*from.launches, &a); !s.ok()) return s;
  if (Status s = read_text(*into->launches, &b); !s.ok()) return s;
  const std::string both = united_launches(a, b);
  into->launches = BlobSource(Bytes(both.begin(), both.end()));
  return {};
}

// The kernel whose parameters are known comes first: an earlier version of Kiln wrote none.
int order_parameters(const Kernel &a, const Kernel &b) {
  const auto known = [](const Kernel &k) { return std::tuple(k.parameters.empty(), k.arguments); };
  if (const int o = order(known(a), known(b)); o != 0) return o;
  return order(a.parameters, b.parameters);
}

// Takes for each kernel the parameters of the side that comes first. Both variants have one hash,
// which covers the names of their kernels.
void unite_parameters(const Variant &from, Variant *into) {
  const std::size_t count = std::min(from.kernels.size(), into->kernels.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (order_parameters(from.kernels[i], into->kernels[i]) >= 0) continue;
    into->kernels[i].arguments = from.kernels[i].arguments;
    into->kernels[i].parameters = from.kernels[i].parameters;
  }
}

// The program with hints comes first: an older pack of the same program has none.
int order_hints(const Program &a, const Program &b) {
  const auto lacks = [](const Program &p) {
    return std::tuple(p.preferred.empty(), p.baseline.empty(), p.sizes.empty());
  };
  if (const int o = order(lacks(a), lacks(b)); o != 0) return o;
  return order(hints(a), hints(b));
}

// Ranks by preference: final, then known not to be final, then never launched.
int rank(Finality finality) {
  return finality == Finality::yes ? 0 : finality == Finality::no ? 1 : 2;
}

// Returns "2" for "nvidia-linker 2, launches 0123456789abcdef"; empty if no finisher ran.
std::string_view finisher_version(const Finish &finish) {
  const std::string_view text =
      std::string_view(finish.finisher).substr(0, finish.finisher.find(','));
  const std::size_t space = text.rfind(' ');
  return space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
}

// Orders two binaries with different bytes by the rules in FORMAT.md, and sets `*rule` to the one
// that decides. The older driver's binary comes first: if the target's key leaves out the driver's
// version, as NVIDIA's does, a newer driver accepts it, too.
int order_bytes(const Binary &a, const Binary &b, MergeRule *rule) {
  *rule = MergeRule::workaround;
  const auto as_it_says = [](const Finish &f) { return f.workaround.empty(); };
  if (const int o = order(as_it_says(a.finish), as_it_says(b.finish)); o != 0) return o;
  *rule = MergeRule::finality;
  if (const int o = order(rank(a.finish.finality), rank(b.finish.finality)); o != 0) return o;
  *rule = MergeRule::driver;
  if (const int o = compare_versions(a.finish.driver, b.finish.driver); o != 0) return o;
  *rule = MergeRule::finisher;
  const int newer = compare_versions(finisher_version(b.finish), finisher_version(a.finish));
  if (newer != 0) return newer;
  // Tells "virtual-neo 1 as skl" from "virtual-neo 1 as skl, intel-without-spirv 1".
  const auto unfinished = [](const Finish &f) { return f.unfinished_size == 0; };
  if (const int o = order(unfinished(a.finish), unfinished(b.finish)); o != 0) return o;
  *rule = MergeRule::hash;
  return order(a.blob.name(), b.blob.name());
}

// What a proof says of a binary's bytes. Takes const and non-const values.
template <typename AnyFinish>
auto proof(AnyFinish &f) {
  return std::tie(f.proof, f.proved_by, f.unproven);
}

// A binary with a proof comes first.
int order_proofs(const Finish &a, const Finish &b) {
  if (const int o = order_set(a.proof, b.proof); o != 0) return o;
  if (const int o = order_set(a.proved_by, b.proved_by); o != 0) return o;
  return order_set(a.unproven, b.unproven);
}

// Compares everything but the proofs.
int order(const Binary &a, const Binary &b) {
  MergeRule rule = MergeRule::hash;
  if (const int o = order_bytes(a, b, &rule); o != 0) return o;
  // An earlier Kiln kept no statistics.
  if (const int o = order(a.statistics.empty(), b.statistics.empty()); o != 0) return o;
  const auto without_proof = [](Finish finish) {
    const Finish none;
    proof(finish) = proof(none);
    return finish;
  };
  if (const int o = order(without_proof(a.finish), without_proof(b.finish)); o != 0) return o;
  if (const int o = order(a.cache_entries, b.cache_entries); o != 0) return o;
  if (const int o = order(a.build_log, b.build_log); o != 0) return o;
  if (const int o = order(a.kernels, b.kernels); o != 0) return o;
  if (const int o = order(a.statistics, b.statistics); o != 0) return o;
  return order(a.blob, b.blob);
}

// Adds to `into` the values whose key only `from` has. If both have the key, calls `both` with
// the two values. `key` is a member or a function of a value.
template <typename T, typename Key, typename Both>
Status unite(const std::vector<T> &from, std::vector<T> *into, Key key, Both both) {
  std::map<std::decay_t<std::invoke_result_t<Key, const T &>>, std::size_t> places;
  for (std::size_t i = 0; i < into->size(); ++i) places.emplace(std::invoke(key, (*into)[i]), i);
  for (const T &value : from) {
    const auto [place, fresh] = places.emplace(std::invoke(key, value), into->size());
    if (fresh) {
      into->push_back(value);
    } else if (Status status = both(value, &(*into)[place->second]); !status.ok()) {
      return status;
    }
  }
  return {};
}

// If two blobs for the same place have different bytes, notes which one was kept.
void note_choice(MergeChoice choice, const BlobSource &from, const BlobSource &into,
                 const BlobSource &kept, std::vector<MergeChoice> *choices) {
  if (from.name() == into.name()) return;
  choice.from_kept = kept.name() == from.name();
  choice.kept = kept.name();
  choice.left_out = choice.from_kept ? into.name() : from.name();
  choices->push_back(std::move(choice));
}

// What two packs say of one text, member by member.
struct Said {
  std::string differ;              // the members in which they differ, separated by ", "
  const char *conflict = nullptr;  // the first of which neither side is the stricter

  // Calls `both` if the members differ. It unites them, and returns false if it cannot.
  template <typename T, typename Both>
  void unite(const char *member, const T &from, T *into, Both both) {
    if (order(from, *into) == 0) return;
    add(member);
    if (!both(from, into) && conflict == nullptr) conflict = member;
  }

  void add(const char *member) { differ += (differ.empty() ? "" : ", ") + std::string(member); }
};

constexpr auto kRefuse = [](const auto &, auto *) { return false; };

// Takes what one side alone sets.
constexpr auto kSet = []<typename T>(const T &from, T *into) {
  const T unset{};
  if (order(*into, unset) == 0) *into = from;
  return order(from, unset) == 0 || order(from, *into) == 0;
};

constexpr auto kSmaller = [](double from, double *into) {
  if (from < *into || (from == *into && order(from, *into) < 0)) *into = from;
  return true;
};

// Unites lists that differ. The order of the result depends on its elements alone.
template <typename Less>
auto all_by(Less less) {
  return [less]<typename T>(const std::vector<T> &from, std::vector<T> *into) {
    if (from.empty() || into->empty()) return kSet(from, into);
    into->insert(into->end(), from.begin(), from.end());
    std::sort(into->begin(), into->end(), less);
    into->erase(std::unique(into->begin(), into->end()), into->end());
    return true;
  };
}

// The text with fewer build options comes first.
bool has_fewer_options(const std::string &a, const std::string &b) {
  const auto options = [](const std::string &text) {
    return std::tuple(std::count(text.begin(), text.end(), ' '), std::string_view(text));
  };
  return options(a) < options(b);
}

bool unite_limits(const std::vector<Statistic> &from, std::vector<Statistic> *into) {
  const auto keep_stricter = [](const Statistic &a, Statistic *b) {
    const bool is_least = a.name == StatisticName::waves;
    b->value = is_least ? std::max(a.value, b->value) : std::min(a.value, b->value);
    return Status{};
  };
  (void)unite(from, into, &Statistic::name, keep_stricter);  // cannot fail
  std::sort(into->begin(), into->end(), [](auto &a, auto &b) { return a.name < b.name; });
  return true;
}

// An earlier version of Kiln wrote no `accumulates`, `extent`, `values` and `fields`.
bool unite_argument(const Argument &from, Argument *into) {
  const auto same = [](const Argument &argument) {
    const auto &[role, storage, channels, name, value, type, accumulates, stage, extent, values,
                 fields] = argument;
    (void)std::tie(accumulates, extent, values, fields);
    return std::tie(role, storage, channels, name, value, type, stage);
  };
  into->accumulates = into->accumulates || from.accumulates;
  return same(from) == same(*into) && kSet(from.extent, &into->extent) &&
         kSet(from.values, &into->values) && kSet(from.fields, &into->fields);
}

bool unite_arguments(const std::vector<Argument> &from, std::vector<Argument> *into) {
  if (from.empty() || into->empty()) return kSet(from, into);
  bool are_united = from.size() == into->size();
  for (std::size_t i = 0; are_united && i < from.size(); ++i) {
    are_united = unite_argument(from[i], &(*into)[i]);
  }
  return are_united;
}

// Takes source and IL of the side that comes first. But a text that one side has without IL stays
// without: `il = false` in its manifest may have left it out.
void unite_forms(const Variant &from, Variant *into, Said *said) {
  const auto is_alone = [](const Variant &v) { return v.source && !v.il32 && !v.il64; };
  const bool leaves_il = is_alone(from) || is_alone(*into);
  if (leaves_il && (from.il32 || from.il64 || into->il32 || into->il64)) said->add("il");
  if (order_forms(from, *into) < 0) {
    into->source = from.source;
    into->il32 = from.il32;
    into->il64 = from.il64;
    into->il_version = from.il_version;
  }
  if (!leaves_il) return;
  into->il32.reset();
  into->il64.reset();
  into->il_version = 0;
}

// Merges what two packs say of one text, as the table in FORMAT.md says of each member.
Status merge_variant(const std::string &program, const Variant &from, Variant *into,
                     std::vector<MergeChoice> *choices) {
  const auto &[name, hash, options, requirements, kernels, source, il32, il64, il_version, pixels,
               local_size, arguments, tolerance, launches, limits, local_sizes, workarounds] = from;
  Variant kept = *into;
  Said said;
  said.unite("options", options, &kept.options, kRefuse);
  said.unite("requirements", requirements, &kept.requirements, all_by(std::less<>()));
  for (std::size_t i = 0; i < std::min(kernels.size(), kept.kernels.size()); ++i) {
    said.unite("range", kernels[i].range, &kept.kernels[i].range, kSet);
  }
  said.unite("pixels", pixels, &kept.pixels, kRefuse);
  said.unite("local_size", local_size, &kept.local_size, kSet);
  said.unite("arguments", arguments, &kept.arguments, unite_arguments);
  said.unite("tolerance", tolerance, &kept.tolerance, kSmaller);
  said.unite("limits", limits, &kept.limits, unite_limits);
  said.unite("local_sizes", local_sizes, &kept.local_sizes, all_by(std::less<>()));
  said.unite("workarounds", workarounds, &kept.workarounds, all_by(has_fewer_options));
  if (said.conflict != nullptr) {
    return Status::error(Code::conflict, "program " + program + ", variant " + name +
                                             ": the packs differ in " + said.conflict +
                                             ", and neither is the stricter");
  }
  unite_parameters(from, &kept);
  unite_forms(from, &kept, &said);
  if (Status s = unite_launches(from, &kept); !s.ok()) return s;
  const auto note = [&](MergeChoice::Part part, const auto &a, const auto &b, const auto &of_kept) {
    if (!a || !b || !of_kept) return;
    note_choice({part, MergeRule::variant, from.hash}, *a, *b, *of_kept, choices);
  };
  (void)std::tie(source, il_version, launches);  // are united above
  note(MergeChoice::Part::il32, il32, into->il32, kept.il32);
  note(MergeChoice::Part::il64, il64, into->il64, kept.il64);
  if (!said.differ.empty()) {
    MergeChoice &choice =
        choices->emplace_back(MergeChoice{MergeChoice::Part::members, MergeRule::stricter, hash});
    choice.place = program + "/" + name;
    choice.members = said.differ;
  }
  *into = std::move(kept);
  return {};
}

// Takes the hints of the side that comes first.
void merge_hints(const Program &from, Program *into, std::vector<MergeChoice> *choices) {
  const bool is_first = order_hints(from, *into) < 0;
  const Program left_out = is_first ? *into : from;
  if (is_first) hints(*into) = hints(from);
  Said said;
  const auto note = [&](const char *member, const auto &left, const auto &kept) {
    if (!left.empty() && left != kept) said.add(member);
  };
  note("preferred", left_out.preferred, into->preferred);
  note("baseline", left_out.baseline, into->baseline);
  note("sizes", left_out.sizes, into->sizes);
  if (said.differ.empty()) return;
  MergeChoice &choice =
      choices->emplace_back(MergeChoice{MergeChoice::Part::members, MergeRule::hints});
  choice.place = from.name;
  choice.members = said.differ;
  choice.from_kept = is_first;
}

Status merge_program(const Program &from, Program *into, std::vector<MergeChoice> *choices) {
  const auto &[name, reference, variants, preferred, baseline, sizes] = from;
  (void)std::tie(name, preferred, baseline, sizes);  // see hints()
  if (reference != into->reference) {
    return Status::error(Code::conflict, "program " + from.name + " has two references: " +
                                             from.reference + " and " + into->reference);
  }
  merge_hints(from, into, choices);
  return unite(variants, &into->variants, &Variant::name, [&](const Variant &a, Variant *b) {
    if (a.hash != b->hash) {
      return Status::error(Code::conflict, "program " + from.name + ", variant " + a.name +
                                               ": the packs were made from different sources or "
                                               "options (" +
                                               hex(a.hash) + " and " + hex(b->hash) + ")");
    }
    return merge_variant(from.name, a, b, choices);
  });
}

// Removes the proofs within a larger tolerance than that of the merged variant of the same names.
void drop_laxer_proofs(const std::vector<Program> &own, const std::vector<Program> &merged,
                       std::vector<Target> *targets) {
  std::map<std::pair<std::string_view, std::string_view>, double> allowed;
  for (const Program &program : merged) {
    for (const Variant &variant : program.variants) {
      allowed[{program.name, variant.name}] = variant.tolerance;
    }
  }
  std::set<Digest> laxer;
  for (const Program &program : own) {
    for (const Variant &variant : program.variants) {
      const auto found = allowed.find({program.name, variant.name});
      if (found != allowed.end() && found->second < variant.tolerance) laxer.insert(variant.hash);
    }
  }
  if (laxer.empty()) return;
  const Finish none;
  for (Target &target : *targets) {
    for (auto *list : {&target.binaries, &target.intermediates}) {
      for (Binary &binary : *list) {
        if (laxer.count(binary.variant) == 0) continue;
        proof(binary.finish) = proof(none);
      }
    }
  }
}

Status merge_target(const Target &from, Target *into, std::vector<MergeChoice> *choices) {
  if (facts(from) < facts(*into)) facts(*into) = facts(from);
  if (order(from.cache_entries, into->cache_entries) < 0) into->cache_entries = from.cache_entries;
  const auto keep_first = [&](MergeChoice::Part part) {
    return [&, part](const Binary &a, Binary *b) {
      MergeChoice choice{part, MergeRule::hash, a.variant, into->key};
      const bool are_same = order_bytes(a, *b, &choice.rule) == 0;
      const bool is_first = order(a, *b) < 0;
      note_choice(std::move(choice), a.blob, b->blob, is_first ? a.blob : b->blob, choices);
      // Of the same bytes the better proof counts, whichever record is kept.
      const Finish proven = order_proofs(a.finish, b->finish) < 0 ? a.finish : b->finish;
      if (is_first) *b = a;
      if (are_same) proof(b->finish) = proof(proven);
      return Status{};
    };
  };
  // Neither call can fail.
  (void)unite(from.intermediates, &into->intermediates, &Binary::variant,
              keep_first(MergeChoice::Part::intermediate));
  return unite(from.binaries, &into->binaries, &Binary::variant,
               keep_first(MergeChoice::Part::binary));
}

// Copies values, since references would dangle when a vector grows.
template <typename... T>
std::tuple<T...> copied(const std::tuple<const T &...> &references) {
  return references;
}

// Returns whether `a` is better evidence than `b`.
bool better(const Tuning &a, const Tuning &b) {
  const auto rest = [](const Tuning &t) {
    return std::tie(t.spread, t.nanoseconds, t.default_nanoseconds, t.local_size, t.conditions,
                    t.variant_hash);
  };
  const auto is_known = [](const Tuning &t) { return t.variant_hash != Digest{}; };
  if (is_known(a) != is_known(b)) return is_known(a);
  return a.samples != b.samples ? a.samples > b.samples : rest(a) < rest(b);
}

}  // namespace

namespace {

bool is_empty(const Target &target) {
  return target.binaries.empty() && target.intermediates.empty();
}

}  // namespace

std::size_t remove_all_but_additions(const Contents &base, Contents *contents) {
  std::set<Digest> known;
  for (const Program &program : base.programs) {
    for (const Variant &variant : program.variants) known.insert(variant.hash);
  }
  drop_laxer_proofs(contents->programs, base.programs, &contents->targets);
  std::size_t left_out = 0;
  const auto unknown = [&](const Binary &binary) { return known.count(binary.variant) == 0; };
  for (Target &target : contents->targets) {
    left_out += std::erase_if(target.binaries, unknown);
    left_out += std::erase_if(target.intermediates, unknown);
  }
  std::erase_if(contents->targets, is_empty);
  // Default tunings, which name no device, are dropped, too: what one device measures need not hold
  // for the others.
  std::erase_if(contents->tunings, [](const Tuning &row) { return row.profile.empty(); });
  contents->programs = base.programs;
  (void)merge_tunings({}, contents);
  contents->known_bad.clear();
  contents->known_bad_version = 0;
  contents->programs.clear();
  contents->producer.clear();
  return left_out;
}

Contents take_out_unproven(bool all, Contents *contents) {
  Contents held;
  const auto is_held = [&](const Binary &binary) { return all || binary.finish.proof.empty(); };
  const auto move_held = [&](std::vector<Binary> *from, std::vector<Binary> *to) {
    std::copy_if(from->begin(), from->end(), std::back_inserter(*to), is_held);
    std::erase_if(*from, is_held);
    for (Binary &binary : *to) binary.finish.proof.clear();
  };
  for (Target &target : contents->targets) {
    Target apart = target;
    apart.binaries.clear();
    apart.intermediates.clear();
    apart.cache_entries.reset();
    move_held(&target.binaries, &apart.binaries);
    move_held(&target.intermediates, &apart.intermediates);
    if (!is_empty(apart)) held.targets.push_back(std::move(apart));
  }
  std::erase_if(contents->targets, is_empty);
  return held;
}

void drop_proven(const Contents &contents, Contents *held) {
  // By the target's key and the variant. A proven binary replaces an intermediate, too.
  std::set<std::pair<std::string_view, Digest>> binaries, any;
  for (const Target &target : contents.targets) {
    for (const Binary &binary : target.binaries) {
      if (!binary.finish.proof.empty()) binaries.emplace(target.key, binary.variant);
    }
    for (const Binary &binary : target.intermediates) {
      if (!binary.finish.proof.empty()) any.emplace(target.key, binary.variant);
    }
  }
  any.insert(binaries.begin(), binaries.end());
  for (Target &target : held->targets) {
    const auto is_in = [&target](const auto &proven) {
      return [&target, &proven](const Binary &binary) {
        return proven.count({target.key, binary.variant}) != 0;
      };
    };
    std::erase_if(target.binaries, is_in(binaries));
    std::erase_if(target.intermediates, is_in(any));
  }
  std::erase_if(held->targets, is_empty);
}

namespace {

// Adds rows; of two for one place the better one is kept.
void unite_tunings(const std::vector<Tuning> &from, std::vector<Tuning> *into) {
  const auto keep_better = [](const Tuning &a, Tuning *b) {
    if (better(a, *b)) *b = a;
    return Status{};
  };
  const auto place = [](const auto &record) { return copied(place_of(record)); };
  (void)unite(from, into, place, keep_better);  // cannot fail
}

}  // namespace

std::size_t merge_tunings(const std::vector<Tuning> &from, Contents *into) {
  const Variants variants(into->programs);
  std::vector<Tuning> kept;
  std::size_t others = 0;
  for (const std::vector<Tuning> *side : {&std::as_const(into->tunings), &from}) {
    std::vector<Tuning> rows = *side;
    others += std::erase_if(
        rows, [&](const Tuning &row) { return variants.with(row.variant_hash).empty(); });
    for (Tuning &row : rows) {
      if (variants.hash(row.program, row.variant) == row.variant_hash) continue;
      const NamedVariant &named = variants.with(row.variant_hash).front();
      row.program = named.program->name;  // the variant has another name here
      row.variant = named.variant->name;
    }
    unite_tunings(rows, &kept);
  }
  into->tunings = std::move(kept);
  return others;
}

namespace {

bool is_found(const KnownBad &note) { return packs::is_found(note.rungs); }
bool is_of_a_file(const KnownBad &note) { return !is_found(note); }

// Of notes of files a version without any is kept as well: it withdraws those of earlier versions.
void merge_known_bad(const Contents &from, Contents *into) {
  const bool is_later = from.known_bad_version > into->known_bad_version;
  if (is_later) std::erase_if(into->known_bad, is_of_a_file);
  std::set<KnownBad> notes(into->known_bad.begin(), into->known_bad.end());
  if (from.known_bad_version >= into->known_bad_version) {
    into->known_bad_version = from.known_bad_version;
    std::copy_if(from.known_bad.begin(), from.known_bad.end(), std::inserter(notes, notes.end()),
                 is_of_a_file);
  }
  into->known_bad.assign(notes.begin(), notes.end());
  for (const KnownBad &note : from.known_bad) {
    if (is_found(note)) add_found(note, into);
  }
}

}  // namespace

Status merge(const Contents &from, Contents *into, std::vector<MergeChoice> *choices) {
  std::vector<MergeChoice> chosen;
  std::vector<Program> programs = into->programs;  // `into` stays as it was if this fails
  Status status = unite(from.programs, &programs, &Program::name,
                        [&](const Program &a, Program *b) { return merge_program(a, b, &chosen); });
  if (!status.ok()) return status;
  std::vector<Target> targets = from.targets;
  drop_laxer_proofs(from.programs, programs, &targets);
  drop_laxer_proofs(into->programs, programs, &into->targets);
  into->programs = std::move(programs);
  into->producer = std::max(into->producer, from.producer);
  (void)unite(targets, &into->targets, &Target::key, [&](const Target &a, Target *b) {
    return merge_target(a, b, &chosen);  // cannot fail
  });
  unite_tunings(from.tunings, &into->tunings);
  const Variants variants(into->programs);
  std::erase_if(into->tunings, [&](const Tuning &row) {
    const Digest packed = variants.hash(row.program, row.variant);
    return packed != Digest{} && packed != row.variant_hash;
  });
  merge_known_bad(from, into);
  settle_found(into, &chosen);
  if (choices != nullptr) choices->insert(choices->end(), chosen.begin(), chosen.end());
  return {};
}

}  // namespace kiln::packs
