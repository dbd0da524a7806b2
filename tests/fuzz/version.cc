// Versions and ranges: an order without contradictions, and ranges that read back as they are written.
#include "factory/base/version.h"

#include "readers.h"

namespace {

using namespace kiln;

void check_order(const Version& a, const Version& b, const Version& c) {
  if ((a <=> b) != (0 <=> (b <=> a))) __builtin_trap();
  if (a < b && b < c && !(a < c)) __builtin_trap();
  if (a == b && (a <=> c) != (b <=> c)) __builtin_trap();
  if (!(a == a) || !a.covers(a)) __builtin_trap();
}

}  // namespace

// Lines: three versions, then ranges.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::string_view rest = fuzz::text_of(bytes, size);
  auto line = [&] {
    std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string text(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return text;
  };
  return fuzz::refuses_or_reads([&] {
    Version a(line());
    Version b(line());
    Version c(line());
    check_order(a, b, c);
    while (!rest.empty()) {
      VersionRange range = VersionRange::parse(line());
      VersionRange again = VersionRange::parse(range.text());
      for (const Version* version : {&a, &b, &c})
        if (range.contains(*version) != again.contains(*version)) __builtin_trap();
      if (auto exact = range.exact(); exact && !range.contains(*exact)) __builtin_trap();
    }
  });
}
