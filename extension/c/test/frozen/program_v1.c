/* SPDX-License-Identifier: BSD-3-Clause
   A program of version 1 of the interface: compiled with executorch_v1.h, it runs on today's
   library. */
#include <stdio.h>

#include "executorch_v1.h"

static float values[2] = {1.5f, 2.25f};
static const int32_t sizes[1] = {1};

static ExecuTorchValue tensor(const ExecuTorchApi* et, float* data) {
  ExecuTorchTensorSpec spec = {0};
  spec.struct_size = sizeof(spec);
  spec.dtype = EXECUTORCH_FLOAT32;
  spec.rank = 1;
  spec.sizes = sizes;
  spec.data = data;
  spec.data_size = sizeof(float);
  ExecuTorchValue value = {0};
  value.kind = EXECUTORCH_TENSOR;
  if (et->tensor_new(&spec, &value.tensor) != 0) {
    puts("no tensor");
  }
  return value;
}

int main(int argc, char** argv) {
  const ExecuTorchApi* et = executorch_get_api(EXECUTORCH_API_VERSION);
  if (argc != 2 || et == NULL) {
    return 1;
  }
  ExecuTorchModuleOptions options = {0};
  options.struct_size = sizeof(options);
  options.program.path = argv[1];
  ExecuTorchModule module = 0;
  ExecuTorchStatus status = et->module_load(&options, &module);
  if (status != 0) {
    puts(et->status_message(status));
    return 1;
  }
  const ExecuTorchValue inputs[2] = {tensor(et, &values[0]), tensor(et, &values[1])};
  ExecuTorchValue output;
  status = et->execute(module, NULL, inputs, 2, &output, 1);
  ExecuTorchTensorInfo info = {0};
  info.struct_size = sizeof(info);
  if (status != 0 || et->tensor_info(output.tensor, &info) != 0) {
    puts(et->status_message(status));
    return 1;
  }
  printf("version %u of %u: %g\n", EXECUTORCH_API_VERSION, et->api_version,
         *(const float*)info.data);
  et->release(inputs[0].tensor);
  et->release(inputs[1].tensor);
  return et->release(module) != 0;
}
