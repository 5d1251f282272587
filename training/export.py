"""The trained model as one int8 ONNX file, which onnxruntime reads without torch."""

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from harness.inference import digest
from training.model import CrossEncoder

MAX_BYTES = 25_000_000


class _Probability(nn.Module):
    """The model as it is used: a probability instead of a logit."""

    def __init__(self, model: CrossEncoder) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Tensor, token_type_ids: Tensor) -> Tensor:
        """Read one pair or many of one length: nothing is padded, so all is attended to."""
        return torch.sigmoid(self.model(input_ids, torch.ones_like(input_ids), token_type_ids))


def export(model: CrossEncoder, file: Path) -> str:
    """Write `model` to `file`; return its SHA-256.

    The weights of matrices and words are int8, one scale a row; activations are scaled as they come. The weights take
    but seven bits: with eight, processors without VNNI saturate and answer otherwise than those with it.
    """
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.quantization.shape_inference import quant_pre_process

    model.eval()
    row = torch.tensor([[101, 2054, 102, 2073, 102]])
    kinds = torch.tensor([[0, 0, 0, 1, 1]])
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what tracing might miss is measured: the exported model is what is evaluated
        whole, prepared, small = (Path(folder) / name for name in ("whole.onnx", "prepared.onnx", "small.onnx"))
        torch.onnx.export(
            _Probability(model),
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


def restored(file: Path) -> CrossEncoder:
    """Return the model that `export` has written to `file`, as near as seven bits a weight come to it.

    Raises:
        ValueError: the file lacks weights of such a model.
    """
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(str(file)).graph
    written = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    model = CrossEncoder.pretrained()
    weights = model.state_dict()
    found = {name.removeprefix("model."): written[name] for name in written if name.removeprefix("model.") in weights}
    for kind in ("position", "token_type"):
        name = f"bert.embeddings.{kind}_embeddings.weight"
        if f"model.{name}_quantized" in written:
            found[name] = _whole(written, f"model.{name}")
    for node in graph.node:
        if node.op_type == "MatMulInteger":
            *path, _ = node.name.removeprefix("/model/").split("/")
            place = ".".join(part for part in path if not any(other.startswith(f"{part}.") for other in path))
            found[f"{place}.weight"] = _whole(written, node.input[1].removesuffix("_quantized")).T
    # word vectors are never trained, and so are those that the model begins with
    missing = {name for name in weights if name not in found and "word_embeddings" not in name}
    if missing:
        raise ValueError(f"{file}: no weights for {', '.join(sorted(missing))}")
    model.load_state_dict(weights | {name: torch.tensor(value) for name, value in found.items()})
    return model


def _whole(written: dict[str, NDArray[Any]], name: str) -> NDArray[np.float32]:
    """Return weights of one scale a column (or one for all) as they are read: (integer - zero point) * scale."""
    integers, zero = (written[f"{name}_{part}"].astype(np.float32) for part in ("quantized", "zero_point"))
    scaled: NDArray[np.float32] = (integers - zero) * written[f"{name}_scale"]
    return scaled
