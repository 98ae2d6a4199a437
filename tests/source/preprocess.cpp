// SPDX-License-Identifier: Apache-2.0
// Runs Clang's preprocessor in this process, over the disk, as PoCL and rusticl do.
#include "tests/source/preprocess.hpp"

#include <memory>
#include <regex>
#include <utility>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/FileManager.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Basic/TargetInfo.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/Utils.h>
#include <clang/Lex/HeaderSearch.h>
#include <clang/Lex/MacroInfo.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Pragma.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/Support/VirtualFileSystem.h>
#pragma GCC diagnostic pop

namespace kiln::cases {
namespace {

// The first error's text.
class FirstError : public clang::DiagnosticConsumer {
 public:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic &info) override {
    clang::DiagnosticConsumer::HandleDiagnostic(level, info);
    if (level < clang::DiagnosticsEngine::Error || !text.empty()) return;
    llvm::SmallString<128> message;
    info.FormatDiagnostic(message);
    text = message.str().str();
  }

  std::string text;
};

class NotesTime : public clang::PPCallbacks {
 public:
  explicit NotesTime(bool *uses_time) : uses_time_(uses_time) {}

  void MacroExpands(const clang::Token &name, const clang::MacroDefinition & /*macro*/,
                    clang::SourceRange /*range*/, const clang::MacroArgs * /*args*/) override {
    const llvm::StringRef text = name.getIdentifierInfo()->getName();
    if (text == "__DATE__" || text == "__TIME__" || text == "__TIMESTAMP__") *uses_time_ = true;
  }

 private:
  bool *uses_time_;
};

void append(std::string &out, clang::Preprocessor &preprocessor, const clang::Token &token) {
  out += preprocessor.getSpelling(token);
  const clang::IdentifierInfo *name = token.getIdentifierInfo();
  if (name != nullptr && name->getName().startswith("__builtin_")) {
    // These are made of the place later, by the parser.
    const bool file = name->getName() == "__builtin_FILE";
    if (file || name->getName() == "__builtin_LINE") {
      const auto place = preprocessor.getSourceManager().getPresumedLoc(token.getLocation());
      out += file ? std::string("@") + place.getFilename() : "@" + std::to_string(place.getLine());
    }
  }
  out += '\n';
}

// Whether a text has the time as these macros write it; they may be expanded to be dropped.
bool has_time(const std::string &text) {
  static const std::regex time("[0-9]{2}:[0-9]{2}:[0-9]{2}|[A-Z][a-z]{2} [ 0-9][0-9] [0-9]{4}");
  return std::regex_search(text, time);
}

// Pragmas that only the parser knows stay in the text.
class KeepsPragmas : public clang::PragmaHandler {
 public:
  explicit KeepsPragmas(std::string *out) : out_(out) {}

  void HandlePragma(clang::Preprocessor &preprocessor, clang::PragmaIntroducer /*introducer*/,
                    clang::Token &first) override {
    *out_ += "#pragma\n";
    for (clang::Token token = first; token.isNot(clang::tok::eod); preprocessor.Lex(token)) {
      append(*out_, preprocessor, token);
    }
  }

 private:
  std::string *out_;
};

}  // namespace

std::vector<std::string> words_of(std::string_view options, Dialect dialect) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;
  char quote = '\0';
  const auto end = [&] {
    if (open) words.push_back(std::exchange(word, {}));
    open = false;
  };
  for (const char c : options) {
    const bool blank = dialect == Dialect::rusticl
                           ? c == ' '
                           : std::string_view(" \t\n\v\f\r").find(c) != std::string_view::npos;
    const bool quotes =
        (c == '"' && dialect != Dialect::pocl) || (c == '\'' && dialect == Dialect::quoting);
    if (quotes && (quote == '\0' || quote == c)) {
      quote = quote == '\0' ? c : '\0';
      if (dialect == Dialect::rusticl) {
        end();
      } else {
        open = true;
      }
    } else if (blank && quote == '\0') {
      end();
    } else {
      word += c;
      open = true;
    }
  }
  end();
  return words;
}

