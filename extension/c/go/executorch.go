// SPDX-License-Identifier: BSD-3-Clause

// Package executorch runs programs of ExecuTorch over libexecutorch_c, by cgo and nothing else.
//
// The folder of the headers is CGO_CFLAGS=-I..., that of the library CGO_LDFLAGS=-L... . Memory of tensors is the
// library's, so that Go's collector need not pin it; Bytes and Data are slices of it, without copies. What is made here ends with Close.
package executorch

/*
#cgo LDFLAGS: -lexecutorch_c
#include <stdlib.h>
#include "calls.h"
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// Numbers of dtypes and kinds are those of executorch.h.
const (
	Float32 = int32(C.EXECUTORCH_FLOAT32)
	Int64   = int32(C.EXECUTORCH_INT64)

	InvalidArgument = int32(C.EXECUTORCH_INVALID_ARGUMENT)
	NotFound        = int32(C.EXECUTORCH_NOT_FOUND)
)

// Error is what a call of the library said.
type Error struct {
	Code    int32
	Message string
}

func (e *Error) Error() string { return e.Message }

var api = func() *C.ExecuTorchApi {
	table := C.executorch_get_api(C.EXECUTORCH_API_VERSION)
	if table == nil {
		panic("libexecutorch_c is older than this package")
	}
	return table
}()

func check(status C.ExecuTorchStatus) error {
	if status == 0 {
		return nil
	}
	err := &Error{int32(C.et_status_code(api, status)), C.GoString(C.et_status_message(api, status))}
	C.et_release(api, C.uint64_t(status))
	return err
}

// Memory of C that a call borrows.
type borrowed []unsafe.Pointer

func (b *borrowed) text(text string) *C.char {
	copied := C.CString(text)
	*b = append(*b, unsafe.Pointer(copied))
	return copied
}

func (b *borrowed) bytes(size int) unsafe.Pointer {
	memory := C.calloc(C.size_t(size)+1, 1)
	*b = append(*b, memory)
	return memory
}

func (b *borrowed) free() {
	for _, each := range *b {
		C.free(each)
	}
}

// Version is the library's.
func Version() string { return C.GoString(api.library_version) }

// Tensor has memory of the library, or of the module whose output it is.
type Tensor struct {
	handle C.ExecuTorchTensor
	module *Module // of an output
}

// NewTensor makes one of zeros.
func NewTensor(dtype int32, sizes []int32) (*Tensor, error) {
	var memory borrowed
	defer memory.free()
	array := memory.bytes(4 * len(sizes))
	copy(unsafe.Slice((*int32)(array), len(sizes)), sizes)
	var spec C.ExecuTorchTensorSpec
	spec.struct_size = C.sizeof_ExecuTorchTensorSpec
	spec.dtype = C.int32_t(dtype)
	spec.dynamism = C.EXECUTORCH_BOUNDED_SIZES
	spec.rank = C.size_t(len(sizes))
	spec.sizes = (*C.int32_t)(array)
	tensor := &Tensor{}
	err := check(C.et_tensor_new(api, &spec, &tensor.handle))
	return tensor, err
}

func (t *Tensor) info() (C.ExecuTorchTensorInfo, error) {
	var info C.ExecuTorchTensorInfo
	info.struct_size = C.sizeof_ExecuTorchTensorInfo
	err := check(C.et_tensor_info(api, t.handle, &info))
	return info, err
}

// Sizes of the dimensions.
func (t *Tensor) Sizes() ([]int32, error) {
	info, err := t.info()
	if err != nil || info.rank == 0 {
		return nil, err
	}
	return append([]int32{}, unsafe.Slice((*int32)(info.sizes), int(info.rank))...), nil
}

// Bytes is the tensor's memory: of an output until its module runs again or closes, else until Close.
func (t *Tensor) Bytes() ([]byte, error) {
	info, err := t.info()
	if err != nil || info.num_bytes == 0 {
		return nil, err
	}
	return unsafe.Slice((*byte)(info.data), int(info.num_bytes)), nil
}

// Data is that of elements of float32.
func (t *Tensor) Data() ([]float32, error) {
	info, err := t.info()
	if err != nil || info.num_elements == 0 {
		return nil, err
	}
	if int32(info.dtype) != Float32 {
		return nil, &Error{InvalidArgument, "expected elements of float32, found others"}
	}
	return unsafe.Slice((*float32)(info.data), int(info.num_elements)), nil
}

// Close releases it. Outputs end with their module.
func (t *Tensor) Close() error {
	if t.module != nil {
		return nil
	}
	return check(C.et_release(api, C.uint64_t(t.handle)))
}

// Module is a program with its methods. One call at a time: Share gives another goroutine one of its own.
type Module struct{ handle C.ExecuTorchModule }

// Load reads a program and its data files.
func Load(path string, dataFiles ...string) (*Module, error) {
	var memory borrowed
	defer memory.free()
	array := memory.bytes(C.sizeof_ExecuTorchSource * len(dataFiles))
	sources := unsafe.Slice((*C.ExecuTorchSource)(array), len(dataFiles))
	for i, each := range dataFiles {
		sources[i].path = memory.text(each)
	}
	var options C.ExecuTorchModuleOptions
	options.struct_size = C.sizeof_ExecuTorchModuleOptions
	options.program.path = memory.text(path)
	options.data_files = (*C.ExecuTorchSource)(array)
	options.num_data_files = C.size_t(len(dataFiles))
	options.load_mode = C.EXECUTORCH_LOAD_MMAP
	module := &Module{}
	err := check(C.et_module_load(api, &options, &module.handle))
	return module, err
}

// Share makes another module over the same program.
func (m *Module) Share() (*Module, error) {
	second := &Module{}
	err := check(C.et_module_share(api, m.handle, &second.handle))
	return second, err
}

// Close releases it and its outputs.
func (m *Module) Close() error { return check(C.et_release(api, C.uint64_t(m.handle))) }

func (m *Module) methodInfo(method string) (C.ExecuTorchMethodInfo, error) {
	var memory borrowed
	defer memory.free()
	var info C.ExecuTorchMethodInfo
	info.struct_size = C.sizeof_ExecuTorchMethodInfo
	err := check(C.et_method_info(api, m.handle, memory.text(method), &info))
	return info, err
}

// NumInputs is how many a method takes.
func (m *Module) NumInputs(method string) (int, error) {
	info, err := m.methodInfo(method)
	return int(info.num_inputs), err
}

// ValueInfo is what a program says about an input.
type ValueInfo struct {
	Name  string
	Kind  int32
	Dtype int32
	Sizes []int32
}

// Input describes an input.
func (m *Module) Input(method string, index int) (*ValueInfo, error) {
	var memory borrowed
	defer memory.free()
	var info C.ExecuTorchValueInfo
	info.struct_size = C.sizeof_ExecuTorchValueInfo
	status := C.et_value_info(api, m.handle, memory.text(method), C.EXECUTORCH_INPUT, C.size_t(index), &info)
	if err := check(status); err != nil {
		return nil, err
	}
	var sizes []int32
	if info.rank > 0 {
		sizes = append(sizes, unsafe.Slice((*int32)(info.sizes), int(info.rank))...)
	}
	return &ValueInfo{C.GoString(info.name), int32(info.kind), int32(info.dtype), sizes}, nil
}

// Execute takes tensors, int64, float64, bool and string, by place, and returns such.
func (m *Module) Execute(method string, inputs ...any) ([]any, error) {
	info, err := m.methodInfo(method)
	if err != nil {
		return nil, err
	}
	var memory borrowed
	defer memory.free()
	values := make([]C.ExecuTorchValue, len(inputs)+1)
	for i, each := range inputs {
		if err := fill(&values[i], each, &memory); err != nil {
			return nil, err
		}
	}
	count := int(info.num_outputs)
	outputs := make([]C.ExecuTorchValue, count+1)
	status := C.et_execute(api, m.handle, memory.text(method), &values[0], C.size_t(len(inputs)), &outputs[0], C.size_t(count))
	runtime.KeepAlive(inputs)
	if err := check(status); err != nil {
		return nil, err
	}
	results := make([]any, count)
	for i := range results {
		results[i] = m.value(&outputs[i])
	}
	return results, nil
}

func fill(slot *C.ExecuTorchValue, value any, memory *borrowed) error {
	switch v := value.(type) {
	case nil:
		slot.kind = C.EXECUTORCH_NONE
	case *Tensor:
		slot.kind, slot.tensor = C.EXECUTORCH_TENSOR, v.handle
	case int64:
		slot.kind, slot.integer = C.EXECUTORCH_INT, C.int64_t(v)
	case float64:
		slot.kind, slot.number = C.EXECUTORCH_DOUBLE, C.double(v)
	case bool:
		slot.kind = C.EXECUTORCH_BOOLEAN
		if v {
			slot.integer = 1
		}
	case string:
		slot.kind, slot.text, slot.text_size = C.EXECUTORCH_STRING, memory.text(v), C.size_t(len(v))
	default:
		return &Error{InvalidArgument, "expected a tensor, an int64, a float64, a bool or a string"}
	}
	return nil
}

func (m *Module) value(value *C.ExecuTorchValue) any {
	switch value.kind {
	case C.EXECUTORCH_TENSOR:
		return &Tensor{value.tensor, m}
	case C.EXECUTORCH_INT:
		return int64(value.integer)
	case C.EXECUTORCH_DOUBLE:
		return float64(value.number)
	case C.EXECUTORCH_BOOLEAN:
		return value.integer != 0
	case C.EXECUTORCH_STRING:
		return C.GoStringN(value.text, C.int(value.text_size))
	}
	return nil
}
