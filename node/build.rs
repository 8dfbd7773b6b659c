//! Tells the linker what Node provides.

fn main() {
    napi_build::setup();
}
