// Reads the trees of an XGBoost model's JSON (schema: doc/model.schema of release 1.7): per tree
// the arrays left_children, right_children, split_indices and split_conditions; a leaf has no left
// child (-1) and its value in split_conditions. A row goes left where value < condition.
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <queue>

#include "learned/forest.h"

namespace cyclecast {

using Json = nlohmann::json;

class ForestBuilder {
 public:
  Result<Forest> Build(std::string_view text) {
    const Json model = Json::parse(text, nullptr, false);
    if (model.is_discarded()) return Error("the booster is not JSON");
    try {
      const Json& learner = model.at("learner");
      const Status header = ReadHeader(learner);
      if (!header.ok()) return header.error();
      for (const Json& tree : learner.at("gradient_booster").at("model").at("trees")) {
        const Status added = AddTree(tree);
        if (!added.ok()) return added.error();
      }
    } catch (const Json::exception& wrong) {
      return Error(std::string("the booster is not an XGBoost model: ") + wrong.what());
    }
    if (!forest_.CheckAndMeasure()) return Error("the booster has no trees");
    return std::move(forest_);
  }

 private:
  Status ReadHeader(const Json& learner) {
    const auto name = learner.at("gradient_booster").at("name").get<std::string>();
    const auto objective = learner.at("objective").at("name").get<std::string>();
    if (name != "gbtree" || objective != "reg:squarederror")
      return Error("the booster is a '" + name + "' for '" + objective +
                   "'; only gbtree with reg:squarederror is read");
    const Json& param = learner.at("learner_model_param");
    const auto number = [&](const char* key, double* value) {
      const auto text = param.at(key).get<std::string>();
      const auto parsed = std::from_chars(text.data(), text.data() + text.size(), *value);
      return parsed.ec == std::errc() && std::isfinite(*value);
    };
    double columns = 0, score = 0;
    if (!number("num_feature", &columns) || !number("base_score", &score) || columns < 1 ||
        columns > 1e6)
      return Error("the booster's num_feature or base_score is not a number in range");
    forest_.columns_ = static_cast<std::size_t>(columns);
    forest_.base_score_ = static_cast<float>(score);
    return Unit{};
  }

  // Copies the tree breadth first, so that siblings are side by side and parents first.
  Status AddTree(const Json& tree) {
    const auto left = tree.at("left_children").get<std::vector<std::int32_t>>();
    const auto right = tree.at("right_children").get<std::vector<std::int32_t>>();
    const auto feature = tree.at("split_indices").get<std::vector<std::int32_t>>();
    const auto condition = tree.at("split_conditions").get<std::vector<double>>();
    const std::size_t count = left.size();
    if (count == 0 || right.size() != count || feature.size() != count || condition.size() != count)
      return Bad("arrays of different lengths");
    if (!tree.at("categories").empty()) return Bad("a categorical split");

    const auto base = static_cast<std::int32_t>(forest_.nodes_.size());
    forest_.roots_.push_back(base);
    std::vector<bool> seen(count, false);
    std::queue<std::int32_t> order;
    order.push(0);
    seen[0] = true;
    std::int32_t next = base + 1;  // where the next pair of children goes
    for (std::int32_t at = base; !order.empty(); ++at) {
      const auto i = static_cast<std::size_t>(order.front());
      order.pop();
      const auto value = static_cast<float>(condition[i]);
      if (!std::isfinite(value)) return Bad("a number that is not finite");
      if (left[i] == -1) {
        forest_.nodes_.push_back({std::numeric_limits<float>::quiet_NaN(), at, 0});
        forest_.values_.push_back(value);
        continue;
      }
      for (const std::int32_t child : {left[i], right[i]}) {
        const auto c = static_cast<std::size_t>(child);
        if (child < 0 || c >= count || seen[c]) return Bad("a child out of range or shared");
        seen[c] = true;
        order.push(child);
      }
      if (feature[i] < 0 || static_cast<std::size_t>(feature[i]) >= forest_.columns_)
        return Bad("a split on a column that is not there");
      forest_.nodes_.push_back({value, next, feature[i]});
      forest_.values_.push_back(0.0F);
      next += 2;
    }
    return Unit{};
  }

  Error Bad(const std::string& what) const {
    return Error("tree " + std::to_string(forest_.roots_.size()) + " of the booster has " + what);
  }

  Forest forest_;
};

Result<Forest> Forest::FromXgboostJson(std::string_view json) {
  return ForestBuilder().Build(json);
}

}  // namespace cyclecast
