// SPDX-License-Identifier: Apache-2.0
//! Links Kiln's shared library where pkg-config finds it.
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    let output = Command::new("pkg-config")
        .args(["--libs", "kiln >= 0.1"])
        .output()
        .expect("cannot start pkg-config");
    if !output.status.success() {
        panic!("{}", String::from_utf8_lossy(&output.stderr));
    }
    for word in String::from_utf8_lossy(&output.stdout).split_whitespace() {
        if let Some(folder) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
        } else if let Some(library) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib=dylib={library}");
        }
    }
}
