//! Links below the folder: whoever puts one there must not lead what is written out of the folder.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use leafline::export::ExportMode;

use super::Exports;

/// A folder beside the exported one, with a file.
fn outside(exports: &Exports) -> PathBuf {
    let file = exports.place.write("outside/file", "theirs");
    file.parent().unwrap().to_owned()
}

#[track_caller]
fn assert_untouched(outside: &Path) {
    let names = std::fs::read_dir(outside).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["file"]);
    assert_eq!(std::fs::read(outside.join("file")).unwrap(), b"theirs");
}

#[test]
fn a_link_in_the_place_of_a_project_is_not_followed() {
    let mut exports = Exports::of_three();
    let outside = outside(&exports);
    let leftover = outside.join(".leafline-tmp-0123456789abcdef");
    let link = exports.folder.join("pi/sessions/--w-a--");
    std::fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(&outside, &link).unwrap();
    for replace in [false, true] {
        exports.options.replace = replace;
        std::fs::write(&leftover, "").unwrap();
        let (_, told) = exports.run();
        let failed = told.iter().find(|told| told.session == "a").unwrap();
        assert_eq!(failed.status, "failed");
        assert!(failed.reason.contains("it is a link, and none is followed"), "{}", failed.reason);
        assert!(told.iter().all(|told| told.session == "a" || told.status != "failed"));
        std::fs::remove_file(&leftover).expect("nothing is tidied up there");
        assert_untouched(&outside);
    }
    std::fs::remove_file(&link).unwrap();
    exports.gives(&[("a", "written"), ("b", "unchanged"), ("c", "unchanged")]);
}

#[test]
fn a_link_in_the_place_of_a_file_is_not_written_through() {
    let mut exports = Exports::of_three();
    let outside = outside(&exports);
    let (file, manifest) = (exports.file("a"), exports.folder.join(".leafline-manifest"));
    for place in [&file, &manifest] {
        std::fs::remove_file(place).unwrap();
        symlink(outside.join("file"), place).unwrap();
    }
    exports.append("b", "news");
    for replace in [false, true] {
        exports.options.replace = replace;
        let (_, told) = exports.run();
        let kept = told.iter().find(|told| told.session == "a").unwrap();
        assert_eq!((kept.status, file.is_symlink()), ("kept", true));
        assert_untouched(&outside);
    }
    assert!(!manifest.is_symlink(), "a file of ours has taken its place");
}

#[test]
fn a_link_in_the_place_of_a_blob_is_not_written_through() {
    let mut exports = Exports::new();
    let image = "QUJD".repeat(1000);
    let line = format!(
        r#"{{"type":"message","id":"i","parentId":null,"timestamp":"2026-03-01T08:00:01.000Z","message":{{"role":"user","content":[{{"type":"image","data":"{image}","mimeType":"image/png"}}]}}}}"#
    );
    exports.import("s", &(super::session("s", "/w", &[]) + &line + "\n"));
    let outside = outside(&exports);
    let blobs = exports.place.path("out");
    exports.options.mode = ExportMode::References { blobs: blobs.clone() };
    exports.gives(&[("s", "written")]);
    let blob = std::fs::read_dir(&blobs).unwrap().next().unwrap().unwrap().path();
    std::fs::remove_file(&blob).unwrap();
    symlink(outside.join("file"), &blob).unwrap();
    let told = exports.gives(&[("s", "failed")]);
    assert!(told[0].reason.contains("it is a link"), "{}", told[0].reason);
    assert_untouched(&outside);
}

/// Between a look at a folder and a write into it, anything may be put in its place.
#[test]
fn a_folder_that_becomes_a_link_at_any_moment_leads_nowhere() {
    let exports = Exports::of_three();
    let outside = outside(&exports);
    exports.run();
    let (project, away) = (exports.folder.join("pi/sessions/--w-a--"), exports.place.path("away"));
    let link = exports.place.path("link");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                // The export may have made the folder anew at each step.
                let _ = symlink(&outside, &link);
                let _ = std::fs::rename(&project, &away);
                let _ = std::fs::rename(&link, &project);
                std::thread::yield_now();
                let _ = std::fs::remove_file(&project);
                let _ = std::fs::remove_dir_all(&project);
                let _ = std::fs::rename(&away, &project);
                let _ = std::fs::remove_dir_all(&away);
            }
        });
        for round in 0..100 {
            exports.append("a", &format!("{round}"));
            exports.run();
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_untouched(&outside);
}
