// What describes a host: a host file from anybody, and the system's own files, whatever they hold.
#include "registry/host.h"

#include <nlohmann/json.hpp>

#include "readers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kiln;
  if (size == 0) return 0;
  std::string text(fuzz::text_of(bytes + 1, size - 1));
  return fuzz::refuses_or_reads([&] {
    if (bytes[0] % 2 == 0) {
      HostDescription host = host_from_json(JsonDocument::parse(text, "host.json").root());
      HostDescription again = host_from_json(JsonDocument::parse(to_json(host).dump(), "again.json").root());
      if (to_json(again) != to_json(host)) __builtin_trap();
    } else {
      static const char* const kMachines[] = {"x86_64", "aarch64", "ppc64le", "riscv64"};
      std::size_t middle = text.find('\0');
      fuzz::FixedFiles files({{"/proc/cpuinfo", text.substr(0, middle)},
                              {"/proc/meminfo", middle == std::string::npos ? "" : text.substr(middle + 1)}});
      describe_host(files, fuzz::some_cpus(), {kMachines[bytes[0] / 2 % 4], "6.1.0", "2.36", 4});
    }
  });
}
