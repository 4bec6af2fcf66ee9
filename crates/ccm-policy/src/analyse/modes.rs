//! Modes of files, as `chmod` and `install -m` read them.

/// Returns `true` if a mode may set the set-user-id or set-group-id bit: `4755`, `=2755`, `u+s`, `ug=rwxs`, `+s`. A mode
/// that is not understood may.
pub(super) fn is_set_id(mode: &str) -> bool {
    mode.split(',').any(|clause| {
        let end = clause.find(['+', '-', '=']).unwrap_or(0);
        let (who, actions) = clause.split_at(end);
        if !who.bytes().all(|byte| matches!(byte, b'u' | b'g' | b'o' | b'a')) {
            return true;
        }
        if !actions.starts_with(['+', '-', '=']) {
            return is_set_id_number(actions);
        }
        let mut rest = actions;
        while let Some(operator) = rest.chars().next() {
            let what = rest.get(1..).unwrap_or_default();
            let end = what.find(['+', '-', '=']).unwrap_or(what.len());
            let (what, behind) = what.split_at(end);
            rest = behind;
            let adds = operator != '-';
            let is_number = !what.is_empty() && what.bytes().all(|byte| byte.is_ascii_digit());
            let is_known = what.bytes().all(|byte| b"rwxXstugo".contains(&byte));
            let is_set = if is_number {
                is_set_id_number(what)
            } else {
                !is_known || what.contains('s') && (who.is_empty() || who.contains(['u', 'g', 'a']))
            };
            if adds && is_set {
                return true;
            }
        }
        false
    })
}

fn is_set_id_number(digits: &str) -> bool {
    u32::from_str_radix(digits, 8).map_or(true, |mode| mode & 0o6000 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_id_is_found_in_every_spelling() {
        for mode in [
            "4755", "2755", "6755", "04755", "00004755", "u+s", "g+s", "+s", "a+s", "ug+s", "u=rwxs",
            "u+rws", "o-r,u+s", "u-x+s", "=4755", "+4000", "u+xs", "gu=sx", "u+r+s", "=2000",
        ] {
            assert!(is_set_id(mode), "{mode}");
        }
        for mode in [
            "755",
            "0644",
            "1777",
            "u-s",
            "+x",
            "a+rx",
            "u=rwX,go=rX",
            "o+s",
            "-4000",
            "g=u",
            "+t",
            "ug-s",
            "=",
            "go=",
        ] {
            assert!(!is_set_id(mode), "{mode}");
        }
    }
}
