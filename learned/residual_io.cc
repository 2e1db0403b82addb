// The file form of a residual model; see residual.h.
//
//   bytes 0..7    "CYCRESID"
//   4             format version
//   4             length of the header
//   8             length of the rest
//   8             FNV-1a checksum of header and rest
//   header        JSON: everything but the trees, and the length of every section behind it
//   sections      per member the binary trees, then per member XGBoost's JSON, compressed
// Numbers are little-endian.
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "learned/compress.h"
#include "learned/hash.h"
#include "learned/residual.h"

namespace cyclecast {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMagic = "CYCRESID";
constexpr std::uint32_t kFormatVersion = 2;
constexpr std::size_t kMaxFile = std::size_t{256} << 20;
constexpr std::size_t kMaxBoosterJson = std::size_t{512} << 20;
constexpr std::size_t kMaxMembers = 64;
static_assert(std::endian::native == std::endian::little);

struct Preamble {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint64_t section_bytes;
  std::uint64_t checksum;
};
static_assert(sizeof(Preamble) == 32);

Json FiguresJson(const ErrorFigures& f) {
  return {{"model", f.model},
          {"rows", f.rows},
          {"mape", f.mape},
          {"median", f.median},
          {"p90", f.p90},
          {"max", f.max},
          {"within_10", f.within_10},
          {"within_20", f.within_20},
          {"bias", f.bias},
          {"spread", f.spread},
          {"kendall", f.kendall}};
}

ErrorFigures FiguresFrom(const Json& j) {
  ErrorFigures f;
  f.model = j.at("model").get<std::string>();
  f.rows = j.at("rows").get<int>();
  f.mape = j.at("mape").get<double>();
  f.median = j.at("median").get<double>();
  f.p90 = j.at("p90").get<double>();
  f.max = j.at("max").get<double>();
  f.within_10 = j.at("within_10").get<double>();
  f.within_20 = j.at("within_20").get<double>();
  f.bias = j.at("bias").get<double>();
  f.spread = j.at("spread").get<double>();
  f.kendall = j.at("kendall").get<double>();
  return f;
}

BoosterParams ParamsFrom(const Json& j) {
  const auto params = SetBoosterParams(j.get<std::map<std::string, std::string>>());
  if (!params.ok()) throw std::invalid_argument("unknown booster parameters");
  return *params;
}

Json InfoJson(const ResidualInfo& info) {
  Json figures = Json::array();
  for (const ErrorFigures& f : info.figures) figures.push_back(FiguresJson(f));
  return {{"base", info.base},
          {"machines", info.machines},
          {"features", std::string(Name(info.features))},
          {"group_by", info.group_by},
          {"seed", info.seed},
          {"params", BoosterParamTexts(info.params)},
          {"huber_delta", info.huber_delta},
          {"members", info.members},
          {"folds", info.folds},
          {"rows", info.rows},
          {"groups", info.groups},
          {"data_hash", info.data_hash},
          {"sources", info.sources},
          {"figures", figures},
          {"coverage", info.coverage},
          {"median_width", info.median_width},
          {"notes", info.notes},
          {"probes", info.probes}};
}

ResidualInfo InfoFrom(const Json& j) {
  ResidualInfo info;
  info.base = j.at("base").get<std::string>();
  info.machines = j.at("machines").get<std::vector<std::string>>();
  const auto set = ParseFeatureSet(j.at("features").get<std::string>());
  if (!set) throw std::invalid_argument("an unknown feature set");
  info.features = *set;
  info.group_by = j.at("group_by").get<std::string>();
  info.seed = j.at("seed").get<std::uint64_t>();
  info.params = ParamsFrom(j.at("params"));
  info.huber_delta = j.at("huber_delta").get<double>();
  info.members = j.at("members").get<int>();
  info.folds = j.at("folds").get<int>();
  info.rows = j.at("rows").get<std::int64_t>();
  info.groups = j.at("groups").get<std::int64_t>();
  info.data_hash = j.at("data_hash").get<std::uint64_t>();
  info.sources = j.at("sources").get<std::vector<std::string>>();
  for (const Json& f : j.at("figures")) info.figures.push_back(FiguresFrom(f));
  info.coverage = j.at("coverage").get<double>();
  info.median_width = j.at("median_width").get<double>();
  info.notes = j.at("notes").get<std::vector<std::string>>();
  info.probes = j.at("probes").get<std::string>();
  return info;
}

Json CalibrationJson(const Calibration& c) {
  Json by_class = Json::array();
  for (const auto& [op_class, quantiles] : c.by_class)
    by_class.push_back({static_cast<int>(op_class), quantiles});
  return {{"softening", c.softening},
          {"by_class", by_class},
          {"pooled", c.pooled},
          {"outside", c.outside}};
}

Calibration CalibrationFrom(const Json& j) {
  Calibration c;
  c.softening = j.at("softening").get<double>();
  c.pooled = j.at("pooled").get<Calibration::Quantiles>();
  c.outside = j.at("outside").get<Calibration::Quantiles>();
  for (const Json& entry : j.at("by_class")) {
    const int op_class = entry.at(0).get<int>();
    if (op_class < 0 || op_class >= kOpClasses) throw std::invalid_argument("an unknown op class");
    c.by_class[static_cast<OpClass>(op_class)] = entry.at(1).get<Calibration::Quantiles>();
  }
  return c;
}

}  // namespace

