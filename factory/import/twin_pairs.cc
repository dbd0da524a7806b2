#include "factory/import/twin_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "factory/base/text.h"
#include "factory/import/legacy_names.h"

namespace kiln {
namespace {

struct Form {
  std::string path;
  FormName name;
  std::string folder;
  std::string place;
  bool paired = false;
};

// Those of one folder, place or name.
struct Group {
  std::vector<Form*> docker;
  std::vector<Form*> definitions;
  void add(Form& form) { (form.name.docker ? docker : definitions).push_back(&form); }
};

std::vector<Form*> unpaired(const std::vector<Form*>& forms) {
  std::vector<Form*> out;
  std::copy_if(forms.begin(), forms.end(), std::back_inserter(out),
               [](const Form* one) { return !one->paired; });
  return out;
}

std::string file_names(const std::vector<Form*>& forms) {
  std::string out;
  for (const Form* one : forms) out += (out.empty() ? "" : ", ") + std::string(last_part(one->path));
  return out;
}

class Pairing {
 public:
  explicit Pairing(const std::vector<std::string>& paths);
  TwinPairs run();

 private:
  using KeyOf = std::function<std::string(const Form&)>;
  std::map<std::string, Group> groups(const KeyOf& key_of);
  void same_name(const KeyOf& key_of);
  void alone_together(const KeyOf& key_of);
  void pair(Form& docker, Form& definition, bool only = false);
  void tell_same_names();
  void tell_neighbours();

  std::vector<Form> forms_;
  TwinPairs out_;
};

Pairing::Pairing(const std::vector<std::string>& paths) {
  for (const std::string& path : paths)
    forms_.push_back({path, form_name_of(path), fs::path(path).parent_path().string(), place_of(path)});
  auto order = [](const Form& form) { return std::tie(form.place, form.name.stem, form.path); };
  std::sort(forms_.begin(), forms_.end(), [&](const Form& a, const Form& b) { return order(a) < order(b); });
}

std::map<std::string, Group> Pairing::groups(const KeyOf& key_of) {
  std::map<std::string, Group> out;
  for (Form& form : forms_) out[key_of(form)].add(form);
  return out;
}

void Pairing::pair(Form& docker, Form& definition, bool only) {
  docker.paired = definition.paired = true;
  out_.pairs.push_back({docker.path, definition.path, only});
}

// One Dockerfile and one definition file of a name.
void Pairing::same_name(const KeyOf& key_of) {
  for (auto& [key, group] : groups(key_of)) {
    std::vector<Form*> docker = unpaired(group.docker);
    std::vector<Form*> definitions = unpaired(group.definitions);
    if (docker.size() == 1 && definitions.size() == 1) pair(*docker[0], *definitions[0]);
  }
}

// The only Dockerfile and the only definition file, one of which has no name of its own.
void Pairing::alone_together(const KeyOf& key_of) {
  for (auto& [key, group] : groups(key_of)) {
    if (group.docker.size() != 1 || group.definitions.size() != 1) continue;
    Form& docker = *group.docker[0];
    Form& definition = *group.definitions[0];
    if (!docker.paired && !definition.paired && (docker.name.bare || definition.name.bare))
      pair(docker, definition, true);
  }
}

void Pairing::tell_same_names() {
  for (auto& [key, group] : groups([](const Form& form) { return form.place + form.name.stem; })) {
    std::vector<Form*> left = unpaired(group.docker);
    std::vector<Form*> definitions = unpaired(group.definitions);
    if (left.empty() || definitions.empty() || left.size() + definitions.size() == 2) continue;
    left.insert(left.end(), definitions.begin(), definitions.end());
    std::string others = file_names({left.begin() + 1, left.end()});
    out_.notes.push_back(
        {left[0]->path, 0, "twins",
         fmt::format("{} have its name, too: each is taken as an image of its own", others)});
    for (Form* one : left) one->paired = true;  // enough is said of them
  }
}

// A Dockerfile without a name of its own could be the twin of each definition file beside it, and the other
// way about.
void Pairing::tell_neighbours() {
  for (auto& [folder, group] : groups([](const Form& form) { return form.folder; })) {
    auto tell = [&](const std::vector<Form*>& from, const std::vector<Form*>& others, const char* what) {
      auto bare = std::find_if(from.begin(), from.end(), [](const Form* one) { return one->name.bare; });
      if (bare == from.end() || others.empty()) return false;
      out_.notes.push_back(
          {(*bare)->path, 0, "twins",
           fmt::format(
               "{} {}{} beside it ({}): each is taken as an image of its own; call two files by one name "
               "to make them twins, Dockerfile.x and Singularity.x",
               others.size(), what, others.size() == 1 ? " lies" : "s lie", file_names(others))});
      return true;
    };
    std::vector<Form*> docker = unpaired(group.docker);
    std::vector<Form*> definitions = unpaired(group.definitions);
    if (!tell(docker, definitions, "definition file")) tell(definitions, docker, "Dockerfile");
  }
}

TwinPairs Pairing::run() {
  const KeyOf folder = [](const Form& form) { return form.folder; };
  const KeyOf place = [](const Form& form) { return form.place; };
  same_name([](const Form& form) { return form.folder + "\n" + form.name.stem; });
  same_name([](const Form& form) { return form.place + "\n" + form.name.stem; });
  alone_together(folder);
  alone_together(place);
  for (const Form& form : forms_)
    if (!form.paired)
      out_.pairs.push_back(form.name.docker ? TwinPair{form.path, ""} : TwinPair{"", form.path});
  tell_same_names();
  tell_neighbours();
  auto key = [](const TwinPair& pair) {
    return twin_key_of(pair.docker.empty() ? pair.definition : pair.docker);
  };
  std::stable_sort(out_.pairs.begin(), out_.pairs.end(),
                   [&](const TwinPair& a, const TwinPair& b) { return key(a) < key(b); });
  return std::move(out_);
}

}  // namespace

TwinPairs pair_twins(const std::vector<std::string>& paths) { return Pairing(paths).run(); }

}  // namespace kiln
