/* SPDX-License-Identifier: Apache-2.0 */
/* Reads packs as packs/FORMAT.md describes them. Each access to the root or a section is checked
 * where it happens: a place outside of the buffer marks the buffer as malformed and reads 0. */
#include "kiln_dropin.h"

#include <stdio.h>
#include <string.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif

#define XXH_INLINE_ALL
#include <xxhash.h>

#ifdef KILN_DROPIN_DECOMPRESS
size_t KILN_DROPIN_DECOMPRESS(void *to, size_t to_size, const void *from, size_t from_size);
#endif

/* ---- Bytes and FlatBuffers ---- */

typedef struct buffer {
  const unsigned char *bytes;
  uint64_t size;
  int malformed;
} buffer;

typedef struct span {
  uint64_t at;
  uint32_t count;
} span;

typedef struct text {
  const char *at;
  size_t size;
} text;

static uint64_t number(const unsigned char *at, unsigned size) {
  uint64_t value = 0;
  while (size-- != 0) value = value << 8 | at[size];
  return value;
}

static int inside(buffer *b, uint64_t at, uint64_t size) {
  if (size <= b->size && at <= b->size - size) return 1;
  b->malformed = 1;
  return 0;
}

static uint64_t read_number(buffer *b, uint64_t at, unsigned size) {
  return inside(b, at, size) ? number(b->bytes + at, size) : 0;
}

static uint64_t follow(buffer *b, uint64_t at) {
  const uint64_t offset = read_number(b, at, 4);
  if (offset == 0 || offset > 0x7fffffff) b->malformed = 1;
  return at + offset;
}

/* The place of a table's field; 0 if the table lacks it. */
static uint64_t field(buffer *b, uint64_t table, unsigned index) {
  const uint64_t back = read_number(b, table, 4);
  /* A place before the buffer wraps to a very large number. */
  const uint64_t vtable = table - (back < 0x80000000 ? back : back - 0x100000000);
  const uint64_t size = read_number(b, vtable, 2);
  const uint64_t slot = 4 + 2 * (uint64_t)index;
  const uint64_t offset = slot + 2 <= size ? read_number(b, vtable + slot, 2) : 0;
  return offset == 0 || b->malformed ? 0 : table + offset;
}

static uint64_t field_number(buffer *b, uint64_t table, unsigned index, unsigned size) {
  const uint64_t at = field(b, table, index);
  return at == 0 ? 0 : read_number(b, at, size);
}

/* The vector to which a place points. */
static span vector_at(buffer *b, uint64_t at, unsigned element) {
  span found = {0, 0};
  const uint64_t place = follow(b, at);
  const uint64_t count = read_number(b, place, 4);
  if (b->malformed || !inside(b, place + 4, count * element)) return found;
  found.at = place + 4;
  found.count = (uint32_t)count;
  return found;
}

static span vector(buffer *b, uint64_t table, unsigned index, unsigned element) {
  const span none = {0, 0};
  const uint64_t at = field(b, table, index);
  return at == 0 ? none : vector_at(b, at, element);
}

static text text_at(buffer *b, uint64_t at) {
  const span found = vector_at(b, at, 1);
  text empty = {"", 0};
  if (b->malformed) return empty;
  if (read_number(b, found.at + found.count, 1) != 0) b->malformed = 1;
  if (b->malformed) return empty;
  empty.at = (const char *)b->bytes + found.at;
  empty.size = found.count;
  return empty;
}

static text text_field(buffer *b, uint64_t table, unsigned index) {
  const text empty = {"", 0};
  const uint64_t at = field(b, table, index);
  return at == 0 ? empty : text_at(b, at);
}

static text text_of(const char *string) {
  text made = {"", 0};
  if (string != NULL) {
    made.at = string;
    made.size = strlen(string);
  }
  return made;
}

static int compare(text a, text b) {
  const int order = memcmp(a.at, b.at, a.size < b.size ? a.size : b.size);
  if (order != 0) return order;
  return a.size == b.size ? 0 : a.size < b.size ? -1 : 1;
}

static int equal(text a, const char *b) { return compare(a, text_of(b)) == 0; }

/* A table of a sorted vector by its name, which is its first field; 0: there is none. */
static uint64_t find_named(buffer *b, span tables, const char *name) {
  uint32_t begin = 0, end = tables.count;
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    const uint64_t table = follow(b, tables.at + 4 * (uint64_t)middle);
    const int order = compare(text_field(b, table, 0), text_of(name));
    if (b->malformed) return 0;
    if (order == 0) return table;
    if (order < 0) begin = middle + 1;
    if (order > 0) end = middle;
  }
  return 0;
}

