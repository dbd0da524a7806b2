#include "factory/run/mend.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "factory/oci/blob_store.h"
#include "factory/oci/layout.h"
#include "factory/record/image_blobs.h"
#include "factory/state/lock.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

using UserKind = BlobUser::Kind;

std::string whose(const std::vector<std::string>& names) {
  if (names.size() == 1) return names.front();
  return fmt::format("{} and {} more", names.front(), names.size() - 1);
}

std::string described(const BlobDamage& damage) {
  if (damage.of.empty()) return fmt::format("{} {}; nothing uses it", damage.blob.text(), damage.damage);
  return fmt::format("{} of {}, {}, {}", damage.what, whose(damage.of), damage.blob.text(), damage.damage);
}

std::string described(const LayoutDamage& damage) {
  return fmt::format("the layout {} {}", damage.folder.string(), damage.damage);
}

bool is_sidecar(const std::string& file) { return file.starts_with("store/"); }
constexpr const char* kByRecovery = "`kiln index recover` makes it again from the index";

// Who makes the blob again, now that it is not there.
std::string remedy(const UsedBlob& blob, const std::vector<BlobUser>& users) {
  const BlobUser* best = nullptr;
  for (const BlobUse& use : blob.uses) {
    const BlobUser& user = users[use.user];
    if (best == nullptr || user.kind == UserKind::step ||
        (user.kind == UserKind::packaged && best->kind == UserKind::published))
      best = &user;
  }
  if (best == nullptr) return "`--repair` takes it away";
  if (best->kind == UserKind::step) return fmt::format("`kiln build` runs {} again", best->name);
  if (best->kind == UserKind::packaged) return fmt::format("`kiln build` packages {} again", best->name);
  return fmt::format("no build here makes {} again: build its matrix and publish it", best->name);
}

// Whose layout it is by now: its image may have been packaged again since `uses` were read.
std::optional<ImageRecord> image_in(const fs::path& layout, const BlobUses& uses, const StatePaths& state,
                                    const FileSystem& files) {
  for (const BlobUser& user : uses.users)
    if (user.kind == UserKind::packaged && user.image.layout == layout)
      if (auto now = RecordReader(state, files).image(user.record)) return now;
  return std::nullopt;
}

class Mending {
 public:
  Mending(const FsckReport& report, const MendSetup& setup)
      : report_(report), setup_(setup), store_(setup.state.store()) {}

  std::vector<Mended> run() {
    for (const BlobDamage& damage : report_.blobs)
      if (!damage.is_unread && !restore(damage.blob)) take_away(damage.blob);
    take_back_records();
    package_again();
    mend_layouts(setup_.state, setup_.files);
    std::vector<Mended> all;
    for (const BlobDamage& damage : report_.blobs) all.push_back(outcome(damage));
    for (const LayoutDamage& damage : report_.layouts) all.push_back(outcome(damage));
    for (const std::string& file : report_.uses.unreadable) all.push_back(take_record(file));
    return all;
  }

 private:
  const UsedBlob& used(const Digest& digest) const { return report_.uses.blobs.at(digest); }

  // From the layout of an image that has it.
  bool restore(const Digest& digest) {
    for (const BlobUse& use : used(digest).uses) {
      const std::string& layout = report_.uses.users[use.user].image.layout;
      if (layout.empty()) continue;
      fs::path copy = blob_in_layout(setup_.state.root() / layout, digest);
      if (!has_bytes_of(copy, digest)) continue;
      store_.put_file(copy, "", digest);
      done_[digest] = "restored from " + layout;
      return true;
    }
    return false;
  }

  void take_away(const Digest& digest) {
    store_.remove(digest);
    if (used(digest).uses.empty()) done_[digest] = "taken away";
  }

  // Of steps whose layers are gone: ninja believes a record.
  void take_back_records() {
    RecordWriter writer(setup_.state, setup_.files);
    for (const BlobDamage& damage : report_.blobs) {
      if (done_.contains(damage.blob) || damage.is_unread) continue;
      for (const BlobUse& use : used(damage.blob).uses) {
        const BlobUser& user = report_.uses.users[use.user];
        if (user.kind == UserKind::step) writer.remove_step(user.record);
      }
    }
  }

  bool is_gone(const Digest& digest) const {
    const auto size = used(digest).size;
    return size ? !seen_damage(store_, digest, *size).empty() : !store_.has(digest);
  }

