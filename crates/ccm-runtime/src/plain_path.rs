//! Paths without `..`.

use std::path::{Component, Path, PathBuf};

use ccm_host::{Files, InspectOptions};

/// Returns a path without `..`. Links are kept, because their targets may change later. The parent of a link
/// is the parent of its target, as for the kernel.
pub(crate) fn without_parents(path: &Path, files: &dyn Files) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => match parent_of(&plain, files) {
                Some(above) => plain = above,
                None => plain.push(component),
            },
            Component::CurDir => {}
            component => plain.push(component),
        }
    }
    plain
}

/// Returns the parent of a directory; `None` if it is unknown, so that the path stays as it was given.
fn parent_of(path: &Path, files: &dyn Files) -> Option<PathBuf> {
    // The root is its own parent. Above an unknown parent, everything is unknown.
    if path.parent().is_none() {
        return Some(path.to_owned());
    }
    if path.ends_with("..") {
        return None;
    }
    let found = files.inspect(path, InspectOptions::default()).ok()?;
    found.target.as_ref()?;
    let led = if found.link { files.canonical(path).ok()? } else { path.to_owned() };
    Some(led.parent().unwrap_or(&led).to_owned())
}

#[cfg(test)]
mod tests {
    use ccm_host::{Cancellation, SystemFiles};
    use ccm_testkit::Scratch;

    use super::*;

    #[test]
    fn a_path_loses_its_parents_as_the_kernel_follows_them() {
        let scratch = Scratch::new();
        scratch.write("far/inner/m.yaml", "");
        scratch.write("far/m.yaml", "");
        scratch.write("near/m.yaml", "");
        std::os::unix::fs::symlink(scratch.at("far/inner"), scratch.at("near/link")).unwrap();
        std::os::unix::fs::symlink("link", scratch.at("near/again")).unwrap();
        let files = SystemFiles::new(Cancellation::never());
        for (path, expected) in [
            ("near/m.yaml", "near/m.yaml"),
            ("near/../far/./m.yaml", "far/m.yaml"),
            // A link that may get another target keeps its name.
            ("near/link/m.yaml", "near/link/m.yaml"),
            ("far/../near/link/m.yaml", "near/link/m.yaml"),
            ("near/link/../m.yaml", "far/m.yaml"),
            ("near/again/../m.yaml", "far/m.yaml"),
            ("near/link/../../near/m.yaml", "near/m.yaml"),
            ("near/nosuch/../m.yaml", "near/nosuch/../m.yaml"),
            ("near/nosuch/../../far/m.yaml", "near/nosuch/../../far/m.yaml"),
        ] {
            let plain = without_parents(Path::new(&scratch.at(path)), &files);
            assert_eq!(plain, Path::new(&scratch.at(expected)), "{path}");
        }
        assert_eq!(without_parents(Path::new("/../../m.yaml"), &files), Path::new("/m.yaml"));
    }
}
