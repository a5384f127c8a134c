// SPDX-License-Identifier: BSD-3-Clause
//! Programs of ExecuTorch in Rust, over libexecutorch_c and nothing else.
//!
//! Lifetimes say what the C interface says in words: a tensor borrows its data, a module the bytes of its program, and
//! outputs the module, which cannot run again while one is looked at.

pub mod raw;

use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::os::raw::{c_char, c_void};
use std::{fmt, mem, ptr, slice};

#[derive(Debug, Clone)]
pub struct Error {
    /// One of raw.rs, as raw::INVALID_ARGUMENT.
    pub code: i32,
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
impl std::error::Error for Error {}

pub type Result<T> = std::result::Result<T, Error>;

fn api() -> &'static raw::ExecuTorchApi {
    unsafe { raw::executorch_get_api(raw::API_VERSION).as_ref() }
        .expect("libexecutorch_c is older than this crate")
}

fn check(status: raw::ExecuTorchStatus) -> Result<()> {
    if status == 0 {
        return Ok(());
    }
    let error = Error { code: unsafe { (api().status_code)(status) }, message: text(unsafe { (api().status_message)(status) }) };
    unsafe { (api().release)(status) };
    Err(error)
}

fn text(from: *const c_char) -> String {
    unsafe { CStr::from_ptr(from) }.to_string_lossy().into_owned()
}

fn c_text(from: &str) -> Result<CString> {
    let code = raw::INVALID_ARGUMENT;
    CString::new(from).map_err(|_| Error { code, message: format!("expected text without NUL, found {:?}", from) })
}

/// A structure of the C interface with its size, and nothing else.
fn structure<T>() -> T {
    let mut value: T = unsafe { mem::zeroed() };
    unsafe { *(&mut value as *mut T as *mut usize) = mem::size_of::<T>() };
    value
}

/// The library's version.
pub fn version() -> String {
    text(api().library_version)
}

pub fn set_num_threads(count: u32) -> Result<()> {
    check(unsafe { (api().set_num_threads)(count) })
}

/// Released with the object.
struct Handle(u64);

impl Drop for Handle {
    fn drop(&mut self) {
        let _ = check(unsafe { (api().release)(self.0) });
    }
}

/// Types of elements.
///
/// # Safety
///
/// DTYPE is the one whose elements have the type's size and bytes.
pub unsafe trait Element: Copy {
    const DTYPE: i32;
}
macro_rules! elements {
    ($($kind:ty => $dtype:ident),*) => { $(unsafe impl Element for $kind { const DTYPE: i32 = raw::$dtype; })* };
}
elements!(u8 => UINT8, i8 => INT8, i16 => INT16, i32 => INT32, i64 => INT64, f32 => FLOAT32, f64 => FLOAT64,
          bool => BOOL, u16 => UINT16, u32 => UINT32, u64 => UINT64);

/// A tensor over the caller's data.
pub struct Tensor<'a> {
    handle: Handle,
    data: PhantomData<&'a [u8]>,
}

impl<'a> Tensor<'a> {
    pub fn new<T: Element>(data: &'a [T], sizes: &[i32]) -> Result<Tensor<'a>> {
        Self::of_bytes(bytes_of(data), T::DTYPE, sizes)
    }

    /// Of any dtype.
    pub fn of_bytes(data: &'a [u8], dtype: i32, sizes: &[i32]) -> Result<Tensor<'a>> {
        let mut spec: raw::ExecuTorchTensorSpec = structure();
        spec.dtype = dtype;
        spec.dynamism = raw::BOUNDED_SIZES;
        spec.rank = sizes.len();
        spec.sizes = sizes.as_ptr();
        spec.data = data.as_ptr() as *mut c_void; // methods read their inputs
        spec.data_size = data.len();
        let mut handle = 0;
        check(unsafe { (api().tensor_new)(&spec, &mut handle) })?;
        Ok(Tensor { handle: Handle(handle), data: PhantomData })
    }

    pub fn resize(&mut self, sizes: &[i32]) -> Result<()> {
        check(unsafe { (api().tensor_resize)(self.handle.0, sizes.len(), sizes.as_ptr()) })
    }
}

fn bytes_of<T: Element>(data: &[T]) -> &[u8] {
    unsafe { slice::from_raw_parts(data.as_ptr() as *const u8, mem::size_of_val(data)) }
}

/// An output, as long as its module does not run again.
pub struct TensorView<'m> {
    info: raw::ExecuTorchTensorInfo,
    module: PhantomData<&'m ()>,
}

impl<'m> TensorView<'m> {
    pub fn dtype(&self) -> i32 {
        self.info.dtype
    }
    pub fn sizes(&self) -> &'m [i32] {
        array(self.info.sizes, self.info.rank)
    }
    pub fn bytes(&self) -> &'m [u8] {
        array(self.info.data as *const u8, self.info.num_bytes)
    }
    pub fn data<T: Element>(&self) -> Result<&'m [T]> {
        if self.info.dtype != T::DTYPE {
            let message = format!("expected elements of dtype {}, found {}", T::DTYPE, self.info.dtype);
            return Err(Error { code: raw::INVALID_TYPE, message });
        }
        Ok(array(self.info.data as *const T, self.info.num_elements))
    }
}

