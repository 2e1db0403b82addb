// The public tables of kernels that tests go through, where the data are.
#pragma once

#include <vector>

namespace cyclecast::test {

struct DataFile {
  const char* format;
  const char* file;  // in the data folder
  const char* label;
};

// Tables whose rows can all be imported.
inline std::vector<DataFile> WholeTables() {
  return {
      {"tpu-kernels", "tpu/scalesim_validation_tpuv4.csv", ""},
      {"tpu-kernels", "tpu/pytorchsim_v6e.csv", ""},
      {"tpu-kernels", "tpu/pytorchsim_v6e_sdpa.csv", ""},
      {"tpu-kernels", "tpu/cocossim_fork_v6e.csv", ""},
      {"tpu-kernels", "tpu/pallas_vmem_matmul_v6e.csv", ""},
      {"tpu-kernels", "tpu/gpu_tpu_pedia_v6e_v7.csv", ""},
      {"tpu-kernels", "tpu/llmcompass_tpuv3.csv", ""},
      {"tpu-kernels", "tpu/pytorchsim_tpuv3.csv", ""},
      {"tpu-kernels", "tpu/cocossim_tpuv3.csv", ""},
      {"tpu-kernels", "tpu/tpugraphs_sample.csv", ""},
      {"tpu-kernels", "tpu/tpu_v1_paper.csv", ""},
      {"tpu-kernels", "tpu/edgetpu_conv_fc_macs.csv", ""},
      {"tpu-kernels", "tpu/coral_edgetpu_models.csv", ""},
      {"vpu-workloads", "vpu/silicon_gt.csv", "gt_cycles"},
      {"vpu-workloads", "vpu/npu5_measured_lut.csv.gz", "lut_cycles"},
      {"vpu-dma", "vpu/dma_silicon_gt.csv", "gt_dpu_cycles"},
      {"vpu-shave", "vpu/shave_npu5_real.csv", "real_cycles"},
      {"vpu-shave", "vpu/vpunn_shave.csv.gz", "cycles_dpu"},
  };
}

// And those with rows that lack their label, or that take long.
inline std::vector<DataFile> AllTables() {
  std::vector<DataFile> tables = WholeTables();
  for (const DataFile& table : std::vector<DataFile>{
           {"vpu-dma", "vpu/vpunn_dma.csv.gz", "nn_cycles"},
           {"vpu-workloads", "vpu/vpunn_workloads_VPU_2_0.csv.gz", "nn_cycles"},
           {"vpu-workloads", "vpu/vpunn_workloads_VPU_2_7.csv.gz", "nn_cycles"},
           {"vpu-workloads", "vpu/vpunn_workloads_VPU_4_0.csv.gz", "nn_cycles"},
           {"vpu-workloads", "vpu/vpunn_workloads_NPU_5_0.csv.gz", "nn_cycles"},
       }) {
    tables.push_back(table);
  }
  return tables;
}

}  // namespace cyclecast::test
