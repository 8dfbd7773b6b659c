//! What the linker of macOS needs for a module that finds Python's symbols when it is loaded.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
