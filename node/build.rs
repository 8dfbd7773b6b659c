//! Tells the linker what Node provides, and where the macros write the package's types.

use std::path::PathBuf;

fn main() {
    napi_build::setup();
    // `napi build` names a folder of its own.
    if std::env::var_os("NAPI_TYPE_DEF_TMP_FOLDER").is_none() {
        let out = std::env::var_os("OUT_DIR").expect("cargo names a folder for what is built");
        let types = PathBuf::from(out).join("types");
        std::fs::create_dir_all(&types).expect("making the folder for the types");
        println!("cargo::rustc-env=NAPI_TYPE_DEF_TMP_FOLDER={}", types.display());
    }
}
