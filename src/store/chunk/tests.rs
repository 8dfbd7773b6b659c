use super::*;
use crate::store::node::Parent;
use proptest::prelude::*;

#[test]
fn the_documentation_has_the_bounds() {
    use crate::documented::{bound, number};
    assert_eq!(bound("a chunk"), format!("{} bytes, one frame aside", number(CHUNK_CAPACITY)));
    let frame = format!("{} KiB, one line aside", number(FRAME_TARGET >> 10));
    assert_eq!(bound("text of a frame"), frame);
}

fn node() -> impl Strategy<Value = Node> {
    let parent = prop_oneof![
        Just(Parent::None),
        Just(Parent::Orphan),
        (0u64..1 << 40).prop_map(|parent| Parent::At(Ordinal::new(parent)))
    ];
    let time = proptest::option::of(-(1i64 << 50)..1 << 50);
    let facts = (any::<u8>(), 0u8..128, any::<bool>(), parent, time);
    let numbers =
        (0u64..1 << 40, 0u64..1 << 40, 0u64..1 << 40, proptest::option::of(0u64..1 << 40));
    (facts, numbers).prop_map(
        |((kind, role, is_sidechain, parent, time), (depth, jump, settings, compaction))| {
            let (jump, compaction) = (Ordinal::new(jump), compaction.map(Ordinal::new));
            Node { kind, role, is_sidechain, parent, time, depth, jump, settings, compaction }
        },
    )
}

fn encode_frames(frames: &Frames) -> EncodedFrames {
    let mut encoded = EncodedFrames::default();
    for lines in frames {
        let bytes: Vec<u8> = lines.iter().flat_map(|(text, _)| text).copied().collect();
        let lengths: Vec<u64> = lines.iter().map(|(text, _)| text.len() as u64).collect();
        encoded.push(EncodedFrame {
            frame: &Frame {
                lines: lines.len() as u64,
                text_len: bytes.len() as u64,
                stored_len: bytes.len() as u64,
                compressed: false,
                check: text_check(&bytes),
            },
            bytes: &bytes,
            lengths: &lengths,
            holes: &[Hole { line: 0, offset: 0, kind: HoleKind::Image, hash: [7; 32] }],
        });
    }
    encoded
}

type Frames = Vec<Vec<(Vec<u8>, Node)>>;

fn frames() -> impl Strategy<Value = Frames> {
    let line = (proptest::collection::vec(any::<u8>(), 0..40), node());
    proptest::collection::vec(proptest::collection::vec(line, 1..6), 1..6)
}

fn build(first: Ordinal, frames: &Frames) -> Vec<u8> {
    let mut builder = ChunkBuilder::new(first, 3);
    for (frame, lines) in encode_frames(frames).iter().zip(frames) {
        let nodes: Vec<Node> = lines.iter().map(|(_, node)| *node).collect();
        assert!(builder.has_room(&frame, &nodes));
        builder.push(&frame, &nodes);
    }
    let promised = builder.len();
    let bytes = builder.finish();
    assert!(bytes.len() <= promised, "{} > {promised}", bytes.len());
    bytes
}

#[test]
fn a_hole_lies_in_its_line() {
    let parsed = |line, offset, kind| {
        let hole = Hole { line, offset, kind, hash: [7; 32] };
        let frame = Frame { lines: 1, text_len: 80, stored_len: 80, compressed: false, check: 0 };
        let directory =
            Directory { dictionary: 0, frames: vec![frame], lengths: vec![80], holes: vec![hole] };
        let bytes = encode(&directory, &Columns::default(), &[b'x'; 80]);
        Chunk::parse(Ordinal::FIRST, &bytes).map(drop)
    };
    for (line, offset, kind) in [
        (0, 80, HoleKind::Payload),
        (0, 4, HoleKind::TextReference),
        (0, 0, HoleKind::ImageReference),
    ] {
        assert_eq!(parsed(line, offset, kind), Ok(()));
    }
    for (line, offset, kind) in [
        (1, 0, HoleKind::Payload),
        (0, 81, HoleKind::Image),
        (0, u64::MAX, HoleKind::TextReference),
        (0, 5, HoleKind::ImageReference),
    ] {
        assert_eq!(parsed(line, offset, kind), Err("a hole lies outside its line".into()));
    }
}

