// Tables of candidates and the regret of picking from them; see choices.h.
#include "traces/choices.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

#include "io/csv.h"
#include "traces/import.h"

namespace cyclecast {
namespace {

// Strategies whose tiles all receive the whole output.
bool Broadcasts(std::string_view strategy) {
  return strategy == "SOK" || strategy == "SOHO_K_SWITCH";
}

Result<std::unordered_map<std::int64_t, std::size_t>> RowsById(const Trace& workloads,
                                                               const std::string& file) {
  std::unordered_map<std::int64_t, std::size_t> rows;
  rows.reserve(workloads.rows.size());
  for (std::size_t row = 0; row < workloads.rows.size(); ++row) {
    for (const auto& [name, text] : workloads.rows[row].columns) {
      if (name != "wl_id") continue;
      std::int64_t id = 0;
      const auto read = std::from_chars(text.data(), text.data() + text.size(), id);
      if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
        return Error(workloads.rows[row].pos, "wl_id '" + text + "' is not a whole number");
      }
      if (!rows.emplace(id, row).second) {
        return Error(workloads.rows[row].pos, "wl_id " + text + " occurs twice");
      }
    }
  }
  if (rows.empty()) {
    return Error(SourcePos{file, 1, 1},
                 "there is no column 'wl_id' that candidates could refer to");
  }
  return rows;
}

class ChoiceReader {
 public:
  ChoiceReader(const CsvTable& table, const CsvColumns& at,
               const std::unordered_map<std::int64_t, std::size_t>& rows)
      : table_(table), at_(at), rows_(rows) {}

  Status Read(Choices* choices) {
    std::vector<ChoiceGroup> groups;
    std::map<std::string, std::size_t> known;
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      const Result<double> peer = table_.Number(row, at_[4]);
      if (!peer.ok() || *peer <= 0) {
        ++choices->without_peer;
        continue;
      }
      Result<Choice> choice = ReadRow(row);
      if (!choice.ok()) return choice.error();
      choice->peer_cycles = *peer;
      const std::string layer(table_.cell(row, at_[0]));
      const std::string name = layer + (Broadcasts(choice->strategy) ? " (broadcast)" : "");
      const auto [found, added] = known.emplace(name, groups.size());
      if (added) groups.push_back({name, layer.substr(0, layer.find('/')), {}});
      groups[found->second].choices.push_back(*std::move(choice));
    }
    for (ChoiceGroup& group : groups) {
      if (group.choices.size() > 1) choices->groups.push_back(std::move(group));
    }
    return Unit{};
  }

 private:
  Result<Choice> ReadRow(std::size_t row) const {
    Choice choice;
    choice.strategy = table_.cell(row, at_[1]);
    choice.mode = table_.cell(row, at_[2]);
    choice.split = table_.cell(row, at_[3]);
    const Result<double> theory = table_.Number(row, at_[5]);
    if (theory.ok()) choice.theory_cycles = *theory;
    // "14 15|16 17": blanks between workloads, bars between tiles.
    const std::string_view text = table_.cell(row, at_[6]);
    choice.tiles.emplace_back();
    for (std::size_t i = 0; i < text.size();) {
      if (text[i] == '|') choice.tiles.emplace_back();
      if (text[i] == '|' || text[i] == ' ') {
        ++i;
        continue;
      }
      std::int64_t id = 0;
      const auto read = std::from_chars(text.data() + i, text.data() + text.size(), id);
      const auto found = rows_.find(id);
      if (read.ec != std::errc() || found == rows_.end()) {
        return Error(table_.pos(row, at_[6]),
                     "'" + std::string(text) +
                         "' names a workload that is not in the table of workloads: give the "
                         "table these candidates were made with");
      }
      choice.tiles.back().push_back(found->second);
      i = static_cast<std::size_t>(read.ptr - text.data());
    }
    return choice;
  }

  const CsvTable& table_;
  const CsvColumns& at_;
  const std::unordered_map<std::int64_t, std::size_t>& rows_;
};

}  // namespace

Result<Choices> ReadChoices(const std::string& candidates, const std::string& workloads) {
  const Result<CsvTable> table = ReadCsv(candidates);
  if (!table.ok()) return table.error();
  const Result<CsvColumns> at =
      table->Require({"group", "strategy", "mpe_mode", "intra_split", "layer_nn_cycles",
                      "layer_theoretical_cycles", "wl_ids_per_tile"});
  if (!at.ok()) return at.error();
  Result<Trace> trace = ImportTrace("vpu-workloads", {workloads}, {"nn_cycles", true});
  if (!trace.ok()) return trace.error();
  Choices choices;
  choices.workloads = *std::move(trace);
  const auto rows = RowsById(choices.workloads, workloads);
  if (!rows.ok()) return rows.error();
  Status status = ChoiceReader(*table, *at, *rows).Read(&choices);
  if (!status.ok()) return status.error();
  if (choices.groups.empty()) {
    return Error(SourcePos{candidates, 1, 1}, "no layer has two candidates to choose from");
  }
  return choices;
}

double LayerCycles(const Choice& choice, const std::vector<double>& cycles,
                   std::int64_t dpus_per_tile) {
  double slowest = 0;
  std::vector<double> busy;
  for (const std::vector<std::size_t>& workloads : choice.tiles) {
    busy.assign(static_cast<std::size_t>(dpus_per_tile), 0.0);
    for (const std::size_t row : workloads)
      *std::min_element(busy.begin(), busy.end()) += cycles[row];
    slowest = std::max(slowest, *std::max_element(busy.begin(), busy.end()));
  }
  return slowest;
}

RegretFigures Regret(const std::vector<ChoiceGroup>& groups,
                     const std::vector<std::vector<double>>& predicted,
                     const std::vector<bool>& taken) {
  std::vector<double> regrets;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!taken[g]) continue;
    const std::vector<Choice>& choices = groups[g].choices;
    const double least = *std::min_element(predicted[g].begin(), predicted[g].end());
    double best = choices.front().peer_cycles, picked = 0;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      best = std::min(best, choices[i].peer_cycles);
      if (predicted[g][i] <= least) picked = std::max(picked, choices[i].peer_cycles);
    }
    regrets.push_back(100.0 * (picked / best - 1.0));
  }
  RegretFigures figures;
  figures.groups = static_cast<int>(regrets.size());
  if (regrets.empty()) return figures;
  std::sort(regrets.begin(), regrets.end());
  const auto count = static_cast<double>(regrets.size());
  double sum = 0;
  for (const double regret : regrets) sum += regret;
  figures.mean = sum / count;
  figures.median = regrets[regrets.size() / 2];
  figures.p90 = regrets[static_cast<std::size_t>(std::ceil(0.9 * count)) - 1];
  figures.max = regrets.back();
  const auto exact = std::upper_bound(regrets.begin(), regrets.end(), 0.0) - regrets.begin();
  figures.best = 100.0 * static_cast<double>(exact) / count;
  return figures;
}

}  // namespace cyclecast