fn array<'a, T>(data: *const T, count: usize) -> &'a [T] {
    if count == 0 { &[] } else { unsafe { slice::from_raw_parts(data, count) } }
}

/// What goes into a method.
pub enum Value<'a> {
    None,
    Tensor(&'a Tensor<'a>),
    Int(i64),
    Double(f64),
    Bool(bool),
    Text(&'a str),
}

/// What comes out of it.
pub enum Output<'m> {
    None,
    Tensor(TensorView<'m>),
    Int(i64),
    Double(f64),
    Bool(bool),
    Text(String),
}

/// What a program says about an input.
#[derive(Debug, Clone)]
pub struct ValueInfo {
    pub name: String,
    pub kind: i32,
    pub dtype: i32,
    pub sizes: Vec<i32>,
    pub num_bytes: usize,
}

/// A program with its methods. For one thread at a time; `share` gives another thread one of its own.
pub struct Module<'p> {
    handle: Handle,
    program: PhantomData<&'p [u8]>,
}

impl<'p> Module<'p> {
    pub fn from_file(path: &str, data_files: &[&str]) -> Result<Module<'static>> {
        let path = c_text(path)?;
        let paths = data_files.iter().map(|each| c_text(each)).collect::<Result<Vec<_>>>()?;
        let mut sources = Vec::new();
        for each in &paths {
            let mut source: raw::ExecuTorchSource = unsafe { mem::zeroed() };
            source.path = each.as_ptr();
            sources.push(source);
        }
        let mut options: raw::ExecuTorchModuleOptions = structure();
        options.program.path = path.as_ptr();
        options.data_files = sources.as_ptr();
        options.num_data_files = sources.len();
        options.load_mode = raw::LOAD_MMAP;
        Module::load(&options)
    }

    pub fn from_bytes(program: &'p [u8]) -> Result<Module<'p>> {
        let mut options: raw::ExecuTorchModuleOptions = structure();
        options.program.data = program.as_ptr() as *const c_void;
        options.program.size = program.len();
        Module::load(&options)
    }

    fn load<'q>(options: &raw::ExecuTorchModuleOptions) -> Result<Module<'q>> {
        let mut handle = 0;
        check(unsafe { (api().module_load)(options, &mut handle) })?;
        Ok(Module { handle: Handle(handle), program: PhantomData })
    }

    pub fn share(&mut self) -> Result<Module<'p>> {
        let mut handle = 0;
        check(unsafe { (api().module_share)(self.handle.0, &mut handle) })?;
        Ok(Module { handle: Handle(handle), program: PhantomData })
    }

    pub fn num_inputs(&mut self, method: &str) -> Result<usize> {
        Ok(self.method_info(method)?.num_inputs)
    }

    fn method_info(&mut self, method: &str) -> Result<raw::ExecuTorchMethodInfo> {
        let mut info: raw::ExecuTorchMethodInfo = structure();
        let method = c_text(method)?;
        check(unsafe { (api().method_info)(self.handle.0, method.as_ptr(), &mut info) })?;
        Ok(info)
    }

    pub fn input(&mut self, method: &str, index: usize) -> Result<ValueInfo> {
        let mut info: raw::ExecuTorchValueInfo = structure();
        let method = c_text(method)?;
        check(unsafe { (api().value_info)(self.handle.0, method.as_ptr(), raw::INPUT, index, &mut info) })?;
        Ok(ValueInfo {
            name: text(info.name),
            kind: info.kind,
            dtype: info.dtype,
            sizes: array(info.sizes, info.rank).to_vec(),
            num_bytes: info.num_bytes,
        })
    }

    /// Inputs stay as long as outputs, which may lie in their memory.
    pub fn execute<'m>(&'m mut self, method: &str, inputs: &[Value<'m>]) -> Result<Vec<Output<'m>>> {
        let values: Vec<_> = inputs.iter().map(raw_value).collect();
        let empty: raw::ExecuTorchValue = unsafe { mem::zeroed() };
        let mut outputs = vec![empty; self.method_info(method)?.num_outputs];
        let method = c_text(method)?;
        check(unsafe {
            (api().execute)(self.handle.0, method.as_ptr(), values.as_ptr(), values.len(), outputs.as_mut_ptr(), outputs.len())
        })?;
        outputs.iter().map(output).collect()
    }
}