proptest! {
    #[test]
    fn lines_and_nodes_come_back(first in 0u64..1 << 40, frames in frames()) {
        let first = Ordinal::new(first);
        let bytes = build(first, &frames);
        let chunk = Chunk::parse(first, &bytes).unwrap();
        let lines: Vec<_> = frames.concat();
        prop_assert_eq!(chunk.line_count(), lines.len() as u64);
        prop_assert_eq!(chunk.nodes().unwrap(), lines.iter().map(|(_, node)| *node).collect::<Vec<_>>());
        for (ordinal, (text, _)) in first.onwards().zip(&lines) {
            let place = chunk.locate(ordinal).unwrap();
            prop_assert_eq!(&chunk.frame_bytes(place.frame)[place.start..place.end], &text[..]);
        }
        prop_assert_eq!(chunk.locate(first.later(lines.len() as u64).unwrap()), None);
        prop_assert_eq!(chunk.holes().len(), frames.len());
        prop_assert_eq!(chunk.holes_of(first).len(), 1);
        let swapped: Vec<Node> = lines.iter().rev().map(|(_, node)| *node).collect();
        let rewritten = chunk.with_nodes(&swapped);
        let again = Chunk::parse(first, &rewritten).unwrap();
        prop_assert_eq!(again.nodes().unwrap(), swapped);
        prop_assert_eq!(again.lengths(), chunk.lengths());
    }

    #[test]
    fn no_line_has_a_number_beyond_the_last(frames in frames()) {
        let bytes = build(Ordinal::FIRST, &frames);
        let lines = frames.concat().len() as u64;
        let highest = Ordinal::new(u64::MAX - lines);
        let nodes = Chunk::parse(highest, &bytes).unwrap().nodes().unwrap();
        prop_assert_eq!(nodes.len() as u64, lines);
        for first in [highest.next().unwrap(), Ordinal::new(u64::MAX)] {
            let problem = Chunk::parse(first, &bytes).unwrap_err();
            prop_assert!(problem.contains("beyond the last number"), "{}", problem);
        }
    }

    #[test]
    fn a_bit_that_flips_ahead_of_the_frames_is_seen(frames in frames(), at in any::<prop::sample::Index>(), bit in 0u32..8) {
        let mut bytes = build(Ordinal::new(5), &frames);
        let texts: usize = frames.iter().flatten().map(|(text, _)| text.len()).sum();
        let at = at.index(bytes.len() - texts);
        bytes[at] ^= 1 << bit;
        prop_assert!(Chunk::parse(Ordinal::new(5), &bytes).is_err());
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(chunk) = Chunk::parse(Ordinal::FIRST, &bytes) {
            let _ = chunk.nodes();
            let _ = chunk.locate(Ordinal::FIRST);
            let _ = chunk.frame_bytes(0);
        }
    }

    #[test]
    fn a_changed_byte_is_read_without_a_panic(frames in frames(), at in any::<prop::sample::Index>(), to in any::<u8>()) {
        let mut bytes = build(Ordinal::new(5), &frames);
        let at = at.index(bytes.len());
        bytes[at] = to;
        if let Ok(chunk) = Chunk::parse(Ordinal::new(5), &bytes) {
            let _ = chunk.nodes();
            for ordinal in Ordinal::FIRST.up_to(Ordinal::new(40)) {
                if let Some(place) = chunk.locate(ordinal) {
                    let _ = chunk.frame_bytes(place.frame).get(place.start..place.end);
                }
            }
        }
    }
}
