//! The `leafline` command, as a user and as a script see it.
//!
//! Guards against wrong output, wrong exit statuses, and destroyed files: what only shows outside the library.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod advice;
mod agents;
#[cfg(target_os = "linux")]
mod at_terminal;
#[cfg(unix)]
mod backup;
mod beside;
#[cfg(target_os = "linux")]
mod browse;
mod changing;
mod choices;
mod claude;
mod compact;
mod completion;
mod context;
#[cfg(unix)]
mod creation;
mod damage;
#[cfg(unix)]
mod damaged_pages;
mod directories;
mod discovery;
#[cfg(target_os = "linux")]
mod documents;
mod engine;
mod export;
mod families;
#[cfg(unix)]
mod flipped_bits;
mod found_by_reading;
mod gone;
#[cfg(unix)]
mod hangs;
#[cfg(target_os = "linux")]
mod held_up;
mod history;
#[cfg(unix)]
mod hostile;
mod import;
#[cfg(unix)]
mod interrupted;
#[cfg(unix)]
mod keep;
mod left_out;
mod leftovers;
mod lists;
mod live;
mod manners;
mod named_folders;
mod opal;
#[cfg(target_os = "linux")]
mod other_users;
mod outputs;
#[cfg(unix)]
mod owners;
#[cfg(target_os = "linux")]
mod pager;
#[cfg(target_os = "linux")]
mod permissions;
#[cfg(target_os = "linux")]
mod pictures;
mod reading;
mod redact;
mod removed;
#[cfg(unix)]
mod removing;
mod resumed;
mod salvage;
mod scene;
mod search;
mod search_folder;
#[cfg(unix)]
mod share;
mod signals;
mod standard_input;
mod svg;
mod sync;
#[cfg(target_os = "linux")]
mod terminal;
#[cfg(target_os = "linux")]
mod tour;
mod tree;
mod tree_model;
mod usage;