/* ---- The pack's parts ---- */

/* Fields in the order of pack.fbs. */
enum { ROOT_TARGETS, ROOT_PROGRAMS, ROOT_BLOBS, ROOT_TEXTS = 6, ROOT_KNOWN_BAD };
enum { PROGRAM_VARIANTS = 2 };
enum { VARIANT_HASH = 1, VARIANT_OPTIONS, VARIANT_REQUIREMENTS, VARIANT_KERNELS, VARIANT_SOURCE };
enum { VARIANT_IL32 = 6, VARIANT_IL64 };
enum { SECTION_KEY, SECTION_PROFILE, SECTION_FAMILY, SECTION_MODEL, SECTION_COMPILER };
enum { SECTION_IDENTITY = 5, SECTION_BINARIES, SECTION_PROVENANCE, SECTION_BLOBS };
enum { PROVENANCE_FINALITY = 2, PROVENANCE_DRIVER = 7, PROVENANCE_PROOF = 9 };
/* Sizes of structs, and of the names that are hashes. */
enum { TARGET_SIZE = 64, BLOB_SIZE = 72, BINARY_SIZE = 40, NOTE_SIZE = 52, NAME_SIZE = 32 };

static const char root_malformed[] = "the pack's root is malformed";
static const char section_malformed[] = "the target's section is malformed";

static buffer root_of(const kiln_dropin_pack *pack) {
  buffer made = {0, 0, 0};
  made.bytes = pack->root;
  made.size = pack->root_size;
  return made;
}

static int placed(const kiln_dropin_pack *pack, uint64_t offset, uint64_t size) {
  return offset >= 64 && offset % 64 == 0 && offset <= pack->size && size <= pack->size - offset;
}

const char *kiln_dropin_open(kiln_dropin_pack *pack, const void *bytes, size_t size) {
  static const unsigned char magic[] = {0x89, 'K', 'L', 'N', '\r', '\n', 0x1a, '\n'};
  const unsigned char *at = bytes;
  uint64_t incompat, root;
  memset(pack, 0, sizeof(*pack));
  if (size < 64 || memcmp(at, magic, sizeof(magic)) != 0) return "these bytes are not a Kiln pack";
  if (number(at + 56, 8) != XXH3_64bits(at, 56)) return "the pack's superblock is damaged";
  if (number(at + 8, 4) != 1) return "the pack has another format version than 1";
  incompat = number(at + 12, 4);
  if ((incompat & ~(uint64_t)2) != 0 || (incompat == 0 && number(at + 20, 4) != 0)) {
    return "the pack needs a later reader";
  }
  pack->bytes = at;
  pack->size = number(at + 48, 8);
  if (pack->size > size || pack->size > (uint64_t)1 << 40) return "the pack is truncated";
  root = number(at + 24, 8);
  pack->root_size = number(at + 32, 8);
  if (pack->root_size == 0 || pack->root_size > 256 << 20 || !placed(pack, root, pack->root_size)) {
    return "the pack's root lies outside of the pack";
  }
  pack->root = at + root;
  if (number(at + 40, 8) != XXH3_64bits(pack->root, (size_t)pack->root_size)) {
    return "the pack's root is damaged";
  }
  return NULL;
}

static const char *read_blob(const kiln_dropin_pack *pack, const unsigned char *entry, void *memory,
                             size_t size, kiln_dropin_code *out) {
  const uint64_t offset = number(entry + NAME_SIZE, 8), stored = number(entry + NAME_SIZE + 8, 8);
  const uint64_t raw = number(entry + NAME_SIZE + 16, 8), codec = number(entry + NAME_SIZE + 32, 4);
  if (codec > 1 || number(entry + NAME_SIZE + 36, 4) != 0) {
    return "the code is stored in a form that only Kiln's runtime reads";
  }
  if (stored > 1 << 30 || raw > 1 << 30 || !placed(pack, offset, stored) ||
      (codec == 0 && stored != raw)) {
    return "the pack's entry for the code is malformed";
  }
  out->size = (size_t)raw;
  out->bytes = pack->bytes + offset;
  if (codec == 1) {
#ifdef KILN_DROPIN_DECOMPRESS
    static const unsigned char frame[] = {0x28, 0xb5, 0x2f, 0xfd};
    if (size < out->size || (memory == NULL && raw != 0)) return "the memory is too small";
    if (stored < sizeof(frame) || memcmp(out->bytes, frame, sizeof(frame)) != 0 ||
        KILN_DROPIN_DECOMPRESS(memory, out->size, out->bytes, (size_t)stored) != out->size) {
      return "the code is damaged: it cannot be decompressed";
    }
    out->bytes = memory;
#else
    (void)memory, (void)size;
    return "the code is compressed, and this program was built without KILN_DROPIN_DECOMPRESS";
#endif
  }
  if (XXH3_64bits(out->bytes, out->size) != number(entry + NAME_SIZE + 24, 8)) {
    return "the code is damaged: its bytes do not have the recorded hash";
  }
  return NULL;
}

