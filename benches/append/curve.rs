//! The cost of an append over the size of the store, as a drawing.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use super::single::{self, WAYS};
use super::stores::Stores;
use super::support::size::{megabytes, store_bytes};

/// Where the drawing goes.
const DRAWING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/append-cost.svg");

/// The smallest store; the largest is that of the environment.
const SMALLEST: u64 = 1_000_000;

/// The sheet, and the plot's edges on it.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 600.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 310.0;

const COLOURS: [&str; 3] = ["#0969da", "#bc4c00", "#6e7781"];

/// The medians at one size, by way.
struct Point {
    bytes: u64,
    medians: [Duration; 3],
}

pub(crate) fn run() {
    let largest = store_bytes().into_iter().max().expect("a size is given");
    let sizes = std::iter::successors(Some(SMALLEST), |bytes| bytes.checked_mul(10));
    let points: Vec<Point> = sizes
        .take_while(|bytes| *bytes <= largest)
        .map(|bytes| {
            println!("single appends, {} of sessions:", megabytes(bytes));
            let turns = single::at(&Stores::make(bytes), false);
            Point { bytes, medians: [0, 1, 2].map(|way| turns.all(way).percentile(50)) }
        })
        .collect();
    std::fs::write(Path::new(DRAWING), draw(&points)).expect("the drawing can be written");
    println!("{DRAWING} is drawn");
}

fn draw(points: &[Point]) -> String {
    let most = points.iter().flat_map(|point| point.medians).max().unwrap_or_default();
    // Whole steps of 100 us above the highest point.
    let steps = u32::try_from(most.as_micros() / 100 + 1).unwrap_or(u32::MAX);
    let y = |micros: f64| BOTTOM - (BOTTOM - TOP) * micros / (f64::from(steps) * 100.0);
    let count = u32::try_from(points.len()).expect("there are few points");
    let x = |at: u32| LEFT + (RIGHT - LEFT) * f64::from(at) / f64::from(count.max(2) - 1);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"20\">One durable append of 1 KB: median in microseconds, by bytes of sessions in the store</text>\n"
    );
    let mut add = |line: std::fmt::Arguments<'_>| {
        svg.write_fmt(line).and_then(|()| svg.write_char('\n')).expect("a text takes all");
    };
    for step in (0..=steps).step_by((steps as usize).div_ceil(8)) {
        let (value, y) = (step * 100, y(f64::from(step) * 100.0));
        add(format_args!(
            "<path d=\"M{LEFT} {y:.1}H{RIGHT}\" stroke=\"#d0d7de\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
            LEFT - 6.0,
            y + 4.0
        ));
    }
    for (at, point) in (0..).zip(points) {
        add(format_args!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{} MB</text>",
            x(at),
            BOTTOM + 18.0,
            point.bytes / 1_000_000
        ));
    }
    for (way, (name, colour)) in WAYS.iter().zip(COLOURS).enumerate() {
        let places: Vec<(f64, f64)> = (0..)
            .zip(points)
            .filter_map(|(at, point)| Some((x(at), y(point.medians.get(way)?.as_secs_f64() * 1e6))))
            .collect();
        let line: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        add(format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            line.join(" ")
        ));
        for (x, y) in places {
            add(format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>"));
        }
        let x = LEFT + 150.0 * f64::from(u32::try_from(way).expect("there are three ways"));
        add(format_args!("<text x=\"{x:.1}\" y=\"40\" fill=\"{colour}\">{name}</text>"));
    }
    svg.push_str("</svg>\n");
    svg
}
