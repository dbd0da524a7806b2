// A registry, by the requests of the OCI distribution-spec 1.1 (its table "Endpoints"), and what registries
// add to it: logins of both kinds, transient errors, warnings.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "factory/distribution/credentials.h"
#include "factory/distribution/http.h"
#include "factory/distribution/url.h"
#include "factory/oci/blob_store.h"

namespace kiln {

// How a registry is asked. REQUIRES: what it refers to outlives the client.
struct RegistryAccess {
  RegistryAddress address;
  Http& http;
  // The login for a repository, by the registry's name for it. Called once for each repository, when the
  // registry requests a login.
  std::function<std::optional<Credentials>(const std::string& repository)> credentials;
  const Clock& clock;
  int retries = 5;  // after the first try
  std::function<void(std::chrono::milliseconds)> wait;
  std::function<void(const std::string&)> tell = {};  // gets the reason of a wait; may be empty
};

struct Challenge;

// A manifest or an index as it lies in a registry.
struct RemoteManifest {
  std::string media_type;
  Digest digest;  // of the bytes
  std::string bytes;
};

// Each request is tried again after what passes: 429 and 5xx, as long as a Retry-After says or a while that
// doubles, and broken connections. Throws Error(network): what the registry said; Error(interrupted).
// Names of repositories are as the registry knows them (RegistryAddress::repository). Several threads may ask
// at the same time, where what RegistryAccess has allows it.
class RegistryClient {
 public:
  explicit RegistryClient(RegistryAccess access);

  const RegistryAddress& address() const { return access_.address; }

  // The digest of the manifest that a tag or a digest names; nullopt if it is missing. The registry states
  // it, and kiln does not verify it here. A registry that does not answer HEAD is asked for the manifest.
  // Throws BrokenTag, as manifest() does.
  std::optional<Digest> resolve(const std::string& repository, const std::string& reference);
  // With its bytes, which are proven where `reference` is a digest. Throws Error(network) for others than the
  // digest says.
  std::optional<RemoteManifest> manifest(const std::string& repository, const std::string& reference);
  // `reference`: a tag, or the digest of the bytes. True: the registry has listed it with the subject that it
  // names (OCI-Subject). Throws MissingBlob, RefusedManifest.
  bool put_manifest(const std::string& repository, const std::string& reference,
                    const std::string& media_type, const std::string& bytes);

  // Takes away a tag alone, or, by its digest, a manifest with every tag that names it. `unsupported`: the
  // registry refuses that for all users.
  enum class Deletion { done, absent, unsupported };
  Deletion delete_manifest(const std::string& repository, const std::string& reference);

  // Moves a tag that names `from` (nullopt: the tag does not exist). False: the tag names another manifest by
  // now. Only registries with If-Match detect this; the others write, so look before and after.
  bool move_tag(const std::string& repository, const std::string& tag, const std::optional<Digest>& from,
                const std::string& media_type, const std::string& bytes);

  // The verified bytes of a blob; nullopt if it is missing. Throws Error(store) for others than the digest
  // says, and for more than `most`.
  std::optional<std::string> blob(const std::string& repository, const Digest& digest, std::uint64_t most);
  // Copies a blob into the store, verified by digest and size; false if it is missing. Throws Error(store),
  // also for other bytes.
  bool fetch_blob(const std::string& repository, const Descriptor& blob, const BlobStore& store);
  // Whether it is there, by the size and the digest that the registry answers to HEAD; its bytes are read and
  // compared only where it names no size.
  bool has_blob(const std::string& repository, const Digest& digest, std::uint64_t size);
  // For a caller that sends what the registry lacks: true as well if the registry cannot read it, because
  // sending it writes a link that docker-registry left empty (has_empty_link()).
  bool lacks_blob(const std::string& repository, const Digest& digest, std::uint64_t size);
  // The damage of a blob in the registry: "" if it is readable, else "is missing" or "has 12 of 345 bytes".
  // kiln reads its first byte, because a registry may still list a lost blob. With `read`, or if the registry
  // reports another size, kiln reads the whole blob and compares its digest.
  std::string blob_damage(const std::string& repository, const Descriptor& blob, bool read);
  // The same of a manifest, which is looked for, or read with `read`.
  std::string manifest_damage(const std::string& repository, const Digest& digest, bool read);
  // Out of another repository of the same registry, without sending it. False: it must be sent, for any
  // reason.
  bool mount_blob(const std::string& repository, const Digest& digest, const std::string& from);
  // Throws WrongDigest.
  void put_blob(const std::string& repository, const Descriptor& blob, const std::filesystem::path& file);
  void put_blob(const std::string& repository, const std::string& bytes);

  // Sorted; nullopt: there is no such repository.
  std::optional<std::vector<std::string>> tags(const std::string& repository);

 private:
  struct Question;
  HttpAnswer ask(const Question& question);
  HttpAnswer read_manifest(const Question& question, const std::string& reference);
  HttpAnswer write_manifest(const Question& question);
  HttpAnswer try_once(const Question& question);
  template <typename Attempt>
  HttpAnswer persist(const Question& question, const Attempt& attempt);
  void wait_before(int tries, const std::string& what, const std::string& retry_after,
                   const Question& question);
  std::string refusal(const Question& question, const HttpAnswer& answer) const;
  [[noreturn]] void refuse(const Question& question, const HttpAnswer& answer) const;
  std::string authorization(const std::string& repository) const;
  std::string log_in(const Question& question, const HttpAnswer& refusal);
  std::string read_blob_damage(const std::string& repository, const Descriptor& blob);
  std::string token(const Question& refused, const Challenge& challenge, const Credentials* who);
  std::string url(const std::string& repository, const std::string& rest) const;
  bool is_of_registry(const std::string& url) const;
  HttpAnswer send(HttpRequest request);
  HttpAnswer send_on(HttpRequest request);
  bool shows_blob(const Question& question, const Digest& digest, std::uint64_t size);
  void leave_upload(const std::string& repository, const std::string& upload);
  void send_blob(const std::string& repository, const Digest& digest, HttpRequest body);

  RegistryAccess access_;
  std::atomic<bool> is_local_ = false;                // the registry is this machine, or of its link
  mutable std::mutex login_;                          // held by the thread that logs in
  mutable std::mutex mutex_;                          // guards what follows
  std::map<std::string, std::string> authorization_;  // by repository: what is sent since it was asked for
};

// The registry lists a tag, and answers 500 to requests for its manifest: docker-registry, killed or without
// power while it wrote the tag, has left its link empty. Writing the tag again repairs it.
struct BrokenTag : Error {
  explicit BrokenTag(const std::string& what) : Error(ExitCode::network, what) {}
};

// The result of `ask` for a tag. A tag that can no longer be read counts as missing.
template <typename Ask>
auto unless_broken(const Ask& ask) -> decltype(ask()) {
  try {
    return ask();
  } catch (const BrokenTag&) {
    return std::nullopt;
  }
}

// The registry refused a manifest, because a blob or manifest that it names is missing: it was
// garbage-collected.
struct MissingBlob : Error {
  explicit MissingBlob(const std::string& what) : Error(ExitCode::network, what) {}
};

// The registry refused a manifest of this kind, for example one of an artifact if it accepts only images.
struct RefusedManifest : Error {
  explicit RefusedManifest(const std::string& what) : Error(ExitCode::network, what) {}
};

// The registry reports that the sent bytes do not match their digest.
struct WrongDigest : Error {
  explicit WrongDigest(const std::string& what) : Error(ExitCode::network, what) {}
};

}  // namespace kiln
