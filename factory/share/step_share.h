// A place that builders share: records under names, and the blobs that they promise. It is not trusted: the
// caller verifies everything that it returns.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "factory/base/effects.h"
#include "factory/distribution/registry_client.h"
#include "factory/distribution/signature.h"
#include "factory/oci/blob_store.h"
#include "factory/state/record_store.h"

namespace kiln {

// The document by which builders share a finished step or test: its record and its builder, in a signed
// envelope. Pure.
//
// The record names its key and, of each layer, digest, size and DiffID. So a signature binds them to the key:
// it is valid for no other step, no other order of layers and no other bytes.

// A step or a test, by its shared name.
struct SharedName {
  std::string key;
  bool is_test = false;
  std::string text() const { return (is_test ? "test-" : "step-") + key; }  // also an OCI tag
};

struct SharedRecord {
  std::variant<StepRecord, TestRecord> record;  // without an origin
  std::string host;                             // that made it
  std::string made;                             // RFC 3339
};

std::string_view payload_type(const SharedName& name);

// `key`: signs it; null: it is not signed.
std::string shared_envelope(const SharedName& name, const SharedRecord& shared, const SigningKey* key);

struct OpenedRecord {
  SharedRecord shared;
  std::string signer;    // "": no trusted key
  std::string forged{};  // as OpenedEnvelope has it
};

// Throws Error(input): it is no envelope, or not of this step or test.
OpenedRecord open_shared(const SharedName& name, std::string_view envelope,
                         const std::vector<VerifyingKey>& trusted);

// Every record that is read has at most this many bytes.
inline constexpr std::uint64_t kMostEnvelope = 4u << 20;

// `step-<key>` or `test-<key>` again; nullopt: it is neither.
std::optional<SharedName> shared_name(std::string_view text);

// The DiffIDs of the layers that the step itself made.
std::vector<Digest> own_layers(const LayerChain& chain, std::string_view key);

// Throws Error(network) where it cannot be reached or asked, Error(store) for a fault of its contents or of
// the local disk, Error(input) for contents in another form, Error(interrupted).
class StepShare {
 public:
  virtual ~StepShare() = default;
  virtual std::string text() const = 0;  // for people: "registry.site:5000/ai/steps"

  // All that there is.
  virtual std::set<std::string> names() = 0;

  struct Found {
    std::string envelope;
    std::string used{};     // RFC 3339: made, or taken by a builder that may write; "" if it is not known
    bool is_ours = false;   // only this user can have written it
    std::string why_not{};  // and if not: what says so; "" where that was never promised
  };
  virtual std::optional<Found> find(const SharedName& name) = 0;
  // Copies a blob into the store, verified by digest and size. False: it is missing.
  virtual bool fetch(const Descriptor& blob, const BlobStore& store) = 0;
  // Blobs first, then what names them, so that a kill leaves nothing that is found. `made`: RFC 3339.
  // `mends`: something of it was found damaged there.
  virtual void put(const SharedName& name, const std::string& envelope, const std::string& made,
                   const std::vector<Descriptor>& blobs, const BlobStore& store, bool mends) = 0;

  // Says that it is used now. It may no longer exist then.
  virtual void touch(const SharedName& name, const std::string& now) = 0;
  // The time of each one's last use, by its text(); other names than steps and tests are left out.
  virtual std::map<std::string, std::string> used() = 0;
  // Takes them away, and what only they need where the place does not see to that itself.
  virtual void remove(const std::set<std::string>& names) = 0;
};

// Shared steps in a folder, such as one of a parallel file system:
//
//   <folder>/steps/step-<key>.json, test-<key>.json   the record in its envelope
//   <folder>/sha256/<aa>/<64 hex>                     BlobStore
//
// It may promise that only this user writes there. Then a record is ours if its file and its folder are, and
// no other user may write to them. A user with write permission elsewhere cannot put a file of kiln's user
// there.
class FolderShare final : public StepShare {
 public:
  // `is_private`: that it promises that. REQUIRES: `files` outlives this.
  FolderShare(fs::path folder, bool is_private, FileSystem& files)
      : folder_(std::move(folder)), is_private_(is_private), files_(files) {}

  std::string text() const override { return folder_.string(); }
  std::set<std::string> names() override;
  std::optional<Found> find(const SharedName& name) override;
  bool fetch(const Descriptor& blob, const BlobStore& store) override;
  void put(const SharedName& name, const std::string& envelope, const std::string& made,
           const std::vector<Descriptor>& blobs, const BlobStore& store, bool mends) override;
  void touch(const SharedName& name, const std::string& now) override;
  std::map<std::string, std::string> used() override;
  void remove(const std::set<std::string>& names) override;

 private:
  fs::path records() const { return folder_ / "steps"; }
  fs::path record(const std::string& name) const { return records() / (name + ".json"); }
  void remove_unnamed_blobs() const;
  void need_folder() const;  // throws Error(network) if it is missing: it may be mounted later

  fs::path folder_;
  bool is_private_;
  FileSystem& files_;
};

// Why another user may have written what is open there: "belongs to the user 1001", "may be written by its
// group"; "" if only this user may, or root.
std::string foreign_hand(int descriptor);

// Shared steps in a registry: each an OCI artifact in one repository, under a tag made of its key. Its
// configuration is the record in its envelope, its layers are those that the record promises, so that the
// registry keeps them (image-spec 1.1, manifest.md, "Guidelines for Artifact Usage").
inline constexpr std::string_view kSharedStepType = "application/vnd.kiln.step.v1";

class RegistryShare final : public StepShare {
 public:
  // The path of its address is the repository. `http`: what the client asks through.
  RegistryShare(std::unique_ptr<Http> http, RegistryAccess access);

  std::string text() const override { return client_.address().text(); }
  std::set<std::string> names() override;
  std::optional<Found> find(const SharedName& name) override;
  bool fetch(const Descriptor& blob, const BlobStore& store) override;
  void put(const SharedName& name, const std::string& envelope, const std::string& made,
           const std::vector<Descriptor>& blobs, const BlobStore& store, bool mends) override;
  void touch(const SharedName& name, const std::string& now) override;
  std::map<std::string, std::string> used() override;
  void remove(const std::set<std::string>& names) override;

 private:
  std::optional<Manifest> manifest_of(const std::string& tag);  // throws Error(input) for an invalid manifest
  void put_once(const SharedName& name, const std::string& envelope, const std::string& manifest,
                const std::vector<Descriptor>& blobs, const BlobStore& store);

  std::unique_ptr<Http> http_;
  RegistryClient client_;
  std::string repository_;
};

}  // namespace kiln