/* ---- The device and its target ---- */

enum {
  PLATFORM_NAME,
  PLATFORM_VENDOR,
  PLATFORM_VERSION,
  DEVICE_NAME,
  DEVICE_VENDOR,
  DEVICE_VENDOR_ID,
  DEVICE_VERSION,
  OPENCL_C_VERSION,
  DEVICE_PROFILE,
  ADDRESS_BITS,
  DRIVER_VERSION,
  DEVICE_UUID,
  DRIVER_UUID,
  IP_VERSION,
  COMPUTE_CAPABILITY,
  IL_VERSION,
  EXTENSIONS_HASH,
  INSTRUCTION_SET
};

static const char fact_names[KILN_DROPIN_FACTS][19] = {
    "platform_name",   "platform_vendor",  "platform_version",   "device_name",
    "device_vendor",   "device_vendor_id", "device_version",     "opencl_c_version",
    "device_profile",  "address_bits",     "driver_version",     "device_uuid",
    "driver_uuid",     "ip_version",       "compute_capability", "il_version",
    "extensions_hash", "instruction_set"};

/* A driver's functions, and the caller's memory that is left. */
typedef struct driver {
  cl_int(CL_API_CALL *platform_info)(cl_platform_id, cl_platform_info, size_t, void *, size_t *);
  cl_int(CL_API_CALL *device_info)(cl_device_id, cl_device_info, size_t, void *, size_t *);
  cl_platform_id platform;
  cl_device_id device;
  char *memory;
  size_t left;
  int full;
} driver;

static cl_int ask(const driver *d, int of_platform, cl_uint what, size_t size, void *to,
                  size_t *written) {
  return of_platform ? d->platform_info(d->platform, what, size, to, written)
                     : d->device_info(d->device, what, size, to, written);
}

static int ask_number(const driver *d, cl_uint what, cl_uint *out) {
  return ask(d, 0, what, sizeof(*out), out, NULL) == CL_SUCCESS;
}

static char *take(driver *d, size_t size) {
  char *taken = d->memory;
  if (size > d->left) {
    d->full = 1;
    return NULL;
  }
  d->memory += size;
  d->left -= size;
  return taken;
}

static const char *ask_text(driver *d, int of_platform, cl_uint what) {
  size_t size = 0, written;
  char *to;
  if (ask(d, of_platform, what, 0, NULL, &size) != CL_SUCCESS || size > 1 << 20) return NULL;
  to = take(d, size + 1);
  written = size;
  if (to == NULL || (size != 0 && ask(d, of_platform, what, size, to, &written) != CL_SUCCESS)) {
    return NULL;
  }
  to[written < size ? written : size] = '\0';
  return to;
}

static const char *hexadecimal(driver *d, const unsigned char *bytes, size_t count) {
  static const char digits[] = "0123456789abcdef";
  char *to = take(d, 2 * count + 1), *at = to;
  if (to == NULL) return NULL;
  for (; count-- != 0; ++bytes) {
    *at++ = digits[*bytes >> 4];
    *at++ = digits[*bytes & 15];
  }
  *at = '\0';
  return to;
}

static const char *formatted(driver *d, const char *format, cl_uint a, cl_uint b) {
  char *to = take(d, 32);
  if (to != NULL) snprintf(to, 32, format, a, b);
  return to;
}

static int is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Takes the first word off a string; empty after the last. */
static text take_word(const char **string) {
  text word;
  while (is_space(**string)) ++*string;
  word.at = *string;
  while (**string != '\0' && !is_space(**string)) ++*string;
  word.size = (size_t)(*string - word.at);
  return word;
}

static int has_word(const char *string, const char *name) {
  text word;
  while ((word = take_word(&string)).size != 0) {
    if (equal(word, name)) return 1;
  }
  return 0;
}

/* The hash of the words, each once, in ascending order with a space between two. */
static const char *hash_of_words(driver *d, const char *string) {
  char *joined = take(d, strlen(string) + 1), *end = joined;
  unsigned char hash[8];
  text last = {"", 0};
  uint64_t value;
  unsigned i;
  if (joined == NULL) return NULL;
  for (;;) {
    const char *rest = string;
    text word, next = {"", 0};
    while ((word = take_word(&rest)).size != 0) {
      if (compare(word, last) > 0 && (next.size == 0 || compare(word, next) < 0)) next = word;
    }
    if (next.size == 0) break;
    if (end != joined) *end++ = ' ';
    memcpy(end, next.at, next.size);
    end += next.size;
    last = next;
  }
  value = XXH3_64bits(joined, (size_t)(end - joined));
  for (i = 0; i < 8; ++i) hash[i] = (unsigned char)(value >> (56 - 8 * i));
  return hexadecimal(d, hash, sizeof(hash));
}

