// What describes a host: a host file from anybody, and the system's own files, whatever they hold.
#include <nlohmann/json.hpp>

#include "factory/record/host_description.h"
#include "readers.h"
#include "registry/select/select.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kiln;
  if (size == 0) return 0;
  std::string text(fuzz::text_of(bytes + 1, size - 1));
  return fuzz::refuses_or_reads([&] {
    if (bytes[0] % 2 == 0) {
      HostDescription host = host_from_json(JsonDocument::parse(text, "host.json").root());
      HostDescription again = host_from_json(JsonDocument::parse(to_json(host).dump(), "again.json").root());
      if (to_json(again) != to_json(host)) __builtin_trap();
      // What is accepted of a stranger can be asked with, too.
      const Host known{read_host(JsonDocument::parse(text, "host.json").root(), fuzz::some_cpus()), true};
      IndexEntry entry;
      entry.image.application = "a";
      entry.image.cpu = "haswell";
      entry.image.accelerators = {"nvidia:sm_80", "amd:gfx90a"};
      entry.image.needs = {Version("525"),  Version("12.9"),          Version("3.2"),
                           Version("2.31"), mpi_library("openmpi@4"), ""};
      ImageQuery query;
      query.application = "a";
      query.acc_type = "nvidia";
      query.opt_build = true;
      select_image(query, {entry}, known, fuzz::some_cpus());
    } else {
      static const char* const kMachines[] = {"x86_64", "aarch64", "ppc64le", "riscv64"};
      std::size_t middle = text.find('\0');
      fuzz::FixedFiles files({{"/proc/cpuinfo", text.substr(0, middle)},
                              {"/proc/meminfo", middle == std::string::npos ? "" : text.substr(middle + 1)}});
      describe_host(files, fuzz::some_cpus(), {kMachines[bytes[0] / 2 % 4], "6.1.0", "2.36", 4});
    }
  });
}
