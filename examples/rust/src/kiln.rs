// SPDX-License-Identifier: Apache-2.0
//! Types that own Kiln's handles and release them when they are dropped.
//!
//! A handle keeps alive what it was made from (convention 4 of kiln.h), so no type here borrows
//! from another one and they are dropped in any order. Raw pointers keep the types on one thread;
//! Kiln itself allows more (convention 7).
use std::ffi::{CStr, CString};
use std::ops::{Deref, DerefMut};
use std::os::raw::{c_char, c_uint, c_void};
use std::ptr::{null, null_mut};
use std::{fmt, mem, slice};

use crate::ffi::*;

/// The C interface that ffi.rs declares, as `kiln_version() / 100`: version 0.1. Before 1.0 a new
/// minor version may change it.
const INTERFACE: c_uint = 1;

#[derive(Debug)]
pub struct Error {
    pub status: kiln_status,
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{} (status {})", self.message, self.status)
    }
}

impl std::error::Error for Error {}

pub type Result<T> = std::result::Result<T, Error>;

/// A string that Kiln returned, copied; None for NULL.
///
/// # Safety
/// `text` is NULL or ends with a NUL, and lives during the call.
unsafe fn text(text: *const c_char) -> Option<String> {
    (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
}

/// A name for Kiln. Panics if it has a NUL inside, as no name of a pack, program or kernel has.
fn name(text: &str) -> CString {
    CString::new(text).expect("a name with a NUL inside")
}

/// Calls a function that fails with a status.
fn check(call: impl FnOnce(*mut kiln_error) -> kiln_status) -> Result<()> {
    let mut error = kiln_error {
        status: KILN_OK,
        cl_error: 0,
        message: [0; 1024],
    };
    let status = call(&mut error);
    if status == KILN_OK {
        return Ok(());
    }
    let message = unsafe { text(error.message.as_ptr()) }.unwrap_or_default();
    Err(Error { status, message })
}

/// Calls a function that returns a handle or an address through `out`.
fn make<T>(call: impl FnOnce(*mut *mut T, *mut kiln_error) -> kiln_status) -> Result<*mut T> {
    let mut out = null_mut();
    check(|error| call(&mut out, error))?;
    Ok(out)
}

/// Declares types that own one handle each.
macro_rules! owners {
    ($($name:ident: $handle:ident, $release:ident;)*) => {$(
        pub struct $name(*mut $handle);

        impl Drop for $name {
            fn drop(&mut self) {
                unsafe { $release(self.0) }
            }
        }
    )*};
}
owners! {
    OpenCl: kiln_opencl, kiln_opencl_release;
    Device: kiln_device, kiln_device_release;
    Pack: kiln_pack, kiln_pack_release;
    Loader: kiln_loader, kiln_loader_release;
    Program: kiln_program, kiln_program_release;
    Report: kiln_report, kiln_report_release;
    Kernel: kiln_kernel, kiln_kernel_release;
    Queue: kiln_queue, kiln_queue_release;
    BufferHandle: kiln_buffer, kiln_buffer_release;
}

impl OpenCl {
    /// Opens the system's OpenCL library.
    pub fn open() -> Result<OpenCl> {
        let version = unsafe { kiln_version() };
        assert_eq!(
            version / 100,
            INTERFACE,
            "ffi.rs is not for this version of Kiln: {version}"
        );
        make(|out, error| unsafe { kiln_opencl_open(null(), 0, out, error) }).map(OpenCl)
    }

    /// Opens the device at `index`, from 0 in the order of `kiln devices`.
    pub fn device(&self, index: usize) -> Result<Device> {
        make(|out, error| unsafe { kiln_device_open(self.0, index, out, error) }).map(Device)
    }
}

impl Device {
    /// "device_name", "driver_version" and others; None if the device does not have the value.
    pub fn info(&self, what: &str) -> Option<String> {
        unsafe { text(kiln_device_info(self.0, name(what).as_ptr())) }
    }
}

impl Pack {
    pub fn open(path: &str) -> Result<Pack> {
        let path = name(path);
        make(|out, error| unsafe { kiln_pack_open_file(path.as_ptr(), out, error) }).map(Pack)
    }
}

impl Loader {
    pub fn new(device: &Device, pack: &Pack) -> Result<Loader> {
        make(|out, error| unsafe { kiln_loader_create(device.0, pack.0, null(), out, error) })
            .map(Loader)
    }

    /// Loads the program's best variant. Also returns the report, which tells from what and why.
    pub fn load(&self, program: &str) -> Result<(Program, Report)> {
        let program = name(program);
        let mut report = null_mut();
        let loaded = make(|out, error| unsafe {
            kiln_load(self.0, program.as_ptr(), null(), 0, out, &mut report, error)
        });
        let report = Report(report); // also written if the load failed
        Ok((Program(loaded?), report))
    }
}

impl Report {
    /// One line for each rung down to the one that loaded.
    pub fn lines(&self) -> Vec<String> {
        const RUNGS: [(kiln_rung, &str); 5] = [
            (KILN_RUNG_OVERLAY, "overlay"),
            (KILN_RUNG_EXACT, "exact"),
            (KILN_RUNG_INTERMEDIATE, "intermediate"),
            (KILN_RUNG_IL, "il"),
            (KILN_RUNG_SOURCE, "source"),
        ];
        let loaded = unsafe { kiln_report_rung(self.0) };
        let milliseconds = unsafe { kiln_report_milliseconds(self.0) };
        let line = |(rung, word): (kiln_rung, &str)| {
            let reason = unsafe { text(kiln_report_reason(self.0, rung, null_mut())) }?;
            Some(if rung == loaded {
                format!("{word}: loaded in {milliseconds:.1} ms")
            } else {
                format!("{word}: {reason}")
            })
        };
        RUNGS.into_iter().filter_map(line).collect()
    }
}

/// An argument of a kernel.
pub enum Argument<'a> {
    Float(f32),
    Uint(u32),
    Buffer(&'a Buffer),
}

impl Kernel {
    pub fn new(program: &Program, entry: &str) -> Result<Kernel> {
        let entry = name(entry);
        make(|out, error| unsafe { kiln_kernel_create(program.0, entry.as_ptr(), out, error) })
            .map(Kernel)
    }

    /// Sets an argument. Kiln refuses a type that the kernel does not declare.
    fn set(&mut self, index: c_uint, argument: &Argument) -> Result<()> {
        let typed = |of, value: *const c_void| {
            check(|error| unsafe { kiln_kernel_set_typed(self.0, index, of, 1, value, error) })
        };
        match argument {
            Argument::Float(value) => typed(KILN_TYPE_FLOAT, value as *const f32 as _),
            Argument::Uint(value) => typed(KILN_TYPE_UINT, value as *const u32 as _),
            Argument::Buffer(buffer) => check(|error| unsafe {
                kiln_kernel_set_buffer(self.0, index, buffer.handle.0, error)
            }),
        }
    }
}

impl Queue {
    /// An in-order queue without time stamps.
    pub fn new(loader: &Loader) -> Result<Queue> {
        let options = kiln_queue_options {
            size: mem::size_of::<kiln_queue_options>(),
            flags: KILN_QUEUE_NO_PROFILING,
            priority: 0,
            throttle: 0,
            reserved: 0,
        };
        make(|out, error| unsafe { kiln_queue_create(loader.0, &options, out, error) }).map(Queue)
    }

    /// Enqueues the kernel for `count` work-items, in work-groups whose size Kiln chooses. Does
    /// not wait.
    ///
    /// # Safety
    /// The compiler does not see what the kernel does. `arguments` are all its arguments, it stays
    /// within its buffers, and these are used on no other queue.
    pub unsafe fn launch(
        &self,
        kernel: &mut Kernel,
        count: usize,
        arguments: &[Argument],
    ) -> Result<()> {
        for (index, argument) in arguments.iter().enumerate() {
            kernel.set(index as c_uint, argument)?;
        }
        let range = kiln_ndrange {
            dimensions: 1,
            global: [count, 0, 0],
            local: [0; 3],
            offset: [0; 3],
        };
        check(|error| kiln_launch(self.0, kernel.0, &range, null(), 0, null_mut(), error))
    }
}

/// How kernels use a buffer.
pub enum Access {
    Read = KILN_ACCESS_READ as isize,
    Both = KILN_ACCESS_BOTH as isize,
}

/// A buffer of floats, whose values are undefined at first.
pub struct Buffer {
    handle: BufferHandle,
    count: usize,
}

impl Buffer {
    pub fn new(loader: &Loader, count: usize, access: Access) -> Result<Buffer> {
        let size = count
            .checked_mul(mem::size_of::<f32>())
            .expect("too many floats");
        make(|out, error| unsafe { kiln_buffer_create(loader.0, size, access as _, out, error) })
            .map(|handle| Buffer {
                handle: BufferHandle(handle),
                count,
            })
    }

    /// Waits for the commands on the queue, then gives the floats to the host until the result is
    /// dropped.
    pub fn map<'a>(&'a mut self, queue: &'a Queue) -> Result<Mapped<'a>> {
        let address =
            make(|out, error| unsafe { kiln_buffer_map(queue.0, self.handle.0, out, error) })?;
        let floats = unsafe { slice::from_raw_parts_mut(address as *mut f32, self.count) };
        Ok(Mapped {
            queue,
            buffer: &self.handle,
            floats,
        })
    }
}

/// The floats of a buffer. Borrows the buffer, so that no launch can use it meanwhile.
pub struct Mapped<'a> {
    queue: &'a Queue,
    buffer: &'a BufferHandle,
    floats: &'a mut [f32],
}

impl Mapped<'_> {
    /// Gives the floats back to the device. Dropping does the same and ignores an error.
    pub fn unmap(self) -> Result<()> {
        let (queue, buffer) = (self.queue.0, self.buffer.0);
        mem::forget(self);
        check(|error| unsafe { kiln_buffer_unmap(queue, buffer, error) })
    }
}

impl Drop for Mapped<'_> {
    fn drop(&mut self) {
        unsafe { kiln_buffer_unmap(self.queue.0, self.buffer.0, null_mut()) };
    }
}

impl Deref for Mapped<'_> {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        self.floats
    }
}

impl DerefMut for Mapped<'_> {
    fn deref_mut(&mut self) -> &mut [f32] {
        self.floats
    }
}
