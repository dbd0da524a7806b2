// A JSON object written member by member, byte for byte as Json::dump(2) would write the whole: for documents
// that are too long to be kept.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "factory/base/json.h"

namespace kiln {

// Members come in the order of the calls; Json sorts them, so the caller does. Names need no escapes.
class JsonStream {
 public:
  using Put = std::function<void(std::string_view text)>;
  explicit JsonStream(Put put) : put_(std::move(put)) {}

  void member(std::string_view name, const Json& value);
  // A member that is an array or an object, item by item, until end().
  void begin_array(std::string_view name);
  void item(const Json& value);
  void begin_object(std::string_view name);
  void item(std::string_view name, const Json& value);
  void end();
  void finish();  // the object itself

 private:
  void begin(std::string_view name, char open, char close);
  void put_name(std::string_view name, int depth);
  void put_value(const Json& value, int depth);

  Put put_;
  std::string line_;
  bool any_member_ = false;
  bool any_item_ = false;
  char close_ = ']';
};

}  // namespace kiln
