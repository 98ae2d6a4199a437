// SPDX-License-Identifier: Apache-2.0
// A pack as JSON, for `kiln pack inspect --json` and users' scripts.
#pragma once

#include <nlohmann/json.hpp>

#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Returns JSON of schema 1: format and sizes, programs with variants, targets with their raw
// identity strings, binaries with blob sizes and hashes, provenance, tunings. Key
// hashes are 16 hexadecimal digits. Reads no blob except launches.
nlohmann::json describe_pack(const packs::Pack &pack, const packs::Contents &contents);
// Returns the same members without format and size.
nlohmann::json describe_contents(const packs::Contents &contents);

// Returns the name that people know a target by: device name and driver version.
std::string target_label(const packs::Target &target);

// Returns "yes", "no" or "not launched".
const char *finality_name(packs::Finality finality);

// Returns "registers", "spills", ... for a name that this Kiln knows.
const char *statistic_name(packs::StatisticName name);
// Returns the binary's statistics with such names.
std::vector<packs::Statistic> known_statistics(const packs::Binary &binary);
// Returns the name of the variant's kernel with that index; "kernel 2" if it is not known.
std::string kernel_name(const packs::Contents &contents, const packs::Digest &hash,
                        std::uint32_t index);
// Returns a line for each kernel, "    blur: 12 registers, 0 spills"; empty without statistics.
std::string statistics_text(const packs::Contents &contents, const packs::Binary &binary);

// Returns "small", "medium" or "large".
const char *size_class_name(packs::SizeClass size_class);

// Returns where a tuning was measured: "Mali-G710", "mali, family Mali Valhall", "any device".
std::string tuning_place(const packs::Tuning &tuning);

// Returns "final", "not final: its first launch compiles" or "not launched: ...".
std::string finish_text(const packs::Finish &finish);

// Returns "Iq, Iqxy, ...": the first kernels, by which users know a program.
std::string kernels_label(const std::vector<std::string> &kernels);

// Returns " (Iq, Iqxy, ...)" for a variant of a recorded program, whose name is made of its source
// and says nothing; empty for other programs.
std::string recorded_kernels(const packs::Program &program, const packs::Variant &variant);

// Returns "read_only image2d_t from", "global const float* values", "uint width", as far as known.
std::string parameter_text(const packs::Parameter &parameter);
// Returns "scale(global float* values, uint width)".
std::string kernel_text(const packs::Kernel &kernel);

// Returns "laplace/scalar" for the variant with that hash; the hash if there is no such variant.
std::string variant_label(const packs::Contents &contents, const packs::Digest &hash);
// Returns the same for people, with recorded_kernels().
std::string variant_title(const packs::Contents &contents, const packs::Digest &hash);

}  // namespace kiln::builder
