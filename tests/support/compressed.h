// Bytes as other programs compress them: by zlib's and zstd's own libraries, through libarchive.
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <string>

namespace kiln::testing {

// `filter`: gzip, zstd, xz or bzip2.
inline std::string compress(const std::string& plain, const char* filter, const char* level = "6") {
  std::string out(plain.size() + (1u << 16), '\0');
  std::size_t used = 0;
  archive* handle = archive_write_new();
  archive_write_set_format_raw(handle);
  archive_write_add_filter_by_name(handle, filter);
  archive_write_set_filter_option(handle, filter, "compression-level", level);
  archive_write_set_bytes_per_block(handle, 0);
  archive_write_open_memory(handle, out.data(), out.size(), &used);
  archive_entry* entry = archive_entry_new();
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_write_header(handle, entry);
  archive_write_data(handle, plain.data(), plain.size());
  archive_entry_free(entry);
  archive_write_close(handle);
  archive_write_free(handle);
  out.resize(used);
  return out;
}

}  // namespace kiln::testing
