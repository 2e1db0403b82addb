// The booster's parameters: names, ranges, checks; see booster.h.
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "learned/booster.h"

namespace cyclecast {
namespace {

// One parameter: what it is, and where it lives in the struct.
struct Entry {
  BoosterParamInfo info;
  int BoosterParams::*whole = nullptr;
  double BoosterParams::*real = nullptr;

  double Get(const BoosterParams& from) const { return whole ? from.*whole : from.*real; }
  void Set(double value, BoosterParams* onto) const {
    if (whole)
      onto->*whole = static_cast<int>(value);
    else
      onto->*real = value;
  }
};

const std::vector<Entry>& Entries() {
  static const std::vector<Entry> kEntries = [] {
    const BoosterParams standard;
    std::vector<Entry> entries;
    const auto whole = [&](const char* name, int BoosterParams::*member, double least, double most,
                           const char* doc) {
      entries.push_back({{name, doc, least, most, 1.0 * (standard.*member), true}, member, {}});
    };
    const auto real = [&](const char* name, double BoosterParams::*member, double least,
                          double most, const char* doc) {
      entries.push_back({{name, doc, least, most, standard.*member, false}, {}, member});
    };
    using P = BoosterParams;
    whole("trees", &P::trees, 1, 10000, "trees of a member of the ensemble");
    whole("max_depth", &P::max_depth, 1, 12, "splits from root to leaf");
    whole("max_leaves", &P::max_leaves, 0, 4096, "leaves of a tree; 0: as the depth allows");
    real("learning_rate", &P::learning_rate, 1e-4, 1.0, "share of a step that is taken");
    real("min_child_weight", &P::min_child_weight, 0.0, 1e6, "least weight of rows in a leaf");
    real("l2", &P::l2, 0.0, 1e6, "penalty on the squares of leaf values");
    real("min_gain", &P::min_gain, 0.0, 1e6, "least gain of a split");
    real("row_share", &P::row_share, 0.05, 1.0, "rows drawn for each tree");
    real("column_share", &P::column_share, 0.05, 1.0, "features drawn for each tree");
    whole("bins", &P::bins, 2, 65535, "histogram bins of a feature");
    return entries;
  }();
  return kEntries;
}

Diagnostic Say(std::string message) { return Diagnostic{SourcePos{}, std::move(message)}; }

// Empty when the value is acceptable, else what is wrong.
std::string Complaint(const BoosterParamInfo& info, double value) {
  const bool fits =
      value >= info.least && value <= info.most && (!info.whole || value == std::floor(value));
  if (fits) return "";
  const auto text = [](double number) {
    std::string digits = std::to_string(number);
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
    return digits;
  };
  return "booster parameter '" + info.name + "' must be a " +
         (info.whole ? "whole number" : "number") + " from " + text(info.least) + " to " +
         text(info.most);
}

}  // namespace

const std::vector<BoosterParamInfo>& DescribeBoosterParams() {
  static const std::vector<BoosterParamInfo> kInfos = [] {
    std::vector<BoosterParamInfo> infos;
    for (const Entry& entry : Entries()) infos.push_back(entry.info);
    return infos;
  }();
  return kInfos;
}

Result<BoosterParams> SetBoosterParams(const std::map<std::string, std::string>& values,
                                       BoosterParams onto) {
  std::vector<Diagnostic> wrong;
  for (const auto& [name, text] : values) {
    const Entry* found = nullptr;
    std::string known;
    for (const Entry& entry : Entries()) {
      if (entry.info.name == name) found = &entry;
      known += (known.empty() ? "" : ", ") + entry.info.name;
    }
    if (found == nullptr) {
      wrong.push_back(Say("no booster parameter '" + name + "'; there are " + known));
      continue;
    }
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const bool number = !text.empty() && *end == '\0';
    const std::string complaint = Complaint(found->info, number ? value : std::nan(""));
    if (complaint.empty())
      found->Set(value, &onto);
    else
      wrong.push_back(Say(complaint + ", not '" + text + "'"));
  }
  if (!wrong.empty()) return Error(std::move(wrong));
  return onto;
}

std::map<std::string, std::string> BoosterParamTexts(const BoosterParams& params) {
  std::map<std::string, std::string> texts;
  for (const Entry& entry : Entries()) {
    std::array<char, 32> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), entry.Get(params)).ptr;
    texts[entry.info.name] = std::string(text.data(), end);
  }
  return texts;
}

Status CheckBoosterParams(const BoosterParams& params) {
  std::vector<Diagnostic> wrong;
  for (const Entry& entry : Entries()) {
    const std::string complaint = Complaint(entry.info, entry.Get(params));
    if (!complaint.empty()) wrong.push_back(Say(complaint));
  }
  if (params.threads < 1) wrong.push_back(Say("the booster needs at least one thread"));
  if (!wrong.empty()) return Error(std::move(wrong));
  return Unit{};
}

}  // namespace cyclecast
