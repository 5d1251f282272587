"""Export of the trained model as one int8 ONNX file, which onnxruntime reads without torch."""

import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor, nn

from harness.models.local.onnx import digest

MAX_BYTES = 25_000_000
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
