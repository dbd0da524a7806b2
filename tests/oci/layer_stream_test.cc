// Digests, damage and bombs. Blobs are compressed by zlib's and zstd's own libraries, through libarchive.
#include "factory/oci/layer_stream.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include "support/compressed.h"
#include "support/merged.h"

namespace kiln {
namespace {

using testing::compress;
using testing::TestLayers;

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

TEST(LayerStream, BelievesTheBytesAndNotTheType) {
  const std::string plain = testing::short_tar({"f a=1"});
  for (const std::string& blob : {plain, compress(plain, "gzip"), compress(plain, "zstd")})
    for (const std::string& type : {kGzip, kZstd, std::string(media_type::kLayerTar),
                                    std::string("application/vnd.docker.image.rootfs.diff.tar.zstd"),
                                    std::string("application/vnd.docker.image.rootfs.diff.tar.gzip")})
      EXPECT_EQ(refusal(blob, type, Digest::of(plain)), "accepted")
          << type << " of " << blob.size() << " bytes";
  // RFC 8878, 3.1.2: a frame that is skipped, as zstd:chunked and pzstd write it in front.
  const std::string skipped("\x5a\x2a\x4d\x18\x02\x00\x00\x00xx", 10);
  EXPECT_EQ(refusal(skipped + compress(plain, "zstd"), kGzip, Digest::of(plain)), "accepted");
}

TEST(LayerStream, ABlobWithoutBytesIsALayerWithoutEntries) {
  for (const std::string& type : {kGzip, kZstd, std::string(media_type::kLayerTar)})
    EXPECT_EQ(refusal("", type, Digest::of("")), "accepted") << type;
}

TEST(LayerStream, CallsADamagedLayerByItsType) {
  EXPECT_EQ(refusal("this is no gzip stream at all", kGzip, Digest::of("x")),
            "gzip stream has bytes that are no gzip header");
  EXPECT_NE(refusal("this is no zstd stream at all", kZstd, Digest::of("x")).find("zstd stream is damaged"),
            std::string::npos);
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

// As useradd leaves them with a large uid.
TEST(LayerStream, TakesAFileOfZeros) {
  const std::string plain(96u << 20, '\0');
  EXPECT_EQ(refusal(compress(plain, "gzip", "9"), kGzip, Digest::of(plain)), "accepted");
  EXPECT_EQ(refusal(compress(plain, "zstd"), kZstd, Digest::of(plain)), "accepted");
}

TEST(LayerStream, RefusesBombsEarly) {
  const std::string plain(100u << 20, '\0');
  LayerLimits limits;
  limits.ratio_from = 64u << 20;
  const std::string message = refusal(compress(plain, "zstd"), kZstd, Digest::of(""), limits);
  EXPECT_NE(message.find("a decompression bomb"), std::string::npos) << message;
  const std::string blob = compress(plain, "gzip", "9");
  EXPECT_EQ(refusal(blob, kGzip, Digest::of(plain), limits), "accepted") << "no gzip reaches that";
  limits.plain_bytes = 1u << 20;
  EXPECT_EQ(refusal(blob, kGzip, Digest::of(""), limits),
            "the layer decompresses to more than 1048576 bytes");
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
