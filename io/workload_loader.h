// Workloads: networks from YAML files, ONNX models and SCALE-Sim topologies.
//
//   const ConfigRoot root{"configs"};
//   WorkloadOptions options;
//   options.set["batch"] = "8";
//   Result<LoadedWorkload> loaded = LoadWorkload("resnet50", root, options);
//
// docs/workload-reference.md describes the YAML form; `cyclecast schema workload` prints its
// schema.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/mapping.h"
#include "core/workload.h"
#include "io/config_root.h"
#include "io/workload_options.h"

namespace cyclecast {

struct LoadedWorkload {
  Workload workload;
  MappingPins pins;  // of the file's `mapping:` section
};

struct WorkloadSummary {
  std::string name, description, file;
  std::vector<std::pair<std::string, std::string>> dims;  // what --set takes, with its default
};

// The file of a workload: a shipped name, or a path, which has a '/' or ends in .yaml, .yml, .onnx,
// .csv or .csv.gz. An Error names what is close.
Result<std::string> FindWorkload(const std::string& name_or_path, const ConfigRoot& root);

// Reads by the file's ending. All problems of a file in one Error.
Result<LoadedWorkload> LoadWorkload(const std::string& name_or_path, const ConfigRoot& root,
                                    const WorkloadOptions& options);

// A YAML workload from text. `file` is what errors call it.
Result<LoadedWorkload> LoadWorkloadText(const std::string& text, const std::string& file,
                                        const WorkloadOptions& options);

// The shipped workloads by name; files that are not readable YAML are left out.
std::vector<WorkloadSummary> ListWorkloads(const ConfigRoot& root);

// JSON Schema (draft 2020-12) of a workload file.
std::string WorkloadSchemaJson();
// docs/workload-reference.md.
std::string WorkloadReferenceMarkdown();

}  // namespace cyclecast
