#include "factory/sif/squashfs_writer.h"

#include <fmt/format.h>
#include <sqfs/block.h>
#include <sqfs/block_processor.h>
#include <sqfs/block_writer.h>
#include <sqfs/compressor.h>
#include <sqfs/frag_table.h>
#include <sqfs/io.h>
#include <sqfs/super.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <exception>

#include "factory/sif/tail_packer.h"

namespace kiln::sif {
namespace {

constexpr std::uint64_t kPadding = 4096;  // a loop device needs whole sectors
// A block of its own, also when it is all zeros; no file shares it as a block.
constexpr sqfs_u32 kFragmentBlock =
    SQFS_BLK_DONT_FRAGMENT | SQFS_BLK_DONT_DEDUPLICATE | SQFS_BLK_IGNORE_SPARSE | SQFS_BLK_DONT_HASH;

// libsquashfs's view of a part of the output file. Exceptions must not pass through C: the first one is kept.
struct Window {
  sqfs_file_t base;  // first: libsquashfs sees this only
  OutputFile* file;
  std::uint64_t offset;
  std::uint64_t size;
  std::exception_ptr failure;

  static Window* of(const sqfs_file_t* base) {
    return reinterpret_cast<Window*>(const_cast<sqfs_file_t*>(base));
  }
  static int read_at(sqfs_file_t* base, sqfs_u64 offset, void* bytes, size_t size) {
    Window* self = of(base);
    if (offset > self->size || size > self->size - offset) return SQFS_ERROR_OUT_OF_BOUNDS;
    return self->guarded(
        [&] { self->file->read_at(self->offset + offset, static_cast<char*>(bytes), size); });
  }
  static int write_at(sqfs_file_t* base, sqfs_u64 offset, const void* bytes, size_t size) {
    Window* self = of(base);
    int status = self->guarded([&] {
      self->file->write_at(self->offset + offset, {static_cast<const char*>(bytes), size});
    });
    if (status == 0) self->size = std::max(self->size, offset + size);
    return status;
  }
  static sqfs_u64 get_size(const sqfs_file_t* base) { return of(base)->size; }
  static int truncate(sqfs_file_t* base, sqfs_u64 size) {
    Window* self = of(base);
    int status = self->guarded([&] { self->file->truncate(self->offset + size); });
    if (status == 0) self->size = size;
    return status;
  }
  static void destroy(sqfs_object_t*) {}  // a member of State

  template <typename Work>
  int guarded(Work work) {
    try {
      work();
      return 0;
    } catch (...) {
      if (!failure) failure = std::current_exception();
      return SQFS_ERROR_IO;
    }
  }
};

struct Compression {
  const char* name;
  SQFS_COMPRESSOR id;
  unsigned least, most, preset;  // levels; 0 for "has none"
};
// The presets give images no larger than mksquashfs's gzip -9 in the least time that does.
constexpr Compression kCompressions[] = {{"zstd", SQFS_COMP_ZSTD, 1, 22, 3},
                                         {"gzip", SQFS_COMP_GZIP, 1, 9, 9},
                                         {"lz4", SQFS_COMP_LZ4, 0, 0, 0},
                                         {"xz", SQFS_COMP_XZ, 0, 9, 6}};

sqfs_compressor_config_t compressor_config(const SquashfsOptions& options) {
  const auto* found = std::find_if(std::begin(kCompressions), std::end(kCompressions),
                                   [&](const Compression& one) { return options.compression == one.name; });
  if (found == std::end(kCompressions))
    throw Error(ExitCode::usage, fmt::format("unknown compression '{}'", options.compression),
                "zstd, gzip, lz4 or xz");
  unsigned level = options.level == 0 ? found->preset : options.level;
  if (level < found->least || level > found->most)
    throw Error(ExitCode::usage, fmt::format("{} has no level {}; it has {} to {}", found->name, level,
                                             found->least, found->most));
  sqfs_compressor_config_t config;
  check_squashfs(sqfs_compressor_config_init(&config, found->id, options.block_size, 0),
                 "the compressor's options");
  if (found->most > 0) config.level = level;
  return config;
}

}  // namespace

class SquashfsWriter::State {
 public:
  State(OutputFile& file, std::uint64_t offset, const SquashfsOptions& options)
      : block_size_(options.block_size),
        sums_wanted_(options.sums),
        sum_(options.block_size),
        tails_(options.block_size, [this](std::string_view block) { write_fragments(block); }) {
    if (options.block_size < SQFS_MIN_BLOCK_SIZE || options.block_size > SQFS_MAX_BLOCK_SIZE ||
        (options.block_size & (options.block_size - 1)) != 0)
      throw Error(ExitCode::usage, fmt::format("the block size {} is no power of two from 4096 to 1048576",
                                               options.block_size));
    window_.base = {
        {Window::destroy, nullptr}, Window::read_at, Window::write_at, Window::get_size, Window::truncate};
    window_.file = &file;
    window_.offset = offset;
    window_.size = 0;
    open_compressor(options);
    write_superblock(options);
    start_processor(options);
  }

