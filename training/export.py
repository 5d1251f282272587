"""Export of the trained model as one int8 ONNX file, which onnxruntime reads without torch."""

import re
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from harness.models.local.onnx import digest

MAX_BYTES = 25_000_000
_QUANTIZED = "_quantized"
Output = Callable[[Tensor], Tensor]


class _Whole(nn.Module):
    """The model on pairs of one length: there is no padding, so every token is attended to."""

    def __init__(self, model: nn.Module, output: Output) -> None:
        super().__init__()
        self.model = model
        self.output = output

    def forward(self, input_ids: Tensor, token_type_ids: Tensor) -> Tensor:
        """Return what `output` makes of the logits."""
        return self.output(self.model(input_ids, torch.ones_like(input_ids), token_type_ids))


def export(model: nn.Module, file: Path, output: Output = torch.sigmoid) -> str:
    """Write `model` to `file`, with `output` of its logits as its result; return the file's SHA-256.

    The weights of matrices and words are int8, one scale per row; activations are scaled at run time. The weights use
    only seven bits: with eight, processors without VNNI saturate and give other results than those with it.
    """
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.quantization.shape_inference import quant_pre_process

    model.cpu().eval()
    row = torch.tensor([[101, 2054, 102, 2073, 102]])
    kinds = torch.tensor([[0, 0, 0, 1, 1]])
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what tracing might miss is measured: the exported model is what is evaluated
        whole, prepared, small = (Path(folder) / name for name in ("whole.onnx", "prepared.onnx", "small.onnx"))
        torch.onnx.export(
            _Whole(model, output),
            (row, kinds),
            str(whole),
            input_names=["input_ids", "token_type_ids"],
            output_names=["probability"],
            dynamic_axes={name: {0: "pairs", 1: "tokens"} for name in ("input_ids", "token_type_ids")},
            opset_version=17,
            dynamo=False,
        )
        quant_pre_process(str(whole), str(prepared), skip_symbolic_shape=True)
        quantize_dynamic(str(prepared), str(small), per_channel=True, reduce_range=True, weight_type=QuantType.QInt8)
        made = onnx.load(str(small))
        del made.metadata_props[:]
        made.doc_string = ""
        content = made.SerializeToString(deterministic=True)
    if len(content) > MAX_BYTES:
        raise ValueError(f"{len(content):,} bytes; at most {MAX_BYTES:,} are shipped")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return digest(content)


def imported(model: nn.Module, file: Path) -> None:
    """Give `model` the weights that `export` wrote to `file`, as they were rounded; word vectors are not trained, and
    stay.

    Raises:
        ValueError: the file lacks weights of the model, or has others.
    """
    import onnx
    from onnx import numpy_helper

    made = onnx.load(str(file))
    arrays = {each.name: numpy_helper.to_array(each) for each in made.graph.initializer}
    state = model.state_dict()
    found = {name.removeprefix("model."): torch.tensor(array) for name, array in arrays.items()}
    found = {name: array for name, array in found.items() if name in state}
    for name in arrays:
        if name.startswith("model.") and name.endswith(f".weight{_QUANTIZED}"):
            found[name.removeprefix("model.").removesuffix(_QUANTIZED)] = _scaled(arrays, name)
    for node in made.graph.node:
        if node.op_type == "MatMulInteger":
            found[_module_of(node.name) + ".weight"] = _scaled(arrays, node.input[1]).T.contiguous()
    found = {name: array for name, array in found.items() if "word_embeddings" not in name}
    expected = {name for name in state if "word_embeddings" not in name and not name.endswith("position_ids")}
    other = sorted(found.keys() ^ expected) or [name for name in expected if found[name].shape != state[name].shape]
    if other:
        raise ValueError(f"{file} has not the weights of the model: {other[:5]}")
    model.load_state_dict(found, strict=False)


def _scaled(arrays: Mapping[str, NDArray[np.float32]], name: str) -> Tensor:
    """Return the weights behind rounded ones."""
    of = name.removesuffix(_QUANTIZED)
    centred = arrays[name].astype(np.float32) - arrays[f"{of}_zero_point"].astype(np.float32)
    return torch.tensor(centred * arrays[f"{of}_scale"])


def _module_of(node: str) -> str:
    """Return the module whose matrix a node multiplies: `/model/bert/…/query/MatMul_quant` is `bert.….query`."""
    path = re.sub(r"/(MatMul|Gemm)?(_MatMul)?_quant$", "", node).removeprefix("/model/").replace("/", ".")
    return path.removeprefix("head.") if path.startswith("head.head.") else path
