#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| leafline::fuzzing::run("migrations", data));
