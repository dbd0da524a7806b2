#include "factory/sif/squashfs_reader.h"

#include <fmt/format.h>
#include <sqfs/block.h>
#include <sqfs/compressor.h>
#include <sqfs/error.h>
#include <sqfs/frag_table.h>
#include <sqfs/inode.h>
#include <sqfs/io.h>
#include <sqfs/super.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <tuple>

#include "factory/base/error.h"
#include "factory/sif/squashfs_inodes.h"

namespace kiln::sif {
namespace {

// Linux, Documentation/filesystems/squashfs.rst, says where things are. A file is blocks of super_.block_size
// plain bytes, and its end, when that is shorter, may lie in a fragment block that holds the ends of many
// files.
constexpr std::uint32_t kNoFragment = 0xffffffff;

[[noreturn]] void bad(const ReadOnlyFile& file, const std::string& what) {
  throw Error(ExitCode::input, SourceLocation{file.path().string(), 0, 0, ""}, "SquashFS: " + what);
}

// libsquashfs's view of the section.
struct Section {
  sqfs_file_t base;  // first: libsquashfs sees this only
  const ReadOnlyFile* file;
  std::uint64_t offset;
  std::uint64_t size;

  static const Section* of(const sqfs_file_t* base) { return reinterpret_cast<const Section*>(base); }
  static int read_at(sqfs_file_t* base, sqfs_u64 offset, void* bytes, size_t size) {
    const Section* self = of(base);
    if (offset > self->size || size > self->size - offset) return SQFS_ERROR_OUT_OF_BOUNDS;
    try {
      std::size_t got = self->file->read_at(self->offset + offset, static_cast<char*>(bytes), size);
      return got == size ? 0 : SQFS_ERROR_OUT_OF_BOUNDS;
    } catch (...) {
      return SQFS_ERROR_IO;
    }
  }
  static int write_at(sqfs_file_t*, sqfs_u64, const void*, size_t) { return SQFS_ERROR_UNSUPPORTED; }
  static sqfs_u64 get_size(const sqfs_file_t* base) { return of(base)->size; }
  static int truncate(sqfs_file_t*, sqfs_u64) { return SQFS_ERROR_UNSUPPORTED; }
  static void destroy(sqfs_object_t*) {}
};

// A block of a file, or its end inside a fragment block. SquashFS's word for a stored block: its size in the
// low 24 bits, bit 24 set when it is stored plain; the whole word 0 for a block of zeros that is not stored.
struct Piece {
  std::uint64_t place = 0;   // of the stored block in the image
  std::uint32_t stored = 0;  // SquashFS's word: size, and whether it is compressed; 0: a hole
  std::uint32_t within = 0;
  std::uint32_t plain = 0;
  bool tail = false;
  std::uint64_t crc = 0;
  auto block() const { return std::tie(place, stored); }
  auto all() const { return std::tie(place, stored, within, plain); }
};

struct FileContent {
  std::uint32_t number = 0;
  std::uint32_t pieces = 0;
  std::uint64_t size = 0;
};

class Reader {
 public:
  Reader(const ReadOnlyFile& file, std::uint64_t offset, std::uint64_t size)
      : file_(file),
        section_{{{Section::destroy, nullptr},
                  Section::read_at,
                  Section::write_at,
                  Section::get_size,
                  Section::truncate},
                 &file,
                 offset,
                 size} {
    check(sqfs_super_read(&super_, &section_.base), "the superblock");
    // The number is the image's word alone, and seen_ has a bit for each.
    if (super_.inode_count > kMostSquashfsInodes) bad(file_, fmt::format("{} inodes", super_.inode_count));
    // libsquashfs takes memory for as many as are said; each holds the end of a file at least.
    if (super_.fragment_entry_count > super_.inode_count)
      bad(file_, fmt::format("{} fragments of {} inodes", super_.fragment_entry_count, super_.inode_count));
    sqfs_compressor_config_t config;
    check(sqfs_compressor_config_init(&config, static_cast<SQFS_COMPRESSOR>(super_.compression_id),
                                      super_.block_size, SQFS_COMP_FLAG_UNCOMPRESS),
          "the compression");
    sqfs_compressor_t* made = nullptr;
    check(sqfs_compressor_create(&config, &made), "the compression");
    compressor_.reset(made);
    fragments_.reset(sqfs_frag_table_create(0));
    if (!fragments_) throw std::bad_alloc();
    if ((super_.flags & SQFS_FLAG_NO_FRAGMENTS) == 0)
      check(sqfs_frag_table_read(fragments_.get(), &section_.base, &super_, compressor_.get()),
            "the fragment table");
    seen_.resize(super_.inode_count + std::size_t{1});
  }

