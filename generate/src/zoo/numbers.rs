//! Numbers that parsing and writing again would change.

use super::with_line;

pub(super) fn files() -> Vec<(&'static str, Vec<u8>)> {
    let cases = [
        (
            "integers past 2^53",
            "9007199254740993,-9007199254740993,12345678901234567890,18446744073709551616",
        ),
        ("fractions that are whole", "1.0,100.000,-5.0,1.50"),
        ("exponents", "1e21,1E5,1e-7,1.5e300,123e-20,1e+2"),
        ("negative zero", "-0,-0.0,0.0,0e10"),
        ("numbers without end", "1e400,-1e400,1e-400"),
        (
            "more digits than a double holds",
            "0.1000000000000000055511151231257827,3.141592653589793238462643",
        ),
        ("numbers that are not JSON", "01,+1,.5,1.,0x10"),
    ];
    let line = |values: &str| {
        with_line(format!(
            r#"{{"type":"custom","customType":"numbers","data":[{values}],"id":"00000003","parentId":null,"timestamp":"2026-03-01T08:00:01.000Z"}}"#
        ))
    };
    cases.into_iter().map(|(name, values)| (name, line(values))).collect()
}
