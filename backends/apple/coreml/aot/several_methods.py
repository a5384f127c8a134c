# SPDX-License-Identifier: BSD-3-Clause
"""Delegates of several methods as one model with a function each, so that weights stand in the file once."""

from __future__ import annotations

import json
import logging
import tempfile
from pathlib import Path

from executorch.backends.apple.coreml.aot import package, specs
from executorch.backends.apple.coreml.aot.library import ct, quiet
from executorch.backends.apple.coreml.executorchcoreml import (
    flatten_directory_contents,
    read_files,
    unflatten_directory_contents,
)
from executorch.backends.apple.coreml.payload_reader import MAGIC
from executorch.exir._serialize._named_data_store import NamedDataStore
from executorch.exir.backend.backend_details import PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec

_log = logging.getLogger(__name__)
Results = dict[str, list[PreprocessResult]]
SpecsOfMethods = dict[str, list[list[CompileSpec]]]


def joined(alone: Results, compile_specs: SpecsOfMethods) -> Results:
    """`alone`: each delegate with a model of its own."""
    reason = _why_not(alone, compile_specs)
    if reason is not None:
        if reason:
            _log.warning("Core ML: methods share no weights: %s", reason)
        return alone
    count = len(next(iter(alone.values())))
    places = [_one_model(alone, place) for place in range(count)]
    return {method: [each[method] for each in places] for method in alone}


def _why_not(alone: Results, compile_specs: SpecsOfMethods) -> str | None:
    """None where methods are joined; empty where nobody expects it."""
    given = [each for lists in compile_specs.values() for each in lists]
    if len(alone) < 2 or not given:
        return ""
    kinds = specs.MULTIMETHOD_WEIGHT_SHARING_STRATEGY
    if specs.weight_sharing(given[0]) is kinds.DISABLED:
        return ""
    counts = {method: len(results) for method, results in alone.items()}
    first = next(iter(counts))
    for method, count in counts.items():
        if count != counts[first]:
            raise ValueError(
                f"Method '{method}' has {count} partitions, but '{first}' has {counts[first]}. POSITIONAL weight "
                "sharing strategy requires all methods to have the same number of partitions. Use "
                "MULTIMETHOD_WEIGHT_SHARING_STRATEGY.DISABLED if methods should be processed independently."
            )
    for each in given:
        target = specs.min_deployment_target(each)
        if target is not None and target < ct.target.iOS18:
            return f"a model of several functions needs iOS18 or later, {target.name} was asked for"
    if specs.model_type(given[0]) is not specs.MODEL_TYPE.MODEL:
        return "compiled models stand alone"
    return None


def _one_model(alone: Results, place: int) -> dict[str, PreprocessResult]:
    with tempfile.TemporaryDirectory() as folder:
        descriptor = ct.utils.MultiFunctionDescriptor()
        metadata = {}
        for number, (method, results) in enumerate(alone.items()):
            payload = results[place].processed_bytes
            own = Path(folder, str(number))
            own.mkdir()
            unflatten_directory_contents(payload, str(own))
            saved = own / package.ROOT / package.MODEL_PATHS.MODEL.value
            descriptor.add_function(str(saved), "main", method)
            compile_specs = json.loads(read_files(payload)[package.MODEL_PATHS.METADATA.value])
            metadata[method] = package.MethodMetadata(
                compile_specs["inputNames"], compile_specs["outputNames"]
            )
        descriptor.default_function_name = next(iter(alone))
        root = Path(folder, f"{package.ROOT}_partition_{place}")
        root.mkdir()
        saved = root / package.MODEL_PATHS.MODEL.value
        with quiet():
            ct.utils.save_multifunction(descriptor, str(saved))
        package.settled(saved)
        identifier = package.identifier_of(saved)
        package.save_json(
            package.MultifunctionModelMetadata(identifier, metadata),
            root / package.MODEL_PATHS.METADATA.value,
        )
        blob = flatten_directory_contents(str(root))
    key = f"coreml_{identifier}"
    return {method: _reference(key, method, blob) for method in alone}


def _reference(key: str, method: str, blob: bytes) -> PreprocessResult:
    store = NamedDataStore()
    store.add_named_data(key, blob, alignment=1)
    compile_specs = json.dumps({"version": 1, "key": key, "functionName": method})
    return PreprocessResult(
        MAGIC + compile_specs.encode(), data_store_output=store.get_named_data_store_output()
    )