  SquashfsTotals read(unsigned jobs) {
    try {
      read_tree();
    } catch (const Error& error) {
      if (!error.where().file.empty() || error.code() != ExitCode::input) throw;
      bad(file_, error.message());
    }
    read_blocks(std::max(1u, jobs));
    auto piece = pieces_.begin();
    for (const FileContent& content : contents_) {
      ContentSum sum(super_.block_size);
      for (std::uint32_t i = 0; i < content.pieces; ++i, ++piece) sum.add_block(piece->crc, piece->plain);
      totals_.add_file(content.number, content.size, sum.finish());
    }
    if (totals_.inodes != super_.inode_count)
      bad(file_, fmt::format("{} inodes are in folders, the superblock says {}", totals_.inodes,
                             super_.inode_count));
    return totals_;
  }

 private:
  void check(int status, const char* what) const {
    if (status == SQFS_ERROR_ALLOC) throw std::bad_alloc();
    if (status < 0) bad(file_, fmt::format("cannot read {} (libsquashfs error {})", what, status));
  }

  // True when the inode is met for the first time. Folders that hold one another would otherwise be walked
  // for ever.
  bool first_time(const sqfs_inode_generic_t& inode) {
    std::uint32_t number = inode.base.inode_number;
    if (number == 0 || number > super_.inode_count)
      bad(file_, fmt::format("an inode's number is {}", number));
    if (seen_[number]) return false;
    seen_[number] = true;
    ++totals_.inodes;
    return true;
  }

  void read_tree() {
    SquashfsInodes inodes(section_.base, *compressor_, super_);
    std::vector<ReadInode> folders;
    folders.push_back(inodes.root());
    first_time(*folders.back());
    while (!folders.empty()) {
      ReadInode folder = std::move(folders.back());
      folders.pop_back();
      sqfs_readdir_state_t place = inodes.open(*folder);
      while (ReadInode inode = inodes.next(place)) {
        bool is_folder = inode->base.type == SQFS_INODE_DIR || inode->base.type == SQFS_INODE_EXT_DIR;
        bool is_new = first_time(*inode);
        if (is_folder && !is_new) bad(file_, "a folder is in two folders");
        if (is_folder)
          folders.push_back(std::move(inode));
        else if (is_new)
          add_file(*inode);
      }
    }
  }

  void add_file(const sqfs_inode_generic_t& inode) {
    if (inode.base.type != SQFS_INODE_FILE && inode.base.type != SQFS_INODE_EXT_FILE) return;
    sqfs_u64 size = 0;
    sqfs_u64 place = 0;
    sqfs_u32 fragment = kNoFragment;
    sqfs_u32 within = 0;
    sqfs_inode_get_file_size(&inode, &size);
    sqfs_inode_get_file_block_start(&inode, &place);
    sqfs_inode_get_frag_location(&inode, &fragment, &within);
    std::size_t count = sqfs_inode_get_file_block_count(&inode);
    std::uint64_t left = size;
    for (std::size_t i = 0; i < count; ++i) {
      auto plain = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, super_.block_size));
      if (plain == 0) bad(file_, "a file has more blocks than its size needs");
      pieces_.push_back({place, inode.extra[i], 0, plain, false, 0});
      place += SQFS_ON_DISK_BLOCK_SIZE(inode.extra[i]);
      left -= plain;
    }
    if (fragment != kNoFragment && left > 0) {
      sqfs_fragment_t found;
      check(sqfs_frag_table_lookup(fragments_.get(), fragment, &found), "a fragment");
      pieces_.push_back({found.start_offset, found.size, within, static_cast<std::uint32_t>(left), true, 0});
      count += 1;
      left = left < super_.block_size ? 0 : left;  // a fragment holds less than a block
    }
    if (left > 0) bad(file_, fmt::format("a file has {} bytes fewer than its inode says", left));
    contents_.push_back({inode.base.inode_number, static_cast<std::uint32_t>(count), size});
  }