fn raw_value(value: &Value<'_>) -> raw::ExecuTorchValue {
    let mut result: raw::ExecuTorchValue = unsafe { mem::zeroed() };
    match value {
        Value::None => result.kind = raw::NONE,
        Value::Tensor(tensor) => {
            result.kind = raw::TENSOR;
            result.tensor = tensor.handle.0;
        }
        Value::Int(number) => {
            result.kind = raw::INT;
            result.integer = *number;
        }
        Value::Double(number) => {
            result.kind = raw::DOUBLE;
            result.number = *number;
        }
        Value::Bool(flag) => {
            result.kind = raw::BOOLEAN;
            result.integer = *flag as i64;
        }
        Value::Text(text) => {
            result.kind = raw::STRING;
            result.text = text.as_ptr() as *const c_char;
            result.text_size = text.len();
        }
    }
    result
}

fn output<'m>(value: &raw::ExecuTorchValue) -> Result<Output<'m>> {
    Ok(match value.kind {
        raw::TENSOR => {
            let mut info: raw::ExecuTorchTensorInfo = structure();
            check(unsafe { (api().tensor_info)(value.tensor, &mut info) })?;
            Output::Tensor(TensorView { info, module: PhantomData })
        }
        raw::INT => Output::Int(value.integer),
        raw::DOUBLE => Output::Double(value.number),
        raw::BOOLEAN => Output::Bool(value.integer != 0),
        raw::STRING => Output::Text(String::from_utf8_lossy(array(value.text as *const u8, value.text_size)).into_owned()),
        _ => Output::None,
    })
}

/// How an answer is made; what is left at its default is the program's.
#[derive(Debug, Clone, Default)]
pub struct GenerateOptions<'a> {
    pub sampling: Vec<(&'a str, f64)>,
    pub max_new_tokens: i32,
    pub seed: Option<u64>,
    pub ignores_end: bool,
    pub stops: Vec<&'a str>,
}

#[derive(Debug, Clone)]
pub struct Answer {
    pub reason: i32,
    pub prompt_tokens: i64,
    pub new_tokens: i64,
}

/// A context, behind which each prompt and answer goes.
pub struct TextSession {
    handle: Handle,
}

/// Ends an answer from another thread.
#[derive(Clone, Copy)]
pub struct Stopper(u64);

impl Stopper {
    pub fn stop(&self) -> Result<()> {
        check(unsafe { (api().text_stop)(self.0) })
    }
}

impl TextSession {
    /// Without a tokenizer: with the one that the program carries.
    pub fn new(program: &str, tokenizer: Option<&str>) -> Result<TextSession> {
        let program = c_text(program)?;
        let tokenizer = tokenizer.map(c_text).transpose()?;
        let mut options: raw::ExecuTorchTextOptions = structure();
        options.program = program.as_ptr();
        options.tokenizer = tokenizer.as_ref().map_or(ptr::null(), |each| each.as_ptr());
        options.load_mode = raw::LOAD_MMAP;
        let mut handle = 0;
        check(unsafe { (api().text_new)(&options, 1, &mut handle) })?;
        Ok(TextSession { handle: Handle(handle) })
    }

