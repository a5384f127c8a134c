# SPDX-License-Identifier: BSD-3-Clause
"""Networks of many kinds for the precisions of XNNPACK, the same here and where upstream's wheel is."""

from collections import OrderedDict

import torch

IMAGE = (1, 3, 32, 32)
TOKENS = (1, 16)
VOCABULARY = 100
WIDTH = 64


class Residual(torch.nn.Module):
    def __init__(self, body: torch.nn.Module) -> None:
        super().__init__()
        self.body = body

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.body(x)


class Gate(torch.nn.Module):
    """Squeeze and excitation."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.down = torch.nn.Conv2d(channels, 8, 1)
        self.up = torch.nn.Conv2d(8, channels, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(self.up(torch.relu(self.down(x.mean((2, 3), keepdim=True)))))


class Branches(torch.nn.Module):
    def __init__(self, *branches: torch.nn.Module) -> None:
        super().__init__()
        self.branches = torch.nn.ModuleList(branches)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([branch(x) for branch in self.branches], 1)


def conv(
    inputs: int, outputs: int, kernel: int = 3, act: type = torch.nn.ReLU, **more: int
) -> torch.nn.Module:
    more.setdefault("padding", kernel // 2)
    layers = [
        torch.nn.Conv2d(inputs, outputs, kernel, **more),
        torch.nn.BatchNorm2d(outputs),
        act(),
    ]
    return torch.nn.Sequential(*layers)


def network(*body: torch.nn.Module, channels: int) -> torch.nn.Module:
    """With a layer of 64 inputs at the end, which weights in groups of 32 need."""
    pool = [torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()]
    head = [torch.nn.Linear(channels, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)]
    return torch.nn.Sequential(*body, *pool, *head)


def inverted(channels: int, act: type) -> torch.nn.Module:
    wide = 2 * channels
    return Residual(
        torch.nn.Sequential(
            conv(channels, wide, 1, act),
            conv(wide, wide, 3, act, groups=wide),
            torch.nn.Conv2d(wide, channels, 1),
        )
    )


class Encoder(torch.nn.Module):
    """Embeddings, attention written out, and a feed-forward part."""

    def __init__(
        self, act: torch.nn.Module, layers: int = 1, heads: int = 2, causal: bool = False
    ) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.layers = torch.nn.ModuleList(
            torch.nn.ModuleDict(
                {
                    "norm1": torch.nn.LayerNorm(WIDTH),
                    "qkv": torch.nn.Linear(WIDTH, 3 * WIDTH),
                    "out": torch.nn.Linear(WIDTH, WIDTH),
                    "norm2": torch.nn.LayerNorm(WIDTH),
                    "up": torch.nn.Linear(WIDTH, 2 * WIDTH),
                    "down": torch.nn.Linear(2 * WIDTH, WIDTH),
                }
            )
            for _ in range(layers)
        )
        self.act = act
        self.heads = heads
        mask = torch.full((TOKENS[1], TOKENS[1]), -100.0).triu(1)
        self.register_buffer("mask", mask if causal else None)

    def attend(self, layer: torch.nn.ModuleDict, x: torch.Tensor) -> torch.Tensor:
        parts = layer["qkv"](x).reshape(1, TOKENS[1], 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = parts[0] @ parts[1].transpose(-2, -1) * (WIDTH // self.heads) ** -0.5
        if self.mask is not None:
            scores = scores + self.mask
        return layer["out"](
            (scores.softmax(-1) @ parts[2]).transpose(1, 2).reshape(1, TOKENS[1], WIDTH)
        )

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embed(ids)
        for layer in self.layers:
            x = x + self.attend(layer, layer["norm1"](x))
            x = x + layer["down"](self.act(layer["up"](layer["norm2"](x))))
        return x


NN = torch.nn
IMAGES = {
    "plain": lambda: network(conv(3, 16), conv(16, 32, stride=2), channels=32),
    "vgg": lambda: network(
        conv(3, 16), NN.MaxPool2d(2), conv(16, 32), NN.MaxPool2d(2), channels=32
    ),
    "resnet": lambda: network(
        conv(3, 16), Residual(conv(16, 16)), Residual(conv(16, 16)), channels=16
    ),
    "wide_resnet": lambda: network(conv(3, 48), Residual(conv(48, 48)), channels=48),
    "bottleneck": lambda: network(
        conv(3, 32),
        Residual(NN.Sequential(conv(32, 8, 1), conv(8, 8), conv(8, 32, 1))),
        channels=32,
    ),
    "resnext": lambda: network(conv(3, 32), Residual(conv(32, 32, groups=4)), channels=32),
    "mobilenet1": lambda: network(
        conv(3, 16, stride=2), conv(16, 16, groups=16), conv(16, 32, 1), channels=32
    ),
    "mobilenet2": lambda: network(conv(3, 16, act=NN.ReLU6), inverted(16, NN.ReLU6), channels=16),
    "mobilenet3": lambda: network(
        conv(3, 16, act=NN.Hardswish), inverted(16, NN.Hardswish), channels=16
    ),
    "gated": lambda: network(conv(3, 16), Gate(16), conv(16, 24), channels=24),
    "inception": lambda: network(
        conv(3, 16), Branches(conv(16, 8, 1), conv(16, 8), conv(16, 8, 5)), channels=24
    ),
    "dense": lambda: network(
        conv(3, 16), Branches(NN.Identity(), conv(16, 8)), conv(24, 16), channels=16
    ),
    "squeeze": lambda: network(
        conv(3, 16), conv(16, 8, 1), Branches(conv(8, 16, 1), conv(8, 16)), channels=32
    ),
    "dilated": lambda: network(conv(3, 16, dilation=2), conv(16, 16, dilation=3), channels=16),
    "leaky": lambda: network(
        conv(3, 16, act=NN.LeakyReLU), conv(16, 16, act=NN.LeakyReLU), channels=16
    ),
    "hardtanh": lambda: network(
        conv(3, 16, act=NN.Hardtanh), conv(16, 16, 1, act=NN.Hardtanh), channels=16
    ),
    "patches": lambda: network(
        conv(3, 32, 4, stride=4, padding=0), Residual(conv(32, 32, 7, groups=32)), channels=32
    ),
    "mixer": lambda: NN.Sequential(
        NN.Flatten(2), NN.Linear(1024, 64), NN.ReLU(), NN.Linear(64, 32)
    ),
    "perceptron": lambda: NN.Sequential(
        NN.Flatten(), NN.Linear(3072, 64), NN.ReLU(), NN.Linear(64, 10)
    ),
    "unbiased": lambda: network(
        NN.Conv2d(3, 16, 3, bias=False), NN.ReLU(), NN.Conv2d(16, 16, 1, bias=False), channels=16
    ),
}
TEXTS = {
    "encoder": lambda: Encoder(NN.GELU()),
    "encoder_relu": lambda: Encoder(NN.ReLU()),
    "encoder_deep": lambda: Encoder(NN.GELU(), layers=3),
    "encoder_heads": lambda: Encoder(NN.GELU(), heads=8),
    "decoder": lambda: Encoder(NN.SiLU(), causal=True),
    "decoder_deep": lambda: Encoder(NN.SiLU(), layers=2, causal=True),
}
NETWORKS = {**IMAGES, **TEXTS}


def make(name: str) -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    """The network and its input, the same at every call."""
    torch.manual_seed(7)
    # Upstream loses a batch norm whose name starts with a digit, so nothing is at the top.
    module = torch.nn.Sequential(OrderedDict(body=NETWORKS[name]()))
    if name in TEXTS:
        return module.eval(), (torch.randint(0, VOCABULARY, TOKENS),)
    inputs = torch.randn(IMAGE)
    module.train()(inputs)  # statistics for batch norms
    return module.eval(), (inputs,)
