// A whole request: `METHOD TARGET`, a line end, the body. Whatever it is, the answer is whole, and never a
// mistake of the server.
#include <stdlib.h>

#include <nlohmann/json.hpp>

#include "readers.h"
#include "registry/select/mappings.h"
#include "registry/serve/service.h"

namespace {

using namespace kiln;

constexpr const char* kMapping = R"({"opt_dsl_code": "tf", "app_name": "tensorflow", "version": "2.1",
  "enable_opt_build": true, "target": {"cpu_type": "x86", "acc_type": "nvidia"}, "selectors": {"xla": true},
  "container_name": "modakopt/modak:tf", "container_type": "docker"})";

// In memory, and gone at the end.
struct Folder {
  Folder() {
    std::string name = "/dev/shm/kiln-fuzz-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) __builtin_trap();
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  fs::path path;
};

// A state folder with one mapping, and who serves it. A mapping that is posted is read, and not written.
struct Served {
  Served() {
    Index::open(folder.path, Index::Mode::write)
        .import_mappings([](const Index::AddMapping& take) { take(read(kMapping)); }, "2026-11-20T10:00:00Z");
    ServeSettings settings;
    settings.paths.state = folder.path;
    settings.paths.archspec = KILN_ARCHSPEC_JSON;
    settings.paths.targets = folder.path / "targets";
    settings.tokens = TokenBook::parse(token.line, "tokens");
    service = std::make_unique<Service>(
        std::move(settings),
        [](const JsonDocument& mapping, const WrittenNumbers& numbers) {
          return WrittenMapping{read_mapping(mapping.root(), {"xla"}, numbers), 2};
        },
        clock);
  }
  static ImageRecord read(const char* text) {
    return read_mapping(JsonDocument::parse(text, "mapping").root(), {"xla"});
  }
  Folder folder;
  RealClock clock;
  NewToken token = make_token("fuzz");
  std::unique_ptr<Service> service;
};

void check(const HttpResponse& response) {
  if (response.status < 200 || response.status >= 600 || response.status == 500) __builtin_trap();
  for (const auto& [name, value] : response.headers)
    if (value.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) __builtin_trap();
  if (response.type == "application/json" && !nlohmann::json::accept(response.body)) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static Served served;
  const std::string_view text = fuzz::text_of(bytes, size);
  const std::string_view line = text.substr(0, text.find('\n'));
  const std::size_t blank = line.find(' ');
  if (blank == line.npos) return 0;
  return fuzz::refuses_or_reads([&] {
    ReceivedRequest request;
    request.method = line.substr(0, blank);
    request.raw_target = line.substr(blank + 1);
    request.target = parse_target(request.raw_target);
    request.headers = {{"authorization", "Bearer " + served.token.token}};
    request.body = line.size() < text.size() ? text.substr(line.size() + 1) : "";
    check(served.service->answer(request));
  });
}
