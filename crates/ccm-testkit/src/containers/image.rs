//! A small image, made from the static busybox of the machine.

use std::path::Path;

/// Name of the image in a test's own Engine.
pub const IMAGE: &str = "ccm-test/busybox:1";

/// Programs of busybox that the image has by name.
const PROGRAMS: [&str; 41] = [
    "awk", "cat", "chmod", "cp", "dd", "df", "echo", "env", "false", "grep", "head", "hostname", "id", "ip",
    "kill", "ls", "mkdir", "mkfifo", "mount", "mv", "nc", "od", "ping", "printf", "ps", "pwd", "rm", "sed",
    "seq", "sh", "sleep", "sort", "stat", "tail", "test", "touch", "tr", "true", "wc", "wget", "yes",
];

/// File in an archive.
#[derive(Clone, Copy, Debug)]
pub struct TarFile<'a> {
    /// Path without a slash at its beginning; that of a directory ends with one.
    pub path: &'a str,
    /// Permissions.
    pub mode: u32,
    /// Content of a regular file.
    pub content: &'a [u8],
    /// Target of a symbolic link.
    pub link: Option<&'a str>,
}

/// Writes an archive.
pub fn tar(files: &[TarFile<'_>]) -> Vec<u8> {
    const BLOCK: usize = 512;
    let mut archive = Vec::new();
    for file in files {
        let mut head = [0_u8; BLOCK];
        let kind = match file.link {
            Some(_) => b'2',
            None if file.path.ends_with('/') => b'5',
            None => b'0',
        };
        let mut put = |at: usize, bytes: &[u8]| head[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, file.path.as_bytes());
        put(100, format!("{:07o}\0", file.mode).as_bytes());
        put(108, b"0000000\0");
        put(116, b"0000000\0");
        put(124, format!("{:011o}\0", file.content.len()).as_bytes());
        put(136, b"00000000000\0");
        put(148, b"        ");
        put(156, &[kind]);
        put(157, file.link.unwrap_or_default().as_bytes());
        put(257, b"ustar\x0000");
        let sum: u32 = head.iter().map(|byte| u32::from(*byte)).sum();
        head[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        archive.extend_from_slice(&head);
        archive.extend_from_slice(file.content);
        archive.resize(archive.len().next_multiple_of(BLOCK), 0);
    }
    archive.resize(archive.len() + 2 * BLOCK, 0);
    archive
}

/// Returns the root directory of the image as an archive; `None` without a static busybox, which Debian has in the
/// package `busybox-static`.
pub fn busybox_image() -> Option<Vec<u8>> {
    let busybox = ["/bin/busybox", "/usr/bin/busybox"]
        .into_iter()
        .find_map(|path| std::fs::read(Path::new(path)).ok())?;
    let directory = |path| TarFile { path, mode: 0o755, content: b"", link: None };
    let file = |path, mode, content| TarFile { path, mode, content, link: None };
    let links: Vec<String> = PROGRAMS.iter().map(|name| format!("bin/{name}")).collect();
    let mut files = vec![
        directory("bin/"),
        directory("etc/"),
        directory("home/"),
        directory("srv/"),
        TarFile { mode: 0o1777, ..directory("tmp/") },
        file("bin/busybox", 0o755, &busybox),
        file("etc/passwd", 0o644, b"root:x:0:0:root:/:/bin/sh\napp:x:1000:1000::/home:/bin/sh\n"),
        file("etc/group", 0o644, b"root:x:0:\napp:x:1000:\nstaff:x:50:\n"),
        file("etc/data", 0o644, b"not a program\n"),
        // A copy with set-user-ID, as a way to gain privileges.
        file("bin/setuid", 0o4755, &busybox),
    ];
    files.extend(links.iter().map(|path| TarFile { path, mode: 0o777, content: b"", link: Some("busybox") }));
    Some(tar(&files))
}
