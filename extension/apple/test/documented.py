# SPDX-License-Identifier: BSD-3-Clause
"""Members that the documents and released headers have: Swift's by file and spelling, Objective-C's by selector."""

_DTYPE = "byte char short int long half float double complexHalf complexFloat"
_DTYPE += " complexDouble bool qInt8 quInt8 qInt32 bFloat16"
_DTYPE += " quInt4x2 quInt2x4 bits1x8 bits2x4 bits4x2 bits8 bits16 float8_e5m2"
_DTYPE += " float8_e4m3fn float8_e5m2fnuz float8_e4m3fnuz"
_DTYPE += " uInt16 uInt32 uInt64 undefined"
_INFO = "dataType shape strides dimensionOrder shapeDynamism count"
_IS = "isNone isTensor isString isScalar isBoolean isInteger isDouble isFloat"
_MADE = """empty(shape:strides:{t}shapeDynamism:) empty(like:{t}shapeDynamism:)
        full(shape:scalar:strides:shapeDynamism:)
  full(like:scalar:shapeDynamism:) ones(shape:{t}shapeDynamism:) ones(like:{t}shapeDynamism:)
        zeros(shape:{t}shapeDynamism:)
  zeros(like:{t}shapeDynamism:) rand(shape:strides:{t}shapeDynamism:) rand(like:{t}shapeDynamism:)
  randn(shape:strides:{t}shapeDynamism:) randn(like:{t}shapeDynamism:)
  randint(low:high:shape:strides:{t}shapeDynamism:) randint(like:low:high:{t}shapeDynamism:)"""
_BYTES = "shape:strides:dimensionOrder:{t}shapeDynamism:"

# File below ExecuTorch/Swift or ExecuTorchLLM/Swift: its members.
SWIFT = {
    "Scalar.swift": f"{_DTYPE} static dynamicBound dynamicUnbound size(ofDataType:)"
        " elementCount(ofShape:) asNSNumber()",
    "AnyTensor.swift": f"""{_INFO} init(_:shape:dimensionOrder:strides:) copy() copy(to:) bytes(_:) mutableBytes(_:)
        resize(to:) init(_:) description ==(_:_:) """
    + " ".join(f"init({name}:{_BYTES.format(t='dataType:')})" for name in ("bytesNoCopy", "bytes", "data")),
    "TensorElements.swift": _MADE.format(t="dataType:"),
    "Tensor.swift": f"""{_INFO} anyTensor asTensor() init(_:) init(_:shape:dimensionOrder:strides:) copy() copy(to:)
        withUnsafeBytes(_:) withUnsafeMutableBytes(_:) resize(to:) scalars() description ==(_:_:)
        init(_:{_BYTES.format(t="")}) {_MADE.format(t="")} """
    + " ".join(f"init({name}:{_BYTES.format(t='')})" for name in ("bytesNoCopy", "bytes", "data")),
    "Value.swift": f"""none tensor string double integer boolean {_IS} tag anyTensor tensor() string scalar
        boolean integer
        double float init() init(_:) copy() description ==(_:_:)""",
    "ValueConversion.swift": "asValue() from(_:) init(_:)",
    "Module.swift": """file mmap mmapUseMlock mmapUseMlockIgnoreErrors minimal internalConsistency
        init(filePath:dataFilePaths:loadMode:) load() load(_:) load(options:verification:) load(_:options:) isLoaded()
        isLoaded(_:) unload(_:) execute(_:_:) setInput(_:for:at:) setInputs(_:for:) setOutput(_:for:at:)""",
    "ModuleCalls.swift": "execute(_:_:) forward(_:) forward(named:)",
    "Metadata.swift": """name shape dimensionOrder dataType isMemoryPlanned inputValueTags outputValueTags
        inputTensorMetadata outputTensorMetadata attributeTensorMetadata memoryPlannedBufferSizes backendNames
        methodNames()
        methodMetadata(_:)""",
    "BackendOptions.swift": "boolean integer string key type boolValue intValue stringValue init(_:_:)"
        " init(options:) options",
    "Log.swift": "debug info error fatal unknown log(level:timestamp:filename:line:message:)"
        " shared add(sink:) remove(sink:)",
    "Error.swift": "ErrorDomain ErrorDescription(_:) Error(code:) Error(code:description:)",
    "Config.swift": """isEchoEnabled maximumNewTokens isWarming sequenceLength temperature bosCount eosCount
        init() init(_:)
        init(data:width:height:channels:) init(floatData:width:height:channels:) init(data:batchSize:bins:frames:)
        init(floatData:batchSize:bins:frames:) init(float:batchSize:bins:frames:) text image audio unsupported type""",
    "Runners.swift": """init(modelPath:tokenizerPath:specialTokens:) init(modelPath:tokenizerPath:) isLoaded() load()
        generate(_:_:tokenCallback:) stop() reset() tokens(_:_:) chat(_:_:tokenCallback:)""",
}  # fmt: skip

