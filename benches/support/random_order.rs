//! An order that no cache can predict, the same in every run.

/// Shuffles in place: Fisher-Yates, driven by SplitMix64.
pub(crate) fn shuffle<T>(items: &mut [T]) {
    let mut state = 0x1eaf_u64;
    for last in (1..items.len()).rev() {
        let bound = last as u64 + 1;
        let other = usize::try_from(next(&mut state) % bound).expect("it is less than the length");
        items.swap(last, other);
    }
}

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
