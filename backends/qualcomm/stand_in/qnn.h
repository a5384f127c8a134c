// SPDX-License-Identifier: BSD-3-Clause
// Declarations of our own in the place of the SDK's headers: the names that Qualcomm's public
// documents of QNN have, as many as we use, with layouts of our own. What is built with them runs
// with the stand-in libraries alone, which say so by the symbol executorch_qnn_stand_in.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>

#define QNN_STAND_IN_EXPORT __attribute__((visibility("default")))

extern "C" {

using Qnn_ErrorHandle_t = uint64_t;
constexpr Qnn_ErrorHandle_t QNN_SUCCESS = 0;

using Qnn_LogHandle_t = void*;
using Qnn_BackendHandle_t = void*;
using Qnn_DeviceHandle_t = void*;
using Qnn_ContextHandle_t = void*;
using Qnn_GraphHandle_t = void*;
using Qnn_ProfileHandle_t = void*;
using Qnn_MemHandle_t = void*;
using Qnn_SignalHandle_t = void*;
using Qnn_ContextBinarySize_t = uint64_t;

struct Qnn_Version_t {
  uint32_t major, minor, patch;
};
struct Qnn_ApiVersion_t {
  Qnn_Version_t backendApiVersion, coreApiVersion;
};

// ---- Tensors ----

enum Qnn_DataType_t : uint32_t {
  QNN_DATATYPE_INT_8 = 8,
  QNN_DATATYPE_INT_16 = 22,
  QNN_DATATYPE_INT_32 = 50,
  QNN_DATATYPE_INT_64 = 100,
  QNN_DATATYPE_UINT_8 = 264,
  QNN_DATATYPE_UINT_16 = 278,
  QNN_DATATYPE_UINT_32 = 306,
  QNN_DATATYPE_UINT_64 = 356,
  QNN_DATATYPE_FLOAT_16 = 534,
  QNN_DATATYPE_FLOAT_32 = 562,
  QNN_DATATYPE_SFIXED_POINT_8 = 776,
  QNN_DATATYPE_SFIXED_POINT_16 = 790,
  QNN_DATATYPE_SFIXED_POINT_32 = 818,
  QNN_DATATYPE_UFIXED_POINT_8 = 1032,
  QNN_DATATYPE_UFIXED_POINT_16 = 1046,
  QNN_DATATYPE_UFIXED_POINT_32 = 1074,
  QNN_DATATYPE_BOOL_8 = 1288,
  QNN_DATATYPE_UNDEFINED = 0x7fffffff,
};
enum Qnn_TensorType_t : uint32_t {
  QNN_TENSOR_TYPE_APP_WRITE,
  QNN_TENSOR_TYPE_APP_READ,
  QNN_TENSOR_TYPE_APP_READWRITE,
  QNN_TENSOR_TYPE_NATIVE,
  QNN_TENSOR_TYPE_STATIC,
  QNN_TENSOR_TYPE_NULL,
};
enum Qnn_Definition_t : uint32_t { QNN_DEFINITION_UNDEFINED, QNN_DEFINITION_DEFINED };
enum Qnn_QuantizationEncoding_t : uint32_t {
  QNN_QUANTIZATION_ENCODING_SCALE_OFFSET = 0,
  QNN_QUANTIZATION_ENCODING_AXIS_SCALE_OFFSET = 1,
  QNN_QUANTIZATION_ENCODING_BW_SCALE_OFFSET = 2,
  QNN_QUANTIZATION_ENCODING_BW_AXIS_SCALE_OFFSET = 3,
  QNN_QUANTIZATION_ENCODING_BLOCKWISE_EXPANSION = 5,
  QNN_QUANTIZATION_ENCODING_UNDEFINED = 0x7fffffff,
};
struct Qnn_ScaleOffset_t {
  int32_t offset;
  float scale;
};
struct Qnn_AxisScaleOffset_t {
  uint32_t numScaleOffsets;
  int32_t axis;
  Qnn_ScaleOffset_t* scaleOffset;
};
struct Qnn_BwScaleOffset_t {
  int32_t offset;
  float scale;
  uint32_t bitwidth;
};
struct Qnn_BwAxisScaleOffset_t {
  uint32_t numElements, bitwidth;
  int32_t axis;
  int32_t* offsets;
  float* scales;
};
enum Qnn_BlockwiseExpansionBlockScaleStorageType_t : uint32_t {
  QNN_BLOCKWISE_EXPANSION_BITWIDTH_SCALE_STORAGE_8,
  QNN_BLOCKWISE_EXPANSION_BITWIDTH_SCALE_STORAGE_16,
};
struct Qnn_BlockwiseExpansion_t {
  uint32_t numBlocksPerAxis, blockScaleBitwidth;
  Qnn_BlockwiseExpansionBlockScaleStorageType_t blockScaleStorageType;
  int32_t axis;
  Qnn_ScaleOffset_t* scaleOffsets;
  union {
    uint8_t* blocksScale8;
    uint16_t* blocksScale16;
  };
};
struct Qnn_QuantizeParams_t {
  Qnn_QuantizationEncoding_t quantizationEncoding;
  Qnn_Definition_t encodingDefinition;
  union {
    Qnn_BwAxisScaleOffset_t bwAxisScaleOffsetEncoding;
    Qnn_BwScaleOffset_t bwScaleOffsetEncoding;
    Qnn_AxisScaleOffset_t axisScaleOffsetEncoding;
    Qnn_ScaleOffset_t scaleOffsetEncoding;
    Qnn_BlockwiseExpansion_t* blockwiseExpansion;
  };
};
enum Qnn_TensorDataFormat_t : uint32_t { QNN_TENSOR_DATA_FORMAT_DENSE };
enum Qnn_TensorMemType_t : uint32_t { QNN_TENSORMEMTYPE_RAW, QNN_TENSORMEMTYPE_MEMHANDLE };
enum Qnn_TensorVersion_t : uint32_t { QNN_TENSOR_VERSION_1 = 1, QNN_TENSOR_VERSION_2 = 2 };
struct Qnn_ClientBuffer_t {
  uint32_t dataSize;
  void* data;
};
struct Qnn_TensorV1_t {
  const char* name;
  uint32_t rank;
  uint32_t* dimensions;
  Qnn_DataType_t dataType;
  Qnn_TensorType_t type;
  Qnn_TensorDataFormat_t dataFormat;
  Qnn_QuantizeParams_t quantizeParams;
  Qnn_TensorMemType_t memType;
  uint32_t id;
  union {
    Qnn_MemHandle_t memHandle;
    Qnn_ClientBuffer_t clientBuf;
  };
};
using Qnn_TensorV2_t = Qnn_TensorV1_t;
struct Qnn_Tensor_t {
  union {
    Qnn_TensorV1_t v1;
    Qnn_TensorV2_t v2;
  };
  Qnn_TensorVersion_t version;
};

// ---- Operators ----

struct Qnn_Scalar_t {
  union {
    double doubleValue;
    float floatValue;
    int64_t int64Value;
    uint64_t uint64Value;
    int32_t int32Value;
    uint32_t uint32Value;
    uint8_t bool8Value;
  };
  Qnn_DataType_t dataType;
};
enum Qnn_ParamType_t : uint32_t { QNN_PARAMTYPE_SCALAR, QNN_PARAMTYPE_TENSOR };
struct Qnn_Param_t {
  const char* name;
  Qnn_ParamType_t paramType;
  union {
    Qnn_Tensor_t tensorParam;
    Qnn_Scalar_t scalarParam;
  };
};
enum Qnn_OpConfigVersion_t : uint32_t { QNN_OPCONFIG_VERSION_1 = 1 };
struct Qnn_OpConfigV1_t {
  const char* typeName;
  const char* packageName;
  const char* name;
  Qnn_Tensor_t* inputTensors;
  Qnn_Tensor_t* outputTensors;
  Qnn_Param_t* params;
  uint32_t numOfInputs, numOfOutputs, numOfParams;
};
struct Qnn_OpConfig_t {
  Qnn_OpConfigV1_t v1;
  Qnn_OpConfigVersion_t version;
};

// ---- Log, configurations, profile, shared memory ----

enum QnnLog_Level_t : uint32_t {
  QNN_LOG_LEVEL_ERROR = 1,
  QNN_LOG_LEVEL_WARN = 2,
  QNN_LOG_LEVEL_INFO = 3,
  QNN_LOG_LEVEL_VERBOSE = 4,
  QNN_LOG_LEVEL_DEBUG = 5,
};
using QnnLog_Callback_t = void (*)(const char* format, QnnLog_Level_t level, uint64_t timestamp,
                                   va_list arguments);

struct QnnBackend_Config_t;
enum QnnDevice_ConfigOption_t : uint32_t { QNN_DEVICE_CONFIG_OPTION_CUSTOM };
struct QnnDevice_Config_t {
  void* customConfig;
  QnnDevice_ConfigOption_t option;
};
enum QnnContext_ConfigOption_t : uint32_t { QNN_CONTEXT_CONFIG_OPTION_CUSTOM };
struct QnnContext_Config_t {
  void* customConfig;
  QnnContext_ConfigOption_t option;
};
enum QnnGraph_ConfigOption_t : uint32_t { QNN_GRAPH_CONFIG_OPTION_CUSTOM };
struct QnnGraph_Config_t {
  void* customConfig;
  QnnGraph_ConfigOption_t option;
};

enum QnnHtpDevice_Arch_t : uint32_t { QNN_HTP_DEVICE_ARCH_NONE = 0 };
struct QnnHtpDevice_Minimum_Arch_t {
  QnnHtpDevice_Arch_t arch;
  uint32_t deviceId;
};
enum QnnHtpDevice_ConfigOption_t : uint32_t {
  QNN_HTP_DEVICE_CONFIG_OPTION_SOC,
  QNN_HTP_DEVICE_CONFIG_OPTION_ARCH,
};
struct QnnHtpDevice_CustomConfig_t {
  union {
    QnnHtpDevice_Minimum_Arch_t arch;
    uint32_t socModel;
  };
  QnnHtpDevice_ConfigOption_t option;
};
enum QnnHtpContext_ConfigOption_t : uint32_t {
  QNN_HTP_CONTEXT_CONFIG_OPTION_WEIGHT_SHARING_ENABLED,
};
struct QnnHtpContext_CustomConfig_t {
  bool weightSharingEnabled;
  QnnHtpContext_ConfigOption_t option;
};
enum Qnn_Precision_t : uint32_t { QNN_PRECISION_FLOAT16 };
enum QnnHtpGraph_ConfigOption_t : uint32_t {
  QNN_HTP_GRAPH_CONFIG_OPTION_PRECISION,
  QNN_HTP_GRAPH_CONFIG_OPTION_VTCM_SIZE,
  QNN_HTP_GRAPH_CONFIG_OPTION_FOLD_RELU_ACTIVATION_INTO_CONV_OFF,
  QNN_HTP_GRAPH_CONFIG_OPTION_SHORT_DEPTH_CONV_ON_HMX_OFF,
};
struct QnnHtpGraph_CustomConfig_t {
  union {
    uint32_t vtcmSizeInMB;
    Qnn_Precision_t precision;
    bool foldReluActivationIntoConvOff;
    bool shortDepthConvOnHmxOff;
  };
  QnnHtpGraph_ConfigOption_t option;
};

using QnnDevice_Infrastructure_t = void*;
enum QnnHtpPerfInfrastructure_PowerConfigOption_t : uint32_t {
  QNN_HTP_PERF_INFRASTRUCTURE_POWER_CONFIGOPTION_DCVS_V3,
};
enum QnnHtpPerfInfrastructure_PowerMode_t : uint32_t {
  QNN_HTP_PERF_INFRASTRUCTURE_POWERMODE_POWER_SAVER_MODE,
  QNN_HTP_PERF_INFRASTRUCTURE_POWERMODE_PERFORMANCE_MODE,
};
enum QnnHtpPerfInfrastructure_VoltageCorner_t : uint32_t {
  DCVS_VOLTAGE_VCORNER_SVS2,
  DCVS_VOLTAGE_VCORNER_SVS,
  DCVS_VOLTAGE_VCORNER_SVS_PLUS,
  DCVS_VOLTAGE_VCORNER_NOM,
  DCVS_VOLTAGE_VCORNER_NOM_PLUS,
  DCVS_VOLTAGE_VCORNER_TURBO,
  DCVS_VOLTAGE_VCORNER_MAX_VOLTAGE_CORNER,
};
struct QnnHtpPerfInfrastructure_DcvsV3_t {
  uint32_t contextId, setDcvsEnable, dcvsEnable, setSleepLatency, sleepLatency, setBusParams,
      setCoreParams;
  QnnHtpPerfInfrastructure_PowerMode_t powerMode;
  QnnHtpPerfInfrastructure_VoltageCorner_t busVoltageCornerMin, busVoltageCornerTarget,
      busVoltageCornerMax;
  QnnHtpPerfInfrastructure_VoltageCorner_t coreVoltageCornerMin, coreVoltageCornerTarget,
      coreVoltageCornerMax;
};
struct QnnHtpPerfInfrastructure_PowerConfig_t {
  QnnHtpPerfInfrastructure_DcvsV3_t dcvsV3Config;
  QnnHtpPerfInfrastructure_PowerConfigOption_t option;
};
struct QnnHtpDevice_PerfInfrastructure_t {
  Qnn_ErrorHandle_t (*createPowerConfigId)(uint32_t device, uint32_t core, uint32_t* out);
  Qnn_ErrorHandle_t (*setPowerConfig)(uint32_t id,
                                      const QnnHtpPerfInfrastructure_PowerConfig_t** configs);
  Qnn_ErrorHandle_t (*destroyPowerConfigId)(uint32_t id);
};
struct QnnHtpDevice_Infrastructure_t {
  QnnHtpDevice_PerfInfrastructure_t perfInfra;
};

enum QnnProfile_Level_t : uint32_t { QNN_PROFILE_LEVEL_BASIC = 1, QNN_PROFILE_LEVEL_DETAILED = 2 };
using QnnProfile_EventId_t = uint64_t;
enum QnnProfile_EventUnit_t : uint32_t {
  QNN_PROFILE_EVENTUNIT_MICROSEC = 1,
  QNN_PROFILE_EVENTUNIT_CYCLES = 3,
};
struct QnnProfile_EventData_t {
  const char* identifier;
  uint64_t value;
  QnnProfile_EventUnit_t unit;
  uint32_t type;
};

enum Qnn_MemType_t : uint32_t { QNN_MEM_TYPE_ION = 1 };
struct Qnn_MemShape_t {
  uint32_t* dimSize;
  uint32_t numDim;
  const char* shapeConfig;
};
struct Qnn_MemIonInfo_t {
  int32_t fd;
};
struct Qnn_MemDescriptor_t {
  union {
    Qnn_MemIonInfo_t ionInfo;
  };
  Qnn_MemType_t memType;
  Qnn_DataType_t dataType;
  Qnn_MemShape_t memShape;
};

// ---- The library's functions ----

struct StandInInterface {
  Qnn_ErrorHandle_t (*logCreate)(QnnLog_Callback_t callback, QnnLog_Level_t level,
                                 Qnn_LogHandle_t* out);
  Qnn_ErrorHandle_t (*logSetLogLevel)(Qnn_LogHandle_t log, QnnLog_Level_t level);
  Qnn_ErrorHandle_t (*logFree)(Qnn_LogHandle_t log);
  Qnn_ErrorHandle_t (*backendCreate)(Qnn_LogHandle_t log, const QnnBackend_Config_t** configs,
                                     Qnn_BackendHandle_t* out);
  Qnn_ErrorHandle_t (*backendFree)(Qnn_BackendHandle_t backend);
  Qnn_ErrorHandle_t (*backendGetApiVersion)(Qnn_ApiVersion_t* out);
  Qnn_ErrorHandle_t (*backendGetBuildId)(const char** out);
  Qnn_ErrorHandle_t (*backendValidateOpConfig)(Qnn_BackendHandle_t backend, Qnn_OpConfig_t config);
  Qnn_ErrorHandle_t (*backendRegisterOpPackage)(Qnn_BackendHandle_t backend, const char* path,
                                                const char* provider, const char* target);
  Qnn_ErrorHandle_t (*deviceCreate)(Qnn_LogHandle_t log, const QnnDevice_Config_t** configs,
                                    Qnn_DeviceHandle_t* out);
  Qnn_ErrorHandle_t (*deviceFree)(Qnn_DeviceHandle_t device);
  Qnn_ErrorHandle_t (*deviceGetInfrastructure)(const QnnDevice_Infrastructure_t* out);
  Qnn_ErrorHandle_t (*contextCreate)(Qnn_BackendHandle_t backend, Qnn_DeviceHandle_t device,
                                     const QnnContext_Config_t** configs, Qnn_ContextHandle_t* out);
  Qnn_ErrorHandle_t (*contextCreateFromBinary)(Qnn_BackendHandle_t backend,
                                               Qnn_DeviceHandle_t device,
                                               const QnnContext_Config_t** configs,
                                               const void* bytes, Qnn_ContextBinarySize_t size,
                                               Qnn_ContextHandle_t* out,
                                               Qnn_ProfileHandle_t profile);
  Qnn_ErrorHandle_t (*contextGetBinarySize)(Qnn_ContextHandle_t context,
                                            Qnn_ContextBinarySize_t* out);
  Qnn_ErrorHandle_t (*contextGetBinary)(Qnn_ContextHandle_t context, void* out,
                                        Qnn_ContextBinarySize_t size,
                                        Qnn_ContextBinarySize_t* out_written);
  Qnn_ErrorHandle_t (*contextFree)(Qnn_ContextHandle_t context, Qnn_ProfileHandle_t profile);
  Qnn_ErrorHandle_t (*graphCreate)(Qnn_ContextHandle_t context, const char* name,
                                   const QnnGraph_Config_t** configs, Qnn_GraphHandle_t* out);
  Qnn_ErrorHandle_t (*graphAddNode)(Qnn_GraphHandle_t graph, Qnn_OpConfig_t config);
  Qnn_ErrorHandle_t (*graphFinalize)(Qnn_GraphHandle_t graph, Qnn_ProfileHandle_t profile,
                                     Qnn_SignalHandle_t signal);
  Qnn_ErrorHandle_t (*graphRetrieve)(Qnn_ContextHandle_t context, const char* name,
                                     Qnn_GraphHandle_t* out);
  Qnn_ErrorHandle_t (*graphExecute)(Qnn_GraphHandle_t graph, const Qnn_Tensor_t* inputs,
                                    uint32_t num_inputs, Qnn_Tensor_t* outputs,
                                    uint32_t num_outputs, Qnn_ProfileHandle_t profile,
                                    Qnn_SignalHandle_t signal);
  Qnn_ErrorHandle_t (*tensorCreateGraphTensor)(Qnn_GraphHandle_t graph, Qnn_Tensor_t* tensor);
  Qnn_ErrorHandle_t (*profileCreate)(Qnn_BackendHandle_t backend, QnnProfile_Level_t level,
                                     Qnn_ProfileHandle_t* out);
  Qnn_ErrorHandle_t (*profileGetEvents)(Qnn_ProfileHandle_t profile,
                                        const QnnProfile_EventId_t** out, uint32_t* out_count);
  Qnn_ErrorHandle_t (*profileGetSubEvents)(QnnProfile_EventId_t event,
                                           const QnnProfile_EventId_t** out, uint32_t* out_count);
  Qnn_ErrorHandle_t (*profileGetEventData)(QnnProfile_EventId_t event, QnnProfile_EventData_t* out);
  Qnn_ErrorHandle_t (*profileFree)(Qnn_ProfileHandle_t profile);
  Qnn_ErrorHandle_t (*memRegister)(Qnn_ContextHandle_t context,
                                   const Qnn_MemDescriptor_t* descriptors, uint32_t count,
                                   Qnn_MemHandle_t* out);
  Qnn_ErrorHandle_t (*memDeRegister)(const Qnn_MemHandle_t* handles, uint32_t count);
};
#define QNN_API_VERSION_MAJOR 2
#define QNN_API_VERSION_MINOR 28
#define QNN_INTERFACE_VER_TYPE StandInInterface
#define QNN_INTERFACE_VER_NAME functions
struct QnnInterface_t {
  const char* providerName;
  Qnn_ApiVersion_t apiVersion;
  StandInInterface QNN_INTERFACE_VER_NAME;
};

// ---- The system library, which reads context binaries ----

using QnnSystemContext_Handle_t = void*;
enum QnnSystemContext_GraphInfoVersion_t : uint32_t {
  QNN_SYSTEM_CONTEXT_GRAPH_INFO_VERSION_1 = 1,
  QNN_SYSTEM_CONTEXT_GRAPH_INFO_VERSION_2 = 2,
  QNN_SYSTEM_CONTEXT_GRAPH_INFO_VERSION_3 = 3,
};
struct QnnSystemContext_GraphInfoV1_t {
  const char* graphName;
  Qnn_Tensor_t* graphInputs;
  Qnn_Tensor_t* graphOutputs;
  uint32_t numGraphInputs, numGraphOutputs;
};
struct QnnSystemContext_GraphInfo_t {
  union {
    QnnSystemContext_GraphInfoV1_t graphInfoV1, graphInfoV2, graphInfoV3;
  };
  QnnSystemContext_GraphInfoVersion_t version;
};
enum QnnSystemContext_BinaryInfoVersion_t : uint32_t {
  QNN_SYSTEM_CONTEXT_BINARY_INFO_VERSION_1 = 1,
  QNN_SYSTEM_CONTEXT_BINARY_INFO_VERSION_2 = 2,
  QNN_SYSTEM_CONTEXT_BINARY_INFO_VERSION_3 = 3,
};
struct QnnSystemContext_BinaryInfoV1_t {
  const char* buildId;
  QnnSystemContext_GraphInfo_t* graphs;
  uint32_t numGraphs;
};
struct QnnSystemContext_BinaryInfo_t {
  union {
    QnnSystemContext_BinaryInfoV1_t contextBinaryInfoV1, contextBinaryInfoV2, contextBinaryInfoV3;
  };
  QnnSystemContext_BinaryInfoVersion_t version;
};
struct StandInSystemInterface {
  Qnn_ErrorHandle_t (*systemContextCreate)(QnnSystemContext_Handle_t* out);
  Qnn_ErrorHandle_t (*systemContextGetBinaryInfo)(QnnSystemContext_Handle_t context, void* bytes,
                                                  uint64_t size,
                                                  const QnnSystemContext_BinaryInfo_t** out,
                                                  Qnn_ContextBinarySize_t* out_size);
  Qnn_ErrorHandle_t (*systemContextFree)(QnnSystemContext_Handle_t context);
};
#define QNN_SYSTEM_INTERFACE_VER_TYPE StandInSystemInterface
#define QNN_SYSTEM_INTERFACE_VER_NAME functions
struct QnnSystemInterface_t {
  const char* providerName;
  StandInSystemInterface QNN_SYSTEM_INTERFACE_VER_NAME;
};

// What the libraries give out.
QNN_STAND_IN_EXPORT Qnn_ErrorHandle_t QnnInterface_getProviders(const QnnInterface_t*** out,
                                                                uint32_t* out_count);
QNN_STAND_IN_EXPORT Qnn_ErrorHandle_t
QnnSystemInterface_getProviders(const QnnSystemInterface_t*** out, uint32_t* out_count);
QNN_STAND_IN_EXPORT uint32_t executorch_qnn_stand_in();

}  // extern "C"
