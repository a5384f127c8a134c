# SPDX-License-Identifier: BSD-3-Clause
"""Models that run in PyTorch and that torch.export refuses, each for its own reason; as text, because what is told is
pasted into it."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

_IMPORTS = "".join(
    f"import {name}\n" for name in ("copy", "dataclasses", "math", "random", "numpy as np", "torch")
)
BOTH, BY_RUNNING, BY_BYTECODE = (False, True), (False,), (True,)


@dataclass(frozen=True)
class Refused:
    """`line`: how the line begins that is named. `strict`: the ways of tracing that refuse it. `is_mended`: there is
    code, and with it the model exports. NAMESPACE in a text is another one each time."""

    name: str
    cause: str
    line: str
    forward: str
    inputs: str = "(torch.ones(3),)"
    shapes: str = "None"
    init: str = ""
    before: str = ""
    strict: tuple[bool, ...] = BOTH
    is_mended: bool = True

    @property
    def text(self) -> str:
        init = f"\n{textwrap.indent(self.init, ' ' * 8)}" if self.init else ""
        return (
            f"{_IMPORTS}\n{self.before}\n\n"
            f"class Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__(){init}\n\n"
            f"{textwrap.indent(self.forward, ' ' * 4)}\n\n\ninputs = {self.inputs}\ndynamic_shapes = {self.shapes}\n"
        )


def model(name: str, cause: str, line: str, forward: str, **more: object) -> Refused:
    return Refused(name, cause, line, textwrap.dedent(forward).strip(), **more)  # type: ignore[arg-type]


_RECTANGLE = "(torch.arange(12.0).reshape(4, 3),)"
_ROWS = '({0: torch.export.Dim("n", min=2, max=16)},)'
_CLASS = """class Box:
    def __init__(self, a):
        self.a = a"""
_OPERATORS = """library = torch.library.Library("NAMESPACE", "DEF")
library.define("plain(Tensor x) -> Tensor")
library.impl("plain", lambda x: x * 2, "CPU")

