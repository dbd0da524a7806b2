#include "factory/evidence/function_map.h"

#include <algorithm>
#include <map>

#include "factory/base/error.h"
#include "factory/evidence/byte_reader.h"

namespace kiln::evidence {
namespace {

// DW_EH_PE_* (LSB 10.5): the low four bits are the form, bits 4-6 what the value is relative to.
constexpr std::uint8_t kOmitted = 0xff, kRelativeToPlace = 0x10;

// Reads on behind the end as zeros and remembers it: callers ask good() once, at the end of an entry, instead
// of at each field.
class Cursor {
 public:
  Cursor(std::string_view bytes, std::uint64_t offset) : bytes_(bytes), offset_(offset) {}
  std::uint64_t offset() const { return offset_; }
  bool good() const { return good_; }

  template <typename Number>
  Number take() {
    if (!holds(bytes_, offset_, sizeof(Number))) good_ = false;
    Number value = number_at<Number>(bytes_, offset_);
    offset_ += sizeof(Number);
    return value;
  }
  // Unsigned LEB128 (DWARF 4, 7.6). Ten bytes hold 64 bits; longer ones are damage or an attempt to keep us
  // busy. A signed value (DW_EH_PE_sleb128) is read as unsigned: no compiler writes function addresses so.
  std::uint64_t leb128() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      auto byte = take<std::uint8_t>();
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    good_ = false;
    return value;
  }
  std::string_view text() {
    std::string_view found = text_at(bytes_, offset_);
    offset_ += found.size() + 1;
    return found;
  }
  // A pointer of this form, sign-extended where the form is signed.
  std::uint64_t encoded(std::uint8_t encoding, bool is_64) {
    // DW_EH_PE_absptr 0, uleb128 1, udata2 2, udata4 3, udata8 4, sleb128 9, sdata2 10, sdata4 11, sdata8 12.
    switch (encoding & 15) {
      case 0:
        return is_64 ? take<std::uint64_t>() : take<std::uint32_t>();
      case 1:
      case 9:
        return leb128();
      case 2:
        return take<std::uint16_t>();
      case 3:
        return take<std::uint32_t>();
      case 4:
      case 12:
        return take<std::uint64_t>();
      case 10:
        return static_cast<std::uint64_t>(std::int64_t{take<std::int16_t>()});
      case 11:
        return static_cast<std::uint64_t>(std::int64_t{take<std::int32_t>()});
      default:
        good_ = false;
        return 0;
    }
  }
  void skip(std::uint64_t size) { offset_ += size; }

 private:
  std::string_view bytes_;
  std::uint64_t offset_;
  bool good_ = true;
};

// How a CIE says that its FDEs' pointers are written.
std::uint8_t pointer_encoding(std::string_view entry, bool is_64) {
  Cursor cursor(entry, 0);
  auto version = cursor.take<std::uint8_t>();
  std::string_view augmentation = cursor.text();
  // GCC 2 kept a pointer here; then come the alignments of code and data and the return register.
  if (augmentation.starts_with("eh")) cursor.skip(is_64 ? 8 : 4);
  cursor.leb128();
  cursor.leb128();
  // One byte for the register in version 1, LEB128 since 3.
  if (version == 1)
    cursor.take<std::uint8_t>();
  else
    cursor.leb128();
  // Without "z" the letters cannot be skipped, and there is no "R": pointers are absolute.
  if (!augmentation.starts_with('z')) return 0;
  cursor.leb128();
  for (char letter : augmentation.substr(1)) {
    // R: how the FDEs are written; L: the language's data; P: the personality routine. S, B and G have no
    // data.
    if (letter == 'R') return cursor.take<std::uint8_t>();
    if (letter == 'L') cursor.take<std::uint8_t>();
    if (letter == 'P') {
      auto encoding = cursor.take<std::uint8_t>();
      cursor.encoded(encoding, is_64);
    }
  }
  return 0;
}

}  // namespace

// The ranges of .eh_frame's FDEs; damaged entries end the list.
// .eh_frame (LSB 10.6): CIEs and the FDEs that point back to theirs. Only the range of each FDE is read,
// never the unwinding program. The first damage ends the reading, for lengths chain the entries and nothing
// behind is sure.
static std::vector<AddressRange> unwinding_ranges(const ElfFile& file) {
  std::vector<AddressRange> ranges;
  const Section* section = file.section(".eh_frame");
  if (section == nullptr) return ranges;
  std::string_view bytes = section->bytes;
  std::map<std::uint64_t, std::uint8_t> encodings;  // by the CIE's offset
  for (std::uint64_t offset = 0; holds(bytes, offset, 8);) {
    std::uint64_t length = number_at<std::uint32_t>(bytes, offset), header = 4;
    // DWARF's 64-bit form.
    if (length == 0xffffffff) length = number_at<std::uint64_t>(bytes, offset + 4), header = 12;
    std::uint64_t id_at = offset + header;
    if (length == 0) {  // the end mark of one object file; more may follow
      offset += 4;
      continue;
    }
    if (length < 4 || !holds(bytes, id_at, length)) break;
    auto id = number_at<std::uint32_t>(bytes, id_at);
    // In .eh_frame the number is 4 bytes in both forms; 0 marks a CIE, else it is the way back to one.
    std::string_view entry = slice(bytes, id_at + 4, length - 4);
    if (id == 0) {
      encodings[offset] = pointer_encoding(entry, file.is_64());
    } else if (auto cie = encodings.find(id_at - id); cie != encodings.end() && cie->second != kOmitted) {
      Cursor cursor(entry, 0);
      std::uint64_t begin = cursor.encoded(cie->second, file.is_64());
      std::uint64_t size = cursor.encoded(cie->second & 15, file.is_64());
      // Linkers write DW_EH_PE_pcrel; others (relative to text, data, function) are taken as absolute and hit
      // nothing.
      if ((cie->second & 0x70) == kRelativeToPlace) begin += section->address + id_at + 4;
      if (!file.is_64()) begin &= 0xffffffff;
      if (cursor.good() && begin != 0 && size != 0 && begin + size > begin)
        ranges.push_back({begin, begin + size});
    }
    offset = id_at + length;
  }
  return ranges;
}

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
  std::ranges::stable_sort(regions, {}, &Region::begin);
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
    std::ranges::stable_sort(found_, {}, &Function::begin);
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
    auto next = std::ranges::lower_bound(found_, region.begin, {}, &Function::begin);
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
  auto found = std::ranges::lower_bound(functions, address, {}, &Function::begin);
  if (found == functions.end() || found->begin != address || found->gap) return kNone;
  return static_cast<std::uint32_t>(found - functions.begin());
}

FunctionMap map_functions(const ElfFile& file) { return Mapper(file).run(); }

}  // namespace kiln::evidence
