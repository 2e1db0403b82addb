// Training: chooses a recipe by inner grouped cross-validation, calibrates on unseen rows, fits the
// ensemble on all rows; see train.h.
#include "learned/train.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <set>

#include "learned/compress.h"
#include "learned/hash.h"
#include "learned/learner.h"
#include "learned/metrics.h"
#include "learned/parallel.h"
#include "learned/recipes.h"

namespace cyclecast {
namespace {

constexpr int kInnerFolds = 5;
constexpr int kCheckpointStep = 10;  // trees between the lengths that are tried

// Reports the share of jobs done, one call at a time.
class Progress {
 public:
  Progress(const TrainOptions& options, std::string what, std::size_t jobs)
      : options_(options), what_(std::move(what)), jobs_(jobs) {}
  void Done() {
    if (!options_.progress) return;
    const std::lock_guard<std::mutex> lock(guard_);
    options_.progress(what_, static_cast<double>(++done_) / static_cast<double>(jobs_));
  }

 private:
  const TrainOptions& options_;
  std::string what_;
  std::size_t jobs_, done_ = 0;
  std::mutex guard_;
};

// The seed of one job: none shares its random draws with another.
std::uint64_t JobSeed(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
  return MixBits(MixBits(seed + 0x100 * a) + b);
}

struct Split {
  Rows training, unseen;
};

}  // namespace

class ResidualTrainer {
 public:
  ResidualTrainer(const Dataset& data, const TrainOptions& options)
      : data_(data), judged_(data.rows()), options_(options) {}

  Result<ResidualModel> Run(std::vector<std::string> sources) {
    Status step = Prepare();
    if (step.ok()) step = ChooseRecipe();
    if (step.ok()) step = Calibrate();
    if (step.ok()) step = FitUnseenShares();
    if (step.ok()) step = FitEnsemble();
    if (!step.ok()) return step.error();
    Describe(std::move(sources));
    return std::move(model_);
  }

 private:
  // Out-of-fold errors of one recipe: per row, one per checkpoint.
  struct Trial {
    std::vector<int> checkpoints;
    std::vector<double> log_errors;  // [rows x checkpoints]
  };

  Status Prepare();
  Status PrepareTransfer();
  // Deals the judged rows into folds: fills splits_.
  Status Deal(std::uint64_t seed);
  // The trees' columns, the constant per class, and the trees that member `member` starts from.
  std::vector<int> Columns(FeatureSet set) const;
  ClassBias Bias(const Rows& rows) const;
  std::string_view Start(std::size_t member) const {
    return starts_.empty() ? std::string_view() : starts_[member % starts_.size()];
  }
  Status ChooseRecipe();
  Status Calibrate();
  Status FitUnseenShares();
  template <class KindOf>
  Result<double> ShareLeavingOut(const KindOf& kind_of, double without_evidence) const;
  Status FitEnsemble();
  void Describe(std::vector<std::string> sources);
  Status TryOn(const Recipe& recipe, std::size_t fold, Trial* trial) const;
  void FillRanges();

