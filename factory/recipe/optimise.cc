#include "factory/recipe/optimise.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "factory/base/text.h"
#include "factory/base/version.h"

namespace kiln {
namespace {

constexpr std::array<std::string_view, 6> kLlvm = {"clang", "apple-clang", "aocc", "arm", "oneapi", "dpcpp"};

struct Word {
  std::string_view text;
  OptimiseSetting Optimise::*setting;
  std::string_view value;
};

constexpr std::array<Word, 11> kWords = {{{"o0", &Optimise::level, "0"},
                                          {"o1", &Optimise::level, "1"},
                                          {"o2", &Optimise::level, "2"},
                                          {"o3", &Optimise::level, "3"},
                                          {"os", &Optimise::level, "s"},
                                          {"lto", &Optimise::lto, "full"},
                                          {"thinlto", &Optimise::lto, "thin"},
                                          {"nolto", &Optimise::lto, "off"},
                                          {"pgo-generate", &Optimise::pgo, "generate"},
                                          {"pgo-use", &Optimise::pgo, "use"},
                                          {"nopgo", &Optimise::pgo, "off"}}};

bool is_on(const OptimiseSetting& setting) { return !setting.word.empty() && setting.word != "off"; }

std::string word_of(OptimiseSetting Optimise::*setting, const std::string& value) {
  for (const Word& word : kWords)
    if (word.setting == setting && word.value == value) return std::string(word.text);
  return "";
}

bool is_classic_intel(std::string_view compiler) { return compiler == "intel"; }

void add(std::string& flags, const std::string& more) {
  if (!more.empty()) flags += (flags.empty() ? "" : " ") + more;
}

// "" when the compiler has LTO, else why not.
std::string add_lto(const Optimise& optimise, std::string_view compiler, std::string_view version,
                    OptimiseFlags& flags) {
  const bool thin = optimise.lto.word == "thin";
  std::string flag;
  if (compiler == "gcc") {
    // -flto=auto came with GCC 10; before, -flto linked with one process.
    flag = Version(std::string(version)) < Version("10") ? "-flto" : "-flto=auto";
    if (thin) flags.note = "gcc has no ThinLTO; its own LTO, which is parallel, is used";
  } else if (is_llvm(compiler)) {
    flag = thin ? "-flto=thin" : "-flto";
  } else if (is_classic_intel(compiler)) {
    flag = "-ipo";
    if (thin) flags.note = "intel has no ThinLTO; -ipo is used";
  } else {
    return fmt::format("kiln knows no link-time optimisation of {}", compiler);
  }
  add(flags.compile, flag);
  add(flags.link, flag);
  return "";
}

std::string add_pgo(const Optimise& optimise, std::string_view compiler, std::string_view version,
                    OptimiseFlags& flags) {
  const bool use = optimise.pgo.word == "use";
  const std::string& folder = optimise.profile;
  if (compiler == "gcc") {
    // Counters of threads may disagree: atomic when they are written, corrected when they are read.
    std::string flag = use ? fmt::format("-fprofile-use={} -fprofile-correction -Wno-missing-profile", folder)
                           : "-fprofile-generate=" + folder;
    add(flags.link, use ? "" : flag);
    if (!use && !(Version(std::string(version)) < Version("7"))) flag += " -fprofile-update=prefer-atomic";
    add(flags.compile, flag);
  } else if (is_llvm(compiler)) {
    const std::string flag = fmt::format("-fprofile-{}={}", use ? "use" : "generate", folder);
    add(flags.compile, flag);
    add(flags.link, use ? "" : flag);
  } else if (is_classic_intel(compiler)) {
    const std::string flag = fmt::format("-prof-{} -prof-dir={}", use ? "use" : "gen", folder);
    add(flags.compile, flag);
    add(flags.link, use ? "" : flag);
  } else {
    return fmt::format("kiln knows no profile-guided optimisation of {}", compiler);
  }
  return "";
}

}  // namespace

bool is_llvm(std::string_view compiler) { return contains(kLlvm, compiler); }

Optimise Optimise::overridden_by(const Optimise& other) const {
  Optimise both = *this;
  if (!other.level.word.empty()) both.level = other.level;
  if (!other.lto.word.empty()) both.lto = other.lto;
  if (!other.pgo.word.empty()) both.pgo = other.pgo;
  if (!other.profile.empty()) both.profile = other.profile;
  return both;
}

bool Optimise::says_nothing() const { return level.word.empty() && lto.word.empty() && pgo.word.empty(); }

std::string Optimise::text() const {
  std::string text = word_of(&Optimise::level, level.word.empty() ? "2" : level.word);
  if (is_on(lto)) text += "+" + word_of(&Optimise::lto, lto.word);
  if (is_on(pgo)) text += "+" + word_of(&Optimise::pgo, pgo.word);
  return text;
}

Optimise parse_optimise(std::string_view value, const SourceLocation& where, std::string_view said_by) {
  Optimise optimise;
  if (value == "none") return optimise;
  for (std::string_view text : split(value, '+')) {
    auto word = std::ranges::find(kWords, text, &Word::text);
    if (word == kWords.end()) {
      std::vector<std::string> words;
      for (const Word& known : kWords) words.emplace_back(known.text);
      throw Error(ExitCode::input, where, fmt::format("'{}' is no way to optimise", text),
                  did_you_mean(text, words, "none, or words joined by '+': "));
    }
    OptimiseSetting& setting = optimise.*(word->setting);
    if (!setting.word.empty())
      throw Error(ExitCode::input, where,
                  fmt::format("'{}' and '{}' contradict each other in '{}'",
                              word_of(word->setting, setting.word), text, value),
                  "one level, one sort of LTO, one of PGO");
    setting = {std::string(word->value), std::string(said_by)};
  }
  return optimise;
}

std::variant<OptimiseFlags, std::string> optimise_flags(const Optimise& optimise, std::string_view compiler,
                                                        std::string_view version) {
  OptimiseFlags flags;
  const std::string level = optimise.level.word.empty() ? "2" : optimise.level.word;
  if (level == "s" && compiler == "nvhpc") return std::string("nvhpc has no level 's'");
  flags.level = "-O" + level;
  std::string problem;
  if (is_on(optimise.lto)) problem = add_lto(optimise, compiler, version, flags);
  if (problem.empty() && is_on(optimise.pgo)) problem = add_pgo(optimise, compiler, version, flags);
  if (!problem.empty()) return problem;
  return flags;
}

}  // namespace kiln