  // Threads take stored blocks one by one, in the order of their places. A block that many files name is
  // decompressed once: its writer pays four bytes to name it again, and would have us decompress a megabyte.
  void read_blocks(unsigned jobs) {
    order_.resize(pieces_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<std::uint32_t>(i);
    std::ranges::sort(order_, {}, [this](std::uint32_t piece) { return pieces_[piece].all(); });
    std::vector<std::thread> threads;
    std::exception_ptr failure;
    std::mutex mutex;
    auto work = [&] {
      try {
        read_some_blocks();
      } catch (...) {
        std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
      }
    };
    for (unsigned i = 1; i < jobs; ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
  }

  void read_some_blocks() {
    SquashfsOwned<sqfs_compressor_t> own(reinterpret_cast<sqfs_compressor_t*>(sqfs_copy(compressor_.get())));
    if (!own) throw std::bad_alloc();
    std::string stored(super_.block_size, '\0');
    std::string plain(super_.block_size, '\0');
    while (true) {
      auto [begin, end] = next_block();
      if (begin == end) return;
      if (interrupted()) throw Error(ExitCode::interrupted, "interrupted");
      std::size_t size = decompress(pieces_[order_[begin]], *own, stored, plain);
      for (std::size_t i = begin; i < end; ++i) {
        Piece& piece = pieces_[order_[i]];
        bool whole = piece.tail ? piece.within <= size && piece.plain <= size - piece.within
                                : piece.plain == size || piece.stored == 0;
        if (!whole)
          bad(file_, fmt::format("the block at {} decompresses to {} bytes, {} are missing", piece.place,
                                 size, piece.within + std::uint64_t{piece.plain} - size));
        const Piece& before = pieces_[order_[i == begin ? i : i - 1]];
        bool again = i > begin && piece.all() == before.all();
        piece.crc =
            again ? before.crc : content_crc(std::string_view(plain).substr(piece.within, piece.plain));
      }
    }
  }

  // The pieces of one stored block.
  std::pair<std::size_t, std::size_t> next_block() {
    std::lock_guard lock(next_mutex_);
    std::size_t begin = next_;
    while (next_ < order_.size() && pieces_[order_[next_]].block() == pieces_[order_[begin]].block()) ++next_;
    return {begin, next_};
  }

  std::size_t decompress(const Piece& piece, sqfs_compressor_t& compressor, std::string& stored,
                         std::string& plain) const {
    if (SQFS_IS_SPARSE_BLOCK(piece.stored)) {
      std::ranges::fill(plain, '\0');
      return plain.size();
    }
    std::uint32_t size = SQFS_ON_DISK_BLOCK_SIZE(piece.stored);
    if (size > super_.block_size) bad(file_, fmt::format("a block of {} bytes at {}", size, piece.place));
    bool compressed = SQFS_IS_BLOCK_COMPRESSED(piece.stored);
    std::string& target = compressed ? stored : plain;
    if (Section::read_at(const_cast<sqfs_file_t*>(&section_.base), piece.place, target.data(), size) != 0)
      bad(file_, fmt::format("cannot read the block at {}", piece.place));
    if (!compressed) return size;
    sqfs_s32 count = compressor.do_block(&compressor, reinterpret_cast<const sqfs_u8*>(stored.data()), size,
                                         reinterpret_cast<sqfs_u8*>(plain.data()), super_.block_size);
    if (count <= 0) bad(file_, fmt::format("the block at {} does not decompress", piece.place));
    return static_cast<std::size_t>(count);
  }

  const ReadOnlyFile& file_;
  Section section_;
  sqfs_super_t super_{};
  SquashfsOwned<sqfs_compressor_t> compressor_;
  SquashfsOwned<sqfs_frag_table_t> fragments_;
  std::vector<bool> seen_;  // by inode number
  std::vector<FileContent> contents_;
  std::vector<Piece> pieces_;         // in the order of contents_
  std::vector<std::uint32_t> order_;  // by place
  std::mutex next_mutex_;
  std::size_t next_ = 0;
  SquashfsTotals totals_;
};

}  // namespace

SquashfsTotals read_squashfs(const ReadOnlyFile& file, std::uint64_t offset, std::uint64_t size,
                             unsigned jobs) {
  return Reader(file, offset, size).read(jobs);
}

}  // namespace kiln::sif