// Access to the model's parts for this file.
struct ResidualHeader {
  static Json Write(const ResidualModel& model, const std::vector<std::size_t>& sections) {
    Json ranges = Json::array();
    for (const ResidualModel::Range& range : model.ranges_)
      ranges.push_back({range.least, range.most});
    std::vector<std::string> names;
    for (const FeatureInfo& feature : DescribeFeatures()) names.push_back(feature.name);
    return {{"feature_version", kFeatureVersion},
            {"feature_hash", FeatureHash()},
            {"feature_names", names},
            {"info", InfoJson(model.info_)},
            {"columns", model.columns_},
            {"bias", model.bias_},
            {"seen", model.seen_},
            {"ranges", ranges},
            {"log_ratios", {model.least_log_ratio_, model.most_log_ratio_}},
            {"unseen_shares", {model.unseen_class_share_, model.unseen_machine_share_}},
            {"calibration", CalibrationJson(model.calibration_)},
            {"sections", sections}};
  }

  // Throws Json::exception or std::invalid_argument where the header does not fit.
  static std::vector<std::size_t> Read(const Json& header, ResidualModel* model) {
    model->info_ = InfoFrom(header.at("info"));
    model->columns_ = header.at("columns").get<std::vector<int>>();
    const auto width = static_cast<int>(DescribeFeatures().size());
    for (const int column : model->columns_)
      if (column < 0 || column >= width) throw std::invalid_argument("a column out of range");
    model->bias_ = header.at("bias").get<decltype(model->bias_)>();
    model->seen_ = header.at("seen").get<decltype(model->seen_)>();
    for (const Json& range : header.at("ranges"))
      model->ranges_.push_back({range.at(0).get<float>(), range.at(1).get<float>()});
    if (model->ranges_.size() != static_cast<std::size_t>(width))
      throw std::invalid_argument("ranges of another feature table");
    model->least_log_ratio_ = header.at("log_ratios").at(0).get<double>();
    model->most_log_ratio_ = header.at("log_ratios").at(1).get<double>();
    if (!(model->least_log_ratio_ <= model->most_log_ratio_))
      throw std::invalid_argument("limits the wrong way round");
    const Json& shares = header.at("unseen_shares");
    model->unseen_class_share_ = shares.at(0).get<double>();
    model->unseen_machine_share_ = shares.at(1).get<double>();
    for (const double share : {model->unseen_class_share_, model->unseen_machine_share_})
      if (!(share >= 0 && share <= 1)) throw std::invalid_argument("a share out of range");
    model->calibration_ = CalibrationFrom(header.at("calibration"));
    model->PrepareChecks();
    return header.at("sections").get<std::vector<std::size_t>>();
  }

  // Cuts the sections behind the header; an empty text when they fit, else what does not.
  static std::string ReadSections(const std::vector<std::size_t>& sizes, std::string_view bytes,
                                  ResidualModel* model) {
    const std::size_t members = sizes.size() / 2;
    if (members < 1 || members > kMaxMembers || sizes.size() != 2 * members)
      return "the number of sections";
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] > bytes.size()) return "the length of a section";
      const std::string_view section = bytes.substr(0, sizes[i]);
      bytes.remove_prefix(sizes[i]);
      if (i >= members) {
        model->boosters_.emplace_back(section);
        continue;
      }
      Result<Forest> forest = Forest::FromBytes(section);
      if (!forest.ok()) return "its trees";
      if (forest->columns() != model->columns_.size()) return "the width of its trees";
      model->members_.push_back(*std::move(forest));
    }
    return bytes.empty() ? "" : "its length";
  }
};

