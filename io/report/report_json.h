// JSON forms shared by the reports; private to io/report.
#pragma once

#include <nlohmann/json.hpp>

#include "core/estimate.h"
#include "core/evaluation.h"

namespace cyclecast {

nlohmann::ordered_json ToJson(const Estimate& estimate);
nlohmann::ordered_json ToJson(const Evaluation& evaluation, bool with_rows);
nlohmann::ordered_json ToJson(const std::vector<Estimate>& compared);
nlohmann::ordered_json ToJson(const LearningCurve& curve);

}  // namespace cyclecast
