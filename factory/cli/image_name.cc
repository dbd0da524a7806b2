#include "cli/image_name.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/invocation.h"
#include "image/skopeo.h"
#include "plan/image_reference.h"

namespace kiln {

unsigned usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

sif::ImageName fetch(const sif::ImageName& name, const std::string& architecture, const fs::path& folder,
                     Invocation& invocation) {
  Command command = skopeo_command(
      {"--override-os", "linux", "--override-arch", architecture, "copy", "--quiet",
       without_tag_beside_digest("docker:" + name.path), "oci:" + (folder / "image").string() + ":fetched"},
      invocation.child_environment());
  CommandResult result = invocation.runner.run(command);
  if (!result.ok()) throw_registry_error("cannot fetch docker:" + name.path, result);
  return {"oci", (folder / "image").string(), "fetched"};
}

sif::ImageName name_of(const std::string& text, Invocation& invocation) {
  if (text.starts_with("docker:") || text.starts_with("oci:") || text.find("-archive:") != std::string::npos)
    return sif::parse_image_name(text);
  if (invocation.files.exists(invocation.state().root() / "index.db"))
    for (const IndexEntry& entry : invocation.index(Index::Mode::read).entries())
      if (entry.image.name() == text && !entry.image.layout.empty())
        return {"oci", (invocation.state().root() / entry.image.layout).string(), ""};
  return sif::parse_image_name(text);
}

void need_source(const sif::ImageName& name, const Invocation& invocation) {
  if (name.transport == "docker") return;
  if (name.transport != "oci") return invocation.need_file(name.path);
  if (!invocation.files.is_directory(name.path))
    throw Error(ExitCode::input, fmt::format("there is no folder '{}'", name.path));
}

ProgressBar::ProgressBar(Invocation& invocation, double start) : invocation_(invocation), start_(start) {
  const std::string& style = invocation.options.progress;
  shown_ = !invocation.options.quiet && (style == "tty" || (style == "auto" && ::isatty(STDERR_FILENO) == 1));
}

ProgressBar::~ProgressBar() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void ProgressBar::show(std::uint64_t done, std::uint64_t all) {
  double now = invocation_.clock.monotonic_seconds();
  if (!shown_ || now - last_ < 0.1) return;
  last_ = now;
  double part = all == 0 ? 1 : static_cast<double>(done) / static_cast<double>(all);
  auto filled = static_cast<std::size_t>(part * 30);
  fmt::print(stderr, "\r[{}{}] {:3.0f} %  {} of {} MB  {:.0f} s\x1b[K", std::string(filled, '#'),
             std::string(30 - std::min<std::size_t>(filled, 30), '.'), part * 100, done / 1'000'000,
             all / 1'000'000, now - start_);
}

}  // namespace kiln
