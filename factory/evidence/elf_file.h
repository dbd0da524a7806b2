// A strict reader of ELF files (System V gABI chapters 4 and 5; LSB for symbol versions), for untrusted
// bytes: every offset, size and count is checked before its use, and no section header is trusted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::evidence {

bool is_elf(std::string_view bytes);

// The first folders, `most` at most, of a list with colons between them (RPATH, RUNPATH, LD_LIBRARY_PATH),
// without empty ones.
std::vector<std::string> folders_in(std::string_view list, std::size_t most);

struct Section {
  std::string_view name;  // "" without a string table
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t entry_size = 0;
  std::string_view bytes;  // empty for SHT_NOBITS
  bool executable() const { return (flags & 4) != 0; }
  bool writable() const { return (flags & 1) != 0; }
  bool allocated() const { return (flags & 2) != 0; }
};

struct Segment {
  std::uint32_t type = 0;
  std::uint32_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t memory_size = 0;
  std::string_view bytes;
  bool executable() const { return (flags & 1) != 0; }
  bool writable() const { return (flags & 2) != 0; }
};

struct Symbol {
  std::string_view name;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  std::uint8_t type = 0;     // STT_*: 2 function, 10 IFUNC
  std::uint8_t binding = 0;  // STB_*: 0 local, 1 global, 2 weak
  std::uint8_t visibility = 0;
  std::uint16_t section = 0;  // 0: undefined
};
inline constexpr std::uint8_t kObject = 1;
inline constexpr std::uint8_t kFunction = 2;
inline constexpr std::uint8_t kIndirectFunction = 10;

struct Relocation {
  std::uint64_t place = 0;  // address
  std::uint32_t type = 0;
  std::uint32_t symbol = 0;  // of .dynsym
  std::int64_t addend = 0;
};

// Contents of the dynamic section.
struct DynamicFacts {
  std::string soname;
  std::vector<std::string> needed;
  std::vector<std::string> rpath;    // split at ":"
  std::vector<std::string> runpath;  // split at ":"
  std::uint64_t init = 0;            // addresses, 0: none
  std::uint64_t fini = 0;
  bool no_default_libraries = false;  // DF_1_NODEFLIB
};

enum class Machine { other, i386, x86_64, aarch64, ppc64 };
enum class ElfType { other, relocatable, executable, shared, core };

class ElfFile {
 public:
  // `bytes` outlives the file. Throws Error(input) when the headers are damaged; what a damaged table deeper
  // inside costs is in problems().
  explicit ElfFile(std::string_view bytes);
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  std::uint64_t size() const { return size_; }  // of the file, in bytes
  Machine machine() const { return machine_; }
  ElfType type() const { return type_; }
  bool is_64() const { return is_64_; }
  std::uint64_t entry() const { return entry_; }
  std::string interpreter() const;
  const std::vector<Section>& sections() const { return sections_; }
  const std::vector<Segment>& segments() const { return segments_; }
  const Section* section(std::string_view name) const;  // the first of this name, or nullptr
  // The section that holds an address when loaded, or nullptr.
  const Section* section_at(std::uint64_t address) const;
  // The bytes at an address up to the end of its section or segment; empty when there are none.
  std::string_view bytes_at(std::uint64_t address) const;

  const std::vector<Symbol>& symbols() const { return symbols_; }                  // .symtab, else empty
  const std::vector<Symbol>& dynamic_symbols() const { return dynamic_symbols_; }  // with the null symbol
  const DynamicFacts& dynamic() const { return dynamic_; }
  const std::vector<Relocation>& relocations() const { return relocations_; }  // dynamic, RELR included
  const std::vector<std::string>& needed_versions() const { return needed_versions_; }    // GLIBC_2.34, …
  const std::vector<std::string>& defined_versions() const { return defined_versions_; }  // of .gnu.version_d
  // Damage that was stepped over, for the report; at most 16.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  friend class ElfReader;
  std::uint64_t size_ = 0;
  Machine machine_ = Machine::other;
  ElfType type_ = ElfType::other;
  bool is_64_ = true;
  std::uint64_t entry_ = 0;
  std::vector<Section> sections_;
  std::vector<const Section*> loaded_;  // by address
  std::vector<Segment> segments_;
  std::vector<Symbol> symbols_;
  std::vector<Symbol> dynamic_symbols_;
  DynamicFacts dynamic_;
  std::vector<Relocation> relocations_;
  std::vector<std::string> needed_versions_;
  std::vector<std::string> defined_versions_;
  std::vector<std::string> problems_;
};

}  // namespace kiln::evidence
