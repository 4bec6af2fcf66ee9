//! Suggestions for misspelt unit names.

use ccm_model::closest;

const MAX_SUGGESTIONS: usize = 3;

/// Returns existing units similar to `unit`: of another type, its template, with a common prefix, a
/// misspelling.
pub(crate) fn suggestions(unit: &str, unit_names: &[String]) -> Vec<String> {
    let Some((stem, suffix)) = unit.rsplit_once('.') else { return Vec::new() };
    let parts = || unit_names.iter().filter_map(|name| name.rsplit_once('.').map(|parts| (name, parts)));
    let of_kind = || parts().filter(|(_, (_, other))| *other == suffix);
    let another_ending = parts().filter(|(_, (other, _))| *other == stem).map(|(name, _)| name.clone());
    let template = format!("{stem}@");
    let template =
        of_kind().filter(|(_, (other, _))| *other == template).map(|_| format!("{stem}@NAME.{suffix}"));
    let misspelt = closest(stem, of_kind().map(|(_, (other, _))| other.trim_end_matches('@')));
    let misspelt = misspelt.map(|stem| format!("{stem}.{suffix}"));
    let misspelt = misspelt.filter(|name| unit_names.contains(name));
    let begins = |longer: &str, shorter: &str| shorter.len() > 2 && longer.starts_with(shorter);
    let begun = of_kind().filter(|(_, (other, _))| begins(other, stem) || begins(stem, other));
    let begun = begun.map(|(name, _)| name).filter(|name| !name.contains('@')).cloned();
    let mut found: Vec<String> = Vec::new();
    for name in template.chain(another_ending).chain(misspelt).chain(begun) {
        if !found.contains(&name) && found.len() < MAX_SUGGESTIONS {
            found.push(name);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::suggestions;

    #[test]
    fn similar_units_are_suggested() {
        let unit_names = [
            "ssh.service",
            "postgresql.service",
            "postgresql@.service",
            "nginx.service",
            "backup.timer",
            "getty@.service",
            "cron.service",
            "systemd-timesyncd.service",
            "systemd-tmpfiles-clean.timer",
        ];
        let unit_names = unit_names.map(str::to_owned);
        for (unit, expected) in [
            ("sshd.service", &["ssh.service"][..]),
            ("postgres.service", &["postgresql.service"]),
            ("ngnix.service", &["nginx.service"]),
            ("backup.service", &["backup.timer"]),
            ("getty.service", &["getty@NAME.service"]),
            ("crond.service", &["cron.service"]),
            ("httpd.service", &[]),
            ("mount", &[]),
        ] {
            assert_eq!(suggestions(unit, &unit_names), expected, "{unit}");
        }
    }
}
