//! Edges that managed directories imply.

use crate::fake::{catalog, manifest, reported};
use crate::references::edges;

fn edges_of(items: &str) -> Vec<String> {
    edges(&catalog(&manifest(items)))
}

#[test]
fn paths_require_the_nearest_directory() {
    assert_eq!(
        edges_of(
            "- note:\n    - /a/b/c/f:\n    - /a/b: {text: directory}\n    - /a: {text: directory}\n\
             \x20   - /a/g:\n    - /ab:\n    - /h: {text: directory}"
        ),
        ["note#/a/b/c/f after note#/a/b", "note#/a/b after note#/a", "note#/a/g after note#/a"]
    );
}

#[test]
fn only_directories_imply_edges() {
    assert_eq!(
        edges_of("- note:\n    - /a/f:\n    - /a: {text: part}\n- task:\n    - /a/b:"),
        Vec::<String>::new()
    );
}

#[test]
fn written_edges_are_not_added_again() {
    assert_eq!(
        edges_of(
            "- note:\n    - /a/f: {require: [note#/a]}\n    - /a/g: {subscribe: [note#/a]}\n\
             \x20   - /a: {text: directory}"
        ),
        ["note#/a/f after note#/a", "note#/a/g hears note#/a"]
    );
}

#[test]
fn written_edges_take_precedence_over_implied_ones() {
    let items = "- note:\n    - /a: {text: directory, require: [task#t]}\n    - /a/f:\n    - /a/g:\n\
                 - task: [t: {subscribe: [note#/a/f]}]";
    assert_eq!(
        edges_of(items),
        ["note#/a after task#t", "note#/a/g after note#/a", "task#t hears note#/a/f"]
    );
    assert_eq!(reported(&manifest(items)), ["4:11 warning: conflict (5:11) | …"]);
    let direct = "- note:\n    - /a: {text: directory, require: [note#/a/f]}\n    - /a/f:";
    assert_eq!(reported(&manifest(direct)), ["4:43 warning: conflict (5:11) | …"]);
}

#[test]
fn implied_edges_close_no_cycle() {
    // The written order is /b/f, /a, /a/g, /b. Both files would come after their directories.
    let items = "- note:\n    - /b/f:\n    - /a: {text: directory, require: [note#/b/f]}\n\
                 \x20   - /a/g:\n    - /b: {text: directory, require: [note#/a/g]}";
    assert_eq!(
        edges_of(items),
        ["note#/a after note#/b/f", "note#/a/g after note#/a", "note#/b after note#/a/g"]
    );
}

#[test]
fn a_path_below_a_file_is_an_error() {
    let items = "- note:\n    - /a/b/f:\n    - /a:\n    - /a/g: {text: nothing}\n    - /ab/c:";
    assert_eq!(reported(&manifest(items)), ["4:11 conflict (5:11) | …"]);
}

#[test]
fn a_path_below_an_absent_one_causes_a_warning() {
    let items =
        "- note:\n    - /a/b/f:\n    - /a: {text: nothing}\n    - /a/b/g: {text: nothing}\n    - /ab:";
    assert_eq!(reported(&manifest(items)), ["4:11 warning: conflict (5:11) | …"]);
}
