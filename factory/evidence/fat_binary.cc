// The CUDA container is not documented by NVIDIA; the layout below is what nvcc 11 to 13 write, as its tests
// show, and what cuda-gdb's and LLVM's (CGCUDANV.cpp) sources name:
//
//     magic 0xba55ed50 u32 | version u16 | header size u16 | size of all entries u64
//     entry: kind u16 | version u16 | header size u32 | size u64 | compressed size u32 | … | arch u32 at 28 |
//            flags u64 at 40 (0x100000: "a", 0x200000: "f") | the code, maybe compressed
//
// AMD's is clang's offload bundle (ClangOffloadBundler.rst): magic, count u64, then offset, size, length of
// the name u64 and the name of each.
#include "factory/evidence/fat_binary.h"

#include <algorithm>

#include "factory/base/text.h"
#include "factory/evidence/byte_reader.h"

namespace kiln::evidence {
namespace {

constexpr std::uint32_t kFatMagic = 0xba55ed50;
constexpr std::string_view kBundleMagic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view kCompressedBundle = "CCOB";
// Kinds of entries.
constexpr std::uint16_t kPtx = 1, kMachineCode = 2;
// What is said where code for AMD's GPUs is not seen.
constexpr std::string_view kCompressed = "a compressed HIP bundle: its architectures are not visible";
constexpr std::string_view kTooMany = "too many HIP bundles";
constexpr std::string_view kDamagedEntry = "an entry of a HIP bundle is damaged";
// A section of nothing but magic words would be read for ever.
constexpr std::size_t kMostBundles = 4096;

// A linear search: the architectures that exist are some dozens.
void add(std::vector<std::string>& names, std::string name) {
  if (!contains(names, name)) names.push_back(std::move(name));
}

void read_entry(std::string_view header, GpuCode& code) {
  auto kind = number_at<std::uint16_t>(header, 0);
  auto arch = number_at<std::uint32_t>(header, 28);
  auto flags = number_at<std::uint64_t>(header, 40);
  std::string name = std::to_string(arch) + ((flags & 0x100000) != 0   ? "a"
                                             : (flags & 0x200000) != 0 ? "f"
                                                                       : "");
  if (kind == kMachineCode) add(code.sm, "sm_" + name);
  // Every other kind (PTX, and the link-time form 8) is compiled when loaded or linked.
  if (kind == kPtx) add(code.compute, "compute_" + name);
}

// It goes into reports and terminals.
bool plain_name(std::string_view name) {
  return !name.empty() && name.size() < 128 &&
         std::ranges::all_of(name, [](unsigned char c) { return c > ' ' && c < 0x7f; });
}

// By number, then by text: sm_80 before sm_100.
void sort_names(std::vector<std::string>& names) {
  auto number = [](const std::string& name) {
    std::size_t digits = name.find_first_of("0123456789");
    unsigned long value = 0;
    for (; digits < name.size() && name[digits] >= '0' && name[digits] <= '9'; ++digits)
      value = std::min(value * 10 + static_cast<unsigned long>(name[digits] - '0'), 1'000'000'000ul);
    return value;
  };
  std::ranges::sort(names, {}, [&](const std::string& name) { return std::pair(number(name), name); });
}

}  // namespace

void read_cuda_fat_binaries(std::string_view bytes, GpuCode& code, std::vector<std::string>& problems) {
  for (std::uint64_t at = 0; holds(bytes, at, 16);) {
    if (number_at<std::uint32_t>(bytes, at) != kFatMagic) {
      at += 8;  // padding between containers
      continue;
    }
    auto header = number_at<std::uint16_t>(bytes, at + 6);
    auto size = number_at<std::uint64_t>(bytes, at + 8);
    if (header < 16 || !holds(bytes, at + header, size)) {
      problems.push_back("a CUDA fat binary leaves its section");
      return;
    }
    std::string_view entries = slice(bytes, at + header, size);
    for (std::uint64_t entry = 0; holds(entries, entry, 48);) {
      auto entry_header = number_at<std::uint32_t>(entries, entry + 4);
      auto entry_size = number_at<std::uint64_t>(entries, entry + 8);
      if (entry_header < 48 || !holds(entries, entry + entry_header, entry_size)) {
        problems.push_back("an entry of a CUDA fat binary leaves it");
        break;
      }
      read_entry(slice(entries, entry, entry_header), code);
      entry += entry_header + entry_size;
    }
    at += header + size;
    // Containers of several object files stand one behind the other, each at a multiple of 8.
    at = (at + 7) / 8 * 8;
  }
}

bool hides_gfx(std::string_view problem) {
  return problem == kCompressed || problem == kTooMany || problem == kDamagedEntry;
}

void read_offload_bundles(std::string_view bytes, GpuCode& code, std::vector<std::string>& problems) {
  if (bytes.find(kCompressedBundle) == 0) problems.emplace_back(kCompressed);
  std::size_t bundles = 0;
  for (std::size_t at = 0; (at = bytes.find(kBundleMagic, at)) != bytes.npos; at += kBundleMagic.size()) {
    if (++bundles > kMostBundles) return void(problems.emplace_back(kTooMany));
    auto count = number_at<std::uint64_t>(bytes, at + 24);
    // Behind the magic (24 bytes) and the count.
    std::uint64_t entry = at + 32;
    for (std::uint64_t i = 0; i < count && holds(bytes, entry, 24); ++i) {
      auto length = number_at<std::uint64_t>(bytes, entry + 16);
      if (length > 1024 || !holds(bytes, entry + 24, length)) {
        problems.emplace_back(kDamagedEntry);
        break;
      }
      // "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-"; "host-…" is the CPU's.
      std::string_view name = slice(bytes, entry + 24, length);
      std::size_t gfx = name.find("gfx");
      if (!name.starts_with("host") && gfx != name.npos && plain_name(name))
        add(code.gfx, std::string(name.substr(gfx)));
      entry += 24 + length;
    }
  }
}

GpuCode gpu_code(const ElfFile& file, std::vector<std::string>& problems) {
  GpuCode code;
  for (const Section& section : file.sections()) {
    if (section.name == ".nv_fatbin" || section.name == "__nv_relfatbin")
      read_cuda_fat_binaries(section.bytes, code, problems);
    if (section.name == ".hip_fatbin") read_offload_bundles(section.bytes, code, problems);
  }
  sort_names(code.sm);
  sort_names(code.compute);
  sort_names(code.gfx);
  return code;
}

}  // namespace kiln::evidence
