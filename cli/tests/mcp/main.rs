//! `leafline mcp`, as clients and their models see it.
//!
//! Guards against a server that breaks the protocol, whatever sessions hold, that answers with more than it may, or that
//! leaves a model without a way to go on. `LEAFLINE_REQUIRE_MCP_CLIENT` and `LEAFLINE_REQUIRE_CLAUDE` require the real
//! clients, which `./setup` installs.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod client;
mod hostile;
mod programs;
mod protocol;
mod questions;
#[allow(dead_code, reason = "each test program uses its part")]
#[path = "../command/scene.rs"]
mod scene;
mod tools;
#[cfg(unix)]
mod writing;