  ~State() {
    processor_.reset();  // joins the workers, which write to contents_
    for (sqfs_inode_generic_t* inode : contents_) sqfs_free(inode);
    for (sqfs_inode_generic_t* inode : fragment_blocks_) sqfs_free(inode);
  }

  std::uint32_t begin_file() {
    contents_.push_back(nullptr);
    ends_.emplace_back();
    sums_.push_back(0);
    return static_cast<std::uint32_t>(contents_.size() - 1);
  }

  // libsquashfs gets whole blocks only; what is left at the end of a file goes to the fragments.
  void append(std::string_view bytes) {
    if (sums_wanted_) sum_.append(bytes);
    if (!rest_.empty()) {
      std::size_t take = std::min(bytes.size(), block_size_ - rest_.size());
      rest_ += bytes.substr(0, take);
      bytes.remove_prefix(take);
      if (rest_.size() < block_size_) return;
      write_blocks(rest_);
      rest_.clear();
    }
    std::size_t whole = bytes.size() / block_size_ * block_size_;
    if (whole > 0) write_blocks(bytes.substr(0, whole));
    rest_ = bytes.substr(whole);
  }

  void end_file() {
    if (sums_wanted_) sums_.back() = sum_.finish();
    if (contents_.back() != nullptr) check(sqfs_block_processor_end_file(processor_.get()), "a file");
    if (rest_.empty()) return;
    ends_.back() = {tails_.add(rest_), static_cast<std::uint32_t>(rest_.size())};
    rest_.clear();
  }
  const SquashfsTotals& totals() const { return totals_; }

  std::uint64_t finish(const ImageTree& tree, const std::vector<Xattrs>& xattrs, std::uint32_t image_time,
                       std::uint32_t latest_time) {
    tails_.finish();
    check(sqfs_block_processor_finish(processor_.get()), "file contents");
    place_fragments();
    super_.modification_time = std::min(image_time, latest_time);
    try {
      write_tree(tree, xattrs, latest_time);
    } catch (const Error&) {
      check(window_.failure ? SQFS_ERROR_IO : 0, "the tree");
      throw;
    }
    super_.bytes_used = window_.size;
    check(sqfs_super_write(&super_, &window_.base), "the superblock");
    std::uint64_t padded = (window_.size + kPadding - 1) / kPadding * kPadding;
    check(Window::truncate(&window_.base, padded), "the end of the image");
    return padded;
  }

 private:
  void open_compressor(const SquashfsOptions& options) {
    sqfs_compressor_config_t config = compressor_config(options);
    sqfs_compressor_t* made = nullptr;
    check(sqfs_compressor_create(&config, &made), "with this compression");
    compressor_.reset(made);
    config.flags |= SQFS_COMP_FLAG_UNCOMPRESS;
    made = nullptr;
    check(sqfs_compressor_create(&config, &made), "with this compression");
    decompressor_.reset(made);
    compression_id_ = static_cast<SQFS_COMPRESSOR>(config.id);
  }

  void write_superblock(const SquashfsOptions& options) {
    check(sqfs_super_init(&super_, options.block_size, 0, compression_id_), "the superblock");
    check(sqfs_super_write(&super_, &window_.base), "the superblock");
    int written = compressor_->write_options(compressor_.get(), &window_.base);
    check(written, "the compressor's options");
    if (written > 0) super_.flags |= SQFS_FLAG_COMPRESSOR_OPTIONS;
  }

  void start_processor(const SquashfsOptions& options) {
    blocks_.reset(sqfs_block_writer_create(&window_.base, 4096, 0));
    fragments_.reset(sqfs_frag_table_create(0));
    if (!blocks_ || !fragments_) throw std::bad_alloc();
    sqfs_block_processor_desc_t description{};
    description.size = sizeof description;
    description.max_block_size = options.block_size;
    description.num_workers = std::max(1u, options.jobs);
    description.max_backlog = 10 * description.num_workers;
    description.cmp = compressor_.get();
    description.wr = blocks_.get();
    description.tbl = fragments_.get();
    description.file = &window_.base;
    description.uncmp = decompressor_.get();
    sqfs_block_processor_t* made = nullptr;
    check(sqfs_block_processor_create_ex(&description, &made), "with worker threads");
    processor_.reset(made);
  }

  // REQUIRES: whole blocks.
  void write_blocks(std::string_view blocks) {
    if (contents_.back() == nullptr)
      check(sqfs_block_processor_begin_file(processor_.get(), &contents_.back(), nullptr, 0), "a file");
    check(sqfs_block_processor_append(processor_.get(), blocks.data(), blocks.size()), "a file's content");
  }

  // For libsquashfs it is a file of one block.
  void write_fragments(std::string_view block) {
    fragment_blocks_.push_back(nullptr);
    check(
        sqfs_block_processor_begin_file(processor_.get(), &fragment_blocks_.back(), nullptr, kFragmentBlock),
        "a fragment block");
    check(sqfs_block_processor_append(processor_.get(), block.data(), block.size()), "a fragment block");
    check(sqfs_block_processor_end_file(processor_.get()), "a fragment block");
  }

