#include "image/build/push_images.h"

#include <fmt/format.h>

namespace kiln {

RegistryPublisher::RegistryPublisher(RegistryClient& client, const BlobStore& store, PushedNames& pushed,
                                     const SigningKey* key, std::function<void(const std::string&)> tell)
    : client_(client),
      address_(client.address()),
      store_(store),
      pushed_(pushed),
      key_(key),
      pusher_(client, store),
      tell_(std::move(tell)) {}

bool RegistryPublisher::has_tag(const std::string& repository, const std::string& tag) {
  auto [known, is_new] = tags_.try_emplace(repository);
  if (is_new)
    if (auto tags = client_.tags(repository)) known->second.insert(tags->begin(), tags->end());
  return known->second.contains(tag);
}

void RegistryPublisher::push(ImageRecord& image) {
  const std::string repository = address_.repository(image.repository);
  const std::string name = fmt::format("{}/{}@{}", address_.host, repository, image.manifest.text());
  const auto known = pushed_.image(name);
  const bool sif_is_there = image.attachment("sif") == nullptr || (known && !known->sif.empty());
  const std::string signer = key_ == nullptr ? "" : key_->id();
  const bool is_signed = signer.empty() || (known && known->signed_by == signer);
  if (known && sif_is_there && is_signed && has_tag(repository, image.immutable_tag)) {
    ++report_.unchanged;
    image.published = {address_.text(), known->sif};
    return;
  }
  if (tell_) tell_(fmt::format("pushing {}/{}:{}", address_.host, repository, image.immutable_tag));
  const PushedImage done =
      pusher_.push({repository, image.manifest, image.immutable_tag, image.created, image.attachments, key_});
  pushed_.put_image(name, {done.sif, signer});
  ++report_.pushed;
  image.published = {address_.text(), done.sif};
}

void RegistryPublisher::move_tag(const std::string& repository, const ImageRecord& image, bool take) {
  const std::string name = fmt::format("{}/{}:{}", address_.host, repository, image.tag);
  const auto before = pushed_.tag(name);
  if (before == image.manifest && has_tag(repository, image.tag)) return;
  const auto resolved = [&] { return client_.resolve(repository, image.tag); };
  auto now = unless_broken(resolved);
  if (now != image.manifest && (!now || now == before || take)) {
    if (tell_) tell_("moving " + name);
    client_.move_tag(repository, image.tag, now, std::string(media_type::kManifest),
                     store_.read(image.manifest));
    now = unless_broken(resolved);
    if (now == image.manifest) ++report_.moved;
  }
  if (now == image.manifest)
    pushed_.put_tag(name, image.manifest);
  else
    report_.foreign.push_back(
        fmt::format("{}: it names {}, and {}", name, now ? now->text() : "nothing",
                    before ? "kiln had moved it to " + before->text() : "kiln has never moved it"));
}

void RegistryPublisher::move_tags(const std::vector<IndexEntry>& entries, bool take) {
  for (const IndexEntry& entry : entries)
    if (!entry.image.external() && entry.image.published.registry == address_.text())
      move_tag(address_.repository(entry.image.repository), entry.image, take);
}

}  // namespace kiln
