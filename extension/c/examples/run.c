/* SPDX-License-Identifier: BSD-3-Clause
   The method forward of a program on bytes of a file, and text, in C. run.py, run.rs and
   go/run/main.go do the same.

     run run MODEL INPUTS OUTPUTS     the tensors' bytes, one after the other
     run text MODEL TOKENIZER PROMPT  the 40 best tokens
     run load MODEL COUNT             loads and releases it so often, and says how much memory that
   took */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <executorch/c/executorch.h>

static const ExecuTorchApi* et;

static void check(ExecuTorchStatus status) {
  if (status != 0) {
    fprintf(stderr, "%s\n", et->status_message(status));
    et->release(status);
    exit(1);
  }
}

static ExecuTorchModule load(const char* path) {
  ExecuTorchModuleOptions options = {.struct_size = sizeof(options)};
  options.program.path = path;
  options.load_mode = EXECUTORCH_LOAD_MMAP;
  ExecuTorchModule module = 0;
  check(et->module_load(&options, &module));
  return module;
}

static ExecuTorchValue input(ExecuTorchModule module, size_t index, FILE* file) {
  ExecuTorchValueInfo info = {.struct_size = sizeof(info)};
  check(et->value_info(module, NULL, EXECUTORCH_INPUT, index, &info));
  ExecuTorchTensorSpec spec = {
      .struct_size = sizeof(spec), .dtype = info.dtype, .rank = info.rank, .sizes = info.sizes};
  ExecuTorchValue value = {.kind = EXECUTORCH_TENSOR};
  check(et->tensor_new(&spec, &value.tensor));
  ExecuTorchTensorInfo tensor = {.struct_size = sizeof(tensor)};
  check(et->tensor_info(value.tensor, &tensor));
  if (fread(tensor.data, 1, tensor.num_bytes, file) != tensor.num_bytes) {
    fprintf(stderr, "expected %zu bytes for input %zu\n", tensor.num_bytes, index);
    exit(1);
  }
  return value;
}

static void run(const char* path, const char* inputs_path, const char* outputs_path) {
  const ExecuTorchModule module = load(path);
  ExecuTorchMethodInfo method = {.struct_size = sizeof(method)};
  check(et->method_info(module, NULL, &method));
  ExecuTorchValue* inputs = calloc(method.num_inputs + 1, sizeof(*inputs));
  ExecuTorchValue* outputs = calloc(method.num_outputs + 1, sizeof(*outputs));
  FILE* from = fopen(inputs_path, "rb");
  FILE* to = fopen(outputs_path, "wb");
  for (size_t i = 0; i < method.num_inputs; ++i) {
    inputs[i] = input(module, i, from);
  }
  check(et->execute(module, NULL, inputs, method.num_inputs, outputs, method.num_outputs));
  for (size_t i = 0; i < method.num_outputs; ++i) {
    ExecuTorchTensorInfo tensor = {.struct_size = sizeof(tensor)};
    check(et->tensor_info(outputs[i].tensor, &tensor));
    fwrite(tensor.data, 1, tensor.num_bytes, to);
  }
  for (size_t i = 0; i < method.num_inputs; ++i) {
    check(et->release(inputs[i].tensor));
  }
  check(et->release(module));
  fclose(from);
  fclose(to);
  free(inputs);
  free(outputs);
}

static int32_t show(void* context, const char* text, size_t size) {
  (void)context;
  fwrite(text, 1, size, stdout);
  return fflush(stdout) != 0;
}

static void generate(const char* path, const char* tokenizer, const char* prompt) {
  ExecuTorchTextOptions options = {
      .struct_size = sizeof(options), .program = path, .tokenizer = tokenizer};
  options.load_mode = EXECUTORCH_LOAD_MMAP;
  ExecuTorchText session = 0;
  check(et->text_new(&options, 1, &session));
  const ExecuTorchSetting greedy = {"temperature", 0};
  ExecuTorchGenerateOptions how = {
      .struct_size = sizeof(how), .sampling = &greedy, .num_sampling = 1};
  how.max_new_tokens = 40;
  how.ignores_end = 1;
  how.on_text = show;
  check(et->text_generate(session, prompt, &how, NULL));
  check(et->release(session));
}

/* The peak of this process's memory in KiB, by Linux. */
static long peak(void) {
  char line[256];
  long found = 0;
  FILE* file = fopen("/proc/self/status", "r");
  while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
    if (strncmp(line, "VmHWM:", 6) == 0) {
      found = atol(line + 6);
    }
  }
  if (file != NULL) {
    fclose(file);
  }
  return found;
}

static void load_often(const char* path, int count) {
  long after_warming = 0;
  for (int round = 0; round < count; ++round) {
    check(et->release(load(path)));
    if (round == count / 10) {
      after_warming = peak();
    }
  }
  printf("%ld KiB more\n", peak() - after_warming);
}

int main(int argc, char** argv) {
  et = executorch_get_api(EXECUTORCH_API_VERSION);
  if (et == NULL) {
    fprintf(stderr, "the library is older than this program\n");
    return 1;
  }
  if (argc == 5 && strcmp(argv[1], "run") == 0) {
    run(argv[2], argv[3], argv[4]);
  } else if (argc == 5 && strcmp(argv[1], "text") == 0) {
    generate(argv[2], argv[3], argv[4]);
  } else if (argc == 4 && strcmp(argv[1], "load") == 0) {
    load_often(argv[2], atoi(argv[3]));
  } else {
    fprintf(
        stderr,
        "usage: run run MODEL INPUTS OUTPUTS | text MODEL TOKENIZER PROMPT | load MODEL COUNT\n");
    return 1;
  }
  return 0;
}
