// The pages, and what their scripts read, each as a function. Pure, but for what the source reads.
#pragma once

#include <string>
#include <vector>

#include "factory/pages/page_frame.h"
#include "factory/pages/page_source.h"
#include "factory/pages/speed_table.h"
#include "factory/record/image_record.h"

namespace kiln {

std::string catalogue_page(const PageContent& content);  // index.html: its rows are in data.js
// compare.html: two images side by side, of the rows of data.js and packages.js.
std::string compare_page(const PageContent& content);
// images.html: links alone, for browsers without scripts.
std::string all_images_page(const PageContent& content, const PageNames& names);
std::string ask_page(const PageContent& content);     // ask.html
std::string nights_page(const PageContent& content);  // nights.html

// The page of one image. Pure, but for what the source reads.

// All of it, as HTML. `speeds` as of the content's entries.
std::string image_page(std::size_t number, const PageContent& content, const PageSource& source,
                       const PageNames& names, const SpeedTable& speeds);

// The rows of the catalogue for its script: data.js. Pure.

// `window.kilnCatalogue = {…};`, ASCII where the names are: rows as arrays, words as numbers into a list.
// assets/catalogue.js names the columns.
std::string catalogue_data(const PageContent& content, const PageNames& names);

// `window.kilnPackages = {…};`: what the bills of materials list, "name version", for each row of data.js the
// number of a set of such words, -1 where there is no bill. Reads the bill of every image: packages.js is
// loaded when a reader looks for a package.
std::string packages_data(const PageContent& content, const PageSource& source);

// The commands that start an image, for each of the engines that sites have. Pure.

struct RunCommand {
  std::string engine;  // "Apptainer", "Slurm with pyxis"
  std::string text;    // lines of a shell
};

struct RunCommands {
  // Notes for the reader: the image is in no registry, or only some engines can use it.
  std::vector<std::string> notes;
  std::vector<RunCommand> commands;  // empty: the notes say why
};

RunCommands run_commands(const ImageRecord& image);

}  // namespace kiln