/* 301 for "OpenCL 3.1 ..."; 0 for any other text. */
static unsigned opencl_version(const char *string) {
  if (string == NULL || strncmp(string, "OpenCL ", 7) != 0) return 0;
  string += 7;
  if (string[0] < '1' || string[0] > '9' || string[1] != '.') return 0;
  if (string[2] < '0' || string[2] > '9') return 0;
  return (unsigned)(string[0] - '0') * 100 + (unsigned)(string[2] - '0');
}

static void ask_extended(driver *d, const char *extensions, const char **facts) {
  enum { CL_IL_VERSION = 0x105B, CL_UUID = 0x106A, CL_DRIVER = 0x106B };
  enum { CL_CAPABILITY_MAJOR = 0x4000, CL_CAPABILITY_MINOR = 0x4001, CL_IP_VERSION = 0x4250 };
  const unsigned version = opencl_version(facts[DEVICE_VERSION]);
  cl_uint major = 0, minor = 0;
  if (version >= 301 || has_word(extensions, "cl_khr_device_uuid")) {
    unsigned char uuid[16];
    if (ask(d, 0, CL_UUID, sizeof(uuid), uuid, NULL) == CL_SUCCESS) {
      facts[DEVICE_UUID] = hexadecimal(d, uuid, sizeof(uuid));
    }
    if (ask(d, 0, CL_DRIVER, sizeof(uuid), uuid, NULL) == CL_SUCCESS) {
      facts[DRIVER_UUID] = hexadecimal(d, uuid, sizeof(uuid));
    }
  }
  if (has_word(extensions, "cl_intel_device_attribute_query") &&
      ask_number(d, CL_IP_VERSION, &major)) {
    facts[IP_VERSION] = formatted(d, "0x%08x", major, 0);
  }
  if (has_word(extensions, "cl_nv_device_attribute_query") &&
      ask_number(d, CL_CAPABILITY_MAJOR, &major) && ask_number(d, CL_CAPABILITY_MINOR, &minor) &&
      major - 1 < 99 && minor < 100) {
    facts[COMPUTE_CAPABILITY] = formatted(d, "%u.%u", major, minor);
  }
  if (version >= 201 || has_word(extensions, "cl_khr_il_program")) {
    facts[IL_VERSION] = ask_text(d, 0, CL_IL_VERSION);
  }
}

/* The level of the x86-64 psABI that the processor and the system support; NULL elsewhere. */
static const char *instruction_set(void) {
#if defined(__x86_64__) && defined(__GNUC__)
  const unsigned sse42 = 0x00900200, avx = 0x38401000, avx2 = 0x00000128, avx512 = 0xd0030000;
  unsigned a = 0, b = 0, c = 0, d = 0, saved = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & sse42) != sse42) return "x86-64";
  if ((c & avx) != avx || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (b & avx2) != avx2) {
    return "x86-64-v2";
  }
  __asm__("xgetbv" : "=a"(saved), "=d"(d) : "c"(0));
  if ((saved & 0x06) != 0x06) return "x86-64-v2";
  return (saved & 0xe6) == 0xe6 && (b & avx512) == avx512 ? "x86-64-v4" : "x86-64-v3";
#else
  return NULL;
#endif
}

