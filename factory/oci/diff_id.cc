#include "factory/oci/diff_id.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <memory>
#include <string>

#include "factory/base/error.h"

namespace kiln {

Digest diff_id_of(const std::filesystem::path& layer) {
  std::unique_ptr<archive, int (*)(archive*)> in(archive_read_new(), &archive_read_free);
  auto check = [&](la_ssize_t result) {
    if (result >= 0) return;
    throw Error(ExitCode::store,
                fmt::format("cannot read {}: {}", layer.string(), archive_error_string(in.get())));
  };
  check(archive_read_support_filter_gzip(in.get()));
  check(archive_read_support_filter_zstd(in.get()));
  check(archive_read_support_format_raw(in.get()));  // no format: just what comes out of the filter
  check(archive_read_open_filename(in.get(), layer.c_str(), 1 << 20));
  archive_entry* entry = nullptr;
  const int begun = archive_read_next_header(in.get(), &entry);
  check(begun);
  Hasher hasher;
  if (begun == ARCHIVE_EOF) return hasher.finish();  // not a single byte
  std::string buffer(1 << 20, '\0');
  while (true) {
    la_ssize_t got = archive_read_data(in.get(), buffer.data(), buffer.size());
    check(got);
    if (got == 0) return hasher.finish();
    hasher.update(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace kiln
