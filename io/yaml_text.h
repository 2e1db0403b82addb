// The text of a YAML file: what is checked before it is parsed, and where its characters are.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace cyclecast {

class Diagnostics;

class YamlText {
 public:
  // Both must outlive the object. A UTF-8 byte order mark is skipped.
  YamlText(const std::string& text, const std::string& file);

  std::string_view body() const { return body_; }
  const std::shared_ptr<const std::string>& file() const { return file_; }

  // Reports bytes that are not UTF-8, control characters, tabs in the indentation. False where the
  // parser should not see the text.
  bool Check(Diagnostics* problems) const;

  // The position, from 1 and in characters, of a line and a byte in it, both from 0.
  SourcePos At(int line, int byte) const;
  bool LineBegins(int line, std::string_view what) const;
  // True unless a ' or " begins there and never ends: yaml-cpp takes the end of the file for one.
  bool QuoteCloses(int line, int byte) const;

 private:
  std::string_view Line(int line) const;
  bool CheckBytes(Diagnostics* problems) const;
  bool CheckTabs(Diagnostics* problems) const;

  struct Cursor {
    int line = -1, byte = 0, column = 1;
  };
  std::string_view body_;
  mutable Cursor last_;  // of At()
  std::shared_ptr<const std::string> file_;
  std::vector<std::size_t> starts_;  // of every line in body_
};

}  // namespace cyclecast