  // Where all blocks lie is known now.
  void place_fragments() {
    for (const sqfs_inode_generic_t* inode : fragment_blocks_) {
      sqfs_u64 place = 0;
      sqfs_inode_get_file_block_start(inode, &place);
      check(sqfs_frag_table_append(fragments_.get(), place, inode->extra[0], nullptr), "the fragment table");
    }
    for (std::size_t i = 0; i < contents_.size(); ++i) {
      sqfs_inode_generic_t*& inode = contents_[i];
      if (inode == nullptr) inode = new_file_inode();
      const End& end = ends_[i];
      if (end.size == 0) continue;
      sqfs_u64 size = 0;
      sqfs_inode_get_file_size(inode, &size);
      check(sqfs_inode_set_file_size(inode, size + end.size), "a file's size");
      check(sqfs_inode_set_frag_location(inode, end.place.block, end.place.offset), "a file's end");
    }
  }

  void write_tree(const ImageTree& tree, const std::vector<Xattrs>& xattrs, std::uint32_t latest_time) {
    SquashfsOwned<sqfs_meta_writer_t> inodes(sqfs_meta_writer_create(&window_.base, compressor_.get(), 0));
    SquashfsOwned<sqfs_meta_writer_t> listings(
        sqfs_meta_writer_create(&window_.base, compressor_.get(), SQFS_META_WRITER_KEEP_IN_MEMORY));
    SquashfsOwned<sqfs_id_table_t> ids(sqfs_id_table_create(0));
    SquashfsOwned<sqfs_xattr_writer_t> xattr_writer(sqfs_xattr_writer_create(0));
    if (!inodes || !listings || !ids || !xattr_writer) throw std::bad_alloc();
    SquashfsOwned<sqfs_dir_writer_t> folders(sqfs_dir_writer_create(listings.get(), 0));
    if (!folders) throw std::bad_alloc();

    SquashfsTree writer(tree, {contents_, sums_},
                        {inodes.get(), folders.get(), ids.get(), xattr_writer.get()}, latest_time);
    writer.add_xattrs(xattrs);
    super_.inode_table_start = window_.size;
    super_.root_inode_ref = writer.write();
    super_.inode_count = writer.inode_count();
    totals_ = writer.totals();
    check(sqfs_meta_writer_flush(inodes.get()), "the inodes");
    check(sqfs_meta_writer_flush(listings.get()), "the folders");
    super_.directory_table_start = window_.size;
    check(sqfs_meta_write_write_to_file(listings.get()), "the folders");
    check(sqfs_frag_table_write(fragments_.get(), &window_.base, &super_, compressor_.get()),
          "the fragment table");
    check(sqfs_id_table_write(ids.get(), &window_.base, &super_, compressor_.get()), "the id table");
    check(sqfs_xattr_writer_flush(xattr_writer.get(), &window_.base, &super_, compressor_.get()),
          "the extended attributes");
  }

  // The output file's own error (no space left) says more than libsquashfs's.
  void check(int status, const char* what) {
    if (status < 0 && window_.failure) std::rethrow_exception(window_.failure);
    check_squashfs(status, what);
  }

  Window window_{};
  sqfs_super_t super_{};
  SQFS_COMPRESSOR compression_id_ = SQFS_COMP_ZSTD;
  struct End {
    TailPacker::Place place;
    std::uint32_t size = 0;
  };
  std::size_t block_size_;
  bool sums_wanted_;
  // Filled in by the processor's threads until finish(); null for contents without a whole block until then.
  std::deque<sqfs_inode_generic_t*> contents_;
  std::deque<sqfs_inode_generic_t*> fragment_blocks_;
  std::vector<End> ends_;  // of the contents
  std::string rest_;       // of the content begun, less than a block
  ContentSum sum_;
  std::vector<std::uint64_t> sums_;  // of the contents
  TailPacker tails_;
  SquashfsTotals totals_;
  SquashfsOwned<sqfs_compressor_t> compressor_;
  SquashfsOwned<sqfs_compressor_t> decompressor_;
  SquashfsOwned<sqfs_block_writer_t> blocks_;
  SquashfsOwned<sqfs_frag_table_t> fragments_;
  SquashfsOwned<sqfs_block_processor_t> processor_;
};

SquashfsWriter::SquashfsWriter(OutputFile& file, std::uint64_t offset, const SquashfsOptions& options)
    : state_(std::make_unique<State>(file, offset, options)) {}
SquashfsWriter::~SquashfsWriter() = default;

std::uint32_t SquashfsWriter::begin_file() { return state_->begin_file(); }
void SquashfsWriter::append(std::string_view bytes) { state_->append(bytes); }
void SquashfsWriter::end_file() { state_->end_file(); }
std::uint64_t SquashfsWriter::finish(const ImageTree& tree, const std::vector<Xattrs>& xattrs,
                                     std::uint32_t image_time, std::uint32_t latest_time) {
  return state_->finish(tree, xattrs, image_time, latest_time);
}
const SquashfsTotals& SquashfsWriter::totals() const { return state_->totals(); }

}  // namespace kiln::sif
