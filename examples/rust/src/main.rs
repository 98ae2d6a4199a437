// SPDX-License-Identifier: Apache-2.0
//! y = 2 x + y on the first OpenCL device, by a kernel from the pack that is named:
//!
//!     kiln compile saxpy.cl -o saxpy.kiln --build-options -cl-std=CL1.2
//!     cargo run --release saxpy.kiln
mod ffi;
mod kiln;

use kiln::{Access, Argument, Buffer, Kernel, Loader, OpenCl, Pack, Queue};
use std::process::ExitCode;

const COUNT: usize = 100_000;
const A: f32 = 2.0;

/// Returns how many results differ from the processor's.
fn run(path: &str) -> kiln::Result<usize> {
    let opencl = OpenCl::open()?;
    let device = opencl.device(0)?;
    let pack = Pack::open(path)?;
    let loader = Loader::new(&device, &pack)?;
    let (program, report) = loader.load("saxpy")?;
    println!("{}", device.info("device_name").unwrap_or_default());
    for line in report.lines() {
        println!("  {line}"); // what was loaded, and why nothing better
    }
    let mut kernel = Kernel::new(&program, "saxpy")?;
    let queue = Queue::new(&loader)?;
    let mut x = Buffer::new(&loader, COUNT, Access::Read)?;
    let mut y = Buffer::new(&loader, COUNT, Access::Both)?;

    let mut xs = x.map(&queue)?;
    for (i, value) in xs.iter_mut().enumerate() {
        *value = i as f32;
    }
    xs.unmap()?;
    let mut ys = y.map(&queue)?;
    ys.fill(1.0);
    ys.unmap()?;

    let arguments = [
        Argument::Float(A),
        Argument::Buffer(&x),
        Argument::Buffer(&y),
        Argument::Uint(COUNT as u32),
    ];
    // Safe: these are the arguments of saxpy.cl, which checks its range.
    unsafe { queue.launch(&mut kernel, COUNT, &arguments) }?;

    let ys = y.map(&queue)?; // waits
    let is_wrong = |(i, value): &(usize, &f32)| **value != A * *i as f32 + 1.0;
    let wrong = ys.iter().enumerate().filter(is_wrong).count();
    ys.unmap()?;
    Ok(wrong)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() != 2 {
        eprintln!("usage: saxpy PACK");
        return ExitCode::from(2);
    }
    match run(&arguments[1]) {
        Ok(wrong) => {
            println!("{COUNT} numbers, {wrong} wrong");
            ExitCode::from((wrong != 0) as u8)
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
