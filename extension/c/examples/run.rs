// SPDX-License-Identifier: BSD-3-Clause
//! The method forward of a program on bytes of a file, and text: see run.c, which does the same.

use executorch::{raw, GenerateOptions, Module, Output, Result, Tensor, TextSession, Value};
use std::io::Write;

fn run(program: &str, inputs: &str, outputs: &str) -> Result<()> {
    let bytes = std::fs::read(inputs).expect("inputs");
    let mut module = Module::from_file(program, &[])?;
    let mut tensors = Vec::new();
    let mut at = 0;
    for index in 0..module.num_inputs("forward")? {
        let info = module.input("forward", index)?;
        tensors.push(Tensor::of_bytes(&bytes[at..at + info.num_bytes], info.dtype, &info.sizes)?);
        at += info.num_bytes;
    }
    let values: Vec<_> = tensors.iter().map(Value::Tensor).collect();
    let mut file = std::fs::File::create(outputs).expect("outputs");
    for output in module.execute("forward", &values)? {
        if let Output::Tensor(tensor) = output {
            file.write_all(tensor.bytes()).expect("outputs");
        }
    }
    Ok(())
}

fn generate(program: &str, tokenizer: &str, prompt: &str) -> Result<()> {
    let mut session = TextSession::new(program, Some(tokenizer))?;
    let options = GenerateOptions {
        sampling: vec![("temperature", 0.0)],
        max_new_tokens: 40,
        ignores_end: true,
        ..Default::default()
    };
    session.generate(prompt, &options, |piece| {
        print!("{}", piece);
        std::io::stdout().flush().is_ok()
    })?;
    Ok(())
}

/// The peak of this process's memory in KiB, by Linux.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or("VmHWM: 0");
    line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0)
}

fn load(program: &str, count: u32) -> Result<()> {
    let mut after_warming = 0;
    for round in 0..count {
        Module::from_file(program, &[])?.num_inputs("forward")?;
        if round == count / 10 {
            after_warming = peak();
        }
    }
    println!("{} KiB more", peak() - after_warming);
    Ok(())
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[1..] {
        ["run", program, inputs, outputs] => run(program, inputs, outputs),
        ["text", program, tokenizer, prompt] => generate(program, tokenizer, prompt),
        ["load", program, count] => load(program, count.parse().expect("a number")),
        _ => panic!("usage: run run|text|load ..."),
    };
    if let Err(error) = done {
        eprintln!("{}", error);
        std::process::exit(if error.code == raw::INVALID_ARGUMENT { 2 } else { 1 });
    }
}