  Dataset data_;        // the target's rows, then those of elsewhere
  std::size_t judged_;  // how many are the target's
  const TrainOptions& options_;
  std::vector<std::string> starts_;   // per member of the model to start from
  int start_trees_ = 0;               // in each of them
  std::vector<double> start_errors_;  // by row: log(that model's prediction / measured)
  std::vector<std::string> names_;    // groups of the judged rows
  int folds_ = 0;
  std::vector<Split> splits_;
  std::vector<Recipe> candidates_;
  Recipe recipe_;
  std::vector<UnseenError> unseen_;  // by row
  ResidualModel model_;
};

Status ResidualTrainer::PrepareTransfer() {
  if (options_.transfer.rows != nullptr) {
    const Dataset& rows = *options_.transfer.rows;
    // Never less than a row is worth by itself, and no single row more than 20 of elsewhere.
    const double ratio = static_cast<double>(rows.rows()) / static_cast<double>(judged_);
    std::fill(data_.weight.begin(), data_.weight.end(), std::clamp(ratio, 1.0, 20.0));
    data_.Append(rows, 1.0);
  }
  if (options_.transfer.model == nullptr) return Unit{};
  const ResidualModel& model = *options_.transfer.model;
  if (model.info().base != options_.base) {
    return Error("the model to start from corrects the " + model.info().base + " model, not the " +
                 options_.base + " one");
  }
  for (std::size_t member = 0; member < model.members().size(); ++member) {
    const Result<Booster> booster = model.LoadBooster(member);
    if (!booster.ok()) return booster.error();
    Result<std::string> json = booster->SaveJson();
    if (!json.ok()) return json.error();
    starts_.push_back(*std::move(json));
  }
  start_trees_ = static_cast<int>(model.members().front().trees());
  Rows all(data_.rows());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<std::vector<float>> margins;
  for (const Forest& member : model.members())
    margins.push_back(Margins(data_, all, model.columns(), member));
  ClassBias bias{};
  for (std::size_t c = 0; c < bias.size(); ++c) bias[c] = model.Bias(static_cast<OpClass>(c));
  std::vector<UnseenError> errors(data_.rows());
  UnseenErrors(data_, all, bias, margins, &errors);
  for (const UnseenError& error : errors) start_errors_.push_back(-error.log_error);
  return Unit{};
}

std::vector<int> ResidualTrainer::Columns(FeatureSet set) const {
  if (options_.transfer.model != nullptr) return options_.transfer.model->columns();
  return VaryingColumns(data_, set);
}

// What the model to start from says is off by as much everywhere, by the median of the rows.
ClassBias ResidualTrainer::Bias(const Rows& rows) const {
  if (options_.transfer.model == nullptr) return FitBias(data_, rows);
  std::vector<double> errors;
  for (const std::size_t row : rows) errors.push_back(start_errors_[row]);
  const double shift = Quantile(std::move(errors), 0.5);
  ClassBias bias{};
  for (std::size_t c = 0; c < bias.size(); ++c)
    bias[c] = options_.transfer.model->Bias(static_cast<OpClass>(c)) - shift;
  return bias;
}

Status ResidualTrainer::Prepare() {
  const std::size_t least = options_.transfer.empty() ? kMinTrainingRows : kMinTransferRows;
  if (judged_ < least) {
    return Error("only " + std::to_string(judged_) + " rows with a measurement: training " +
                 "needs at least " + std::to_string(least));
  }
  if (Status transfer = PrepareTransfer(); !transfer.ok()) return transfer;
  if (options_.members < 1 || options_.members > 64)
    return Error("the ensemble must have 1 to 64 members");
  TrainOptions options = options_;
  if (options_.transfer.model != nullptr)
    options.features = options_.transfer.model->info().features;
  Result<std::vector<Recipe>> candidates = RecipesFor(data_.rows(), options);
  if (!candidates.ok()) return candidates.error();
  candidates_ = *std::move(candidates);
  // Rows of elsewhere are always learned from and never judged.
  names_.assign(data_.group.begin(), data_.group.begin() + static_cast<std::ptrdiff_t>(judged_));
  const std::size_t groups = std::set<std::string>(names_.begin(), names_.end()).size();
  folds_ = static_cast<int>(std::min<std::size_t>(kInnerFolds, groups));
  if (Status dealt = Deal(options_.seed); !dealt.ok()) return dealt;
  model_.info_.groups = static_cast<std::int64_t>(groups);
  model_.info_.folds = folds_;
  return Unit{};
}

Status ResidualTrainer::Deal(std::uint64_t seed) {
  const auto fold = GroupFolds(names_, folds_, seed);
  if (!fold.ok()) return fold.error();
  splits_.assign(static_cast<std::size_t>(folds_), {});
  for (std::size_t row = 0; row < data_.rows(); ++row) {
    for (int f = 0; f < folds_; ++f) {
      Split& split = splits_[static_cast<std::size_t>(f)];
      (row < judged_ && (*fold)[row] == f ? split.unseen : split.training).push_back(row);
    }
  }
  return Unit{};
}

Status ResidualTrainer::TryOn(const Recipe& recipe, std::size_t fold, Trial* trial) const {
  const Split& split = splits_[fold];
  const std::vector<int> columns = Columns(recipe.features);
  const ClassBias bias = Bias(split.training);
  const Result<Member> member = FitMember(data_, split.training, columns, bias, recipe,
                                          JobSeed(options_.seed, 1, fold), Start(0));
  if (!member.ok()) return member.error();
  const std::vector<double> errors =
      StagedLogErrors(data_, split.unseen, columns, bias, member->forest, trial->checkpoints);
  const std::size_t width = trial->checkpoints.size();
  for (std::size_t r = 0; r < split.unseen.size(); ++r) {
    for (std::size_t c = 0; c < width; ++c)
      trial->log_errors[split.unseen[r] * width + c] = errors[r * width + c];
  }
  return Unit{};
}

Status ResidualTrainer::ChooseRecipe() {
  std::vector<Trial> trials(candidates_.size());
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const int trees = candidates_[i].params.trees;
    for (int n = std::min(trees, kCheckpointStep); n < trees; n += kCheckpointStep)
      trials[i].checkpoints.push_back(start_trees_ + n);
    trials[i].checkpoints.push_back(start_trees_ + trees);
    trials[i].log_errors.resize(judged_ * trials[i].checkpoints.size());
  }
  const std::size_t folds = splits_.size();
  const std::size_t jobs = candidates_.size() * folds;
  std::vector<Status> outcome(jobs, Status(Unit{}));
  Progress progress(options_, "choosing a recipe", jobs);
  ParallelFor(static_cast<int>(jobs), options_.threads, [&](int job) {
    const auto j = static_cast<std::size_t>(job);
    outcome[j] = TryOn(candidates_[j / folds], j % folds, &trials[j / folds]);
    progress.Done();
  });
  for (const Status& status : outcome)
    if (!status.ok()) return status;

  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const std::size_t width = trials[i].checkpoints.size();
    for (std::size_t c = 0; c < width; ++c) {
      double error = 0;  // the mean absolute percentage error, as everybody will judge it
      for (std::size_t row = 0; row < judged_; ++row)
        error += std::abs(std::expm1(trials[i].log_errors[row * width + c]));
      if (error < least) {
        least = error;
        recipe_ = candidates_[i];
        recipe_.params.trees = trials[i].checkpoints[c] - start_trees_;
      }
    }
  }
  return Unit{};
}

