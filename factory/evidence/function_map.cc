#include "factory/evidence/function_map.h"

#include <algorithm>

#include "factory/base/error.h"
#include "factory/evidence/byte_reader.h"

namespace kiln::evidence {
namespace {

// Bytes of an entry of the procedure linkage table, on x86-64, i386 and AArch64 alike.
constexpr std::uint64_t kPltStride = 16;
constexpr std::uint8_t kGlobal =
    1;  // weak ones are inline functions, whose other users have a copy of their own
// A section of any size may call itself .plt.
constexpr std::size_t kMostPltEntries = 1u << 20;

// Executable bytes with their address.
struct Region {
  std::uint64_t begin = 0;
  std::string_view bytes;
  bool plt = false;
  std::uint64_t end() const { return begin + bytes.size(); }
};

// By section, because a segment covers read-only data as well, which decodes as nonsense; by segment where a
// file has no section headers.
std::vector<Region> executable_regions(const ElfFile& file) {
  std::vector<Region> regions;
  for (const Section& section : file.sections())
    if (section.executable() && section.allocated() && !section.bytes.empty() &&
        section.address + section.bytes.size() > section.address)
      regions.push_back({section.address, section.bytes, section.name.starts_with(".plt")});
  if (regions.empty())
    for (const Segment& segment : file.segments())
      if (segment.type == 1 && segment.executable() && !segment.bytes.empty() &&
          segment.address + segment.bytes.size() > segment.address)
        regions.push_back({segment.address, segment.bytes, false});
  std::stable_sort(regions.begin(), regions.end(),
                   [](const Region& a, const Region& b) { return a.begin < b.begin; });
  std::uint64_t last = 0;  // what lies over another region belongs to the first
  for (Region& region : regions) {
    if (region.begin < last) {
      std::uint64_t cut = std::min<std::uint64_t>(last - region.begin, region.bytes.size());
      region.begin += cut;
      region.bytes.remove_prefix(static_cast<std::size_t>(cut));
    }
    last = std::max(last, region.end());
  }
  // At addresses apart, the same bytes could be decoded again for each of 65,000 sections.
  std::uint64_t total = 0;
  for (const Region& region : regions) total += region.bytes.size();
  if (total > file.size()) throw Error(ExitCode::input, "ELF: executable parts share bytes of the file");
  return regions;
}

class Mapper {
 public:
  explicit Mapper(const ElfFile& file) : file_(file), regions_(executable_regions(file)) {}

  FunctionMap run() {
    gather();
    sort_and_merge();
    for (const Region& region : regions_) fill(region);
    return std::move(map_);
  }

 private:
  void add_symbols(const std::vector<Symbol>& symbols, bool dynamic) {
    for (const Symbol& symbol : symbols) {
      bool code = symbol.type == kFunction || symbol.type == kIndirectFunction;
      if (!code || symbol.section == 0 || symbol.value == 0) continue;
      Function function;
      function.begin = symbol.value;
      // 0, as in hand-written assembly: up to whatever comes next.
      function.end = symbol.size == 0 ? UINT64_MAX : symbol.value + symbol.size;
      if (function.end < function.begin) continue;
      function.name = symbol.name;
      // STV_DEFAULT 0 and STV_PROTECTED 3 can be seen from other files.
      function.exported =
          dynamic && symbol.binding == kGlobal && (symbol.visibility == 0 || symbol.visibility == 3);
      function.indirect = symbol.type == kIndirectFunction;
      found_.push_back(function);
    }
  }

  void add_root(std::uint64_t address) {
    if (address == 0) return;
    Function function;
    function.begin = address;
    function.end = UINT64_MAX;
    function.root = true;
    found_.push_back(function);
  }