  // Packaged images that lack something which is made of their layers.
  void package_again() {
    std::set<std::size_t> lacking;
    std::set<std::size_t> hopeless;
    for (const BlobDamage& damage : report_.blobs) {
      if (done_.contains(damage.blob)) continue;
      for (const BlobUse& use : used(damage.blob).uses)
        (use.role == ImageBlob::Role::layer || damage.is_unread ? hopeless : lacking).insert(use.user);
    }
    for (std::size_t user : lacking) {
      const BlobUser& image = report_.uses.users[user];
      if (image.kind == UserKind::packaged && !hopeless.contains(user)) package_again(image);
    }
  }

  void package_again(const BlobUser& image) {
    try {
      setup_.package(image);
    } catch (const Error& error) {
      if (error.code() == ExitCode::interrupted) throw;  // else the next build tries, and says why not
    }
  }

  Mended outcome(const BlobDamage& damage) {
    Mended mended{described(damage), "", true};
    auto done = done_.find(damage.blob);
    if (done != done_.end()) {
      mended.done = done->second;
    } else if (damage.is_unread) {
      mended.done = "left as it is: look at the disk and at the file's mode";
      mended.is_whole = false;
    } else if (!is_gone(damage.blob)) {
      mended.done = "made again";
    } else {
      mended.done = "taken away: " + remedy(used(damage.blob), report_.uses.users);
      mended.is_whole = false;
    }
    return mended;
  }

  // What reading found is made again here; the rest mend_layouts() did.
  Mended outcome(const LayoutDamage& damage) {
    Mended mended{described(damage), "made again", true};
    const ImageRecord image =
        image_in(damage.folder, report_.uses, setup_.state, setup_.files).value_or(damage.image);
    if (auto missing = first_damage(blobs_of(image, store_)))
      return {mended.damage, fmt::format("its image's {} {}", missing->what, missing->damage), false};
    write_layout_again(setup_.state.root() / damage.folder, layout_index_of(image, store_), store_,
                       setup_.files);
    return mended;
  }

  Mended take_record(const std::string& file) {
    const std::string damage = file + " is not what was written";
    if (is_sidecar(file)) return {damage, kByRecovery, false};
    setup_.files.remove_all(setup_.state.root() / file);
    return {damage, "taken away: `kiln build` makes it again", false};
  }

  const FsckReport& report_;
  const MendSetup& setup_;
  BlobStore store_;
  std::map<Digest, std::string> done_;
};

// Unless another build packages the image, or has by now: then its layout is a new one.
void link_again(const LayoutDamage& damage, const BlobUses& uses, const StatePaths& state,
                const BlobStore& store, FileSystem& files) {
  const auto alone = Claim::try_take(state, damage.image.key, "kiln, which links its layout again,");
  if (!alone) return;
  const auto now = image_in(damage.folder, uses, state, files);
  if (now && now->manifest == damage.image.manifest)
    write_layout_again(state.root() / damage.folder, layout_index_of(damage.image, store), store, files);
}

}  // namespace

std::vector<Mended> mend(const FsckReport& report, const MendSetup& setup) {
  return Mending(report, setup).run();
}

void mend_layouts(const StatePaths& state, FileSystem& files) {
  const BlobStore store = BlobStore::reading(state.store());
  // A blob that was made again leaves layouts behind that link the damaged file: what is no link to the
  // store's is read.
  const BlobUses uses = blob_uses(state, files);
  for (const LayoutDamage& damage : check_layouts(uses, state, true))
    if (!first_damage(blobs_of(damage.image, store))) link_again(damage, uses, state, store, files);
}

std::vector<Mended> remedies(const FsckReport& report) {
  std::vector<Mended> all;
  for (const BlobDamage& damage : report.blobs)
    all.push_back({described(damage), remedy(report.uses.blobs.at(damage.blob), report.uses.users)});
  for (const LayoutDamage& damage : report.layouts)
    all.push_back({described(damage), "`--repair` makes it again"});
  for (const std::string& file : report.uses.unreadable)
    all.push_back(
        {file + " is not what was written",
         is_sidecar(file) ? kByRecovery : "`--repair` takes it away, then `kiln build` makes it again"});
  return all;
}

}  // namespace kiln