Status ResidualTrainer::Calibrate() {
  // Folds of its own: on those that the recipe was chosen by it would look better than it is.
  if (Status dealt = Deal(options_.seed + 1); !dealt.ok()) return dealt;
  const std::vector<int> columns = Columns(recipe_.features);
  const auto members = static_cast<std::size_t>(options_.members);
  const std::size_t jobs = splits_.size() * members;
  std::vector<Status> outcome(jobs, Status(Unit{}));
  std::vector<std::vector<float>> margins(jobs);
  Progress progress(options_, "calibrating intervals", jobs);
  ParallelFor(static_cast<int>(jobs), options_.threads, [&](int job) {
    const auto j = static_cast<std::size_t>(job);
    const Split& split = splits_[j / members];
    const Result<Member> member =
        FitMember(data_, split.training, columns, Bias(split.training), recipe_,
                  JobSeed(options_.seed, 2, j), Start(j % members));
    if (member.ok())
      margins[j] = Margins(data_, split.unseen, columns, member->forest);
    else
      outcome[j] = member.error();
    progress.Done();
  });
  for (const Status& status : outcome)
    if (!status.ok()) return status;

  unseen_.resize(judged_);
  for (std::size_t f = 0; f < splits_.size(); ++f) {
    const ClassBias bias = Bias(splits_[f].training);
    const std::vector<std::vector<float>> of_fold(
        margins.begin() + static_cast<std::ptrdiff_t>(f * members),
        margins.begin() + static_cast<std::ptrdiff_t>((f + 1) * members));
    UnseenErrors(data_, splits_[f].unseen, bias, of_fold, &unseen_);
  }
  model_.calibration_ = Calibration::Fit(unseen_);
  return Unit{};
}

