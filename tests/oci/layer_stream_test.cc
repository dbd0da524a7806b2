// Digests, damage and bombs. Blobs are compressed by zlib's and zstd's own libraries, through libarchive.
#include "factory/oci/layer_stream.h"

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include "support/merged.h"

namespace kiln {
namespace {

using testing::TestLayers;

std::string compress(const std::string& plain, const char* filter, const char* level = "6") {
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

const std::string kGzip(media_type::kLayerGzip);
const std::string kZstd(media_type::kLayerZstd);

std::string read_all(const std::string& blob, const std::string& type, const Digest& digest,
                     const Digest& diff_id, const LayerLimits& limits = {}) {
  TestLayers layers({});
  layers.add(blob, type, digest, diff_id);
  auto stream = layers.open(0, limits);
  std::string plain;
  for (std::string_view chunk = stream->next(); !chunk.empty(); chunk = stream->next()) plain += chunk;
  return plain;
}

std::string refusal(const std::string& blob, const std::string& type, const Digest& diff_id,
                    const LayerLimits& limits = {}) {
  try {
    read_all(blob, type, Digest::of(blob), diff_id, limits);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    return error.message();
  }
  return "accepted";
}

std::string sample() {
  std::string text;
  for (unsigned long i = 0; text.size() < 5'000'000; ++i) text += std::to_string(i * 7919);
  return text;
}

TEST(LayerStream, GivesPlainBytes) {
  std::string plain = sample();
  Digest diff_id = Digest::of(plain);
  for (const char* filter : {"gzip", "zstd"}) {
    std::string blob = compress(plain, filter);
    EXPECT_TRUE(read_all(blob, filter == std::string("gzip") ? kGzip : kZstd, Digest::of(blob), diff_id) ==
                plain)
        << filter;
  }
  EXPECT_TRUE(read_all(plain, std::string(media_type::kLayerTar), diff_id, diff_id) == plain);
}

TEST(LayerStream, JoinsMembersAndFrames) {
  Digest diff_id = Digest::of("onetwo");
  EXPECT_EQ(refusal(compress("one", "gzip") + compress("two", "gzip"), kGzip, diff_id), "accepted");
  EXPECT_EQ(refusal(compress("one", "zstd") + compress("two", "zstd"), kZstd, diff_id), "accepted");
}

TEST(LayerStream, TellsDockerArchiveLayersByTheirFirstBytes) {
  std::string type = "application/vnd.docker.image.rootfs.diff.tar";
  std::string blob = compress("plain", "gzip");
  EXPECT_EQ(read_all(blob, type, {}, Digest::of("plain")), "plain");
  EXPECT_EQ(read_all("plain", type, {}, Digest::of("plain")), "plain");
  EXPECT_THROW(read_all("other", type, {}, Digest::of("plain")), Error);
}

TEST(LayerStream, RefusesForeignLayers) {
  std::string type = "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip";
  EXPECT_EQ(refusal("x", type, Digest::of("x")), "layer of type '" + type + "' is not supported");
}

TEST(LayerStream, RefusesLyingDigests) {
  std::string blob = compress("plain", "gzip");
  EXPECT_THROW(read_all(blob, kGzip, Digest::of("other"), Digest::of("plain")), Error);
  EXPECT_EQ(refusal(blob, kGzip, Digest::of("other")), "the layer's plain bytes do not have the DiffID " +
                                                           Digest::of("other").text() +
                                                           " that the image's configuration names");
}

TEST(LayerStream, RefusesEveryTruncation) {
  std::string plain = sample().substr(0, 20'000);
  for (const char* filter : {"gzip", "zstd"}) {
    std::string blob = compress(plain, filter);
    std::string type = filter == std::string("gzip") ? kGzip : kZstd;
    for (std::size_t cut = 0; cut < blob.size(); cut += 97)
      EXPECT_NE(refusal(blob.substr(0, cut), type, Digest::of(plain)), "accepted") << filter << " " << cut;
    EXPECT_NE(refusal(blob + "garbage", type, Digest::of(plain)), "accepted") << filter;
  }
}

TEST(LayerStream, RefusesEveryFlippedByte) {
  std::string plain = sample().substr(0, 3'000);
  std::string good = compress(plain, "gzip");
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string blob = good;
    blob[at] = static_cast<char>(blob[at] ^ 0x41);
    bool header_only = at >= 3 && at < 10;  // gzip's name, time and system fields do not change the content
    if (!header_only) {
      EXPECT_NE(refusal(blob, kGzip, Digest::of(plain)), "accepted") << at;
    }
  }
}

TEST(LayerStream, RefusesBombsEarly) {
  std::string blob = compress(std::string(100u << 20, '\0'), "gzip", "9");
  std::string message = refusal(blob, kGzip, Digest::of(""));
  EXPECT_NE(message.find("a decompression bomb"), std::string::npos) << message;
  LayerLimits limits;
  limits.plain_bytes = 1u << 20;
  EXPECT_EQ(refusal(blob, kGzip, Digest::of(""), limits), "the layer unfolds to more than 1048576 bytes");
}

TEST(LayerStream, RefusesHugeZstdWindows) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 30);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  std::string out(1u << 16, '\0');
  std::string plain(1000, 'x');
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  ZSTD_inBuffer from{plain.data(), plain.size(), 0};
  ZSTD_compressStream2(context, &to, &from, ZSTD_e_flush);
  ZSTD_compressStream2(context, &to, &from, ZSTD_e_end);
  ZSTD_freeCCtx(context);
  out.resize(to.pos);
  EXPECT_NE(refusal(out, kZstd, Digest::of(plain)).find("requires too much memory"), std::string::npos);
}

TEST(LayerStream, StopsInTheMiddle) {
  std::string plain = sample();
  std::string blob = compress(plain, "gzip");
  TestLayers layers({});
  layers.add(blob, kGzip, Digest::of(blob), Digest::of(plain));
  for (int chunks = 0; chunks < 3; ++chunks) {
    auto stream = layers.open(0);
    for (int i = 0; i < chunks; ++i) EXPECT_FALSE(stream->next().empty());
  }
}

// Limits are in terms of it, and the thread that unfolds is ahead, now more, now less.
TEST(LayerStream, CountsTheBytesBehindWhatItsCallerHas) {
  constexpr std::size_t kMega = 1u << 20;
  const std::string plain(20 * kMega + 7, 'x');
  TestLayers layers({plain});
  auto stream = layers.open(0);
  EXPECT_EQ(stream->compressed_bytes_read(), 0u);
  std::size_t position = 0;
  for (std::string_view chunk = stream->next(); !chunk.empty(); chunk = stream->next()) {
    position += chunk.size();
    const std::size_t blocks = (position + kMega - 1) / kMega;
    EXPECT_EQ(stream->compressed_bytes_read(), std::min(blocks * kMega, plain.size()));
  }
  EXPECT_EQ(position, plain.size());
}

}  // namespace
}  // namespace kiln
