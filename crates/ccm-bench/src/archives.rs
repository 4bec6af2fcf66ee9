//! Downloads and archives.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use ccm_testkit::{TarFile, WebServer, tar};

use crate::apply::{BenchManifest, Listener};
use crate::measure::{ratio_within, times};

const MIB: usize = 1 << 20;

/// Time of ccm for each unit of time of a bare copy: 0.9 of its speed.
const DOWNLOAD_AIM: f64 = 1.0 / 0.9;

/// Time of ccm for each unit of time of tar: 0.8 of its speed.
const EXTRACT_AIM: f64 = 1.0 / 0.8;

/// Measures an archive of 64 MiB.
pub(crate) fn run(scratch: &Path) {
    measure(scratch, 64 * MIB, 7);
}

/// Measures an archive of 500 MB.
pub(crate) fn run_large(scratch: &Path) {
    measure(scratch, 500_000_000, 5);
}

fn measure(scratch: &Path, size: usize, rounds: usize) {
    let archive = tarball(size);
    let label = format!("{} MiB", archive.len() / MIB);
    let (path, out) = (scratch.join("a.tar"), scratch.join("out"));
    std::fs::write(scratch.join("bare.tar"), &archive).expect("an archive");
    let server = WebServer::of_file(archive);
    let url = server.url("/a.tar");

    let manifest = |more: &str| {
        let path = path.display();
        BenchManifest::new(&format!(
            "ccm:\n  resources:\n    - archive:\n        - {path}: {{url: \"{url}\"{more}}}\n"
        ))
    };
    let download = manifest("");
    let ours = || {
        let _ = std::fs::remove_file(&path);
        download.apply(Listener::None);
    };
    let theirs = || {
        let _ = std::fs::remove_file(scratch.join("copy"));
        copy(&url, &scratch.join("copy"));
    };
    let (ours, theirs) = times(rounds, ours, theirs);
    ratio_within(&format!("archive: {label} downloaded"), ours, theirs, DOWNLOAD_AIM);

    for packed in ["tar", "tar.gz"] {
        let path = scratch.join(format!("a.{packed}"));
        if packed == "tar.gz" {
            let gzip = Command::new("gzip").arg("-1c").arg(scratch.join("bare.tar")).output().expect("gzip");
            std::fs::write(&path, gzip.stdout).expect("an archive");
        }
        let text = format!(
            "ccm:\n  resources:\n    - archive:\n        - {}: {{url: \"{url}\", extract_parent: {out}, creates: {out}/0/0}}\n",
            path.display(),
            out = out.display(),
        );
        let extract = BenchManifest::new(&text);
        let ours = || {
            let _ = std::fs::remove_dir_all(&out);
            extract.apply(Listener::None);
        };
        let theirs = || {
            let _ = std::fs::remove_dir_all(&out);
            std::fs::create_dir(&out).expect("a directory");
            run_program(Command::new("tar").arg("-xf").arg(&path).arg("-C").arg(&out));
            // ccm says that it is done when everything is on the disk.
            run_program(Command::new("sync").arg("-f").arg(&out));
        };
        let (ours, theirs) = times(rounds, ours, theirs);
        ratio_within(&format!("archive: {label} extracted from {packed}"), ours, theirs, EXTRACT_AIM);
    }
}

fn run_program(command: &mut Command) {
    assert!(command.status().expect("a program").success());
}

/// Returns an archive of about this size: files of 256 KiB, of which a half can be compressed.
fn tarball(size: usize) -> Vec<u8> {
    const FILE: usize = 256 << 10;
    let count = size / FILE;
    let mut state = 1_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    let files: Vec<(String, Vec<u8>)> = (0..count)
        .map(|number| {
            let content = (0..FILE / 16).flat_map(|_| [random(), *b"the same"].concat());
            (format!("{}/{}", number / 100, number % 100), content.collect())
        })
        .collect();
    let entries: Vec<TarFile<'_>> =
        files.iter().map(|(path, content)| TarFile { path, mode: 0o644, content, link: None }).collect();
    tar(&entries)
}

/// Copies what a server sends to a file, and waits until it is on the disk.
fn copy(url: &str, to: &Path) {
    let (address, path) = url.trim_start_matches("http://").split_once('/').expect("a path");
    let mut stream = TcpStream::connect(address).expect("a connection");
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: {address}\r\n\r\n").expect("a request");
    let mut answer = BufReader::with_capacity(256 << 10, stream);
    let mut line = String::new();
    let mut length = 0_u64;
    while line != "\r\n" {
        if let Some(number) = line.strip_prefix("Content-Length: ") {
            length = number.trim().parse().expect("a number");
        }
        line.clear();
        answer.read_line(&mut line).expect("a line");
    }
    let mut file = File::create(to).expect("a file");
    let copied = std::io::copy(&mut answer.take(length), &mut file).expect("a copy");
    assert_eq!(copied, length);
    file.sync_all().expect("a disk");
}
