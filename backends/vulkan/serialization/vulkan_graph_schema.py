# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Classes of the payload's schema under the names that users import."""

from executorch.backends.vulkan.aot.schema import SCHEMA, VkDataType, VkMemoryLayout, VkStorageType

_CLASSES = SCHEMA.classes
VkGraph, VkValue, VkTensor = (_CLASSES[name] for name in ("VkGraph", "VkValue", "VkTensor"))
OperatorCall, VkBytes = _CLASSES["OperatorCall"], _CLASSES["VkBytes"]
Null, Int, Double, Bool = (_CLASSES[name] for name in ("Null", "Int", "Double", "Bool"))
IntList, DoubleList = _CLASSES["IntList"], _CLASSES["DoubleList"]
BoolList, ValueList = _CLASSES["BoolList"], _CLASSES["ValueList"]
String, SymInt = _CLASSES["String"], _CLASSES["SymInt"]

__all__ = [
    "Bool",
    "BoolList",
    "Double",
    "DoubleList",
    "Int",
    "IntList",
    "Null",
    "OperatorCall",
    "String",
    "SymInt",
    "ValueList",
    "VkBytes",
    "VkDataType",
    "VkGraph",
    "VkMemoryLayout",
    "VkStorageType",
    "VkTensor",
    "VkValue",
]
