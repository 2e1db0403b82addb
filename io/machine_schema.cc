// JSON Schema and reference of machine files; see machine_loader.h.
#include "io/machine_keys.h"
#include "io/machine_loader.h"
#include "io/schema.h"

namespace cyclecast {

std::string MachineSchemaJson() {
  SchemaSpec spec;
  spec.title = "Cyclecast machine";
  spec.select = "family";
  spec.variants = {{"tpu", TpuKeys().info()}, {"vpu", VpuKeys().info()}};
  spec.extends = "extends";
  spec.own = {"name"};
  return JsonSchemaText(spec);
}

std::string MachineReferenceMarkdown() {
  return "# Machine files\n\n"
         "A machine is one YAML file: what one chip has, and how fast each part is. This page is "
         "generated from the tables that also read the files (`io/machine_keys*.cc`); "
         "`cyclecast schema machine` prints the same as JSON Schema, and `cyclecast check FILE` "
         "reports everything wrong with a file at once.\n\n"
         "Values with a dimension carry their unit: `940 MHz`, `16 MiB`, `900 GB/s`, `2 us`, `4 "
         "pJ`, `100 W`, `2 cycles`, `30.1 B/cycle`. KiB, MiB, GiB, TiB are powers of 1024; kB, "
         "MB, GB, TB are powers of 1000. In the shipped files the comment behind a number says "
         "where it comes from; estimates say so.\n\n" +
         MarkdownSections({TpuKeys().info(), VpuKeys().info()});
}

}  // namespace cyclecast
