// SPDX-License-Identifier: BSD-3-Clause

// The method forward of a program on bytes of a file, and text: see examples/run.c, which does the same.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"executorch"
)

func run(program, inputs, outputs string) error {
	bytes, err := os.ReadFile(inputs)
	if err != nil {
		return err
	}
	module, err := executorch.Load(program)
	if err != nil {
		return err
	}
	defer module.Close()
	count, err := module.NumInputs("forward")
	if err != nil {
		return err
	}
	values := make([]any, count)
	for i := range values {
		info, err := module.Input("forward", i)
		if err != nil {
			return err
		}
		tensor, err := executorch.NewTensor(info.Dtype, info.Sizes)
		if err != nil {
			return err
		}
		defer tensor.Close()
		data, err := tensor.Bytes()
		if err != nil {
			return err
		}
		bytes = bytes[copy(data, bytes):]
		values[i] = tensor
	}
	results, err := module.Execute("forward", values...)
	if err != nil {
		return err
	}
	var all []byte
	for _, each := range results {
		if tensor, ok := each.(*executorch.Tensor); ok {
			data, err := tensor.Bytes()
			if err != nil {
				return err
			}
			all = append(all, data...)
		}
	}
	return os.WriteFile(outputs, all, 0o644)
}

func generate(program, tokenizer, prompt string) error {
	session, err := executorch.NewTextSession(program, tokenizer)
	if err != nil {
		return err
	}
	defer session.Close()
	options := executorch.GenerateOptions{
		Sampling:     map[string]float64{"temperature": 0},
		MaxNewTokens: 40,
		IgnoresEnd:   true,
	}
	_, err = session.Generate(prompt, options, func(piece string) bool {
		fmt.Print(piece)
		return true
	})
	return err
}

// The peak of this process's memory in KiB, by Linux.
func peak() int {
	status, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(status), "\n") {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "VmHWM:" {
			number, _ := strconv.Atoi(words[1])
			return number
		}
	}
	return 0
}

func load(program string, count int) error {
	afterWarming := 0
	for round := 0; round < count; round++ {
		module, err := executorch.Load(program)
		if err != nil {
			return err
		}
		if err := module.Close(); err != nil {
			return err
		}
		if round == count/10 {
			afterWarming = peak()
		}
	}
	fmt.Printf("%d KiB more\n", peak()-afterWarming)
	return nil
}

func main() {
	words := os.Args[1:]
	var err error
	switch {
	case len(words) == 4 && words[0] == "run":
		err = run(words[1], words[2], words[3])
	case len(words) == 4 && words[0] == "text":
		err = generate(words[1], words[2], words[3])
	case len(words) == 3 && words[0] == "load":
		count, _ := strconv.Atoi(words[2])
		err = load(words[1], count)
	default:
		err = fmt.Errorf("usage: run run|text|load ...")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