@torch.library.custom_op("NAMESPACE::custom", mutates_args=())
def custom(x: torch.Tensor) -> torch.Tensor:
    return x * 2"""
_TRAINED_AFTER = """@dataclasses.dataclass
class Checked:
    a: torch.Tensor

    def __post_init__(self):
        self.b = self.a + 1"""

MODELS = (
    model("branch", "branch on data", "if x.sum() > 0:", """
        def forward(self, x):
            if x.sum() > 0:
                return x + 1
            return x - 1
        """),
    model("branch of values", "branch on data", "if x.sum() > 0 and not x.max() > 3:", """
        def forward(self, x):
            y = x * 2
            if x.sum() > 0 and not x.max() > 3:
                y += 1
            return y
        """),
    model("branch of several statements", "branch on data", "if x.mean() > 0:", """
        def forward(self, x):
            y = x * 2
            z = x + 1
            if x.mean() > 0:
                y = y + 1
                z = y * 2
            else:
                y = y - 1
            return y, z
        """),
    model("branch within a line", "branch on data", "return x + 1 if torch.allclose", """
        def forward(self, x):
            return x + 1 if torch.allclose(x, x * 1) else x
        """),
    model("loop", "loop on data", "while x.norm() < 10:", """
        def forward(self, x):
            while x.norm() < 10:
                x = x * 2
            return x
        """),
    model("assertion", "check of values", "assert x.sum() > 0", """
        def forward(self, x):
            assert x.sum() > 0, "positive"
            return x + 1
        """, strict=BY_RUNNING),
    model("raises", "check of values", "if x.isnan().any():", """
        def forward(self, x):
            if x.isnan().any():
                raise ValueError("not a number")
            return x + 1
        """),
    model("print", "text of a tensor", "print(f", """
        def forward(self, x):
            print(f"mean {x.mean():.2f}")
            return x + 1
        """, strict=BY_RUNNING),
    model("number", "number from data", "k = int(n)", """
        def forward(self, n, x):
            k = int(n)
            return x * k
        """, inputs="(torch.tensor(3), torch.ones(8))", strict=BY_RUNNING),
    model("square root of math", "math of a tensor", "return x * math.sqrt(x.sum())", """
        def forward(self, x):
            return x * math.sqrt(x.sum())
        """),
    model("number of those chosen", "size from data", "if y.numel() == 0:", """
        def forward(self, x):
            y = x[x > 0]
            if y.numel() == 0:
                return x
            return y + 1
        """, inputs="(torch.tensor([1.0, 0.0, 2.0]),)"),
    model("loop over those chosen", "count from data", "return sum(y[i] for i in range(len(y)))", """
        def forward(self, x):
            y = x[x > 0]
            return sum(y[i] for i in range(len(y)))
        """, inputs="(torch.tensor([1.0, 0.0, 2.0]),)", is_mended=False),
    model("layer by number", "count from data", "return self.layers[n.item()](x)", """
        def forward(self, n, x):
            return self.layers[n.item()](x)
        """, inputs="(torch.tensor(1), torch.ones(3))", is_mended=False,
        init="self.layers = torch.nn.ModuleList([torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)])"),
    model("NumPy", "NumPy", "y = np.tanh(x.numpy())", """
        def forward(self, x):
            y = np.tanh(x.numpy())
            z = np.sum(y, axis=1, keepdims=True)
            return torch.from_numpy(z) + 1
        """, inputs=_RECTANGLE, strict=BY_RUNNING),
    model("NumPy as input", "NumPy array as input", "def forward(self, x):", """
        def forward(self, x):
            return torch.from_numpy(x) + 1
        """, inputs="(np.ones((2, 3), dtype=np.float32),)", is_mended=False),
    model("class as output", "class as output", "return Box(x + 1)", """
        def forward(self, x):
            return Box(x + 1)
        """, before=_CLASS),
    model("class as input", "class as input", "def forward(self, box):", """
        def forward(self, box):
            return box.a + 1
        """, before=_CLASS, inputs="(Box(torch.ones(3)),)"),
    model("dataclass that computes", "class as output", "return Checked(x + 1)", """
        def forward(self, x):
            return Checked(x + 1)
        """, before=_TRAINED_AFTER),
    model("set as output", "set or generator as output", "return {x + 1, x * 2}", """
        def forward(self, x):
            return {x + 1, x * 2}
        """),
    model("custom operator of a library", "custom operator", "return torch.ops.NAMESPACE.plain(x) + 1", """
        def forward(self, x):
            return torch.ops.NAMESPACE.plain(x) + 1
        """, before=_OPERATORS),
    model("custom operator of Python", "custom operator", "return custom(x) + 1", """
        def forward(self, x):
            return custom(x) + 1
        """, before=_OPERATORS),
    model("nested tensor", "operator without form", "y = torch.nested.nested_tensor([x, x])", """
        def forward(self, x):
            y = torch.nested.nested_tensor([x, x])
            return y.to_padded_tensor(0.0)
        """, is_mended=False),
    model("fixed size", "fixed size", "return x + torch.ones(4, 3)", """
        def forward(self, x):
            return x + torch.ones(4, 3)
        """, inputs=_RECTANGLE, shapes=_ROWS),
    model("loop over a dimension", "fixed size", "for i in range(x.shape[0]):", """
        def forward(self, x):
            y = []
            for i in range(x.shape[0]):
                y.append(x[i] * i)
            return torch.stack(y)
        """, inputs=_RECTANGLE, shapes=_ROWS),
    model("range of sizes", "range of a size", "if x.shape[0] > 5:", """
        def forward(self, x):
            if x.shape[0] > 5:
                return x * 2
            return x + 0
        """, inputs=_RECTANGLE, shapes=_ROWS),
    model("even sizes", "range of a size", "return x.view(2, x.shape[0] // 2, 3)", """
        def forward(self, x):
            return x.view(2, x.shape[0] // 2, 3)
        """, inputs="(torch.ones(8, 3),)", shapes=_ROWS),
    model("equal sizes", "equal sizes", "return x + y", """
        def forward(self, x, y):
            return x + y
        """, inputs="(torch.ones(4, 3), torch.ones(4, 3))",
        shapes='({0: torch.export.Dim("n", max=16)}, {0: torch.export.Dim("m", max=16)})'),
    model("example of size one", "example of size one", "def forward(self, x):", """
        def forward(self, x):
            return x * 2
        """, inputs="(torch.ones(1, 3),)", shapes=_ROWS, is_mended=False),
    model("other names in dynamic_shapes", "dynamic_shapes", "def forward(self, x):", """
        def forward(self, x):
            return x * 2
        """, shapes='{"y": None}', is_mended=False),
    model("copy", "copy", "return copy.deepcopy(x) + 1", """
        def forward(self, x):
            return copy.deepcopy(x) + 1
        """),
    model("address", "memory of a tensor", "return x + x.data_ptr() % 2", """
        def forward(self, x):
            return x + x.data_ptr() % 2
        """, strict=BY_RUNNING, is_mended=False),
    model("tensor of tensors", "tensor of tensors", "return torch.tensor([x.sum(), x.mean()])", """
        def forward(self, x):
            return torch.tensor([x.sum(), x.mean()])
        """, strict=BY_RUNNING),
    model("packed sequence", "packed sequence", "", """
        def forward(self, x, n):
            y = torch.nn.utils.rnn.pack_padded_sequence(x, n, batch_first=True)
            y, _ = self.rnn(y)
            return torch.nn.utils.rnn.pad_packed_sequence(y, batch_first=True)[0]
        """, inputs="(torch.ones(1, 2, 3), torch.tensor([2]))", init="self.rnn = torch.nn.LSTM(3, 4, batch_first=True)",
        is_mended=False),
    model("TorchScript", "TorchScript", "return self.part(x)", """
        def forward(self, x):
            return self.part(x)
        """, init="self.part = torch.jit.script(torch.nn.Linear(3, 3))", is_mended=False),
    model("random number", "random number", "return x * random.random()", """
        def forward(self, x):
            return x * random.random()
        """, strict=BY_BYTECODE),
    model("time", "function of Python", "start = time.time()", """
        def forward(self, x):
            start = time.time()
            return x + 0 * start
        """, before="import time", strict=BY_BYTECODE, is_mended=False),
    model("log", "text of a tensor", "logging.getLogger", """
        def forward(self, x):
            logging.getLogger("model").info("mean %s", x.mean().item())
            return x + 1
        """, before="import logging", strict=BY_BYTECODE),
    model("branch on a number", "branch on a number from data", "if k > 2:", """
        def forward(self, n, x):
            k = n.item()
            if k > 2:
                return x * 2
            return x
        """, inputs="(torch.tensor(3), torch.ones(8))", is_mended=False),
    model("function in one line", "branch on data", "def forward(self, x): return x + 1 if x.sum() > 0 else x", """
        def forward(self, x): return x + 1 if x.sum() > 0 else x
        """),
    model("two statements in a line", "branch on data", "y = x + 1 if x.sum() > 0 else x; y = y * 2", """
        def forward(self, x):
            y = x + 1 if x.sum() > 0 else x; y = y * 2
            return y
        """, is_mended=False),
    model("branch in one line", "branch on data", "if torch.equal(x, x * 1): return x + 1", """
        def forward(self, x):
            if torch.equal(x, x * 1): return x + 1
            return x * 2
        """),
    model("loop over what is left", "size from data", "while left.numel() > 0:", """
        def forward(self, x):
            kept = []
            left = x.argsort()
            while left.numel() > 0:
                kept.append(left[0])
                left = left[1:][x[left[1:]] > 2]
            return torch.stack(kept)
        """, is_mended=False),
    model("gradient", "gradient", "(g,) = torch.autograd.grad(y, x)", """
        def forward(self, x):
            x = x.detach().requires_grad_(True)
            y = (x * x).sum()
            (g,) = torch.autograd.grad(y, x)
            return g
        """, is_mended=False),
    model("parameter", "parameter in forward", "return x * torch.nn.Parameter(torch.ones(3))", """
        def forward(self, x):
            return x * torch.nn.Parameter(torch.ones(3))
        """, strict=BY_BYTECODE, is_mended=False),
    model("data attribute", "data attribute", "return y", """
        def forward(self, x):
            y = x.clone()
            y.data[0] = x.sum().item()
            return y
        """, strict=BY_RUNNING, is_mended=False),
    model("quantized tensor", "quantized tensor", "def forward(self, x):", """
        def forward(self, x):
            return x.dequantize() + 1
        """, inputs="(torch.quantize_per_tensor(torch.ones(2, 3), 0.1, 0, torch.quint8),)", is_mended=False),
    model("tensor subclass", "tensor subclass", "return x.as_subclass(Own) + 1", """
        def forward(self, x):
            return x.as_subclass(Own) + 1
        """, before="class Own(torch.Tensor):\n    pass", strict=BY_RUNNING, is_mended=False),
)  # fmt: skip