    pub fn stopper(&self) -> Stopper {
        Stopper(self.handle.0)
    }

    /// `on_text` gets each piece of the answer, and says whether it shall go on.
    pub fn generate<F: FnMut(&str) -> bool>(&mut self, prompt: &str, options: &GenerateOptions<'_>, on_text: F) -> Result<Answer> {
        let prompt = c_text(prompt)?;
        self.answer(options, on_text, |session, given, result| unsafe {
            (api().text_generate)(session, prompt.as_ptr(), given, result)
        })
    }

    /// Answers (role, content). `format`: chatml, llama3 or gemma, else that of the model's chat template.
    pub fn chat<F: FnMut(&str) -> bool>(
        &mut self, messages: &[(&str, &str)], format: Option<&str>, options: &GenerateOptions<'_>, on_text: F,
    ) -> Result<Answer> {
        let texts = messages
            .iter()
            .map(|each| Ok((c_text(each.0)?, c_text(each.1)?)))
            .collect::<Result<Vec<_>>>()?;
        let messages: Vec<_> = texts
            .iter()
            .map(|each| raw::ExecuTorchMessage { role: each.0.as_ptr(), content: each.1.as_ptr() })
            .collect();
        let format = format.map(c_text).transpose()?;
        let format = format.as_ref().map_or(ptr::null(), |each| each.as_ptr());
        self.answer(options, on_text, |session, given, result| unsafe {
            (api().text_chat)(session, messages.as_ptr(), messages.len(), format, given, result)
        })
    }

    fn answer<F, C>(&mut self, options: &GenerateOptions<'_>, mut on_text: F, call: C) -> Result<Answer>
    where
        F: FnMut(&str) -> bool,
        C: FnOnce(u64, *const raw::ExecuTorchGenerateOptions, *mut raw::ExecuTorchTextResult) -> raw::ExecuTorchStatus,
    {
        unsafe extern "C" fn show<F: FnMut(&str) -> bool>(context: *mut c_void, text: *const c_char, size: usize) -> i32 {
            let on_text = &mut *(context as *mut F);
            let piece = String::from_utf8_lossy(array(text as *const u8, size));
            // A panic must not cross the C interface: it ends the answer.
            let goes_on = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| on_text(&piece)));
            if let Ok(true) = goes_on { 0 } else { 1 }
        }
        let names = options.sampling.iter().map(|each| c_text(each.0)).collect::<Result<Vec<_>>>()?;
        let sampling: Vec<_> = names
            .iter()
            .zip(&options.sampling)
            .map(|(name, each)| raw::ExecuTorchSetting { name: name.as_ptr(), value: each.1 })
            .collect();
        let stops = options.stops.iter().map(|each| c_text(each)).collect::<Result<Vec<_>>>()?;
        let stop_texts: Vec<_> = stops.iter().map(|each| each.as_ptr()).collect();
        let mut given: raw::ExecuTorchGenerateOptions = structure();
        given.sampling = sampling.as_ptr();
        given.num_sampling = sampling.len();
        given.max_new_tokens = options.max_new_tokens;
        given.has_seed = options.seed.is_some() as i32;
        given.seed = options.seed.unwrap_or(0);
        given.ignores_end = options.ignores_end as i32;
        given.stops = stop_texts.as_ptr();
        given.num_stops = stop_texts.len();
        given.on_text = Some(show::<F>);
        given.context = &mut on_text as *mut F as *mut c_void;
        let mut result: raw::ExecuTorchTextResult = structure();
        check(call(self.handle.0, &given, &mut result))?;
        Ok(Answer { reason: result.reason, prompt_tokens: result.prompt_tokens, new_tokens: result.new_tokens })
    }

    /// Back to so many tokens of the context; 0 begins anew.
    pub fn rewind(&mut self, position: i64) -> Result<()> {
        check(unsafe { (api().text_rewind)(self.handle.0, position) })
    }
}