const char *kiln_dropin_identify(
    cl_int(CL_API_CALL *platform_info)(cl_platform_id, cl_platform_info, size_t, void *, size_t *),
    cl_int(CL_API_CALL *device_info)(cl_device_id, cl_device_info, size_t, void *, size_t *),
    cl_device_id device, char *memory, size_t size, kiln_dropin_device *out) {
  static const struct {
    int fact, of_platform;
    cl_uint what;
  } strings[] = {{PLATFORM_NAME, 1, CL_PLATFORM_NAME},
                 {PLATFORM_VENDOR, 1, CL_PLATFORM_VENDOR},
                 {PLATFORM_VERSION, 1, CL_PLATFORM_VERSION},
                 {DEVICE_NAME, 0, CL_DEVICE_NAME},
                 {DEVICE_VENDOR, 0, CL_DEVICE_VENDOR},
                 {DEVICE_VERSION, 0, CL_DEVICE_VERSION},
                 {OPENCL_C_VERSION, 0, CL_DEVICE_OPENCL_C_VERSION},
                 {DEVICE_PROFILE, 0, CL_DEVICE_PROFILE},
                 {DRIVER_VERSION, 0, CL_DRIVER_VERSION}};
  const char **facts = out->facts;
  const char *extensions;
  cl_uint value = 0;
  cl_device_type type = 0;
  size_t i;
  driver d;
  d.platform_info = platform_info;
  d.device_info = device_info;
  d.platform = NULL;
  d.device = device;
  d.memory = memory;
  d.left = size;
  d.full = 0;
  for (i = 0; i < KILN_DROPIN_FACTS; ++i) facts[i] = NULL;
  if (device_info(device, CL_DEVICE_PLATFORM, sizeof(d.platform), &d.platform, NULL) !=
      CL_SUCCESS) {
    return "the driver does not say to which platform the device belongs";
  }
  for (i = 0; i < sizeof(strings) / sizeof(strings[0]); ++i) {
    facts[strings[i].fact] = ask_text(&d, strings[i].of_platform, strings[i].what);
  }
  if (ask_number(&d, CL_DEVICE_VENDOR_ID, &value)) {
    facts[DEVICE_VENDOR_ID] = formatted(&d, "0x%x", value, 0);
  }
  if (ask_number(&d, CL_DEVICE_ADDRESS_BITS, &value)) {
    facts[ADDRESS_BITS] = formatted(&d, "%u", value, 0);
  }
  extensions = ask_text(&d, 0, CL_DEVICE_EXTENSIONS);
  if (extensions != NULL) facts[EXTENSIONS_HASH] = hash_of_words(&d, extensions);
  ask_extended(&d, extensions != NULL ? extensions : "", facts);
  if (device_info(device, CL_DEVICE_TYPE, sizeof(type), &type, NULL) == CL_SUCCESS &&
      (type & CL_DEVICE_TYPE_CPU) != 0) {
    facts[INSTRUCTION_SET] = instruction_set();
  }
  return d.full ? "the memory is too small for what the driver says" : NULL;
}

/* The index of a fact; KILN_DROPIN_FACTS: no such name. Most come in order, `next` first. */
static int fact_index(text name, int next) {
  int i;
  for (i = 0; i < KILN_DROPIN_FACTS; ++i) {
    const int index = (next + i) % KILN_DROPIN_FACTS;
    if (equal(name, fact_names[index])) return index;
  }
  return KILN_DROPIN_FACTS;
}

/* Gets the facts of a section's device; a null pointer for each that it lacks. */
static void recorded_facts(buffer *section, text *facts) {
  const span all = vector(section, follow(section, 0), SECTION_IDENTITY, 4);
  const text none = {NULL, 0};
  uint32_t i;
  int index = -1;
  for (i = 0; i < KILN_DROPIN_FACTS; ++i) facts[i] = none;
  for (i = 0; i < all.count && !section->malformed; ++i) {
    const uint64_t fact = follow(section, all.at + 4 * (uint64_t)i);
    index = fact_index(text_field(section, fact, 0), index + 1);
    if (index < KILN_DROPIN_FACTS) facts[index] = text_field(section, fact, 1);
  }
}

/* Marks the facts that a binary key, lines of "name=value", names. */
static void mark_named(text key, unsigned char *marks) {
  int index = -1;
  while (key.size != 0) {
    const char *end = memchr(key.at, '\n', key.size);
    const size_t line = end == NULL ? key.size : (size_t)(end - key.at) + 1;
    const char *equals = memchr(key.at, '=', line);
    text name = key;
    name.size = equals == NULL ? 0 : (size_t)(equals - key.at);
    index = fact_index(name, index + 1);
    if (index < KILN_DROPIN_FACTS) marks[index] = 1;
    key.at += line;
    key.size -= line;
  }
}

/* A profile recognises its driver by the four facts that are marked first. It takes the rest of a
 * key from these and from facts that the key has, too; device_uuid is in no key. Which facts a key
 * has depends on which are there. So where these facts are equal, the keys are. */
static int fits(buffer *section, const kiln_dropin_device *device) {
  unsigned char marks[KILN_DROPIN_FACTS] = {0};
  text theirs[KILN_DROPIN_FACTS];
  int i;
  marks[PLATFORM_NAME] = marks[DEVICE_NAME] = marks[DEVICE_VENDOR] = marks[DEVICE_VERSION] = 1;
  recorded_facts(section, theirs);
  mark_named(text_field(section, follow(section, 0), SECTION_KEY), marks);
  for (i = 0; i < KILN_DROPIN_FACTS; ++i) {
    const char *ours = device->facts[i];
    if (i == DEVICE_UUID) continue;
    if (theirs[i].at == NULL && ours != NULL) return 0;
    if (theirs[i].at != NULL && marks[i] && (ours == NULL || !equal(theirs[i], ours))) return 0;
  }
  return !section->malformed;
}

