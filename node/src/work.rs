//! Work for a thread of Node's pool, handles that can be closed, and errors with a code.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use napi::bindgen_prelude::{
    AsyncTask, FromNapiValue, Function, JsValuesTupleIntoVec, ToNapiValue, TypeName, Unknown,
};
use napi::{Env, JsError, ScopedTask, Task};

/// An error that becomes a JavaScript `Error` with this code.
pub(crate) type Failure = napi::Error<&'static str>;

/// What a call gives, or why it failed.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// The code of an argument that cannot be used.
const INVALID_ARGUMENT: &str = "INVALID_ARGUMENT";

/// The library's error, with its name as the code.
pub(crate) fn failed(error: leafline::Error) -> Failure {
    Failure::new(error.code(), error)
}

/// An argument that cannot be used, and why.
pub(crate) fn invalid(problem: impl ToString) -> Failure {
    Failure::new(INVALID_ARGUMENT, problem)
}

/// The same as an error that a promise is rejected with.
fn rejection(env: &Env, failure: Failure) -> napi::Error {
    JsError::from(failure).into_unknown(Env::from_raw(env.raw())).into()
}

/// A call that runs on a thread of the pool.
pub struct Work<T>(Option<Box<dyn FnOnce() -> Result<T> + Send>>);

impl<T: Send + 'static> Work<T> {
    fn take(&mut self) -> napi::Result<Result<T>> {
        let work = self.0.take();
        Ok(work.ok_or_else(|| napi::Error::from_reason("the work was done already"))?())
    }
}

impl<T: ToNapiValue + TypeName + Send + 'static> Task for Work<T> {
    type Output = Result<T>;
    type JsValue = T;

    fn compute(&mut self) -> napi::Result<Result<T>> {
        self.take()
    }

    fn resolve(&mut self, env: Env, outcome: Result<T>) -> napi::Result<T> {
        outcome.map_err(|failure| rejection(&env, failure))
    }
}

/// Lets a thread of the pool do the work.
pub(crate) fn spawn<T: ToNapiValue + TypeName + Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> AsyncTask<Work<T>> {
    AsyncTask::new(Work(Some(Box::new(work))))
}

/// The same for work whose outcome is JSON text, which the caller gets as a value.
pub struct JsonWork(Work<String>);

impl<'task> ScopedTask<'task> for JsonWork {
    type Output = Result<String>;
    type JsValue = Unknown<'task>;

    fn compute(&mut self) -> napi::Result<Result<String>> {
        self.0.take()
    }

    fn resolve(
        &mut self,
        env: &'task Env,
        outcome: Result<String>,
    ) -> napi::Result<Unknown<'task>> {
        let text = outcome.map_err(|failure| rejection(env, failure))?;
        parse_json(env, text)
    }
}

/// Lets a thread of the pool make JSON text.
pub(crate) fn spawn_json(
    work: impl FnOnce() -> Result<String> + Send + 'static,
) -> AsyncTask<JsonWork> {
    AsyncTask::new(JsonWork(Work(Some(Box::new(work)))))
}

/// JSON text as a value, by JavaScript's own reader: it accepts lone surrogates and any depth, as the programs do.
pub(crate) fn parse_json<'env>(env: &'env Env, text: String) -> napi::Result<Unknown<'env>> {
    call_json(env, "JSON.parse", text)
}

/// A value as JSON text, by JavaScript's own writer, so that it is what the programs would write.
pub(crate) fn json_text(env: &Env, value: Unknown<'_>) -> Result<String> {
    let text: Option<String> =
        call_json(env, "JSON.stringify", value).map_err(|error| invalid(error.reason))?;
    text.ok_or_else(|| invalid("this value cannot be written as JSON"))
}

fn call_json<'env, Argument, Answer>(
    env: &'env Env,
    function: &str,
    argument: Argument,
) -> napi::Result<Answer>
where
    Argument: JsValuesTupleIntoVec,
    Answer: FromNapiValue + 'env,
{
    env.run_script::<_, Function<'env, Argument, Answer>>(function)?.call(argument)
}

/// What can be closed while JavaScript still has it.
pub(crate) struct Shared<T>(Arc<Mutex<Option<T>>>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Shared<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Arc::new(Mutex::new(Some(value))))
    }

    fn lock(&self) -> MutexGuard<'_, Option<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with it, while no other thread does.
    pub(crate) fn with<R>(&self, act: impl FnOnce(&mut T) -> leafline::Result<R>) -> Result<R> {
        let mut value = self.lock();
        let value = value.as_mut().ok_or_else(|| Failure::new("CLOSED", "it is closed"))?;
        act(value).map_err(failed)
    }
}

impl<T: Clone> Shared<T> {
    /// A copy, so that others need not wait.
    pub(crate) fn get(&self) -> Result<T> {
        self.with(|value| Ok(value.clone()))
    }
}

/// What a store closes before itself.
pub(crate) trait Close: Send + Sync {
    /// Later calls of it fail.
    fn close(&self);
}

impl<T: Send> Close for Mutex<Option<T>> {
    fn close(&self) {
        drop(self.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl<T: Send> Shared<T> {
    pub(crate) fn close(&self) {
        self.0.close();
    }
}

/// What was made of a store and is still in use.
#[derive(Clone, Default)]
pub(crate) struct Dependents(Arc<Mutex<Vec<Weak<dyn Close>>>>);

impl Dependents {
    pub(crate) fn add<T: Send + 'static>(&self, shared: &Shared<T>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() == all.capacity() {
            all.retain(|dependent| dependent.strong_count() > 0);
        }
        let arc: Arc<dyn Close> = shared.0.clone();
        all.push(Arc::downgrade(&arc));
    }

    pub(crate) fn close(&self) {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        all.iter().filter_map(Weak::upgrade).for_each(|dependent| dependent.close());
    }
}

/// An error of the engine where none is expected.
pub(crate) fn unexpected(error: napi::Error) -> Failure {
    Failure::new("UNEXPECTED", error.reason)
}

/// JSON text that is written as it is.
pub(crate) fn raw_json(text: String) -> Result<Box<serde_json::value::RawValue>> {
    serde_json::value::RawValue::from_string(text).map_err(invalid)
}