  // Initialisers run before anything could ask what the processor can do.
  void add_initialisers() {
    for (const Relocation& relocation : file_.relocations()) {
      const Section* section = file_.section_at(relocation.place);
      if (section == nullptr) continue;
      if (section->name == ".init_array" || section->name == ".fini_array" ||
          section->name == ".preinit_array")
        add_root(static_cast<std::uint64_t>(relocation.addend));
    }
    // A program at a fixed address needs no relocations: its arrays hold the addresses as they are.
    if (file_.type() != ElfType::executable) return;
    for (const char* name : {".init_array", ".fini_array", ".preinit_array"})
      if (const Section* section = file_.section(name); section != nullptr && file_.is_64())
        for (std::uint64_t i = 0; i + 8 <= section->bytes.size(); i += 8)
          add_root(number_at<std::uint64_t>(section->bytes, i));
  }

  void gather() {
    map_.has_symbols = !file_.symbols().empty();
    add_symbols(file_.symbols(), false);
    add_symbols(file_.dynamic_symbols(), true);
    for (const AddressRange& range : unwinding_ranges(file_)) {
      map_.has_unwinding = true;
      Function function;
      function.begin = range.begin;
      function.end = range.end;
      found_.push_back(function);
    }
    if (file_.type() == ElfType::executable || !file_.interpreter().empty()) add_root(file_.entry());
    add_root(file_.dynamic().init);
    add_root(file_.dynamic().fini);
    add_initialisers();
    // Entries have no symbols; one by one, each is judged by the function that it leads to (dispatch.cc).
    for (const Region& region : regions_) {
      if (!region.plt) continue;
      for (std::uint64_t at = region.begin; at < region.end() && found_.size() < kMostPltEntries;
           at += kPltStride) {
        Function function;
        function.begin = at;
        function.end = std::min(at + kPltStride, region.end());
        found_.push_back(function);
      }
    }
  }

  // Several sources name the same function: .symtab, .dynsym, .eh_frame, and aliases with one address.
  void sort_and_merge() {
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Function& a, const Function& b) { return a.begin < b.begin; });
    std::vector<Function> merged;
    for (const Function& function : found_) {
      if (merged.empty() || merged.back().begin != function.begin) {
        merged.push_back(function);
        continue;
      }
      Function& same = merged.back();
      // A known size wins over "up to the next"; of several names the first, which is .symtab's.
      if (same.end == UINT64_MAX || (function.end != UINT64_MAX && function.end > same.end))
        same.end = function.end;
      if (same.name.empty()) same.name = function.name;
      same.exported |= function.exported;
      same.root |= function.root;
      same.indirect |= function.indirect;
    }
    found_ = std::move(merged);
  }

  void emit(Function function, const Region& region, bool gap) {
    if (function.end <= function.begin) return;
    function.bytes = slice(region.bytes, function.begin - region.begin, function.end - function.begin);
    function.gap = gap;
    map_.functions.push_back(function);
  }

  // Gaps are scanned, too: what nobody names may still run. Mostly they are padding, or data among code.
  // The functions of one region and the gaps between them.
  void fill(const Region& region) {
    map_.code_bytes += region.bytes.size();
    auto next = std::lower_bound(found_.begin(), found_.end(), region.begin,
                                 [](const Function& f, std::uint64_t value) { return f.begin < value; });
    std::uint64_t done = region.begin;
    for (; next != found_.end() && next->begin < region.end(); ++next) {
      Function gap;
      gap.begin = done;
      gap.end = next->begin;
      emit(gap, region, true);
      Function function = *next;
      auto after = std::next(next);
      if (after != found_.end()) function.end = std::min(function.end, after->begin);
      function.end = std::min(function.end, region.end());
      emit(function, region, false);
      done = std::max(function.end, function.begin);
    }
    Function gap;
    gap.begin = done;
    gap.end = region.end();
    emit(gap, region, true);
  }

  const ElfFile& file_;
  std::vector<Region> regions_;
  std::vector<Function> found_;
  FunctionMap map_;
};

}  // namespace

std::uint32_t FunctionMap::starting_at(std::uint64_t address) const {
  auto found = std::lower_bound(functions.begin(), functions.end(), address,
                                [](const Function& f, std::uint64_t value) { return f.begin < value; });
  if (found == functions.end() || found->begin != address || found->gap) return kNone;
  return static_cast<std::uint32_t>(found - functions.begin());
}

FunctionMap map_functions(const ElfFile& file) { return Mapper(file).run(); }

}  // namespace kiln::evidence
