//! Leafline for Node and Bun.
//!
//! What JavaScript sees of it is in `index.d.ts`, which the build makes of the comments here. A method that ends in `Sync`
//! works on the caller's thread; the others on a thread of Node's pool.

mod claude;
mod objects;
mod reader;
mod search;
mod session;
mod storage;
mod store;
mod transfer;
mod work;
