//! Damage to rollouts: to their lines, and to what these contain.

use serde_json::{Value, json};

use crate::rollouts::Dice;

/// A file that is damaged in up to four places, always the same ones after a seed.
pub(crate) fn damaged(file: &str, seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0xda3a_6ed0);
    let mut lines: Vec<String> = file.lines().map(str::to_owned).collect();
    for _ in 0..=dice.below(4) {
        damage(&mut lines, &mut dice);
    }
    let mut file = lines.join("\n");
    if dice.below(4) > 0 {
        file.push('\n');
    }
    file
}

fn damage(lines: &mut Vec<String>, dice: &mut Dice) {
    // Codex resumes few files whose first line is damaged.
    let first = usize::from(lines.len() > 1 && dice.below(30) > 0);
    let place = first + dice.index(lines.len() - first);
    let other = first + dice.index(lines.len() - first);
    match dice.below(12) {
        0 => drop(lines.remove(place)),
        1 => {
            let mut end = dice.index(lines[place].len() + 1);
            while !lines[place].is_char_boundary(end) {
                end -= 1;
            }
            lines[place].truncate(end);
        }
        2 => lines.insert(other, lines[place].clone()),
        3 => lines.swap(place, other),
        4 | 5 => change_a_character(&mut lines[place], dice),
        _ => change_a_value(&mut lines[place], dice),
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
}

fn change_a_character(line: &mut String, dice: &mut Dice) {
    let Some((at, old)) = line.char_indices().nth(dice.index(line.chars().count().max(1))) else {
        return;
    };
    let new = dice
        .pick(&["\"", "\\", "{", "}", "[", "]", ",", ":", "0", "-", "u", " ", "\u{0}", "é", ""]);
    line.replace_range(at..at + old.len_utf8(), new);
}

fn change_a_value(line: &mut String, dice: &mut Dice) {
    let Ok(mut record) = serde_json::from_str::<Value>(line) else { return };
    let mut place = dice.index(count(&record));
    change(&mut record, &mut place, dice);
    *line = record.to_string();
}

/// How many values there are within a value.
fn count(value: &Value) -> usize {
    let within = match value {
        Value::Array(elements) => elements.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    };
    within + 1
}

/// Changes the value to which so many others lead.
fn change(value: &mut Value, place: &mut usize, dice: &mut Dice) -> bool {
    if *place == 0 {
        change_here(value, dice);
        return true;
    }
    *place -= 1;
    match value {
        Value::Array(elements) => elements.iter_mut().any(|one| change(one, place, dice)),
        Value::Object(members) => members.values_mut().any(|one| change(one, place, dice)),
        _ => false,
    }
}

fn change_here(value: &mut Value, dice: &mut Dice) {
    match value {
        Value::Object(members) if !members.is_empty() && dice.below(4) > 0 => {
            let name = members.keys().nth(dice.index(members.len())).unwrap().clone();
            let member = members.shift_remove(&name).unwrap();
            match dice.below(3) {
                0 => {}
                1 => drop(members.insert(format!("{name}_x"), member)),
                _ => drop(members.insert(name, other(dice))),
            }
        }
        Value::Array(elements) if !elements.is_empty() && dice.below(4) > 0 => {
            let place = dice.index(elements.len());
            match dice.below(3) {
                0 => drop(elements.remove(place)),
                1 => elements.insert(place, elements[place].clone()),
                _ => elements.insert(place, other(dice)),
            }
        }
        _ => *value = other(dice),
    }
}

fn other(dice: &mut Dice) -> Value {
    let others = [
        json!(null),
        json!(true),
        json!(5),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!(""),
        json!("x"),
        json!("user"),
        json!("c1"),
        json!([]),
        json!({}),
        json!(["x"]),
        json!({"type": "input_text", "text": "other"}),
        json!([{"type": "input_text", "text": "other"}]),
    ];
    others[dice.index(others.len())].clone()
}