static const char *read_section(const kiln_dropin_pack *pack, const unsigned char *entry,
                                buffer *section) {
  const uint64_t offset = number(entry + 8, 8);
  text key;
  section->size = number(entry + 16, 8);
  section->malformed = 0;
  if (section->size == 0 || section->size > 64 << 20 || !placed(pack, offset, section->size)) {
    return root_malformed;
  }
  section->bytes = pack->bytes + offset;
  if (XXH3_64bits(section->bytes, (size_t)section->size) != number(entry + 24, 8)) {
    return "the target's section is damaged";
  }
  key = text_field(section, follow(section, 0), SECTION_KEY);
  if (section->malformed || XXH3_64bits(key.at, key.size) != number(entry, 8)) {
    return section_malformed;
  }
  return NULL;
}

const char *kiln_dropin_find_target(const kiln_dropin_pack *pack, const kiln_dropin_device *device,
                                    uint64_t key_hash, kiln_dropin_target *target) {
  const char *why = "no target of the pack was built for this device and this driver";
  buffer root = root_of(pack), section;
  const span targets = vector(&root, follow(&root, 0), ROOT_TARGETS, TARGET_SIZE);
  uint32_t i;
  memset(target, 0, sizeof(*target));
  for (i = 0; i < targets.count; ++i) {
    const unsigned char *entry = root.bytes + targets.at + TARGET_SIZE * (uint64_t)i;
    const char *damage;
    if (key_hash != 0 && number(entry, 8) != key_hash) continue;
    damage = read_section(pack, entry, &section);
    if (damage != NULL) {
      why = damage;
    } else if (key_hash != 0 || fits(&section, device)) {
      target->section = section.bytes;
      target->size = section.size;
      target->device = device;
      return NULL;
    }
  }
  return root.malformed ? root_malformed : why;
}

/* ---- Known-bad notes and versions ---- */

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c; }

/* Whether a pattern with * and ? is empty or fits the name. */
static int fits_name(text pattern, text name) {
  size_t p = 0, n = 0, star = pattern.size, resume = 0;
  if (pattern.size == 0) return 1;
  while (n < name.size) {
    if (p < pattern.size && pattern.at[p] != '*' &&
        (pattern.at[p] == '?' || lower(pattern.at[p]) == lower(name.at[n]))) {
      ++p, ++n;
    } else if (p < pattern.size && pattern.at[p] == '*') {
      star = p++;
      resume = n;
    } else if (star < pattern.size) {
      p = star + 1;
      n = ++resume;
    } else {
      return 0;
    }
  }
  while (p < pattern.size && pattern.at[p] == '*') ++p;
  return p == pattern.size;
}

/* Takes the next number off a version, without leading zeros: empty for 0 and after the last. */
static text take_number(text *version) {
  text taken;
  size_t i = 0, begin;
  while (i < version->size && (version->at[i] < '0' || version->at[i] > '9')) ++i;
  while (i < version->size && version->at[i] == '0') ++i;
  begin = i;
  while (i < version->size && version->at[i] >= '0' && version->at[i] <= '9') ++i;
  taken.at = version->at + begin;
  taken.size = i - begin;
  version->at += i;
  version->size -= i;
  return taken;
}

static int compare_versions(text a, text b) {
  while (a.size != 0 || b.size != 0) {
    const text x = take_number(&a), y = take_number(&b);
    const int order = x.size != y.size ? (x.size < y.size ? -1 : 1) : memcmp(x.at, y.at, x.size);
    if (order != 0) return order;
  }
  return 0;
}

static int is_between(text version, text from, text below) {
  return compare_versions(version, from) >= 0 &&
         (below.size == 0 || compare_versions(version, below) < 0);
}

/* Whether one of the variant's kernels fits the pattern. */
static int fits_kernel(buffer *root, uint64_t variant, text pattern) {
  const span kernels = vector(root, variant, VARIANT_KERNELS, 4);
  uint32_t i;
  for (i = 0; i < kernels.count && !root->malformed; ++i) {
    const uint64_t kernel = follow(root, kernels.at + 4 * (uint64_t)i);
    if (fits_name(pattern, text_field(root, kernel, 0))) return 1;
  }
  return pattern.size == 0;
}