_WITH = (
    "shape:strides:dimensionOrder:dataType:shapeDynamism: shape:strides:dimensionOrder:dataType:"
)
_WITH += " shape:dataType:shapeDynamism: shape:dataType:"
_KINDS = "Byte Char Short Int Long Float Double Bool UInt16 UInt32 UInt64 Integer UnsignedInteger"
_LIKE = ["dataType:shapeDynamism:", "dataType:", ""]


def _factories(name: str, given: str, ends: list[str]) -> list[str]:
    return [f"{name}TensorWithShape:{given}{end}" for end in ends] + [
        f"{name}TensorLikeTensor:{given}{end}" for end in _LIKE
    ]


_ALL = ["strides:dataType:shapeDynamism:", "dataType:shapeDynamism:", "dataType:"]
_RANDINT = "randomIntegerTensorWithLow:high:shape:"
# Header: its selectors.
OBJECTIVE_C = {
    "ExecuTorchTensor.h": [
        *(f"initWith{kind}:{end}" for kind in ("BytesNoCopy", "Bytes", "Data") for end in _WITH.split()),
        *(f"initWithScalars:{end}" for end in [*_WITH.split(), "dataType:shapeDynamism:", "dataType:",
                                               "shape:shapeDynamism:", "shape:", ""]),
        "initWithScalar:dataType:", "initWithScalar:", *(f"initWith{kind}:" for kind in _KINDS.split()),
        "initWithTensor:shape:dimensionOrder:strides:", "initWithTensor:shape:", "initWithTensor:", "copy",
        "copyToDataType:", "bytesWithHandler:", "mutableBytesWithHandler:", "resizeToShape:error:", "isEqualToTensor:",
        *_factories("empty", "", _ALL), *_factories("full", "scalar:", _ALL), *_factories("ones", "", _ALL[1:]),
        *_factories("zeros", "", _ALL[1:]), *_factories("random", "", _ALL), *_factories("randomNormal", "", _ALL),
        *(_RANDINT + end for end in _ALL), *(f"randomIntegerTensorLikeTensor:low:high:{end}" for end in _LIKE),
    ],
    "ExecuTorchValue.h": [
        *(f"valueWith{kind}:" for kind in "Tensor String Boolean Integer Double Float Scalar".split()), "init",
        "isEqualToValue:",
    ],
    "ExecuTorchModule.h": """initWithFilePath:dataFilePaths:loadMode: initWithFilePath:dataFilePaths:
        initWithFilePath:loadMode: initWithFilePath: loadWithVerification:error: load:
        loadWithOptions:verification:error:
        loadWithOptions:error: isLoaded isMethodLoaded: loadMethod:error: loadMethod:options:error:
        unloadMethod: methodNames:
        methodMetadata:error: executeMethod:withInputs:error: executeMethod:withInput:error:
        executeMethod:withTensors:error:
        executeMethod:withTensor:error: executeMethod:error: forwardWithInputs:error: forwardWithInput:error:
        forwardWithTensors:error: forwardWithTensor:error: forward: setInput:error: setInput:atIndex:error:
        setInput:forMethod:error: setInput:forMethod:atIndex:error: setInputs:error: setInputs:forMethod:error:
        setOutput:error: setOutput:atIndex:error: setOutput:forMethod:error:
        setOutput:forMethod:atIndex:error:""".split(),
    "ExecuTorchBackendOption.h":
        "optionWithKey:booleanValue: optionWithKey:integerValue: optionWithKey:stringValue:".split(),
    "ExecuTorchBackendOptionsMap.h": ["initWithOptions:error:", "mapWithOptions:error:"],
    "ExecuTorchLog.h": ["logWithLevel:timestamp:filename:line:message:", "addSink:", "removeSink:"],
    "ExecuTorchLLMConfig.h": ["init", "initWithBlock:"],
    "ExecuTorchLLMRunners.h": """initWithModelPath:tokenizerPath:
        initWithModelPath:tokenizerPath:specialTokens: isLoaded
        loadWithError: generateWithPrompt:config:tokenCallback:error: stop reset
        generateWithInputs:config:tokenCallback:error:""".split(),
    "ExecuTorchLLMMultimodalInput.h": """initWithData:width:height:channels: initWithFloatData:width:height:channels:
        initWithData:batchSize:bins:frames: initWithFloatData:batchSize:bins:frames: inputWithText: inputWithImage:
        inputWithAudio:""".split(),
}  # fmt: skip

# Documented, and not there: why.
MISSING = {
    "nativeInstance, initWithNativeInstance:": "addresses of C++ objects; the C interface has handles",
    "ExecuTorchImageProcessor": "needs CoreVideo, and the image extension, which is a later part",
    "instructionCount": "the C interface does not say it",
}
