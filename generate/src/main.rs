//! `leafline-generate`: writes a made-up session of realistic shape to a file.

use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use leafline_generate::{Family, Shape, generate};

/// Write a made-up coding-agent session of realistic shape.
///
/// The same options always give the same bytes.
#[derive(Debug, Parser)]
#[command(name = "leafline-generate", disable_version_flag = true)]
struct Arguments {
    /// Size to reach, in bytes: 5000000, 300KB, 20MB, 1GB (powers of 1,000) or 64KiB, 1GiB (powers of 1,024)
    #[arg(long, default_value = "10MB", value_parser = size)]
    bytes: u64,
    /// Which session to generate
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Version of the format, 1 to 3
    #[arg(long, default_value_t = 3)]
    version: u32,
    /// Share of the bytes that are images, 0.0 to 0.95
    #[arg(long, default_value_t = 0.0)]
    images: f64,
    /// The program whose format to write
    #[arg(long, value_enum, default_value_t = Program::Pi)]
    family: Program,
    /// One chain of entries, never going back
    #[arg(long)]
    no_branches: bool,
    /// Never compact the context
    #[arg(long)]
    no_compactions: bool,
    /// The file to write
    file: PathBuf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Program {
    Pi,
    Omp,
    Claude,
}

fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "B" => 1,
        "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        other => {
            return Err(format!("{other} is no unit: use KB, MB, GB, KiB, MiB or GiB"));
        }
    };
    let count: u64 = digits.parse().map_err(|_| format!("{digits:?} is no whole number"))?;
    count.checked_mul(unit).ok_or_else(|| format!("{text} is more bytes than can be counted"))
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let shape = Shape {
        seed: arguments.seed,
        bytes: arguments.bytes,
        version: arguments.version,
        branches: !arguments.no_branches,
        compactions: !arguments.no_compactions,
        images: arguments.images,
        family: match arguments.family {
            Program::Pi => Family::Pi,
            Program::Omp => Family::Omp,
            Program::Claude => Family::Claude,
        },
    };
    let start = Instant::now();
    let written = File::create(&arguments.file).and_then(|mut file| generate(&shape, &mut file));
    match written {
        Ok(summary) => {
            let seconds = start.elapsed().as_secs_f64();
            println!(
                "{}: {} bytes, {} lines, {} branches, {} compactions, {} images, {seconds:.2} s",
                arguments.file.display(),
                summary.bytes,
                summary.lines,
                summary.branches,
                summary.compactions,
                summary.images,
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("cannot write {}: {error}", arguments.file.display());
            ExitCode::FAILURE
        }
    }
}
