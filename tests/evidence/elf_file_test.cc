// Real files are read as readelf reads them; damaged ones are refused or stepped over, never followed.
#include "factory/evidence/elf_file.h"

#include <algorithm>

#include "compiled.h"
#include "factory/base/error.h"

namespace kiln::evidence {
namespace {

const std::string& library() {
  static const std::string kBytes = testing::Compiler().shared(
      "#include <stdio.h>\n#include <math.h>\n"
      "__attribute__((noinline)) static double hidden(double x) { return sin(x) + 1; }\n"
      "double visible(double x) { printf(\"%f\", x); return hidden(x); }",
      "-Wl,-soname,libthis.so.1 -Wl,-rpath,'$ORIGIN/../lib:/opt/x' -Wl,--enable-new-dtags -Wl,--no-as-needed "
      "-lm");
  return kBytes;
}

TEST(ElfFile, SaysWhatTheDynamicSectionSays) {
  ElfFile file(library());
  EXPECT_EQ(file.type(), ElfType::shared);
  EXPECT_EQ(file.dynamic().soname, "libthis.so.1");
  EXPECT_EQ(file.dynamic().runpath, (std::vector<std::string>{"$ORIGIN/../lib", "/opt/x"}));
  const auto& needed = file.dynamic().needed;
  EXPECT_NE(std::find(needed.begin(), needed.end(), "libc.so.6"), needed.end());
  EXPECT_NE(std::find(needed.begin(), needed.end(), "libm.so.6"), needed.end());
  EXPECT_TRUE(file.problems().empty());
  bool glibc = false;
  for (const std::string& version : file.needed_versions()) glibc |= version.starts_with("GLIBC_2.");
  EXPECT_TRUE(glibc);
}

TEST(ElfFile, NamesItsFunctions) {
  ElfFile file(library());
  auto has = [](const std::vector<Symbol>& symbols, std::string_view name) {
    return std::any_of(symbols.begin(), symbols.end(),
                       [&](const Symbol& symbol) { return symbol.name == name && symbol.type == kFunction; });
  };
  EXPECT_TRUE(has(file.symbols(), "hidden"));
  EXPECT_TRUE(has(file.dynamic_symbols(), "visible"));
  EXPECT_FALSE(has(file.dynamic_symbols(), "hidden"));
}

TEST(ElfFile, SymbolsWithoutSectionHeaders) {
  std::string bytes = library();
  std::fill(bytes.begin() + 40, bytes.begin() + 48, '\0');  // e_shoff
  std::fill(bytes.begin() + 60, bytes.begin() + 64, '\0');  // e_shnum, e_shstrndx
  ElfFile file(bytes);
  EXPECT_TRUE(file.sections().empty());
  EXPECT_EQ(file.dynamic().soname, "libthis.so.1");
  EXPECT_GT(file.dynamic_symbols().size(), 3u);
}

TEST(ElfFile, ExecutablesHaveAnInterpreterAndAnEntry) {
  const std::string bytes = testing::Compiler().compile("int main(void) { return 0; }", "");
  ElfFile file(bytes);
  EXPECT_NE(file.interpreter().find("ld-linux"), std::string::npos);
  EXPECT_NE(file.entry(), 0u);
}

TEST(ElfFile, RefusesWhatIsNone) {
  EXPECT_THROW(ElfFile(std::string("\x7f"
                                   "ELF")),
               Error);
  EXPECT_THROW(ElfFile(std::string(64, 'x')), Error);
  EXPECT_FALSE(
      is_elf("\x7f"
             "EL"));
}

TEST(ElfFile, BigEndianIsSaidToBeNotLookedInto) {
  std::string bytes = library();
  bytes[5] = 2;
  EXPECT_EQ(ElfFile(bytes).machine(), Machine::other);
  EXPECT_FALSE(ElfFile(bytes).problems().empty());
}

// Every prefix, and every byte of the headers and tables turned over: the sanitizers watch.
TEST(ElfFile, SurvivesTruncation) {
  for (std::size_t size = 64; size < library().size(); size += 97) {
    std::string cut = library().substr(0, size);
    FileFacts facts = examine(cut, 1);
    EXPECT_EQ(facts.machine, Machine::x86_64);
  }
}

TEST(ElfFile, SurvivesEveryDamagedByte) {
  std::size_t headers = library().size();
  for (std::size_t at = 4; at < headers; at += at < 1024 ? 1 : 13) {
    std::string bytes = library();
    bytes[at] = static_cast<char>(~bytes[at]);
    try {
      examine(bytes, 1);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
    }
  }
}

TEST(ElfFile, HugeCountsAreBounded) {
  std::string bytes = library();
  for (std::size_t at : {56u, 57u, 60u, 61u}) bytes[at] = '\xff';  // e_phnum, e_shnum
  ElfFile file(bytes);
  EXPECT_LE(file.problems().size(), 16u);
  EXPECT_FALSE(file.problems().empty());
}

// A few headers must not make a small file long work.
TEST(ElfFile, ExecutableSectionsShareNoBytes) {
  std::string bytes = library();
  auto number = [&](std::size_t at, int size) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, static_cast<std::size_t>(size));
    return value;
  };
  auto put = [&](std::size_t at, std::uint64_t value) { std::memcpy(bytes.data() + at, &value, 8); };
  const std::size_t headers = number(40, 8);
  for (std::size_t i = 1; i < number(60, 2); ++i) {
    std::size_t at = headers + i * 64;
    put(at + 8, 6);                        // sh_flags: allocated, executable
    put(at + 16, std::uint64_t{i} << 32);  // sh_addr
    put(at + 24, 0);                       // sh_offset
    put(at + 32, bytes.size());            // sh_size
  }
  try {
    examine(bytes, 1);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_EQ(error.message(), "ELF: executable parts share bytes of the file");
  }
}

TEST(ElfFile, Relocations32And64) {
  ElfFile file(library());
  EXPECT_FALSE(file.relocations().empty());
  for (const Relocation& relocation : file.relocations())
    EXPECT_NE(file.section_at(relocation.place), nullptr) << relocation.place;
}

TEST(FunctionMap, StrippedFilesKeepTheirBoundaries) {
  std::string source;
  for (int i = 0; i < 9; ++i) {
    std::string n = std::to_string(i);
    source += "__attribute__((noinline)) static int f" + n + "(int x) { return x * 3" + n + " ^ " + n +
              "; }\nint g" + n + "(int x) { return f" + n + "(x) + f" + n + "(x + 1); }\n";
  }
  std::string with = testing::Compiler().shared(source), without = testing::Compiler().stripped(source, "");
  ElfFile full(with), bare(without);
  auto boundaries = [](const ElfFile& file) {
    std::vector<std::uint64_t> begins;
    for (const Function& function : map_functions(file).functions)
      if (!function.gap) begins.push_back(function.begin);
    return begins;
  };
  EXPECT_TRUE(bare.symbols().empty());
  std::vector<std::uint64_t> all = boundaries(full), kept = boundaries(bare);
  for (const Symbol& symbol : full.symbols()) {
    bool ours = symbol.name.size() == 2 && (symbol.name[0] == 'f' || symbol.name[0] == 'g');
    if (symbol.type != kFunction || !ours) continue;
    EXPECT_NE(std::find(kept.begin(), kept.end(), symbol.value), kept.end()) << symbol.name;
  }
  EXPECT_LE(kept.size(), all.size());
}

}  // namespace
}  // namespace kiln::evidence
