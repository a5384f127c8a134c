// SPDX-License-Identifier: BSD-3-Clause
// QNN's declarations: of the user's SDK where the build has QNN_SDK_ROOT, else our own, which the
// stand-in libraries have, too. Nothing else includes either of them.
#pragma once

#ifdef EXECUTORCH_QNN_STAND_IN
#include <executorch/backends/qualcomm/stand_in/qnn.h>
#else
#include <HTP/QnnHtpContext.h>
#include <HTP/QnnHtpDevice.h>
#include <HTP/QnnHtpGraph.h>
#include <HTP/QnnHtpPerfInfrastructure.h>
#include <QnnInterface.h>
#include <System/QnnSystemInterface.h>
#endif

namespace executorch::backends::qualcomm {

#ifdef EXECUTORCH_QNN_STAND_IN
inline constexpr bool kIsStandIn = true;
#else
inline constexpr bool kIsStandIn = false;
#endif

using Functions = QNN_INTERFACE_VER_TYPE;
using SystemFunctions = QNN_SYSTEM_INTERFACE_VER_TYPE;

/// `use(members)` of a tensor of either version, which have the same names.
template <typename Tensor, typename Use>
decltype(auto) with_tensor(Tensor& tensor, Use use) {
  return tensor.version == QNN_TENSOR_VERSION_1 ? use(tensor.v1) : use(tensor.v2);
}

}  // namespace executorch::backends::qualcomm
