// SPDX-License-Identifier: Apache-2.0
// Reads files of keys, and asks for the password of one without showing it.
#include "builder/cli/key_options.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include "kiln/packs/descriptor.hpp"
#include "kiln/packs/key_files.hpp"

namespace kiln::cli {
namespace {

constexpr std::size_t kMaxPassword = 1024;
constexpr std::size_t kMaxDetached = 16u << 10;

// Of a file that is no pack, whose absence would end with the exit code of a bad pack.
Status key_failure(const Status &status) {
  return status.ok() || status.code == Code::bad_argument ? status : as_failed(status);
}

// The terminal shows what is typed again when this goes.
class Unseen {
 public:
  explicit Unseen(int terminal) : terminal_(terminal) {
    changed_ = tcgetattr(terminal, &before_) == 0;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    changed_ = changed_ && tcsetattr(terminal, TCSAFLUSH, &quiet) == 0;
  }
  Unseen(const Unseen &) = delete;
  Unseen &operator=(const Unseen &) = delete;
  ~Unseen() {
    if (changed_) tcsetattr(terminal_, TCSAFLUSH, &before_);
  }

 private:
  int terminal_;
  bool changed_ = false;
  termios before_{};
};

// The line's length; -1 without a terminal.
ssize_t ask_for_password(const std::string &path, packs::SecretText *line) {
  const packs::Descriptor terminal(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (!terminal) return -1;
  const std::string question = "password of " + path + ": ";
  ssize_t size = -1;
  {
    const Unseen unseen(terminal.get());  // before the question: it drops what was typed
    size = ::write(terminal.get(), question.data(), question.size());
    if (size > 0) size = ::read(terminal.get(), line->data(), line->size());
  }
  if (::write(terminal.get(), "\n", 1) < 0 || size < 0) return -1;
  if (size > 0 && line->data()[size - 1] == '\n') --size;
  return size;
}

}  // namespace

Status load_secret_key(const std::string &path, packs::SecretKey *out) {
  std::unique_ptr<packs::SecretText> text;
  if (Status s = packs::read_secret_file(path, &text); !s.ok()) return key_failure(s);
  packs::SecretText typed(kMaxPassword);
  std::string_view password;
  if (packs::is_encrypted(text->view())) {
    const char *const given = std::getenv("KILN_KEY_PASSWORD");
    const ssize_t size = given != nullptr ? 0 : ask_for_password(path, &typed);
    if (size < 0) {
      return {Code::bad_argument,
              path + ": this key has a password: set KILN_KEY_PASSWORD, or use a terminal"};
    }
    password = given != nullptr ? std::string_view(given)
                                : std::string_view(typed.data(), static_cast<std::size_t>(size));
  }
  Status s = packs::parse_secret_key(text->view(), password, out);
  return s.ok() ? s : Status(s.code, path + ": " + s.message);
}

Result<std::vector<packs::PublicKey>> load_public_keys(const std::vector<std::string> &keys) {
  std::vector<packs::PublicKey> read;
  for (const std::string &key : keys) {
    read.emplace_back();
    if (Status s = packs::read_public_key(key, &read.back()); !s.ok()) return key_failure(s);
  }
  return read;
}

Status read_detached_files(const std::string &minisig, packs::Detached *out) {
  constexpr std::string_view kSuffix = ".minisig";
  if (!minisig.ends_with(kSuffix)) {
    return {Code::bad_argument, minisig + ": the name of a detached signature ends with .minisig"};
  }
  const auto read = [](const std::string &path, std::string *text) -> Status {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) return {Code::failed, path + ": " + std::strerror(errno)};
    text->resize(kMaxDetached);
    file.read(text->data(), static_cast<std::streamsize>(text->size()));
    text->resize(static_cast<std::size_t>(file.gcount()));
    return {};
  };
  if (Status s = read(minisig, &out->signature); !s.ok()) return s;
  return read(minisig.substr(0, minisig.size() - kSuffix.size()), &out->statement);
}

}  // namespace kiln::cli
