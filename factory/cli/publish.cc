// kiln publish: built images become rows and tags of the index, in one numbered snapshot.
#include "factory/run/publish.h"

#include <fmt/format.h>

#include "factory/base/text.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cli/publication.h"
#include "factory/cli/state_lock.h"

namespace kiln {
namespace {

struct PublishRequest : CellOptions {
  bool prune = false;
  bool yes = false;
  bool dry_run = false;
  std::string to;
  bool local = false;
  bool take_tags = false;
  std::string key, passphrase_file;
};

PublishWishes wishes_of(const PublishRequest& options) {
  return {{options.to, options.key, options.passphrase_file},
          options.local,
          options.take_tags,
          options.prune,
          options.yes,
          options.every_cell()};
}

// What the matrix published before and has no longer, as far as that can be known.
LackingImages find_lacking(const PublishRequest& options, const BuildPlan& plan, const StatePaths& state,
                           Invocation& invocation) {
  const auto unknown = why_lacking_unknown(plan, invocation.damaged_derivations);
  if (!unknown) return lacking_images(plan, state, invocation.files);
  if (options.prune) throw Error(*unknown);
  return {};
}

void print_lacking(const LackingImages& lacking, const PublishRequest& options, const BuildPlan& plan,
                   const Invocation& invocation) {
  for (const std::string& name : lacking.names)
    say("{} {}\n", !options.prune ? "lacks" : options.dry_run ? "would prune" : "pruned", name);
  if (!options.prune && !lacking.names.empty())
    invocation.note(fmt::format("{} published {} that it lacks by now; --prune takes {} out", plan.name(),
                                counted(lacking.names.size(), "image"),
                                lacking.names.size() == 1 ? "it" : "them"));
}

void print_dry_run(const BuildPlan& plan, const ChosenCells& chosen, const StatePaths& state,
                   const Invocation& invocation) {
  const std::size_t built = count_built(plan, chosen.images, state, invocation.files);
  say("{} to publish, {} not built\n", counted(built, "image"),
      chosen.images.size() - built + chosen.broken.size());
}

// Notes that this publication ends the hold of a snapshot that an administrator went back to.
void note_release(const Invocation& invocation) {
  if (!invocation.has_index()) return;
  const Index index = invocation.index(Index::Mode::read);
  if (index.held())
    invocation.note(fmt::format("note: snapshot {} was held; this publication releases it", index.current()));
}

void run_publish(const PublishRequest& options, Invocation& invocation) {
  const PublishWishes wishes = wishes_of(options);
  check_pruning(wishes);
  const PublishDestination place =
      wishes.local ? PublishDestination() : publish_place(site_place(invocation.site()), wishes);
  Catalogue catalogue = invocation.load(options.matrix);
  const BuildPlan& plan = catalogue.plan;
  ChosenCells chosen = choose_cells(plan, options, invocation);
  StatePaths state = invocation.state();
  if (options.dry_run) {
    const LackingImages lacking = find_lacking(options, plan, state, invocation);
    print_dry_run(plan, chosen, state, invocation);
    return print_lacking(lacking, options, plan, invocation);
  }
  const WriterLock lock = lock_state(invocation, "kiln publish of " + plan.name());
  if (invocation.has_index()) invocation.index(Index::Mode::write);  // a damaged one is made again
  const LackingImages lacking = find_lacking(options, plan, state, invocation);
  if (options.prune && !options.yes) refuse_many(lacking, plan.name());
  PublishRun run{place, options.take_tags, {}};
  if (options.prune) run.pruned = lacking.names;
  note_release(invocation);
  const PublishedImages images = publish_images(plan, chosen, run, invocation);
  const Published& done = images.snapshot;
  if (done.is_new)
    say("snapshot {}: {} published, {} not built{}\n", done.snapshot, done.images, done.not_built,
        done.failing == 0 ? "" : fmt::format(", {} failing a test", done.failing));
  else
    say("snapshot {}: nothing new\n", done.snapshot);
  print_lacking(lacking, options, plan, invocation);
  tell_registry_news(images.registry);
}

}  // namespace

CLI::App* add_publish(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<PublishRequest>();
  CLI::App* command =
      add_below(app, "publish", "Record the built images in the index, as one snapshot",
                "kiln publish -f matrix/demo.json\n"
                "kiln publish -f matrix/demo.json framework=pytorch\n"
                "kiln publish -f matrix/demo.json --prune -n\n"
                "kiln publish -f matrix/demo.json --to registry.site:5000/ai\n"
                "kiln publish -f matrix/demo.json --local        # although the site file names a registry");
  add_cell_options(*command, *options);
  command->add_flag(
      "--prune", options->prune,
      "remove images from the new snapshot that this matrix published before and no longer has");
  command->add_flag("--yes", options->yes,
                    "with --prune: remove them even if they are more than a fifth of its images");
  add_value(*command, "--to", options->to, "REGISTRY",
            "push them to this registry first (default: the site file's), then move its tags: "
            "HOST[:PORT][/PATH], with http:// in front for one without TLS; log in with `skopeo login`");
  command->add_flag("--local", options->local, "push to no registry, even if the site file names one");
  CLI::Option* key = add_value(*command, "--sign-key", options->key, "FILE",
                               "sign the images with this key (PEM, ECDSA on P-256), as sigstore "
                               "signatures in the registry (default: the site file's)");
  add_value(*command, "--sign-passphrase-file", options->passphrase_file, "FILE",
            "file whose first line is the key's passphrase")
      ->needs(key);
  command->add_flag("--take-tags", options->take_tags,
                    "also move tags of the registry that point to images that kiln did not push");
  command->add_flag("-n,--dry-run", options->dry_run,
                    "print how many images would be published, and which the matrix lacks; change nothing");
  add_wait_option(*command, invocation.options);
  command->callback([options, command, &invocation] {
    for (const char* option : {"--to", "--sign-key", "--take-tags"})
      refuse_together(*command, "--local", option, "nothing is pushed to a registry");
    run_publish(*options, invocation);
  });
  return command;
}

}  // namespace kiln
