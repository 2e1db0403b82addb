// Reading of ONNX files; see onnx_loader.h.
#include "io/onnx_loader.h"

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <onnx/onnx_pb.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "io/onnx_importer.h"

namespace cyclecast {
namespace {

namespace pb = google::protobuf;

Error At(const std::string& file, const std::string& what) {
  return Error(SourcePos{file, 0, 0}, what);
}

Error NotAModel(const std::string& file) {
  return At(file, "this is not an ONNX model, or it is damaged or cut short; export it again");
}

Result<Workload> Import(pb::io::ZeroCopyInputStream* stream, const std::string& file,
                        const WorkloadOptions& options) {
  onnx::ModelProto model;
  {
    pb::LogSilencer silent;  // the error below says it
    pb::io::CodedInputStream coded(stream);
    coded.SetTotalBytesLimit(std::numeric_limits<int>::max());
    if (!model.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage()) {
      return NotAModel(file);
    }
  }
  if (model.opset_import_size() == 0 && !model.has_graph()) return NotAModel(file);
  // Large weights count by shape alone: do not hold their bytes while the graph is read.
  for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
    if (tensor.raw_data().size() > 8 * static_cast<std::size_t>(kMaxOnnxData)) {
      tensor.clear_raw_data();
    }
  }
  return OnnxImporter(model, file, options).Run();
}

}  // namespace

Result<Workload> LoadOnnx(const std::string& path, const WorkloadOptions& options) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return At(path, std::string("cannot read the file: ") + std::strerror(errno));
  pb::io::FileInputStream stream(descriptor);
  stream.SetCloseOnDelete(true);
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    return At(path, "this is not a file; name an ONNX model");
  }
  if (status.st_size > std::numeric_limits<int>::max()) {
    return At(path, "the file is larger than 2 GiB; export it with external data");
  }
  return Import(&stream, path, options);
}

Result<Workload> LoadOnnxBytes(std::string_view bytes, const std::string& file,
                               const WorkloadOptions& options) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return At(file, "the model is larger than 2 GiB; export it with external data");
  }
  pb::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  return Import(&stream, file, options);
}

}  // namespace cyclecast
