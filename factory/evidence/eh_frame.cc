#include <fmt/format.h>

#include <map>

#include "factory/evidence/byte_reader.h"
#include "factory/evidence/function_map.h"

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

// .eh_frame (LSB 10.6): CIEs and the FDEs that point back to theirs. Only the range of each FDE is read,
// never the unwinding program. The first damage ends the reading, for lengths chain the entries and nothing
// behind is sure.
std::vector<AddressRange> unwinding_ranges(const ElfFile& file) {
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

}  // namespace kiln::evidence