// The share of its correction that did best on kinds of rows (classes, machines) left out in turn,
// each kind counting alike.
template <class KindOf>
Result<double> ResidualTrainer::ShareLeavingOut(const KindOf& kind_of,
                                                double without_evidence) const {
  constexpr int kSteps = 10;
  constexpr std::size_t kFewestKinds = 3;  // two speak for each other, not for a third
  std::map<std::string, Rows> kinds;
  for (std::size_t row = 0; row < judged_; ++row) kinds[kind_of(row)].push_back(row);
  if (kinds.size() < kFewestKinds) return without_evidence;
  const std::vector<int> columns = Columns(recipe_.features);
  std::vector<double> errors(kSteps + 1, 0.0);
  std::uint64_t job = 0;
  for (const auto& [kind, unseen] : kinds) {
    Rows training;
    for (std::size_t row = 0; row < data_.rows(); ++row)
      if (kind_of(row) != kind) training.push_back(row);
    const ClassBias bias = Bias(training);
    const Result<Member> member = FitMember(data_, training, columns, bias, recipe_,
                                            JobSeed(options_.seed, 4, job++), Start(0));
    if (!member.ok()) return member.error();
    const std::vector<float> margins = Margins(data_, unseen, columns, member->forest);
    std::size_t at = 0;
    for (const std::size_t row : unseen) {
      const std::size_t begin = data_.first_instance[row], end = data_.first_instance[row + 1];
      std::vector<double> ratios(end - begin);
      for (int step = 0; step <= kSteps; ++step) {
        for (std::size_t i = begin; i < end; ++i) {
          const double whole = bias[static_cast<std::size_t>(data_.kernel_class[i])] +
                               static_cast<double>(margins[at + i - begin]);
          ratios[i - begin] = whole * step / kSteps;
        }
        errors[static_cast<std::size_t>(step)] +=
            std::abs(std::expm1(LogError(data_, row, ratios))) / static_cast<double>(unseen.size());
      }
      at += end - begin;
    }
  }
  const auto best = std::min_element(errors.begin(), errors.end()) - errors.begin();
  return static_cast<double>(best) / kSteps;
}

Status ResidualTrainer::FitUnseenShares() {
  // A class nobody measured: what is known of others says nothing until they show that it does.
  const auto by_class = ShareLeavingOut(
      [this](std::size_t row) { return std::string(Name(data_.row_class[row])); }, 0.0);
  if (!by_class.ok()) return by_class.error();
  const auto by_machine =
      ShareLeavingOut([this](std::size_t row) { return data_.machine[row]; }, 1.0);
  if (!by_machine.ok()) return by_machine.error();
  model_.unseen_class_share_ = *by_class;
  model_.unseen_machine_share_ = *by_machine;
  return Unit{};
}

Status ResidualTrainer::FitEnsemble() {
  Rows all(data_.rows());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const std::vector<int> columns = Columns(recipe_.features);
  const ClassBias bias = Bias(all);
  const auto members = static_cast<std::size_t>(options_.members);
  std::vector<Status> outcome(members, Status(Unit{}));
  model_.members_.resize(members);
  model_.boosters_.resize(members);
  Progress progress(options_, "training the ensemble", members);
  ParallelFor(options_.members, options_.threads, [&](int job) {
    const auto j = static_cast<std::size_t>(job);
    Result<Member> member =
        FitMember(data_, all, columns, bias, recipe_, JobSeed(options_.seed, 3, j), Start(j));
    if (member.ok()) {
      model_.members_[j] = std::move(member->forest);
      model_.boosters_[j] = Compress(member->json);
    } else {
      outcome[j] = member.error();
    }
    progress.Done();
  });
  for (const Status& status : outcome)
    if (!status.ok()) return status;
  model_.columns_ = columns;
  model_.bias_ = bias;
  FillRanges();
  return Unit{};
}

