// Target and site files from anybody, and targets as a matrix writes them.
#include "factory/recipe/target.h"
#include "factory/site/site.h"
#include "readers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kiln;
  if (size == 0) return 0;
  std::string text(fuzz::text_of(bytes + 1, size - 1));
  return fuzz::refuses_or_reads([&] {
    if (bytes[0] % 3 == 0) {
      fuzz::FixedFiles files({{"targets/testbed.json", text}});
      TargetBook::read(files, "targets", fuzz::some_cpus()).get("testbed", {});
    } else if (bytes[0] % 3 == 1) {
      fuzz::FixedFiles files({{"site.json", text}});
      Site site = read_site(files, "site.json");
      if (site.jobs < 0) __builtin_trap();
    } else {
      Target target = TargetBook(fuzz::some_cpus()).get(text, {});
      if (fuzz::some_cpus().find(target.cpu) == nullptr) __builtin_trap();
    }
  });
}