std::string ResidualModel::Bytes() const {
  std::string sections;
  std::vector<std::size_t> sizes;
  for (const Forest& member : members_) {
    const std::string bytes = member.Bytes();
    sizes.push_back(bytes.size());
    sections += bytes;
  }
  for (const std::string& booster : boosters_) {
    sizes.push_back(booster.size());
    sections += booster;
  }
  const std::string header = ResidualHeader::Write(*this, sizes).dump();
  Preamble preamble{};
  std::memcpy(preamble.magic, kMagic.data(), kMagic.size());
  preamble.version = kFormatVersion;
  preamble.header_bytes = static_cast<std::uint32_t>(header.size());
  preamble.section_bytes = sections.size();
  preamble.checksum = Fnv64().Add(header).Add(sections).value();
  std::string file(sizeof(Preamble), '\0');
  std::memcpy(file.data(), &preamble, sizeof(Preamble));
  return file + header + sections;
}

Result<ResidualModel> ResidualModel::FromBytes(std::string_view bytes, const std::string& name) {
  const auto error = [&name](const std::string& message) {
    return Error(SourcePos{name, 0, 0}, message);
  };
  const std::string again = "; train it again with 'cyclecast train'";
  Preamble preamble{};
  if (bytes.size() < sizeof(Preamble) || bytes.substr(0, kMagic.size()) != kMagic)
    return error("not a residual model: it does not begin with " + std::string(kMagic));
  std::memcpy(&preamble, bytes.data(), sizeof(Preamble));
  if (preamble.version != kFormatVersion) {
    return error("a residual model of format " + std::to_string(preamble.version) +
                 ", this program reads " + std::to_string(kFormatVersion) + again);
  }
  const std::string_view body = bytes.substr(sizeof(Preamble));
  if (preamble.header_bytes > body.size() ||
      preamble.section_bytes != body.size() - preamble.header_bytes)
    return error("the model file is cut off or has something behind its end: copy it again");
  if (Fnv64().Add(body).value() != preamble.checksum)
    return error("the model file is damaged (its checksum is wrong): copy it again");

  const Json header = Json::parse(body.substr(0, preamble.header_bytes), nullptr, false);
  if (header.is_discarded()) return error("the model's header is not JSON" + again);
  ResidualModel model;
  try {
    if (header.at("feature_version").get<int>() != kFeatureVersion ||
        header.at("feature_hash").get<std::uint64_t>() != FeatureHash())
      return error("the model was trained on other features than this program extracts" + again);
    const std::vector<std::size_t> sections = ResidualHeader::Read(header, &model);
    const std::string wrong =
        ResidualHeader::ReadSections(sections, body.substr(preamble.header_bytes), &model);
    if (!wrong.empty()) return error("the model does not fit its header: " + wrong + again);
  } catch (const Json::exception& wrong) {
    return error(std::string("the model's header does not fit: ") + wrong.what() + again);
  } catch (const std::invalid_argument& wrong) {
    return error(std::string("the model's header has ") + wrong.what() + again);
  }
  return model;
}

Result<Booster> ResidualModel::LoadBooster(std::size_t member) const {
  CYCLECAST_CHECK(member < boosters_.size());
  const Result<std::string> json = Decompress(boosters_[member], kMaxBoosterJson);
  if (!json.ok()) return json.error();
  const Result<Forest> forest = Forest::FromXgboostJson(*json);
  if (!forest.ok()) return forest.error();
  if (!(*forest == members_[member]))
    return Error("the two forms of the model's trees differ: train it again");
  return Booster::LoadJson(*json);
}

Result<bool> IsResidual(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error(SourcePos{path, 0, 0}, "cannot read the file");
  std::string begin(kMagic.size(), '\0');
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return in.gcount() == static_cast<std::streamsize>(begin.size()) && begin == kMagic;
}

Result<ResidualModel> LoadResidual(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = in ? static_cast<std::streamoff>(in.tellg()) : -1;
  if (size < 0) return Error(SourcePos{path, 0, 0}, "cannot read the residual model");
  if (static_cast<std::size_t>(size) > kMaxFile)
    return Error(SourcePos{path, 0, 0}, "too large for a residual model (more than 256 MiB)");
  std::string bytes(static_cast<std::size_t>(size), '\0');
  in.seekg(0);
  if (!in.read(bytes.data(), size))
    return Error(SourcePos{path, 0, 0}, "cannot read the residual model");
  return ResidualModel::FromBytes(bytes, path);
}

}  // namespace cyclecast
