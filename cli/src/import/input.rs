//! Standard input, as `leafline import -` reads it.

use std::io::{Error, Read, Result};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::Builder;
use std::time::Duration;

use crate::interrupt::Interrupt;

/// Bytes of a read, and so of what waits to be taken: three times as much, at most.
const BLOCK_BYTES: usize = 256 << 10;

/// How long a signal goes unnoticed.
const GLANCE: Duration = Duration::from_millis(100);

/// Standard input, whose reader a signal frees although nothing more comes.
pub(super) struct Input {
    blocks: Receiver<Result<Vec<u8>>>,
    interrupt: Interrupt,
    /// What is left of the last block, and where it begins.
    rest: (Vec<u8>, usize),
}

impl Input {
    /// Reads from now on, in a thread of its own.
    ///
    /// # Errors
    ///
    /// If the system gives no thread.
    pub(super) fn new(interrupt: Interrupt) -> Result<Self> {
        let (send, blocks) = sync_channel(1);
        Builder::new().spawn(move || {
            let mut input = std::io::stdin().lock();
            loop {
                let mut block = Vec::new();
                let read = (&mut input).take(BLOCK_BYTES as u64).read_to_end(&mut block);
                let is_last = !matches!(read, Ok(1..));
                // The reader may be gone, and then nobody needs the rest.
                if send.send(read.map(|_| block)).is_err() || is_last {
                    return;
                }
            }
        })?;
        Ok(Self { blocks, interrupt, rest: (Vec::new(), 0) })
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let (block, at) = &mut self.rest;
        while *at == block.len() {
            match self.blocks.recv_timeout(GLANCE) {
                Ok(next) => (*block, *at) = (next?, 0),
                // The import asks whether it is to stop before it reads again.
                Err(RecvTimeoutError::Timeout) if self.interrupt.is_set() => {
                    return Err(Error::from(std::io::ErrorKind::Interrupted));
                }
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
            if block.is_empty() {
                return Ok(0);
            }
        }
        let read = block.get(*at..).unwrap_or_default().read(buffer)?;
        *at += read;
        Ok(read)
    }
}
