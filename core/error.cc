// Formatting of errors; see error.h.
#include "core/error.h"

namespace cyclecast {

std::string Format(const Diagnostic& diagnostic) {
  std::string text = diagnostic.pos.file;
  if (diagnostic.pos.line > 0) {
    text += ":" + std::to_string(diagnostic.pos.line);
    if (diagnostic.pos.column > 0) text += ":" + std::to_string(diagnostic.pos.column);
  }
  if (!text.empty()) text += ": ";
  return text + "error: " + diagnostic.message;
}

std::string Error::Text() const {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics_) {
    if (!text.empty()) text += '\n';
    text += Format(diagnostic);
  }
  return text;
}

Error Error::At(const SourcePos& pos) const {
  std::vector<Diagnostic> placed = diagnostics_;
  for (Diagnostic& diagnostic : placed) {
    if (diagnostic.pos.file.empty()) diagnostic.pos.file = pos.file;
    if (diagnostic.pos.line == 0) {
      diagnostic.pos.line = pos.line;
      diagnostic.pos.column = pos.column;
    }
  }
  return Error(std::move(placed));
}

void CheckFailed(const char* condition, const char* file, int line) {
  throw std::logic_error(std::string(file) + ":" + std::to_string(line) +
                         ": check failed: " + condition);
}

}  // namespace cyclecast
