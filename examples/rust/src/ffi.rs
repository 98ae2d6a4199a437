// SPDX-License-Identifier: Apache-2.0
//! The functions of Kiln's C interface that this program calls, as kiln.h, launch.h, report.h and
//! types.h declare them, with the same names.
#![allow(non_camel_case_types)]

use std::os::raw::{c_char, c_int, c_uint, c_void};

// C's enums are integers here. A Rust enum with a value that it does not name is undefined
// behaviour, and a later library may return new values.
pub type kiln_status = c_int;
pub type kiln_rung = c_int;
pub type kiln_outcome = c_int;
pub type kiln_type = c_int;
pub type kiln_access = c_int;
pub type kiln_level = c_int;

pub const KILN_OK: kiln_status = 0;
pub const KILN_RUNG_OVERLAY: kiln_rung = 0;
pub const KILN_RUNG_EXACT: kiln_rung = 1;
pub const KILN_RUNG_IL: kiln_rung = 3;
pub const KILN_RUNG_SOURCE: kiln_rung = 4;
pub const KILN_RUNG_INTERMEDIATE: kiln_rung = 6;
pub const KILN_TYPE_UINT: kiln_type = 2;
pub const KILN_TYPE_FLOAT: kiln_type = 4;
pub const KILN_ACCESS_READ: kiln_access = 0;
pub const KILN_ACCESS_BOTH: kiln_access = 2;
pub const KILN_QUEUE_NO_PROFILING: c_uint = 2;

/// Declares C structs to which Rust only has pointers. The members of `kiln_loader_options` are
/// public; this program passes NULL, for the defaults.
macro_rules! opaque {
    ($($name:ident)*) => {$(
        #[repr(C)]
        pub struct $name {
            _members: [u8; 0],
        }
    )*};
}
opaque!(kiln_opencl kiln_device kiln_pack kiln_loader kiln_program kiln_report kiln_kernel
        kiln_queue kiln_buffer kiln_event kiln_loader_options);

#[repr(C)]
pub struct kiln_error {
    pub status: kiln_status,
    pub cl_error: i32,
    pub message: [c_char; 1024],
}

#[repr(C)]
pub struct kiln_ndrange {
    pub dimensions: c_uint,
    pub global: [usize; 3],
    pub local: [usize; 3],
    pub offset: [usize; 3],
}

/// `size` tells the library which members the program knows.
#[repr(C)]
pub struct kiln_queue_options {
    pub size: usize,
    pub flags: c_uint,
    pub priority: kiln_level,
    pub throttle: kiln_level,
    pub reserved: c_uint,
}

extern "C" {
    pub fn kiln_version() -> c_uint;

    pub fn kiln_opencl_open(
        candidates: *const *const c_char,
        count: usize,
        out: *mut *mut kiln_opencl,
        error: *mut kiln_error,
    ) -> kiln_status;
    pub fn kiln_opencl_release(opencl: *mut kiln_opencl);

    pub fn kiln_device_open(
        opencl: *mut kiln_opencl,
        index: usize,
        out: *mut *mut kiln_device,
        error: *mut kiln_error,
    ) -> kiln_status;
    pub fn kiln_device_release(device: *mut kiln_device);
    pub fn kiln_device_info(device: *const kiln_device, name: *const c_char) -> *const c_char;

    pub fn kiln_pack_open_file(
        path: *const c_char,
        out: *mut *mut kiln_pack,
        error: *mut kiln_error,
    ) -> kiln_status;
    pub fn kiln_pack_release(pack: *mut kiln_pack);

    pub fn kiln_loader_create(
        device: *mut kiln_device,
        pack: *mut kiln_pack,
        options: *const kiln_loader_options,
        out: *mut *mut kiln_loader,
        error: *mut kiln_error,
    ) -> kiln_status;
    pub fn kiln_loader_release(loader: *mut kiln_loader);

    pub fn kiln_load(
        loader: *mut kiln_loader,
        program: *const c_char,
        variant: *const c_char,
        flags: c_uint,
        out: *mut *mut kiln_program,
        report: *mut *mut kiln_report,
        error: *mut kiln_error,
    ) -> kiln_status;
    pub fn kiln_program_release(program: *mut kiln_program);

    pub fn kiln_report_release(report: *mut kiln_report);
    pub fn kiln_report_rung(report: *const kiln_report) -> kiln_rung;
    pub fn kiln_report_reason(
        report: *const kiln_report,
        rung: kiln_rung,
        outcome: *mut kiln_outcome,
    ) -> *const c_char;
    pub fn kiln_report_milliseconds(report: *const kiln_report) -> f64;

    pub fn kiln_kernel_create(
        program: *mut kiln_program,
        name: *const c_char,
        out: *mut *mut kiln_kernel,
        error: *mut kiln_error,
    ) -> kiln_status;
    pub fn kiln_kernel_release(kernel: *mut kiln_kernel);
    pub fn kiln_kernel_set_typed(
        kernel: *mut kiln_kernel,
        index: c_uint,
        of: kiln_type,
        components: c_uint,
        value: *const c_void,
        error: *mut kiln_error,
    ) -> kiln_status;
    pub fn kiln_kernel_set_buffer(
        kernel: *mut kiln_kernel,
        index: c_uint,
        buffer: *mut kiln_buffer,
        error: *mut kiln_error,
    ) -> kiln_status;

    pub fn kiln_queue_create(
        loader: *mut kiln_loader,
        options: *const kiln_queue_options,
        out: *mut *mut kiln_queue,
        error: *mut kiln_error,
    ) -> kiln_status;
    pub fn kiln_queue_release(queue: *mut kiln_queue);

    pub fn kiln_launch(
        queue: *mut kiln_queue,
        kernel: *mut kiln_kernel,
        range: *const kiln_ndrange,
        wait: *const *const kiln_event,
        wait_count: usize,
        event: *mut *mut kiln_event,
        error: *mut kiln_error,
    ) -> kiln_status;

    pub fn kiln_buffer_create(
        loader: *mut kiln_loader,
        size: usize,
        access: kiln_access,
        out: *mut *mut kiln_buffer,
        error: *mut kiln_error,
    ) -> kiln_status;
    pub fn kiln_buffer_release(buffer: *mut kiln_buffer);
    pub fn kiln_buffer_map(
        queue: *mut kiln_queue,
        buffer: *mut kiln_buffer,
        out: *mut *mut c_void,
        error: *mut kiln_error,
    ) -> kiln_status;
    pub fn kiln_buffer_unmap(
        queue: *mut kiln_queue,
        buffer: *mut kiln_buffer,
        error: *mut kiln_error,
    ) -> kiln_status;
}