std::vector<std::string> arguments_of(std::string_view options, Dialect dialect) {
  std::vector<std::string> arguments = {"-x",
                                        "cl",
                                        "-triple",
                                        "spir64-unknown-unknown",
                                        "-D__OPENCL_VERSION__=120",
                                        "-nostdsysteminc",
                                        "-nobuiltininc"};
  if (dialect == Dialect::pocl) arguments.emplace_back("-I.");
  for (std::string &word : words_of(options, dialect)) arguments.push_back(std::move(word));
  if (options.find("-cl-std=") == std::string_view::npos) arguments.emplace_back("-cl-std=CL1.2");
  return arguments;
}

Preprocessed preprocess(const std::string &text, std::string_view options, Dialect dialect) {
  Preprocessed result;
  FirstError errors;
  const llvm::IntrusiveRefCntPtr<clang::DiagnosticIDs> ids(new clang::DiagnosticIDs());
  const auto invocation = std::make_shared<clang::CompilerInvocation>();
  {
    clang::DiagnosticsEngine diagnostics(ids, new clang::DiagnosticOptions(), &errors, false);
    const std::vector<std::string> arguments = arguments_of(options, dialect);
    std::vector<const char *> pointers;
    pointers.reserve(arguments.size());
    for (const std::string &argument : arguments) pointers.push_back(argument.c_str());
    if (!clang::CompilerInvocation::CreateFromArgs(*invocation, pointers, diagnostics)) {
      result.error = errors.text;
      return result;
    }
  }
  // Nothing is read of a path that no folder of a case has.
  const char *name = dialect == Dialect::pocl ? "/nonexistent/program.cl" : "program.cl";
  auto &frontend = invocation->getFrontendOpts();
  frontend.Inputs.clear();
  auto &pp_options = invocation->getPreprocessorOpts();
  const auto buffer = llvm::MemoryBuffer::getMemBuffer(text, name, true);

  const llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> diagnostics(
      new clang::DiagnosticsEngine(ids, &invocation->getDiagnosticOpts(), &errors, false));
  clang::ProcessWarningOptions(*diagnostics, invocation->getDiagnosticOpts(), false);
  const auto system = clang::createVFSFromCompilerInvocation(*invocation, *diagnostics);
  const llvm::IntrusiveRefCntPtr<clang::FileManager> files(
      new clang::FileManager(invocation->getFileSystemOpts(), system));
  clang::SourceManager sources(*diagnostics, *files);
  const llvm::IntrusiveRefCntPtr<clang::TargetInfo> target(
      clang::TargetInfo::CreateTargetInfo(*diagnostics, invocation->TargetOpts));
  clang::LangOptions &language = *invocation->getLangOpts();
  if (target == nullptr) return result;
  target->adjust(*diagnostics, language);
  clang::TrivialModuleLoader modules;
  clang::HeaderSearch search(invocation->getHeaderSearchOptsPtr(), sources, *diagnostics, language,
                             target.get());
  clang::ApplyHeaderSearchOptions(search, invocation->getHeaderSearchOpts(), language,
                                  target->getTriple());
  clang::Preprocessor preprocessor(invocation->getPreprocessorOptsPtr(), *diagnostics, language,
                                   sources, search, modules);
  preprocessor.Initialize(*target);
  clang::RawPCHContainerReader pch;
  clang::InitializePreprocessor(preprocessor, pp_options, pch, frontend);
  errors.BeginSourceFile(language, &preprocessor);

  const auto entry = files->getVirtualFileRef(name, static_cast<off_t>(text.size()), 0);
  sources.overrideFileContents(entry, buffer->getMemBufferRef());
  sources.setMainFileID(
      sources.createFileID(entry, clang::SourceLocation(), clang::SrcMgr::C_User));
  preprocessor.addPPCallbacks(std::make_unique<NotesTime>(&result.uses_time));
  // Clang's own handlers of pragmas for the text stay; all others are kept as -E keeps them.
  KeepsPragmas keeps(&result.tokens);
  preprocessor.AddPragmaHandler(&keeps);
  preprocessor.EnterMainSourceFile();
  clang::Token token;
  for (preprocessor.Lex(token); token.isNot(clang::tok::eof); preprocessor.Lex(token)) {
    append(result.tokens, preprocessor, token);
  }
  preprocessor.RemovePragmaHandler(&keeps);
  preprocessor.EndSourceFile();
  errors.EndSourceFile();
  result.ok = errors.getNumErrors() == 0;
  result.uses_time = result.uses_time && has_time(result.tokens);
  result.error = errors.text;
  return result;
}

}  // namespace kiln::cases
