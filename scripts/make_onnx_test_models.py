#!/usr/bin/python3
"""Writes the damaged and impossible ONNX models of tests/bad_input/workloads.

The files are in the repository; run this only to change them. Needs Debian's python3-onnx.
"""
import pathlib

import onnx
from onnx import TensorProto, helper

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests/bad_input/workloads"


def weight(name, dims):
    """A weight without data, as if in an external file."""
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=dims)
    tensor.data_location = TensorProto.EXTERNAL
    return tensor


def model(nodes, inputs, weights=(), outputs=("y",), opset=13):
    values = [helper.make_tensor_value_info(n, t, d) for n, t, d in inputs]
    results = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs]
    graph = helper.make_graph(nodes, "bad", values, results, list(weights))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def node(kind, inputs, outputs=("y",), **attributes):
    return helper.make_node(kind, list(inputs), list(outputs), name=kind.lower(), **attributes)


IMAGE = ("x", TensorProto.FLOAT, [1, 3, 8, 8])
RELU = [node("Relu", "x")]


def loop():
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Relu", ["v"], ["w"])], "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []),
         helper.make_tensor_value_info("go", TensorProto.BOOL, []),
         helper.make_tensor_value_info("v", TensorProto.FLOAT, None)],
        [helper.make_tensor_value_info("on", TensorProto.BOOL, []),
         helper.make_tensor_value_info("w", TensorProto.FLOAT, None)])
    return node("Loop", ["", "", "x"], body=body)


def wrong_length():
    scale = TensorProto(name="s", data_type=TensorProto.FLOAT, dims=[4], raw_data=b"\0" * 12)
    return model([node("Mul", ["x", "s"])], [("x", TensorProto.FLOAT, [1, 4])], [scale])


MODELS = {
    "old_opset": model(RELU, [IMAGE], opset=6),
    "future_opset": model(RELU, [IMAGE], opset=99),
    "changed_operator": model([node("GridSample", ["x", "g"])],
                              [IMAGE, ("g", TensorProto.FLOAT, [1, 8, 8, 2])], opset=20),
    "open_extents": model(RELU, [("x", TensorProto.FLOAT, ["batch", 3, "height", "width"])]),
    "no_shape": model(RELU, [("x", TensorProto.FLOAT, None)]),
    "unknown_operator": model([node("Conw", ["x", "w"])], [IMAGE], [weight("w", [8, 3, 3, 3])]),
    "operator_not_modelled": model([node("LSTM", ["x", "w", "r"], hidden_size=8)],
                                   [("x", TensorProto.FLOAT, [5, 1, 4])],
                                   [weight("w", [1, 32, 4]), weight("r", [1, 32, 8])]),
    "loop": model([loop()], [IMAGE]),
    "channels_do_not_fit": model([node("Conv", ["x", "w"])], [IMAGE], [weight("w", [8, 4, 3, 3])]),
    "kernel_contradicts_weights": model([node("Conv", ["x", "w"], kernel_shape=[5, 5])], [IMAGE],
                                        [weight("w", [8, 3, 3, 3])]),
    "product_does_not_fit": model([node("MatMul", ["x", "w"])], [("x", TensorProto.FLOAT, [4, 16])],
                                  [weight("w", [15, 8])]),
    "nobody_makes_the_input": model([node("Relu", ["z"])], [IMAGE]),
    "cycle": model([node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"]),
                    node("Tanh", ["b"])], [IMAGE]),
    "data_of_wrong_length": wrong_length(),
    "negative_extent": model([node("MatMul", ["x", "w"])], [("x", TensorProto.FLOAT, [4, 16])],
                             [weight("w", [16, -8])]),
    "text_input": model(RELU, [("x", TensorProto.STRING, [4])]),
    "reshape_does_not_fit": model([node("Reshape", ["x", "s"])], [IMAGE],
                                  [helper.make_tensor("s", TensorProto.INT64, [2], [5, -1])]),
    "huge_input": model(RELU, [("x", TensorProto.FLOAT, [2**31, 2**31])]),
    "shape_from_data": model([node("Reshape", ["x", "s"])],
                             [IMAGE, ("s", TensorProto.INT64, [2])]),
}


def main():
    for name, content in MODELS.items():
        (FOLDER / f"{name}.onnx").write_bytes(content.SerializeToString())
    whole = MODELS["channels_do_not_fit"].SerializeToString()
    (FOLDER / "truncated.onnx").write_bytes(whole[:len(whole) // 2])
    (FOLDER / "empty.onnx").write_bytes(b"")
    (FOLDER / "text.onnx").write_text("name: this is YAML, not ONNX\n")
    only_opset = onnx.ModelProto(ir_version=8)
    only_opset.opset_import.append(helper.make_opsetid("", 13))
    (FOLDER / "no_graph.onnx").write_bytes(only_opset.SerializeToString())


if __name__ == "__main__":
    main()
