//! From the messages of a context, in pi's and omp's own form, to those of the request.

mod execution;
mod model_layer;
mod object;
mod omp;
mod pi;
mod words;

pub(super) use self::model_layer::AskedModel;
use self::model_layer::ModelLayer;
use self::omp::Conversion;
use super::pi::Rules;
use crate::context::TakeMessage;
use crate::scan::Raw;

/// The messages of pi's request, made one after the other.
pub(super) struct OfPi<'m> {
    rules: Rules,
    layer: ModelLayer<'m>,
    message: Vec<u8>,
}

impl<'m> OfPi<'m> {
    /// For the model in force.
    pub(super) fn new(model: Option<AskedModel<'m>>, rules: Rules) -> Self {
        Self { rules, layer: ModelLayer::of(model, rules), message: Vec::new() }
    }

    pub(super) fn push<E>(
        &mut self,
        places: &[u64],
        json: &[u8],
        take: TakeMessage<'_, E>,
    ) -> Result<(), E> {
        if !pi::convert(message(json), self.rules.edits(), &mut self.message) {
            return Ok(());
        }
        self.layer.push(places, message(&self.message), take)
    }

    pub(super) fn finish<E>(self, take: TakeMessage<'_, E>) -> Result<(), E> {
        self.layer.finish(take)
    }
}

/// The messages of omp's request, made one after the other. What omp makes of a turn depends on the message that follows
/// it, so that a turn is kept until then.
#[derive(Default)]
pub(super) struct OfOmp {
    turn: Option<(Vec<u64>, Vec<u8>)>,
    conversion: Conversion,
}

impl OfOmp {
    pub(super) fn push<E>(
        &mut self,
        places: &[u64],
        json: &[u8],
        take: TakeMessage<'_, E>,
    ) -> Result<(), E> {
        let current = message(json);
        if let Some((places, turn)) = self.turn.take() {
            self.conversion.turn(&places, message(&turn), Some(current), take)?;
        }
        if omp::is_turn(current) {
            self.turn = Some((places.to_vec(), json.to_vec()));
            return Ok(());
        }
        self.conversion.message(places, current, take)
    }

    pub(super) fn finish<E>(mut self, take: TakeMessage<'_, E>) -> Result<(), E> {
        match self.turn.take() {
            Some((places, turn)) => self.conversion.turn(&places, message(&turn), None, take),
            None => Ok(()),
        }
    }
}

/// A message of a context, which is JSON as `JSON.stringify` writes it.
fn message(json: &[u8]) -> Raw<'_> {
    Raw::of_walked(std::str::from_utf8(json).expect("a message is written as text"))
}

#[cfg(test)]
mod tests;
