#include "factory/figures/panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "factory/base/text.h"
#include "factory/figures/chart_text.h"

namespace kiln {
namespace {

using Images = std::vector<const MeasuredImage*>;

// Those of one rank: how an image scales is another question.
template <typename Wanted>
Images images_that(const MeasuredSet& set, Wanted wanted) {
  int fewest = 0;
  for (const MeasuredImage& image : set.images)
    fewest = fewest == 0 ? image.ranks : std::min(fewest, image.ranks);
  Images images;
  for (const MeasuredImage& image : set.images)
    if (image.ranks == fewest && wanted(image)) images.push_back(&image);
  return images;
}

// In the order in which they come.
template <typename Key>
std::vector<Images> grouped(const Images& images, Key key) {
  std::vector<Images> groups;
  std::map<std::string, std::size_t> places;
  for (const MeasuredImage* image : images) {
    auto [place, is_new] = places.emplace(key(*image), groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(image);
  }
  return groups;
}

std::string version_of(const MeasuredImage& image) { return framework_text(image.axes); }

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    if (!word.empty()) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// "glibc-malloc+huge-pages", as a matrix has them.
std::string runtimes_text(const MeasuredImage& image) {
  return fmt::format("{}", fmt::join(image.axes.runtimes, "+"));
}

// How it was built and for what: "stock, pip, x86_64"; "pip, tcmalloc, x86_64".
std::string build_text(const MeasuredImage& image) {
  const std::string text =
      listed({image.stock ? "stock" : "", image.axes.method, runtimes_text(image), image.axes.target});
  return text.empty() ? image.name : text;
}

std::string compilers_text(const MeasuredImage& image) {
  return fmt::format("{}", fmt::join(image.axes.compilers, ", "));
}

PanelBar measured_bar(const MeasuredImage& image, const std::string& label) {
  PanelBar bar;
  bar.image = &image;
  bar.label = label.empty() ? image.name : label;
  return bar;
}

PanelBar gap_bar(std::string label, std::string why) {
  PanelBar bar;
  bar.label = std::move(label);
  bar.gap = std::move(why);
  return bar;
}

void hold_against(PanelBar& bar, const MeasuredImage& reference, std::string name) {
  bar.comparison = compare_images(reference, *bar.image);
  bar.against = std::move(name);
}

bool is_plain(const MeasuredImage& image) { return !image.compiled(); }

// Why a version has no stock bar though something of it was measured.
std::string why_no_stock(const Images& images) {
  std::set<std::string> compilers, methods;
  for (const MeasuredImage* image : images)
    if (image->stock)
      compilers.insert(compilers_text(*image));
    else
      methods.insert(image->axes.method);
  methods.erase("");
  if (!compilers.empty())
    return fmt::format("the stock image only with a graph compiler: {}", fmt::join(compilers, "; "));
  return methods.empty() ? "only other builds"
                         : fmt::format("only other builds: {}", fmt::join(methods, ", "));
}

// "without" if there is no other, "stock" if no other is stock.
std::string reference_text(const MeasuredImage& reference, const Images& plain) {
  if (plain.size() == 1) return "without";
  const auto stock = std::ranges::count_if(plain, [](const auto* image) { return image->stock; });
  return reference.stock && stock == 1 ? "stock" : short_name(reference);
}

// The image that the compiled one would be without its compilers: its name without their words, or the only
// one there is, else the stock image.
const MeasuredImage* without_compilers(const MeasuredImage& compiled, const Images& plain) {
  std::string name = compiled.name;
  for (const std::string& compiler : compiled.axes.compilers)
    if (auto at = name.find("-" + compiler); at != std::string::npos) name.erase(at, compiler.size() + 1);
  for (const MeasuredImage* image : plain)
    if (image->name == name) return image;
  if (plain.size() == 1) return plain.front();
  const auto stock = std::ranges::find_if(plain, [](const auto* image) { return image->stock; });
  return stock == plain.end() ? nullptr : *stock;
}

// The same with its graph compilers and without.
std::string build_of(const MeasuredImage& image) {
  const std::string text = listed({version_of(image), image.axes.method, image.axes.target});
  return text.empty() ? image.name : text;
}

// What each processor (on a CPU: each thread) does of what it does with the fewest ranks. A time is of a step
// in which each rank has a batch of its own; a rate is of all ranks together.
double efficiency_of(const MeasuredImage& fewest, const MeasuredImage& image, const Circumstances& at) {
  const double ranks = static_cast<double>(image.ranks) / fewest.ranks;
  const double one = fewest.speed.value, other = image.speed.value;
  const double all_ranks = more_is_better(at.unit) ? other / one : one / other * ranks;
  const bool are_known = at.accelerator == "cpu" && fewest.threads > 0 && image.threads > 0;
  return all_ranks / (are_known ? ranks * image.threads / fewest.threads : ranks);
}

// Stock images without a graph compiler, a framework and version after the other; later versions against the
// first one of their framework. A version that was measured, but not so, is a gap.
std::vector<PanelGroup> framework_groups(const MeasuredSet& set) {
  PanelGroup group;
  std::map<std::string, const MeasuredImage*> first;  // measured, of a framework
  for (const Images& images : grouped(images_that(set, [](const auto&) { return true; }), version_of)) {
    const std::string version = version_of(*images.front());
    const std::size_t before = group.bars.size();
    for (const MeasuredImage* image : images) {
      if (!image->stock || image->compiled()) continue;
      PanelBar bar = measured_bar(*image, listed({version, image->axes.method}));
      auto [reference, is_first] = first.emplace(image->axes.framework, image);
      if (!is_first) hold_against(bar, *reference->second, version_of(*reference->second));
      group.bars.push_back(std::move(bar));
    }
    if (group.bars.size() == before && !version.empty())
      group.bars.push_back(gap_bar(version + ", stock", why_no_stock(images)));
  }
  return first.empty() ? std::vector<PanelGroup>() : std::vector{group};
}

// A group for each version with other builds than stock, all without a graph compiler: against the stock
// image, and where that was not measured, which is a gap, against the first of the others.
std::vector<PanelGroup> method_groups(const MeasuredSet& set) {
  std::vector<PanelGroup> groups;
  for (const Images& images : grouped(images_that(set, is_plain), version_of)) {
    if (std::ranges::all_of(images, [](const auto* image) { return image->stock; })) continue;
    PanelGroup group{version_of(*images.front()), {}};
    const MeasuredImage& reference = *images.front();  // stock ones stand first
    if (!reference.stock) group.bars.push_back(gap_bar("stock", ""));
    for (const MeasuredImage* image : images) {
      PanelBar bar = measured_bar(*image, build_text(*image));
      if (image != &reference)
        hold_against(bar, reference, reference.stock ? "stock" : short_name(reference));
      group.bars.push_back(std::move(bar));
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

// A group for each build of a version that was measured with a graph compiler: against itself without one, or
// a gap.
std::vector<PanelGroup> compiler_groups(const MeasuredSet& set) {
  std::vector<PanelGroup> groups;
  for (const Images& images : grouped(images_that(set, [](const auto&) { return true; }), build_of)) {
    Images plain, compiled;
    for (const MeasuredImage* image : images) (image->compiled() ? compiled : plain).push_back(image);
    if (compiled.empty()) continue;
    PanelGroup group{build_of(*images.front()), {}};
    if (plain.empty()) group.bars.push_back(gap_bar("no graph compiler", ""));
    for (const MeasuredImage* image : plain)
      group.bars.push_back(measured_bar(*image, listed({"no graph compiler", runtimes_text(*image)})));
    for (const MeasuredImage* image : compiled) {
      PanelBar bar = measured_bar(*image, listed({compilers_text(*image), runtimes_text(*image)}));
      if (const MeasuredImage* reference = without_compilers(*image, plain))
        hold_against(bar, *reference, reference_text(*reference, plain));
      group.bars.push_back(std::move(bar));
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

// A group for each image that was measured with several numbers of ranks: against the fewest.
std::vector<PanelGroup> scaling_groups(const MeasuredSet& set) {
  Images all;
  for (const MeasuredImage& image : set.images) all.push_back(&image);
  std::vector<PanelGroup> groups;
  for (const Images& images : grouped(all, [](const MeasuredImage& image) { return image.name; })) {
    if (images.size() < 2) continue;
    PanelGroup group{images.front()->name, {}};
    const MeasuredImage& fewest = *images.front();
    for (const MeasuredImage* image : images) {
      std::string label = counted(static_cast<std::size_t>(image->ranks), "rank");
      if (image->threads != set.circumstances.threads)
        label += " of " + counted(static_cast<std::size_t>(image->threads), "thread");
      PanelBar bar = measured_bar(*image, label);
      if (image != &fewest) bar.efficiency = efficiency_of(fewest, *image, set.circumstances);
      group.bars.push_back(std::move(bar));
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

// All images, one group.
std::vector<PanelGroup> image_groups(const MeasuredSet& set) {
  PanelGroup group;
  for (const MeasuredImage& image : set.images) {
    std::string label = image.name;
    if (image.ranks > 1) label += ", " + counted(static_cast<std::size_t>(image.ranks), "rank");
    group.bars.push_back(measured_bar(image, label));
  }
  return {group};
}

struct FigureForm {
  const char* title;
  std::vector<PanelGroup> (*groups)(const MeasuredSet& set);
};

// In the order of FigureKind.
constexpr std::array kForms = {FigureForm{"Frameworks side by side, stock images", framework_groups},
                               FigureForm{"Stock images and other builds of the same version", method_groups},
                               FigureForm{"With and without graph compilers", compiler_groups},
                               FigureForm{"Scaling over ranks", scaling_groups},
                               FigureForm{"All images", image_groups}};
static_assert(kForms.size() == kFigureKindNames.rows.size());

const FigureForm& form_of(FigureKind kind) { return kForms.at(static_cast<std::size_t>(kind)); }

// Two bars that say the same in one group would leave it open which is which: they get their tags.
void tell_apart(PanelGroup& group, FigureKind kind) {
  std::map<std::string, int> seen;
  for (const PanelBar& bar : group.bars) ++seen[bar.label];
  for (PanelBar& bar : group.bars) {
    if (bar.image == nullptr || seen[bar.label] < 2) continue;
    const std::string tag = short_name(*bar.image);
    bar.label = kind == FigureKind::methods ? tag : bar.label + ": " + tag;
  }
}

std::string file_word(std::string_view text) {
  std::string word;
  for (char c : lower_case(text))
    if (is_letter_or_digit(c))
      word += c;
    else if (!word.empty() && word.back() != '-')
      word += '-';
  while (!word.empty() && word.back() == '-') word.pop_back();
  return word;
}

BarKind bar_kind(const MeasuredImage& image) {
  if (image.compiled()) return BarKind::compiled;
  return image.stock ? BarKind::stock : BarKind::built;
}

Bar bar_of(const PanelBar& from) {
  Bar bar;
  bar.label = from.label;
  bar.note = note_of(from);
  if (from.image == nullptr) return bar;
  bar.kind = bar_kind(*from.image);
  bar.title = fmt::format("{}: {}, {}", from.image->name, counted(from.image->runs.size(), "run"),
                          from.image->runs.back().taken);
  bar.value = from.image->speed;
  bar.marks = from.image->marks;
  return bar;
}

}  // namespace

std::vector<Panel> panels_of(std::span<const MeasuredSet> sets, const std::vector<FigureKind>& kinds) {
  std::vector<Panel> panels;
  std::map<std::string, int> files;
  auto add = [&](const MeasuredSet& set, FigureKind kind, std::size_t least) {
    Panel panel{kind, &set, "", form_of(kind).groups(set)};
    std::size_t bars = 0;
    for (PanelGroup& group : panel.groups) {
      tell_apart(group, kind);
      bars += group.bars.size();
    }
    if (bars < least) return false;
    panel.file = fmt::format("{}-{}", name_of(kind), file_word(set.circumstances.workload));
    if (const int before = files[panel.file]++; before > 0) panel.file += fmt::format("-{}", before + 1);
    panels.push_back(std::move(panel));
    return true;
  };
  for (const MeasuredSet& set : sets) {
    bool any = false;
    for (FigureKind kind : kinds) any |= add(set, kind, kind == FigureKind::images ? 1 : 2);
    if (!kinds.empty()) continue;
    for (FigureKind kind :
         {FigureKind::frameworks, FigureKind::methods, FigureKind::compilers, FigureKind::scaling})
      any |= add(set, kind, 2);
    if (!any) add(set, FigureKind::images, 1);
  }
  return panels;
}

std::string panel_title(const Panel& panel) { return form_of(panel.kind).title; }

std::string note_of(const PanelBar& bar) {
  if (bar.image == nullptr) return bar.gap;
  std::string note;
  if (bar.efficiency) note = fmt::format("efficiency {}", ratio_text(*bar.efficiency));
  auto add = [&](const std::string& text) { note += (note.empty() ? "" : "; ") + text; };
  if (bar.comparison)
    add(gain_text(*bar.comparison, bar.against));
  else if (!bar.against.empty())
    add("not measured in turns with " + bar.against);
  if (bar.image->earlier > 0) add(counted(bar.image->earlier, "other run") + " left out");
  return note;
}

BarChart chart_of(const Panel& panel) {
  BarChart chart{panel.file, panel_title(panel), circumstance_lines(*panel.set),
                 panel.set->circumstances.unit, more_is_better(panel.set->circumstances.unit)};
  for (const PanelGroup& group : panel.groups) {
    BarGroup bars{group.title};
    for (const PanelBar& bar : group.bars) bars.bars.push_back(bar_of(bar));
    chart.groups.push_back(std::move(bars));
  }
  return chart;
}

}  // namespace kiln
