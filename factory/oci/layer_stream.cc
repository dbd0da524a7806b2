#include "factory/oci/layer_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "factory/oci/inflate.h"

namespace kiln {
namespace {

constexpr std::size_t kChunk = 1u << 20;
constexpr std::size_t kChunks = 8;  // decompressed ahead of the reader
constexpr std::size_t kInput = 1u << 20;

}  // namespace

// A ring of chunks with one writer (the inflating thread) and two readers (the caller and the hashing
// thread). A chunk is written again when both have passed it.
class LayerStream::Pipe {
 public:
  Pipe(const BlobSection& blob, const Descriptor& descriptor, const Digest& diff_id,
       const LayerLimits& limits)
      : blob_(blob), descriptor_(descriptor), diff_id_(diff_id), limits_(limits) {
    // An uncompressed layer's DiffID is its digest: one hash is enough.
    hashing_ = !diff_id_.empty() && diff_id_ != descriptor_.digest;
    inflating_thread_ = std::thread([this] { guarded(&Pipe::inflate_all); });
    if (hashing_) hashing_thread_ = std::thread([this] { guarded(&Pipe::hash_all); });
  }

  ~Pipe() {
    {
      std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    inflating_thread_.join();
    if (hashing_thread_.joinable()) hashing_thread_.join();
  }

  std::string_view next() {
    std::unique_lock lock(mutex_);
    if (holding_) {
      ++read_;
      holding_ = false;
      changed_.notify_all();
    }
    changed_.wait(lock, [this] { return failure_ || read_ < written_ || complete_; });
    if (!failure_ && read_ == written_ && hashing_)  // the end counts only with the right DiffID
      changed_.wait(lock, [this] { return failure_ || hashed_all_; });
    if (failure_) std::rethrow_exception(failure_);
    if (read_ == written_) return {};
    holding_ = true;
    const Chunk& chunk = chunks_[read_ % kChunks];
    compressed_of_read_ = chunk.compressed;
    return {chunk.bytes.get(), chunk.size};
  }

  std::uint64_t compressed_bytes_read() const { return compressed_of_read_; }

 private:
  struct Chunk {
    std::unique_ptr<char[]> bytes;  // made on first use: small layers need one
    std::size_t size = 0;
    std::uint64_t compressed = 0;  // bytes of the blob that were read for this chunk and those before it
  };

  void guarded(void (Pipe::*work)()) {
    try {
      (this->*work)();
    } catch (Error& error) {
      error.while_doing(fmt::format("decompressing the layer {}", descriptor_.digest.empty()
                                                                      ? diff_id_.text()
                                                                      : descriptor_.digest.text()));
      fail(std::make_exception_ptr(error));
    } catch (...) {
      fail(std::current_exception());
    }
  }

  void fail(std::exception_ptr failure) {
    std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    changed_.notify_all();
  }

  // nullptr: the stream is being stopped.
  Chunk* free_chunk() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] {
      std::uint64_t passed = hashing_ ? std::min(read_, hashed_) : read_;
      return stopped_ || failure_ || written_ - passed < kChunks;
    });
    return stopped_ || failure_ ? nullptr : &chunks_[written_ % kChunks];
  }

  void publish() {
    std::lock_guard lock(mutex_);
    ++written_;
    changed_.notify_all();
  }

  void inflate_all() {
    std::vector<char> buffer(std::clamp<std::uint64_t>(blob_.size, 1, kInput));
    std::uint64_t offset = 0;
    std::size_t have = read_blob(offset, buffer);
    auto inflater = Inflater::create(
        layer_compression(descriptor_.media_type, {buffer.data(), std::min(have, kFirstBytes)}),
        hashing_ ? Inflater::Checksums::left_out : Inflater::Checksums::compared);
    std::string_view input{buffer.data(), have};
    bool more = true;
    while (more) {
      Chunk* chunk = free_chunk();
      if (chunk == nullptr) return;
      if (!chunk->bytes) chunk->bytes = std::make_unique_for_overwrite<char[]>(kChunk);
      chunk->size = 0;
      while (chunk->size < kChunk) {
        std::size_t count = inflater->inflate(input, chunk->bytes.get() + chunk->size, kChunk - chunk->size);
        chunk->size += count;
        if (chunk->size == kChunk) break;
        if (!input.empty() && count == 0) continue;  // a frame ended exactly here
        have = read_blob(offset, buffer);
        input = {buffer.data(), have};
        more = have > 0;
        if (!more) break;
      }
      count_plain(chunk->size);
      chunk->compressed = compressed_;
      if (chunk->size > 0) publish();
    }
    inflater->finish();
    if (!descriptor_.digest.empty() && blob_hash_.finish() != descriptor_.digest)
      throw Error(ExitCode::input, "the blob's bytes do not have the digest that the manifest names",
                  "the image is damaged or was changed; copy it again");
    std::lock_guard lock(mutex_);
    complete_ = true;
    changed_.notify_all();
  }

  std::size_t read_blob(std::uint64_t& offset, std::vector<char>& buffer) {
    std::uint64_t left = blob_.size - offset;
    auto want = static_cast<std::size_t>(std::min<std::uint64_t>(left, buffer.size()));
    std::size_t got = blob_.file->read_at(blob_.offset + offset, buffer.data(), want);
    if (got != want)
      throw Error(ExitCode::input, fmt::format("the blob is truncated at byte {}", offset + got));
    if (!descriptor_.digest.empty()) blob_hash_.update(buffer.data(), got);
    offset += got;
    compressed_ = offset;
    return got;
  }

  // gzip makes one byte of a thousand zeros, zstd of far more, and layers of zeros do occur: useradd with a
  // large uid leaves a lastlog of gigabytes. What is to be written is bounded where it is written
  // (sif_build.h).
  void count_plain(std::size_t size) {
    plain_ += size;
    if (plain_ > limits_.plain_bytes)
      throw Error(ExitCode::input,
                  fmt::format("the layer decompresses to more than {} bytes", limits_.plain_bytes));
    if (plain_ > limits_.ratio_from && plain_ / limits_.ratio > compressed_)
      throw Error(ExitCode::input,
                  fmt::format("the layer decompresses {} bytes to {}, over {} times: a decompression bomb",
                              compressed_, plain_, limits_.ratio));
  }

  void hash_all() {
    Hasher hasher;
    while (true) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopped_ || failure_ || hashed_ < written_ || complete_; });
      if (stopped_ || failure_) return;
      if (hashed_ == written_) break;
      const Chunk& chunk = chunks_[hashed_ % kChunks];
      lock.unlock();
      hasher.update(chunk.bytes.get(), chunk.size);
      lock.lock();
      ++hashed_;
      changed_.notify_all();
    }
    if (hasher.finish() != diff_id_)
      throw Error(
          ExitCode::input,
          fmt::format(
              "the layer's plain bytes do not have the DiffID {} that the image's configuration names",
              diff_id_.text()));
    std::lock_guard lock(mutex_);
    hashed_all_ = true;
    changed_.notify_all();
  }

  BlobSection blob_;
  Descriptor descriptor_;
  Digest diff_id_;
  LayerLimits limits_;
  bool hashing_ = false;
  Hasher blob_hash_;
  std::uint64_t plain_ = 0;
  std::uint64_t compressed_ = 0;          // of the inflating thread
  std::uint64_t compressed_of_read_ = 0;  // of the caller's

  std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  std::array<Chunk, kChunks> chunks_;
  std::uint64_t written_ = 0;  // chunks, since the start
  std::uint64_t read_ = 0;
  std::uint64_t hashed_ = 0;
  bool holding_ = false;   // the caller looks at chunk read_
  bool complete_ = false;  // all written, blob digest right
  bool hashed_all_ = false;
  bool stopped_ = false;
  std::exception_ptr failure_;

  std::thread inflating_thread_;
  std::thread hashing_thread_;
};

LayerStream::LayerStream(const BlobSection& blob, const Descriptor& descriptor, const Digest& diff_id,
                         const LayerLimits& limits)
    : pipe_(std::make_unique<Pipe>(blob, descriptor, diff_id, limits)) {}
LayerStream::~LayerStream() = default;

std::string_view LayerStream::next() { return pipe_->next(); }

void LayerStream::drain() {
  while (!pipe_->next().empty()) {
  }
}

std::uint64_t LayerStream::compressed_bytes_read() const { return pipe_->compressed_bytes_read(); }

}  // namespace kiln
