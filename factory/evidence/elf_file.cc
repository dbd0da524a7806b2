#include "factory/evidence/elf_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/error.h"
#include "factory/evidence/byte_reader.h"

namespace kiln::evidence {
namespace {

constexpr std::uint32_t kLoad = 1, kDynamicSegment = 2, kInterp = 3;                  // PT_*
constexpr std::uint32_t kSymtab = 2, kRela = 4, kNoBits = 8, kRel = 9, kDynsym = 11;  // SHT_*; 0: unused
// Counts come from the file, which anybody may have written: a few bytes of it could ask for any amount of
// memory. These ends are far above what linkers write.
constexpr std::size_t kMostProblems = 16;
constexpr std::size_t kMostRelocations = 16u << 20;
constexpr std::size_t kMostVersions = 65'536;
constexpr std::size_t kMostSegments = 256;
constexpr std::size_t kMostNeeded = 1024;
constexpr std::size_t kMostFolders = 64;  // of RPATH and RUNPATH

// e_machine: the numbers are EM_* of elf.h.
Machine machine_of(std::uint16_t number) {
  switch (number) {
    case 3:
      return Machine::i386;
    case 62:
      return Machine::x86_64;
    case 183:
      return Machine::aarch64;
    case 21:
      return Machine::ppc64;
    default:
      return Machine::other;
  }
}

// e_type: ET_REL 1, ET_EXEC 2, ET_DYN 3, ET_CORE 4, in the order of ElfType. ET_DYN is a shared object or a
// position-independent program: PT_INTERP is what hints at the latter.
ElfType type_of(std::uint16_t number) {
  return number >= 1 && number <= 4 ? static_cast<ElfType>(number) : ElfType::other;
}

}  // namespace

// Not split(): a hostile file may hold a list of a million colons.
std::vector<std::string> folders_in(std::string_view list, std::size_t most) {
  std::vector<std::string> folders;
  while (!list.empty() && folders.size() < most) {
    std::size_t end = std::min(list.find(':'), list.size());
    if (end > 0) folders.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return folders;
}

bool is_elf(std::string_view bytes) {
  return bytes.starts_with(
      "\x7f"
      "ELF");
}

// Field offsets differ between ELFCLASS32 and ELFCLASS64; `at(a, b)` picks.
class ElfReader {
 public:
  ElfReader(std::string_view bytes, ElfFile& file) : bytes_(bytes), file_(file) {}

  void read() {
    file_.size_ = bytes_.size();
    header();
    if (file_.machine_ == Machine::other) return;
    segments();
    sections();
    index_sections();
    symbols();
    dynamic();
  }

 private:
  [[noreturn]] static void bad(const std::string& what) { throw Error(ExitCode::input, "ELF: " + what); }
  void problem(std::string what) {
    if (file_.problems_.size() < kMostProblems) file_.problems_.push_back(std::move(what));
  }
  std::uint64_t at(std::uint64_t in32, std::uint64_t in64) const { return file_.is_64_ ? in64 : in32; }
  std::uint64_t word(std::string_view from, std::uint64_t offset) const {  // an address-sized number
    return file_.is_64_ ? number_at<std::uint64_t>(from, offset) : number_at<std::uint32_t>(from, offset);
  }

  // gABI chapter 4, "ELF header": e_ident[4] is the class, [5] the byte order. 52 and 64 bytes are
  // sizeof(Elf32_Ehdr) and of Elf64_Ehdr. Big-endian files (firmware, mostly) are named and left alone: they
  // do not run in images for x86 and AArch64.
  void header() {
    if (!is_elf(bytes_) || bytes_.size() < 52) bad("the header is cut off");
    char cls = bytes_[4];
    if (cls != 1 && cls != 2) bad("neither 32 nor 64 bits");
    file_.is_64_ = cls == 2;
    if (file_.is_64_ && bytes_.size() < 64) bad("the header is cut off");
    if (bytes_[5] != 1) return problem("not little-endian: not looked into");
    file_.type_ = type_of(number_at<std::uint16_t>(bytes_, 16));
    file_.machine_ = machine_of(number_at<std::uint16_t>(bytes_, 18));
    file_.entry_ = word(bytes_, 24);
  }

  // Elf32_Phdr and Elf64_Phdr (gABI chapter 5, "Program Header") order their fields differently: p_flags
  // moved to the front. A segment that leaves the file is kept with the bytes that are there: what can be
  // mapped can run.
  void segments() {
    std::uint64_t offset = word(bytes_, at(28, 32));
    std::uint64_t size = number_at<std::uint16_t>(bytes_, at(42, 54));
    std::uint64_t count = number_at<std::uint16_t>(bytes_, at(44, 56));
    if (count == 0) return;
    if (count > kMostSegments) return problem("too many segments");
    if (size < at(32, 56) || !holds(bytes_, offset, size * count))
      return problem("the program header table leaves the file");
    for (std::uint64_t i = 0; i < count; ++i) {
      std::string_view entry = slice(bytes_, offset + i * size, size);
      Segment segment;
      segment.type = number_at<std::uint32_t>(entry, 0);
      segment.flags = number_at<std::uint32_t>(entry, at(24, 4));
      segment.address = word(entry, at(8, 16));
      segment.memory_size = word(entry, at(20, 40));
      std::uint64_t begin = word(entry, at(4, 8)), length = word(entry, at(16, 32));
      segment.bytes = slice(bytes_, begin, length);
      if (segment.bytes.size() != length) problem(fmt::format("segment {} leaves the file", i));
      file_.segments_.push_back(segment);
    }
  }

  // Section headers are for linkers and debuggers: the loader never looks at them, and files may lack them.
  // They tell code from the constants beside it, so map_functions() believes them; a file that lies in them
  // hides its code from this evidence, which is about builds and no scanner for malice.
  void sections() {
    std::uint64_t offset = word(bytes_, at(32, 40));
    std::uint64_t size = number_at<std::uint16_t>(bytes_, at(46, 58));
    std::uint64_t count = number_at<std::uint16_t>(bytes_, at(48, 60));
    std::uint64_t names = number_at<std::uint16_t>(bytes_, at(50, 62));
    if (offset == 0) return;
    if (size < at(40, 64) || !holds(bytes_, offset, size))
      return problem("the section header table leaves the file");
    if (count == 0) count = word(bytes_, offset + at(20, 32));  // gABI: in section 0's sh_size
    // SHN_XINDEX: 65,280 sections or more, the number is in section 0's sh_link.
    if (names == 0xffff) names = number_at<std::uint32_t>(bytes_, offset + at(24, 40));
    if (count > (bytes_.size() - offset) / size) return problem("the section header table leaves the file");
    for (std::uint64_t i = 0; i < count; ++i) add_section(slice(bytes_, offset + i * size, size), i);
    if (names >= file_.sections_.size()) return problem("no section names");
    std::string_view table = file_.sections_[names].bytes;
    for (std::uint64_t i = 0; i < count; ++i)
      file_.sections_[i].name = text_at(table, number_at<std::uint32_t>(bytes_, offset + i * size));
  }

  void add_section(std::string_view entry, std::uint64_t number) {
    Section section;
    section.type = number_at<std::uint32_t>(entry, 4);
    section.flags = word(entry, 8);
    section.address = word(entry, at(12, 16));
    section.size = word(entry, at(20, 32));
    section.link = number_at<std::uint32_t>(entry, at(24, 40));
    section.info = number_at<std::uint32_t>(entry, at(28, 44));
    section.entry_size = word(entry, at(36, 56));
    std::uint64_t offset = word(entry, at(16, 24));
    if (section.type != kNoBits && section.type != 0) {
      section.bytes = slice(bytes_, offset, section.size);
      if (section.bytes.size() != section.size) problem(fmt::format("section {} leaves the file", number));
    }
    file_.sections_.push_back(section);
  }

  // For section_at(), which is asked for each reference in the code. A section whose end passes 2^64 would
  // contain every address above it.
  void index_sections() {
    for (const Section& section : file_.sections_)
      if (section.allocated() && section.size > 0 && section.address + section.size > section.address)
        file_.loaded_.push_back(&section);
    std::ranges::stable_sort(file_.loaded_, {}, &Section::address);
  }

  // Elf32_Sym and Elf64_Sym (gABI chapter 4, "Symbol Table"), whose fields stand in another order. st_info:
  // binding in the upper four bits, type in the lower; st_other: visibility in the lower two.
  std::vector<Symbol> symbol_table(std::string_view table, std::string_view strings) const {
    std::vector<Symbol> symbols;
    std::uint64_t size = at(16, 24);
    symbols.reserve(table.size() / size);
    for (std::uint64_t offset = 0; holds(table, offset, size); offset += size) {
      Symbol symbol;
      symbol.name = text_at(strings, number_at<std::uint32_t>(table, offset));
      symbol.value = word(table, offset + at(4, 8));
      symbol.size = word(table, offset + at(8, 16));
      auto info = number_at<std::uint8_t>(table, offset + at(12, 4));
      symbol.type = info & 15;
      symbol.binding = static_cast<std::uint8_t>(info >> 4);
      symbol.visibility = number_at<std::uint8_t>(table, offset + at(13, 5)) & 3;
      symbol.section = number_at<std::uint16_t>(table, offset + at(14, 6));
      symbols.push_back(symbol);
    }
    return symbols;
  }

  // The first table of each kind: the gABI allows one. sh_link is the section with its strings.
  void symbols() {
    for (const Section& section : file_.sections_) {
      if (section.type != kSymtab && section.type != kDynsym) continue;
      auto& into = section.type == kSymtab ? file_.symbols_ : file_.dynamic_symbols_;
      if (!into.empty()) continue;
      if (section.link >= file_.sections_.size()) {
        problem("a symbol table has no strings");
        continue;
      }
      into = symbol_table(section.bytes, file_.sections_[section.link].bytes);
    }
  }

  // DT_* numbers are those of the gABI and glibc's elf.h.
  void dynamic() {
    std::string_view table;
    for (const Segment& segment : file_.segments_)
      if (segment.type == kDynamicSegment) table = segment.bytes;
    if (table.empty()) return start_relocations();
    std::uint64_t size = at(8, 16);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> entries;
    for (std::uint64_t offset = 0; holds(table, offset, size); offset += size) {
      std::uint64_t tag = word(table, offset);
      // DT_NULL ends the table, whatever its size says.
      if (tag == 0) break;
      entries.emplace_back(tag, word(table, offset + size / 2));
    }
    auto value = [&](std::uint64_t tag) {
      for (const auto& [key, number] : entries)
        if (key == tag) return number;
      return std::uint64_t{0};
    };
    // DT_STRTAB 5, DT_NEEDED 1, DT_SONAME 14, DT_RPATH 15, DT_RUNPATH 29, DT_INIT 12, DT_FINI 13, DT_FLAGS_1
    // 0x6ffffffb. Tables are found by the addresses in here, as the loader finds them, never by section
    // names.
    std::string_view strings = file_.bytes_at(value(5));
    auto text = [&](std::uint64_t offset) { return std::string(text_at(strings, offset)); };
    DynamicFacts& facts = file_.dynamic_;
    for (const auto& [tag, number] : entries) {
      if (tag == 1 && facts.needed.size() < kMostNeeded) facts.needed.push_back(text(number));
      if (tag == 14) facts.soname = text(number);
      if (tag == 15) facts.rpath = folders_in(text(number), kMostFolders);
      if (tag == 29) facts.runpath = folders_in(text(number), kMostFolders);
    }
    facts.init = value(12);
    facts.fini = value(13);
    facts.no_default_libraries = (value(0x6ffffffb) & 0x800) != 0;
    // DT_VERNEED and its number of entries, DT_VERDEF and its.
    needed_versions(value(0x6ffffffe), value(0x6fffffff), strings);
    defined_versions(value(0x6ffffffc), value(0x6ffffffd), strings);
    if (file_.dynamic_symbols_.empty() && value(6) != 0 && value(5) > value(6))
      // No section headers: the string table follows the symbols in what linkers write.
      file_.dynamic_symbols_ = symbol_table(slice(file_.bytes_at(value(6)), 0, value(5) - value(6)), strings);
    // DT_RELA and DT_RELASZ, DT_REL and DT_RELSZ, DT_JMPREL and DT_PLTRELSZ (DT_PLTREL says of which form: 7
    // is RELA), DT_RELR and DT_RELRSZ.
    relocations(slice(file_.bytes_at(value(7)), 0, value(8)), true);
    relocations(slice(file_.bytes_at(value(17)), 0, value(18)), false);
    relocations(slice(file_.bytes_at(value(23)), 0, value(2)), value(20) == 7);
    packed_relocations(slice(file_.bytes_at(value(36)), 0, value(35)));
  }

  // A static program has no dynamic section: its start-up code applies the relocations between two symbols of
  // the linker (glibc, csu/libc-start.c: __rela_iplt_start), which are the sections of them that are loaded.
  void start_relocations() {
    for (const Section& section : file_.sections_)
      if (section.allocated() && (section.type == kRela || section.type == kRel))
        relocations(section.bytes, section.type == kRela);
  }

  // Verneed and Vernaux (LSB 10.7): a chain of files, each with a chain of versions; every link is an offset
  // from the entry itself. Links only lead forward, so chains end; `count` and `names` are not
  // trusted to end them.
  void needed_versions(std::uint64_t address, std::uint64_t count, std::string_view strings) {
    std::string_view table = file_.bytes_at(address);
    std::uint64_t offset = 0;
    for (std::uint64_t i = 0; i < count && holds(table, offset, 16); ++i) {
      std::uint64_t entry = offset + number_at<std::uint32_t>(table, offset + 8);
      auto names = number_at<std::uint16_t>(table, offset + 2);
      for (unsigned j = 0; j < names && holds(table, entry, 16); ++j) {
        if (file_.needed_versions_.size() >= kMostVersions) return problem("too many needed versions");
        file_.needed_versions_.emplace_back(text_at(strings, number_at<std::uint32_t>(table, entry + 8)));
        auto next = number_at<std::uint32_t>(table, entry + 12);
        if (next == 0) break;
        entry += next;
      }
      auto next = number_at<std::uint32_t>(table, offset + 12);
      if (next == 0) break;
      offset += next;
    }
  }

  // Verdef (LSB 10.7), whose first Verdaux has the name. A library that defines GLIBC_2.36 can serve whatever
  // needs that and older ones.
  void defined_versions(std::uint64_t address, std::uint64_t count, std::string_view strings) {
    std::string_view table = file_.bytes_at(address);
    std::uint64_t offset = 0;
    for (std::uint64_t i = 0; i < count && holds(table, offset, 20); ++i) {
      if (file_.defined_versions_.size() >= kMostVersions) return problem("too many defined versions");
      std::uint64_t name = offset + number_at<std::uint32_t>(table, offset + 12);
      file_.defined_versions_.emplace_back(text_at(strings, number_at<std::uint32_t>(table, name)));
      auto next = number_at<std::uint32_t>(table, offset + 16);
      if (next == 0) break;
      offset += next;
    }
  }

  // Elf32_Rel, Elf64_Rela and their kin (gABI chapter 4, "Relocation"). r_info: symbol and type, 24 and 8
  // bits or 32 and 32. Without an addend in the entry it is what the place itself holds.
  void relocations(std::string_view table, bool with_addend) {
    std::uint64_t size = with_addend ? at(12, 24) : at(8, 16);
    for (std::uint64_t offset = 0; holds(table, offset, size); offset += size) {
      if (file_.relocations_.size() >= kMostRelocations) return problem("too many relocations");
      Relocation relocation;
      relocation.place = word(table, offset);
      std::uint64_t info = word(table, offset + at(4, 8));
      relocation.type = static_cast<std::uint32_t>(file_.is_64_ ? info & 0xffffffff : info & 0xff);
      relocation.symbol = static_cast<std::uint32_t>(file_.is_64_ ? info >> 32 : info >> 8);
      if (!with_addend)
        relocation.addend = static_cast<std::int64_t>(word(file_.bytes_at(relocation.place), 0));
      else
        relocation.addend = file_.is_64_ ? number_at<std::int64_t>(table, offset + 16)
                                         : number_at<std::int32_t>(table, offset + 8);
      file_.relocations_.push_back(relocation);
    }
  }

  // SHT_RELR: an address, then bitmaps of the words that follow it; all are relative relocations.
  void packed_relocations(std::string_view table) {
    std::uint64_t step = at(4, 8), next = 0;
    // R_AARCH64_RELATIVE 1027, R_X86_64_RELATIVE and R_386_RELATIVE 8.
    auto add = [&](std::uint64_t place) {
      std::uint64_t target = word(file_.bytes_at(place), 0);
      file_.relocations_.push_back(
          {place, file_.machine_ == Machine::aarch64 ? 1027u : 8u, 0, static_cast<std::int64_t>(target)});
    };
    for (std::uint64_t offset = 0; holds(table, offset, step); offset += step) {
      // One bitmap of 8 bytes stands for 63 relocations: a small file could ask for a lot.
      if (file_.relocations_.size() + 64 > kMostRelocations) return problem("too many relocations");
      std::uint64_t entry = word(table, offset);
      if ((entry & 1) == 0) {
        add(entry);
        next = entry + step;
        continue;
      }
      for (std::uint64_t bit = 1; bit < step * 8; ++bit)
        if ((entry >> bit & 1) != 0) add(next + (bit - 1) * step);
      next += (step * 8 - 1) * step;
    }
  }

  std::string_view bytes_;
  ElfFile& file_;
};

ElfFile::ElfFile(std::string_view bytes) { ElfReader(bytes, *this).read(); }

std::string ElfFile::interpreter() const {
  for (const Segment& segment : segments_)
    if (segment.type == kInterp) return std::string(text_at(segment.bytes, 0));
  return "";
}

const Section* ElfFile::section(std::string_view name) const {
  for (const Section& section : sections_)
    if (section.name == name) return &section;
  return nullptr;
}

const Section* ElfFile::section_at(std::uint64_t address) const {
  auto after = std::ranges::upper_bound(loaded_, address, {}, &Section::address);
  if (after == loaded_.begin()) return nullptr;
  const Section* section = *std::prev(after);
  return address - section->address < section->size ? section : nullptr;
}

// Of p_filesz, not p_memsz: what follows is zeros of .bss, which no table is in.
std::string_view ElfFile::bytes_at(std::uint64_t address) const {
  if (address == 0) return {};
  for (const Segment& segment : segments_)
    if (segment.type == kLoad && address >= segment.address &&
        address - segment.address < segment.bytes.size())
      return segment.bytes.substr(static_cast<std::size_t>(address - segment.address));
  return {};
}

}  // namespace kiln::evidence
