// SPDX-License-Identifier: BSD-3-Clause

package executorch

/*
#include <stdlib.h>
#include "calls.h"

// What Go exports has no const.
extern int32_t executorchOnText(void* context, char* text, size_t size);

static inline void et_set_on_text(ExecuTorchGenerateOptions* options, uintptr_t context) {
  options->on_text = (int32_t (*)(void*, const char*, size_t))executorchOnText;
  options->context = (void*)context;
}
*/
import "C"

import (
	"runtime/cgo"
	"unsafe"
)

// Reasons why an answer ended.
const (
	EndOfText   = int32(C.EXECUTORCH_END_OF_TEXT)
	Length      = int32(C.EXECUTORCH_LENGTH)
	ContextFull = int32(C.EXECUTORCH_CONTEXT_FULL)
	Stopped     = int32(C.EXECUTORCH_STOPPED)
	StopText    = int32(C.EXECUTORCH_STOP_TEXT)
)

// GenerateOptions says how an answer is made; what is left out is the program's.
type GenerateOptions struct {
	Sampling     map[string]float64
	MaxNewTokens int
	IgnoresEnd   bool
	Stops        []string
}

// Answer is what became of one.
type Answer struct {
	Reason       int32
	PromptTokens int64
	NewTokens    int64
}

// TextSession is a context, behind which each prompt and answer goes.
type TextSession struct{ handle C.ExecuTorchText }

// NewTextSession takes the tokenizer that the program carries where the path is "".
func NewTextSession(program, tokenizer string) (*TextSession, error) {
	var memory borrowed
	defer memory.free()
	var options C.ExecuTorchTextOptions
	options.struct_size = C.sizeof_ExecuTorchTextOptions
	options.program = memory.text(program)
	if tokenizer != "" {
		options.tokenizer = memory.text(tokenizer)
	}
	options.load_mode = C.EXECUTORCH_LOAD_MMAP
	session := &TextSession{}
	err := check(C.et_text_new(api, &options, 1, &session.handle))
	return session, err
}

// Close releases it.
func (s *TextSession) Close() error { return check(C.et_release(api, C.uint64_t(s.handle))) }

// Stop ends the answer of another goroutine.
func (s *TextSession) Stop() error { return check(C.et_text_stop(api, s.handle)) }

//export executorchOnText
func executorchOnText(context unsafe.Pointer, text *C.char, size C.size_t) C.int32_t {
	onText := cgo.Handle(uintptr(context)).Value().(func(string) bool)
	if onText(C.GoStringN(text, C.int(size))) {
		return 0
	}
	return 1
}

// Message of a conversation: of the role system, user or assistant.
type Message struct{ Role, Content string }

// Generate gives each piece of the answer to onText, which says whether it shall go on.
func (s *TextSession) Generate(prompt string, options GenerateOptions, onText func(string) bool) (*Answer, error) {
	var memory borrowed
	defer memory.free()
	text := memory.text(prompt)
	return answer(options, onText, func(given *C.ExecuTorchGenerateOptions, result *C.ExecuTorchTextResult) C.ExecuTorchStatus {
		return C.et_text_generate(api, s.handle, text, given, result)
	})
}

// Chat answers a conversation. Its format is chatml, llama3 or gemma, or, if "", that of the model's chat template.
func (s *TextSession) Chat(messages []Message, format string, options GenerateOptions, onText func(string) bool) (*Answer, error) {
	var memory borrowed
	defer memory.free()
	array := (*C.ExecuTorchMessage)(memory.bytes(C.sizeof_ExecuTorchMessage * len(messages)))
	for i, each := range messages {
		message := &unsafe.Slice(array, len(messages))[i]
		message.role, message.content = memory.text(each.Role), memory.text(each.Content)
	}
	var name *C.char
	if format != "" {
		name = memory.text(format)
	}
	return answer(options, onText, func(given *C.ExecuTorchGenerateOptions, result *C.ExecuTorchTextResult) C.ExecuTorchStatus {
		return C.et_text_chat(api, s.handle, array, C.size_t(len(messages)), name, given, result)
	})
}

type call func(*C.ExecuTorchGenerateOptions, *C.ExecuTorchTextResult) C.ExecuTorchStatus

func answer(options GenerateOptions, onText func(string) bool, run call) (*Answer, error) {
	var memory borrowed
	defer memory.free()
	var given C.ExecuTorchGenerateOptions
	given.struct_size = C.sizeof_ExecuTorchGenerateOptions
	settings := memory.bytes(C.sizeof_ExecuTorchSetting * len(options.Sampling))
	given.sampling = (*C.ExecuTorchSetting)(settings)
	for name, value := range options.Sampling {
		setting := &unsafe.Slice((*C.ExecuTorchSetting)(settings), len(options.Sampling))[given.num_sampling]
		setting.name, setting.value = memory.text(name), C.double(value)
		given.num_sampling++
	}
	stops := memory.bytes(int(unsafe.Sizeof(uintptr(0))) * len(options.Stops))
	for i, each := range options.Stops {
		unsafe.Slice((**C.char)(stops), len(options.Stops))[i] = memory.text(each)
	}
	given.stops = (**C.char)(stops)
	given.num_stops = C.size_t(len(options.Stops))
	given.max_new_tokens = C.int32_t(options.MaxNewTokens)
	if options.IgnoresEnd {
		given.ignores_end = 1
	}
	handle := cgo.NewHandle(onText)
	defer handle.Delete()
	C.et_set_on_text(&given, C.uintptr_t(handle))
	var result C.ExecuTorchTextResult
	result.struct_size = C.sizeof_ExecuTorchTextResult
	if err := check(run(&given, &result)); err != nil {
		return nil, err
	}
	return &Answer{int32(result.reason), int64(result.prompt_tokens), int64(result.new_tokens)}, nil
}
