#include "factory/oci/inflate.h"

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>
#define ZSTD_STATIC_LINKING_ONLY  // ZSTD_d_forceIgnoreChecksum
#include <zstd.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "factory/base/error.h"
#include "factory/oci/documents.h"
#include "factory/oci/tar_header.h"

namespace kiln {
namespace {

[[noreturn]] void damaged(const std::string& what) { throw Error(ExitCode::input, what); }

class Copier final : public Inflater {
 public:
  std::size_t inflate(std::string_view& input, char* output, std::size_t size) override {
    std::size_t count = std::min(size, input.size());
    std::memcpy(output, input.data(), count);
    input.remove_prefix(count);
    return count;
  }
  void finish() override {}
};

class GzipInflater final : public Inflater {
 public:
  GzipInflater() { start_member(); }

  std::size_t inflate(std::string_view& input, char* output, std::size_t size) override {
    std::size_t written = 0;
    while (written < size && !input.empty()) {
      // RFC 1952, 2.2: a gzip file may be several members, one behind the other; eStargz makes such.
      if (state_->block_state == ISAL_BLOCK_FINISH) start_member();
      written += step(input, output + written, size - written);
    }
    // Input may all be taken while output still waits inside the state.
    if (input.empty() && written < size && state_->block_state != ISAL_BLOCK_FINISH)
      written += step(input, output + written, size - written);
    return written;
  }

  void finish() override {
    if (state_->block_state != ISAL_BLOCK_FINISH) damaged("gzip stream is truncated");
  }

 private:
  void start_member() {
    isal_inflate_init(state_.get());
    state_->crc_flag = ISAL_GZIP;
  }

  std::size_t step(std::string_view& input, char* output, std::size_t size) {
    auto take = static_cast<std::uint32_t>(std::min<std::size_t>(input.size(), INT_MAX));
    auto room = static_cast<std::uint32_t>(std::min<std::size_t>(size, INT_MAX));
    state_->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(input.data()));
    state_->avail_in = take;
    state_->next_out = reinterpret_cast<std::uint8_t*>(output);
    state_->avail_out = room;
    int status = isal_inflate(state_.get());
    if (status != ISAL_DECOMP_OK && status != ISAL_END_INPUT) damaged(reason(status));
    input.remove_prefix(take - state_->avail_in);
    return room - state_->avail_out;
  }

  static std::string reason(int status) {
    if (status == ISAL_INCORRECT_CHECKSUM) return "gzip stream has a wrong checksum";
    if (status == ISAL_INVALID_WRAPPER || status == ISAL_UNSUPPORTED_METHOD)
      return "gzip stream has bytes that are no gzip header";
    return fmt::format("gzip stream is damaged (ISA-L status {})", status);
  }

  std::unique_ptr<inflate_state> state_ = std::make_unique<inflate_state>();
};

class ZstdInflater final : public Inflater {
 public:
  explicit ZstdInflater(Checksums checksums) {
    // A library that cannot leave them out compares them.
    if (checksums == Checksums::left_out)
      ZSTD_DCtx_setParameter(context_, ZSTD_d_forceIgnoreChecksum, ZSTD_d_ignoreChecksum);
  }
  ~ZstdInflater() override { ZSTD_freeDCtx(context_); }

  std::size_t inflate(std::string_view& input, char* output, std::size_t size) override {
    ZSTD_inBuffer in{input.data(), input.size(), 0};
    ZSTD_outBuffer out{output, size, 0};
    while (out.pos < out.size) {
      std::size_t taken = in.pos;
      std::size_t given = out.pos;
      if (in.pos == in.size && open_ == 0) break;
      open_ = ZSTD_decompressStream(context_, &out, &in);
      if (ZSTD_isError(open_)) damaged(fmt::format("zstd stream is damaged: {}", ZSTD_getErrorName(open_)));
      if (in.pos == taken && out.pos == given) break;
    }
    input.remove_prefix(in.pos);
    return out.pos;
  }

  void finish() override {
    if (open_ != 0) damaged("zstd stream is truncated");
  }

 private:
  // Refuses windows over 128 MiB: more memory no frame may ask for.
  ZSTD_DCtx* context_ = ZSTD_createDCtx();
  std::size_t open_ = 1;  // 0: at the end of a frame
};

LayerCompression named_compression(std::string_view media_type) {
  if (media_type == media_type::kLayerGzip ||
      media_type == "application/vnd.docker.image.rootfs.diff.tar.gzip")
    return LayerCompression::gzip;
  if (media_type == media_type::kLayerZstd ||
      media_type == "application/vnd.docker.image.rootfs.diff.tar.zstd")
    return LayerCompression::zstd;
  if (media_type == media_type::kLayerTar || media_type == "application/vnd.docker.image.rootfs.diff.tar")
    return LayerCompression::none;
  throw Error(ExitCode::input, fmt::format("layer of type '{}' is not supported", media_type),
              "tar, tar+gzip and tar+zstd layers are; foreign layers are not");
}

bool looks_like_tar(std::string_view first_bytes) {
  if (first_bytes.size() < kTarBlock) return false;
  try {
    parse_tar_header(first_bytes.substr(0, kTarBlock));
    return true;
  } catch (const Error&) {
    return is_zero_block(first_bytes.substr(0, kTarBlock));
  }
}

}  // namespace

// By the first bytes alone, 4 of them; nullopt for bytes that are not compressed.
static std::optional<LayerCompression> compression_of(std::string_view first_bytes) {
  constexpr std::string_view kSkippable = "\x2a\x4d\x18";  // RFC 8878, 3.1.2: with 0x50 to 0x5f before it
  if (first_bytes.starts_with("\x1f\x8b")) return LayerCompression::gzip;
  const bool is_skippable = first_bytes.size() >= 4 && (first_bytes[0] & 0xf0) == 0x50 &&
                            first_bytes.substr(1).starts_with(kSkippable);
  if (first_bytes.starts_with("\x28\xb5\x2f\xfd") || is_skippable) return LayerCompression::zstd;
  return std::nullopt;
}

// docker, containerd and skopeo believe the bytes as well: many registries hold layers of another type than
// they say.
LayerCompression layer_compression(std::string_view media_type, std::string_view first_bytes) {
  const LayerCompression named = named_compression(media_type);
  if (first_bytes.empty()) return LayerCompression::none;
  if (const auto found = compression_of(first_bytes)) return *found;
  return looks_like_tar(first_bytes) ? LayerCompression::none : named;
}

std::unique_ptr<Inflater> Inflater::create(LayerCompression compression, Checksums checksums) {
  switch (compression) {
    case LayerCompression::gzip:
      return std::make_unique<GzipInflater>();
    case LayerCompression::zstd:
      return std::make_unique<ZstdInflater>(checksums);
    case LayerCompression::none:
      break;
  }
  return std::make_unique<Copier>();
}

}  // namespace kiln
