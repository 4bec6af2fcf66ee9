//! Files of other tools, recognised when they are not the YAML of a manifest.

use ccm_model::{Node, NodeEntry};

use crate::read::foreign_words;

/// Languages: how a line of theirs begins, what else is in it, and advice.
const LANGUAGES: &[(&[&str], &[&str], &str)] = &[
    (
        &[
            "class ", "node ", "define ", "file ", "package ", "service ", "exec ", "user ", "group ",
            "cron ", "file{",
        ],
        &["{", "("],
        "this looks like Puppet; a manifest of ccm is YAML, such as `- file:` with `- /etc/motd: {content: hi}` below it",
    ),
    (&["bundle ", "body ", "promise "], &[""], "this looks like CFEngine; a manifest of ccm is YAML"),
    (
        &["resource \"", "provider \"", "variable \"", "module \""],
        &["{"],
        "this looks like HCL; a manifest of ccm is YAML",
    ),
    (
        &[
            "file '",
            "package '",
            "service '",
            "execute '",
            "template '",
            "directory '",
            "file \"",
            "package \"",
        ],
        &[" do"],
        "this looks like a recipe of Chef; a manifest of ccm is YAML",
    ),
    (
        &["{%", "{#"],
        &[""],
        "a manifest is no template: write `foreach` for a loop and `control` for a condition, or generate resources with \
         `resources_template`",
    ),
    (&["["], &["]"], "this looks like an INI file; a manifest of ccm is YAML"),
];

/// Returns advice on a text that is not YAML, by its first line that is no comment.
pub(crate) fn of_text(text: &str) -> Option<&'static str> {
    if text.starts_with("#!") {
        return Some("this looks like a script; a manifest of ccm is YAML");
    }
    let is_code = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let first = text.lines().map(str::trim).find(is_code)?;
    let is_in = |(begins, holds, _): &&(&[&str], &[&str], &str)| {
        begins.iter().any(|word| first.starts_with(word)) && holds.iter().any(|word| first.contains(word))
    };
    LANGUAGES.iter().find(is_in).map(|(_, _, advice)| *advice)
}

/// Returns advice on an item at the top of a file that is a list.
pub(crate) fn of_item(item: &Node) -> Option<&'static str> {
    let map = item.as_map()?;
    let has = |key: &str| map.get(key).is_some();
    let is_play = has("import_playbook") || has("hosts") && (has("tasks") || has("roles") || has("become"));
    if is_play {
        return Some(
            "this looks like a playbook of Ansible; its tasks become resources below `ccm:` and `resources:`",
        );
    }
    let is_task = has("name") && map.entries().iter().any(|entry| is_foreign_type(&entry.key.text));
    is_task.then_some("this looks like tasks of Ansible; they become resources below `ccm:` and `resources:`")
}

/// Returns advice on an unknown key at the top of a file, such as the state of a Salt file.
pub(crate) fn of_entry(entry: &NodeEntry) -> Option<&'static str> {
    let is_function = |name: &str| name.contains('.') && is_foreign_type(name);
    let map = entry.value.as_map()?;
    let is_state = map.entries().iter().any(|entry| is_function(&entry.key.text));
    is_state
        .then_some("this looks like a state of Salt; a manifest has resources below `ccm:` and `resources:`")
}

/// Returns advice on a key that is a line of another language, such as `package { 'nginx'`.
pub(crate) fn of_key(key: &str) -> Option<&'static str> {
    key.contains(['{', '(', '"', '\'']).then(|| of_text(key)).flatten()
}

fn is_foreign_type(name: &str) -> bool {
    foreign_words::resource_type(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_tools_are_recognised() {
        for (text, name) in [
            ("# init\nclass ntp (\n  String $a,\n) {\n}\n", "Puppet"),
            ("file { '/etc/motd':\n  ensure => present,\n}\n", "Puppet"),
            ("node 'web' {\n}\n", "Puppet"),
            ("bundle agent main\n{\n}\n", "CFEngine"),
            ("resource \"aws_instance\" \"web\" {\n}\n", "HCL"),
            ("package 'nginx' do\n  action :install\nend\n", "Chef"),
            ("{% for user in users %}\n", "template"),
            ("[Unit]\nDescription=x\n", "INI"),
            ("#!/bin/sh\necho hi\n", "script"),
        ] {
            assert!(of_text(text).is_some_and(|advice| advice.contains(name)), "{text}");
        }
        assert!(of_key("package { 'nginx'").is_some() && of_key("package {x}").is_some());
        assert_eq!(of_key("service x"), None);
        for text in
            ["", "ccm:\n", "# only\n", "file:\n  - x\n", "data: {a: 1}\n", "class: x\n", "service x: 1\n"]
        {
            assert_eq!(of_text(text), None, "{text}");
        }
    }
}