/* Whether a note of the pack leaves out the form of the variant on the target's device. */
static int is_known_bad(buffer *root, buffer *section, const kiln_dropin_device *device,
                        const char *program, uint64_t variant, kiln_dropin_form form) {
  enum { PROGRAM, VARIANT, KERNEL, PROFILE, FAMILY, MODEL, DRIVER_FROM, DRIVER_BELOW };
  enum { COMPILER_FROM = 8, COMPILER_BELOW, TEXTS };
  static const uint32_t rungs[] = {2, 8, 8, 16}; /* of each form */
  const uint64_t table = follow(section, 0), top = follow(root, 0);
  const span notes = vector(root, top, ROOT_KNOWN_BAD, NOTE_SIZE);
  const span texts = vector(root, top, ROOT_TEXTS, 4);
  const text version = text_of(device->facts[DRIVER_VERSION]);
  text compiler = text_field(section, table, SECTION_COMPILER);
  uint64_t left = 16 * root->size; /* rows may share texts, but not very long ones */
  uint32_t i, k;
  text built_on[KILN_DROPIN_FACTS];
  if (notes.count == 0) return 0;
  /* Where the driver is the compiler, it may be another than the target's. */
  recorded_facts(section, built_on);
  if (built_on[DRIVER_VERSION].at != NULL && compare(built_on[DRIVER_VERSION], compiler) == 0) {
    compiler = version;
  }
  for (i = 0; i < notes.count; ++i) {
    const unsigned char *note = root->bytes + notes.at + NOTE_SIZE * (uint64_t)i;
    text t[TEXTS];
    if ((number(note + NOTE_SIZE - 4, 4) & rungs[form]) == 0) continue;
    for (k = 0; k < TEXTS; ++k) {
      const uint64_t index = number(note + 4 * (size_t)k, 4);
      if (index >= texts.count) root->malformed = 1;
      if (root->malformed) return 0;
      t[k] = text_at(root, texts.at + 4 * index);
      if (t[k].size > left) root->malformed = 1;
      left -= t[k].size;
    }
    if (root->malformed) return 0;
    if (fits_name(t[PROGRAM], text_of(program)) &&
        fits_name(t[VARIANT], text_field(root, variant, 0)) &&
        fits_kernel(root, variant, t[KERNEL]) &&
        fits_name(t[PROFILE], text_field(section, table, SECTION_PROFILE)) &&
        fits_name(t[FAMILY], text_field(section, table, SECTION_FAMILY)) &&
        fits_name(t[MODEL], text_field(section, table, SECTION_MODEL)) &&
        is_between(version, t[DRIVER_FROM], t[DRIVER_BELOW]) &&
        is_between(compiler, t[COMPILER_FROM], t[COMPILER_BELOW])) {
      return 1;
    }
  }
  return 0;
}

/* ---- Code ---- */

static const char *find_variant(buffer *root, const char *program, const char *name,
                                uint64_t *variant) {
  const uint64_t found = find_named(root, vector(root, follow(root, 0), ROOT_PROGRAMS, 4), program);
  span variants;
  if (root->malformed) return root_malformed;
  if (found == 0) return "the pack has no program of that name";
  variants = vector(root, found, PROGRAM_VARIANTS, 4);
  if (name == NULL && variants.count > 1) return "the program has several variants: name one";
  if (name == NULL && variants.count == 1) {
    *variant = follow(root, variants.at);
  } else {
    *variant = name == NULL ? 0 : find_named(root, variants, name);
  }
  if (root->malformed) return root_malformed;
  return *variant == 0 ? "the program has no variant of that name" : NULL;
}

static int requires_proof(buffer *root, uint64_t variant) {
  const span words = vector(root, variant, VARIANT_REQUIREMENTS, 4);
  uint32_t i;
  for (i = 0; i < words.count; ++i) {
    if (equal(text_at(root, words.at + 4 * (uint64_t)i), "proof")) return 1;
  }
  return 0;
}

/* The index of a variant's binary, which its hash names; the number of binaries: there is none. */
static uint32_t find_binary(buffer *section, span binaries, const unsigned char *hash) {
  uint32_t begin = 0, end = binaries.count;
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    const int order =
        memcmp(section->bytes + binaries.at + BINARY_SIZE * (uint64_t)middle, hash, NAME_SIZE);
    if (order == 0) return middle;
    if (order < 0) begin = middle + 1;
    if (order > 0) end = middle;
  }
  return binaries.count;
}

