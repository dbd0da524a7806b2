#include "factory/cli/select_build.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "factory/base/read_whole.h"
#include "factory/cli/build_images.h"
#include "factory/cli/state_lock.h"
#include "factory/run/publish.h"
#include "factory/state/access.h"

namespace kiln {
namespace {

void refuse_unbuilt(const BuildReport& report) {
  if (!report.stopped.empty() && !report.interrupted)
    throw Error(report.exit_code(), report.stopped, "what is done stays done: ask again");
  const ImageOutcome& image = report.images.front();
  if (image.outcome == Outcome::built || image.outcome == Outcome::up_to_date) return;
  std::string hint = image.log.empty() ? "" : fmt::format("log {}; ", image.log.string());
  throw Error(report.exit_code(),
              fmt::format("{} is not built: {}", image.name,
                          image.reason.empty() ? std::string(name_of(image.outcome)) : image.reason),
              hint + "nothing is published");
}

void publish_cell(const SelectCells& cells, const PlanCell& cell, const Invocation& invocation) {
  const Published done = publish_built(cells.catalogue(cell).plan, {cell.image}, invocation.state(),
                                       invocation.files, invocation.clock);
  invocation.note(fmt::format("published {} as snapshot {}", cells.image(cell).reference(), done.snapshot));
}

// N of `-`, /dev/stdin and /dev/fd/N; nothing for other files.
std::optional<int> descriptor_of(const std::string& file) {
  if (file == "-" || file == "/dev/stdin") return STDIN_FILENO;
  constexpr std::string_view kFolder = "/dev/fd/";
  int number = -1;
  const char* end = file.data() + file.size();
  if (!file.starts_with(kFolder) || std::from_chars(file.data() + kFolder.size(), end, number).ptr != end ||
      number < 0)
    return std::nullopt;
  return number;
}

[[noreturn]] void cannot_keep(const std::string& file) {
  throw Error(ExitCode::store, fmt::format("cannot keep what {} says: {}", file, std::strerror(errno)));
}

}  // namespace

void prepare_build(const Invocation& invocation) {
  invocation.need_root_for_steps();
  follow_permissions(invocation.state());
}

void build_missing(SelectCells& cells, const std::function<IndexAnswer()>& ask_again,
                   Invocation& invocation) {
  invocation.options.wait = true;  // the question needs the answer, even if another kiln builds it
  const WriterLock lock =
      lock_state(invocation, fmt::format("kiln select --build-if-missing of {}", cells.query().application));
  const IndexAnswer now = ask_again();
  if (now.answers) return;
  cells.find(now.published);
  if (!cells.cell()) return;
  const PlanCell cell = *cells.cell();
  const std::string name = cells.image(cell).reference();
  invocation.note(fmt::format("no image matches yet: building {} of {}", name, cells.file(cell)));
  refuse_unbuilt(build_images(cells.catalogue(cell), {cell.image}, {}, cells.site(), invocation));
  if (const std::string why = cells.unfit(cell, now.published); !why.empty())
    throw Error(ExitCode::no_match, fmt::format("{} is built, and does not match: {}", name, why),
                "it is not published");
  publish_cell(cells, cell, invocation);
}

void keep_readable(const std::string& file) {
  const std::optional<int> descriptor = descriptor_of(file);
  if (!descriptor || ::geteuid() == 0) return;
  const std::string bytes = read_whole(file == "-" ? "/dev/stdin" : file, JsonLimits{}.bytes).value_or("");
  const int memory = ::memfd_create("kiln-document", 0);
  if (memory < 0) cannot_keep(file);
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t count = ::write(memory, bytes.data() + written, bytes.size() - written);
    if (count < 0) cannot_keep(file);
    written += static_cast<std::size_t>(count);
  }
  if (::dup2(memory, *descriptor) < 0) cannot_keep(file);
  ::close(memory);
}

}  // namespace kiln
