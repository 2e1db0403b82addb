// How each ONNX operator becomes workload ops. Private to io.
#pragma once

#include <map>
#include <string>

#include "io/onnx_importer.h"

namespace cyclecast {

// Reads the node's inputs, emits ops and sets its outputs. At least one input is no constant.
using OnnxHandler = Status (*)(OnnxImporter&, const OnnxNode&);
using OnnxHandlers = std::map<std::string, OnnxHandler>;

OnnxHandlers OnnxMathHandlers();         // products, elementwise, softmax, norms, reductions
OnnxHandlers OnnxElementwiseHandlers();  // elementwise
OnnxHandlers OnnxWindowHandlers();       // convolutions, pools, resizing
OnnxHandlers OnnxMovementHandlers();     // views, joins, cuts, picks
OnnxHandlers OnnxQuantHandlers();        // quantised operators

// The handler of an operator, or null: it is not modelled.
OnnxHandler FindOnnxHandler(const std::string& domain, const std::string& type);

// Why a file of this opset cannot be read because of this operator, "" when it can: operators that
// were added or changed after opset 17 in a way that is not handled here.
std::string OnnxOpsetProblem(const std::string& type, int opset);
inline constexpr int kOldestOnnxOpset = 7, kNewestOnnxOpset = 24;

}  // namespace cyclecast
