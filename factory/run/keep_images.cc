// What a registry has lost of what the index answers with is found, and pushed again.
#include <fmt/format.h>

#include <algorithm>

#include "factory/base/in_parallel.h"
#include "factory/run/push_images.h"

namespace kiln {

// A part that the registry does not have as it should be.
struct RegistryPublisher::Loss {
  std::string repository;
  LostPart part;
  std::vector<std::size_t> images{};  // whose it is: numbers of those that were looked at
  bool is_mended = false;
  std::string why{};  // it could not be pushed again
  // The same blob may be the second layer of one image and the third of another.
  std::string name() const { return repository + " " + (part.blob.empty() ? part.what : part.blob.text()); }
};

std::vector<ImageInRegistry> RegistryPublisher::placed(const ChosenAliases& aliases,
                                                       const std::vector<IndexEntry>& entries) const {
  std::vector<ImageInRegistry> found;
  std::set<std::string> places;
  const auto add = [&](const std::string& repository, const ImageRecord& image) {
    const std::string place = place_of(repository, image.manifest);
    const auto pushed = pushed_.image(place);
    if ((pushed && pushed->going) || !places.insert(place).second) return;
    // What another state folder has pushed is known by the index alone.
    found.push_back({repository, &image, pushed.value_or(PushedRecord{image.published.sif})});
  };
  for (const IndexEntry& entry : entries)
    if (is_ours(entry)) add(address_.repository(entry.image.repository), entry.image);
  for (const AliasedImages& alias : aliases.clear)
    for (const auto& [platform, image] : alias.images) {
      const std::string repository = address_.repository(alias.repository);
      if (pushed_.image(place_of(repository, image->manifest))) add(repository, *image);
    }
  return found;
}

std::vector<RegistryPublisher::Loss> RegistryPublisher::find_losses(
    const std::vector<ImageInRegistry>& images, const LookTerms& terms) {
  std::vector<Loss> losses;
  std::map<std::string, std::size_t> numbers;  // of `losses`
  RegistryLook look(client_, store_, terms);
  std::vector<std::vector<LostPart>> found(images.size());
  in_parallel(images.size(), kConnections,
              [&](std::size_t number) { found[number] = look.look(images[number]); });
  for (std::size_t number = 0; number < images.size(); ++number) {
    for (LostPart& part : found[number]) {
      Loss loss{images[number].repository, std::move(part)};
      const auto [known, is_new] = numbers.try_emplace(loss.name(), losses.size());
      if (is_new) losses.push_back(std::move(loss));
      losses[known->second].images.push_back(number);
    }
  }
  return losses;
}

void RegistryPublisher::mend(const std::vector<ImageInRegistry>& images, const LookTerms& terms,
                             std::vector<Loss>& losses) {
  std::set<std::size_t> numbers;
  for (const Loss& loss : losses) {
    numbers.insert(loss.images.front());
    if (!loss.part.blob.empty()) pusher_.expect_lost(loss.part.blob);
  }
  const std::vector<std::size_t> to_push(numbers.begin(), numbers.end());
  const std::vector<std::string> refused = push_again(images, to_push);
  // What was pushed is looked at again, as it is by now.
  std::vector<ImageInRegistry> again;
  for (const std::size_t number : to_push) {
    again.push_back(images[number]);
    const auto pushed = pushed_.image(place_of(images[number].repository, images[number].image->manifest));
    if (pushed) again.back().pushed = *pushed;
  }
  std::set<std::string> left;
  for (const Loss& loss : find_losses(again, terms)) left.insert(loss.name());
  for (Loss& loss : losses) {
    loss.is_mended = !left.contains(loss.name());
    const auto at = std::lower_bound(to_push.begin(), to_push.end(), loss.images.front());
    loss.why = refused[static_cast<std::size_t>(at - to_push.begin())];
  }
}

// Why each could not be pushed; "" where it was.
std::vector<std::string> RegistryPublisher::push_again(const std::vector<ImageInRegistry>& images,
                                                       const std::vector<std::size_t>& numbers) {
  std::vector<std::string> refused(numbers.size());
  in_parallel(numbers.size(), kConnections, [&](std::size_t at) {
    const ImageInRegistry& placed = images[numbers[at]];
    try {
      push_to(placed.repository, *placed.image, fmt::format(" again ({} of {})", at + 1, numbers.size()));
    } catch (const Error& error) {
      if (error.code() == ExitCode::interrupted) throw;
      refused[at] = error.format("");
    }
  });
  return refused;
}

void RegistryPublisher::look_at_tags(const std::vector<SiteAlias>& aliases,
                                     const std::vector<IndexEntry>& entries) {
  std::vector<TagMove> tags;
  for (const IndexEntry& entry : entries)
    if (is_ours(entry))
      tags.push_back({address_.repository(entry.image.repository), entry.image.tag, entry.image.manifest,
                      media_type::kManifest});
  for (const AliasedImages& alias : choose_aliases(aliases, entries, address_.text(), store_).clear)
    tags.push_back({address_.repository(alias.repository), alias.tag, Digest::of(index_of(alias)),
                    media_type::kImageIndex});
  std::vector<std::optional<Digest>> named(tags.size());
  in_parallel(tags.size(), kConnections,
              [&](std::size_t number) { named[number] = named_by(tags[number], true); });
  for (std::size_t number = 0; number < tags.size(); ++number) {
    const TagMove& tag = tags[number];
    const std::string name = fmt::format("{}/{}:{}", address_.host, tag.repository, tag.tag);
    if (!named[number])
      report_.lost.push_back(name + ": the tag is missing");
    else if (named[number] != tag.digest)
      report_.foreign.push_back(fmt::format("{}: it names {}, and the index has {}", name,
                                            named[number]->text(), tag.digest.text()));
  }
}

void RegistryPublisher::keep(const std::vector<SiteAlias>& aliases, const std::vector<IndexEntry>& entries,
                             const KeepTerms& terms) {
  const ChosenAliases chosen = choose_aliases(aliases, entries, address_.text(), store_);
  const std::vector<ImageInRegistry> images = placed(chosen, entries);
  const LookTerms look{terms.parts, terms.read, key_};
  std::vector<Loss> losses = find_losses(images, look);
  if (terms.mend && !losses.empty()) mend(images, look, losses);
  for (const Loss& loss : losses) {
    const std::size_t more = loss.images.size() - 1;
    const std::string text = fmt::format(
        "{}/{}: {}, {} ({}{})", address_.host, loss.repository, loss.part.what, loss.part.damage,
        images[loss.images.front()].image->name(), more == 0 ? "" : fmt::format(" and {} more", more));
    if (loss.is_mended)
      report_.mended.push_back(text + ": pushed again");
    else
      report_.lost.push_back(
          loss.why.empty() ? text : fmt::format("{}: cannot be pushed again: {}", text, loss.why));
  }
}

}  // namespace kiln
