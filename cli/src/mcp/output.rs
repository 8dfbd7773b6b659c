//! Standard output of a server, and the end of a process that cannot go on.

use std::io;
use std::pin::Pin;
use std::process;
use std::task::{Context, Poll};

use tokio::io::{AsyncWrite, Stdout};
use tokio::sync::oneshot;

use crate::failure::complain;

/// Standard output. Who has the receiver is told the first error, after which a client waits for answers that do not come.
pub(super) struct Output {
    stdout: Stdout,
    failed: Option<oneshot::Sender<io::Error>>,
}

impl Output {
    pub(super) fn new() -> (Self, oneshot::Receiver<io::Error>) {
        let (failed, receiver) = oneshot::channel();
        (Self { stdout: tokio::io::stdout(), failed: Some(failed) }, receiver)
    }

    /// Passes on what a call on standard output has given.
    fn told<T>(&mut self, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if let Poll::Ready(Err(error)) = &polled
            && let Some(failed) = self.failed.take()
        {
            let same =
                error.raw_os_error().map_or(error.kind().into(), io::Error::from_raw_os_error);
            // The receiver may be gone, when the server is ending.
            let _ = failed.send(same);
        }
        polled
    }
}

impl AsyncWrite for Output {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stdout).poll_write(context, bytes);
        self.told(polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stdout).poll_flush(context);
        self.told(polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stdout).poll_shutdown(context);
        self.told(polled)
    }
}

/// From now on the process ends, with status 1, when the runtime panics: that is where the system does not let it wake its own
/// thread (tokio 1.54), which would wait for ever. All other panics stay with the hook before.
pub(super) fn end_with_the_runtime() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let is_of_runtime = panic.location().is_some_and(|place| is_in_runtime(place.file()));
        if !is_of_runtime {
            return before(panic);
        }
        let problem = panic.payload().downcast_ref::<String>();
        complain(&format!("the server cannot go on: {}", problem.map_or("", String::as_str)));
        process::exit(1);
    }));
}

/// Whether a source file is one of tokio's.
fn is_in_runtime(file: &str) -> bool {
    file.split(['/', '\\']).any(|part| part == "tokio" || part.starts_with("tokio-"))
}