void ResidualTrainer::FillRanges() {
  const std::size_t width = DescribeFeatures().size();
  model_.ranges_.assign(width,
                        {std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest()});
  for (std::size_t i = 0; i < data_.instances(); ++i) {
    model_.seen_[static_cast<std::size_t>(data_.kernel_class[i])] = true;
    for (std::size_t c = 0; c < width; ++c) {
      ResidualModel::Range& range = model_.ranges_[c];
      range.least = std::min(range.least, data_.features[i * width + c]);
      range.most = std::max(range.most, data_.features[i * width + c]);
    }
  }
  // A few outliers more or less must not decide how far corrections may go.
  std::vector<double> ratios;
  for (std::size_t row = 0; row < data_.rows(); ++row)
    ratios.push_back(std::log(data_.measured_us[row] / data_.BaseTotal(row)));
  model_.least_log_ratio_ = *std::min_element(ratios.begin(), ratios.end());
  model_.most_log_ratio_ = *std::max_element(ratios.begin(), ratios.end());
}

void ResidualTrainer::Describe(std::vector<std::string> sources) {
  ResidualInfo& info = model_.info_;
  info.base = options_.base;
  const std::set<std::string> machines(data_.machine.begin(), data_.machine.end());
  info.machines.assign(machines.begin(), machines.end());
  info.features = recipe_.features;
  info.group_by = options_.group_by.empty() ? "shape" : options_.group_by;
  info.seed = options_.seed;
  info.params = recipe_.params;
  info.huber_delta = recipe_.huber_delta;
  info.members = options_.members;
  info.rows = static_cast<std::int64_t>(judged_);
  info.data_hash = data_.Hash();
  info.sources = std::move(sources);
  model_.PrepareChecks();

  std::vector<double> base, corrected, measured, widths;
  double covered = 0;
  for (std::size_t row = 0; row < judged_; ++row) {
    measured.push_back(data_.measured_us[row]);
    base.push_back(data_.BaseTotal(row));
    corrected.push_back(data_.measured_us[row] * std::exp(-unseen_[row].log_error));
    const double half = model_.calibration_.HalfWidth(unseen_[row].op_class, unseen_[row].spread,
                                                      kReportedCoverage);
    covered += std::abs(unseen_[row].log_error) <= half ? 1.0 : 0.0;
    widths.push_back(std::exp(half) - std::exp(-half));
  }
  info.figures = {FiguresOf(options_.base, base, measured),
                  FiguresOf("corrected", corrected, measured)};
  info.coverage = covered / static_cast<double>(judged_);
  info.median_width = Quantile(widths, 0.5);
  if (data_.rows() > judged_) {
    info.notes.push_back("learned with " + std::to_string(data_.rows() - judged_) +
                         " rows of elsewhere; the figures are of the target's rows alone");
  }
  if (start_trees_ > 0) {
    info.notes.push_back("starts from " + std::to_string(start_trees_) +
                         " trees per member that were learned elsewhere");
  }
  const std::size_t below = data_.RowsBelowBound();
  if (below > 0) {
    info.notes.push_back(std::to_string(below) +
                         " rows are measured faster than the machine's physical bound: its "
                         "peaks, or the labels, deserve a look");
  }
}

Result<ResidualModel> TrainResidual(const Dataset& data, const TrainOptions& options,
                                    std::vector<std::string> sources) {
  return ResidualTrainer(data, options).Run(std::move(sources));
}

Result<ResidualModel> TrainResidual(const std::vector<TraceSample>& samples,
                                    const TrainOptions& options) {
  const Result<Dataset> data = MakeDataset(samples, options.base, options.group_by);
  if (!data.ok()) return data.error();
  std::set<std::string> sources;
  for (const std::size_t i : data->source) sources.insert(samples[i].row.source);
  return TrainResidual(*data, options, {sources.begin(), sources.end()});
}

}  // namespace cyclecast
