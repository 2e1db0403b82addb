// ONNX models as workloads. Opsets 7 to 17, and up to 24 where every operator used is understood.
//
// Weights enter by shape alone: external data files are never opened and may be missing.
// Settings (--set): the model's symbolic dims by name ("seq=384"), a dim without a name as
// "input.axis", a whole input shape ("x=1x3x224x224"), "batch" for the outermost symbolic dims
// (1 unless set, with a note), integer scalar inputs by value, and "dtype" for all real tensors.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "core/workload.h"
#include "io/workload_options.h"

namespace cyclecast {

// Errors name the node. Operators that are not modelled become declared data movement with a note,
// or an Error in strict mode.
Result<Workload> LoadOnnx(const std::string& path, const WorkloadOptions& options);
// The same from the bytes of a model file.
Result<Workload> LoadOnnxBytes(std::string_view bytes, const std::string& file,
                               const WorkloadOptions& options);

}  // namespace cyclecast
