// SPDX-License-Identifier: BSD-3-Clause
//! Says to cargo which library programs link.
fn main() {
    println!("cargo:rustc-link-lib=dylib=executorch_c");
}
