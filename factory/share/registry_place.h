// Shared steps in a registry: each an OCI artifact in one repository, under a tag made of its key. Its
// configuration is the record in its envelope, its layers are those that the record promises, so that the
// registry keeps them (image-spec 1.1, manifest.md, "Guidelines for Artifact Usage").
#pragma once

#include <memory>

#include "factory/distribution/registry_client.h"
#include "factory/share/shared_place.h"

namespace kiln {

inline constexpr std::string_view kSharedStepType = "application/vnd.kiln.step.v1";

class RegistryPlace final : public SharedPlace {
 public:
  // The path of its address is the repository. `http`: what the client asks through.
  RegistryPlace(std::unique_ptr<Http> http, RegistryAccess access);

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
  std::optional<Manifest> manifest_of(const std::string& tag);  // throws Error(input): it is none
  void put_once(const SharedName& name, const std::string& envelope, const std::string& manifest,
                const std::vector<Descriptor>& blobs, const BlobStore& store);

  std::unique_ptr<Http> http_;
  RegistryClient client_;
  std::string repository_;
};

}  // namespace kiln