/* Sets `*entry` to the blob of the variant's binary, if it may be used here. */
static const char *find_exact(buffer *root, buffer *section, const kiln_dropin_device *device,
                              uint64_t variant, const unsigned char **entry,
                              kiln_dropin_code *out) {
  static const char by_source[] = "the program built from source, ";
  const uint64_t table = follow(section, 0);
  const span binaries = vector(section, table, SECTION_BINARIES, BINARY_SIZE);
  const span provenances = vector(section, table, SECTION_PROVENANCE, 4);
  const span blobs = vector(section, table, SECTION_BLOBS, BLOB_SIZE);
  const text profile = text_field(section, table, SECTION_PROFILE);
  const uint64_t hash = field(root, variant, VARIANT_HASH);
  uint64_t provenance, blob;
  uint32_t index;
  text maker, proof;
  if (hash == 0 || !inside(root, hash, NAME_SIZE)) return root_malformed;
  index = find_binary(section, binaries, root->bytes + hash);
  if (section->malformed) return section_malformed;
  if (index == binaries.count) return "the target has no binary of this variant";
  blob = number(section->bytes + binaries.at + BINARY_SIZE * (uint64_t)index + NAME_SIZE, 4);
  if (blob >= blobs.count || provenances.count != binaries.count) return section_malformed;
  provenance = follow(section, provenances.at + 4 * (uint64_t)index);
  maker = text_field(section, provenance, PROVENANCE_DRIVER);
  proof = text_field(section, provenance, PROVENANCE_PROOF);
  out->finality = (int)field_number(section, provenance, PROVENANCE_FINALITY, 1);
  /* rusticl compiles nothing only where Mesa's cache has the pack's entries. */
  if (equal(profile, "rusticl") && out->finality == 1) out->finality = 0;
  if (section->malformed) return section_malformed;
  if (equal(profile, "nvidia") &&
      compare_versions(maker, text_of(device->facts[DRIVER_VERSION])) > 0) {
    return "the binary was made by a later driver";
  }
  if (requires_proof(root, variant) &&
      (proof.size == 0 || strncmp(proof.at, by_source, sizeof(by_source) - 1) == 0)) {
    return "the variant needs a binary with a proof, and this one has none";
  }
  if (equal(profile, "pocl") && out->options != NULL &&
      strstr(out->options, "-cl-denorms-are-zero") != NULL) {
    out->options = "-cl-denorms-are-zero";
  } else {
    out->options = NULL;
  }
  *entry = section->bytes + blobs.at + BLOB_SIZE * blob;
  return NULL;
}

/* Sets `*entry` to the blob of the variant's source or SPIR-V. */
static const char *find_portable(buffer *root, uint64_t variant, kiln_dropin_form form,
                                 const unsigned char **entry) {
  const unsigned place = form == KILN_DROPIN_SOURCE ? VARIANT_SOURCE
                         : form == KILN_DROPIN_IL32 ? VARIANT_IL32
                                                    : VARIANT_IL64;
  const span blobs = vector(root, follow(root, 0), ROOT_BLOBS, BLOB_SIZE);
  const uint64_t blob = field_number(root, variant, place, 4);
  if (requires_proof(root, variant)) return "the variant needs a binary with a proof";
  if (root->malformed || blob > blobs.count) return root_malformed;
  if (blob == 0 && form == KILN_DROPIN_SOURCE) return "the pack has no source of this variant";
  if (blob == 0) return "the pack has no SPIR-V of this variant for these addresses";
  *entry = root->bytes + blobs.at + BLOB_SIZE * (blob - 1);
  return NULL;
}

const char *kiln_dropin_find(const kiln_dropin_pack *pack, const kiln_dropin_target *target,
                             const char *program, const char *variant, kiln_dropin_form form,
                             void *memory, size_t size, kiln_dropin_code *out) {
  buffer root = root_of(pack), section = {0, 0, 0};
  const unsigned char *entry = NULL;
  const char *why;
  uint64_t found = 0;
  memset(out, 0, sizeof(*out));
  if (form == KILN_DROPIN_BINARY && target == NULL) return "a binary needs a target";
  why = find_variant(&root, program, variant, &found);
  if (why != NULL) return why;
  out->options = text_field(&root, found, VARIANT_OPTIONS).at;
  if (target != NULL) {
    section.bytes = target->section;
    section.size = target->size;
    if (is_known_bad(&root, &section, target->device, program, found, form)) {
      return "a known-bad note of the pack leaves it out on this driver";
    }
  }
  if (root.malformed) return root_malformed;
  if (section.malformed) return section_malformed;
  why = form == KILN_DROPIN_BINARY ? find_exact(&root, &section, target->device, found, &entry, out)
                                   : find_portable(&root, found, form, &entry);
  if (why == NULL && root.malformed) why = root_malformed;
  if (why == NULL) why = read_blob(pack, entry, memory, size, out);
  if (why != NULL) out->bytes = NULL; /* nothing that failed a check */
  return why;
}
