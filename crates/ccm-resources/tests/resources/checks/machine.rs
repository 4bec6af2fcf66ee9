//! What the rows of the table need of the machine: files, processes, sockets, servers.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use ccm_testkit::{WebRequest, WebServer, WebStream, answer};
use serde_json::Value as Json;
use tokio::net::TcpSocket;

use super::name_server::NameServer;

/// Shell commands that complete a machine of its own: accounts, hosts, packages, and a systemctl that shows the units
/// below `/run/units`.
pub(super) const FAKE_MACHINE: &str = r#"
ip link set lo up 2> /dev/null || true
mkdir -p /run/systemd/system /run/units
printf 'root:x:0:0:root:/root:/bin/bash\nalice:x:1500:1500:A:/home/alice:/bin/zsh\n' > /etc/passwd
printf 'root:x:0:\nalice:x:1500:\nwheel:x:10:alice,bob\naudio:x:11:alice\n' > /etc/group
printf '127.0.0.1 localhost\n::1 localhost\n192.0.2.7 host.test\n' > /etc/hosts
echo 'multi on' > /etc/host.conf
printf 'passwd: files\ngroup: files\nhosts: files\n' > /etc/nsswitch.conf
cat > /var/lib/dpkg/status <<"END"
Package: alpha
Status: install ok installed
Architecture: all
Version: 1.2.3-1

Package: beta
Status: hold ok installed
Architecture: all
Version: 2:4.0-1

Package: gamma
Status: deinstall ok config-files
Architecture: all
Version: 1.0
END
cat > /usr/local/sbin/systemctl <<"END"
#!/bin/sh
while test "$1" != --; do shift; done
shift
for unit in "$@"; do
  case $unit in *.*) ;; *) unit=$unit.service ;; esac
  cat "/run/units/$unit" 2> /dev/null || printf 'LoadState=not-found\nActiveState=inactive\nUnitFileState=\n'
  echo
done
END
chmod 755 /usr/local/sbin/systemctl
"#;

/// Sockets and servers of all rows.
pub(super) struct Worlds {
    names: NameServer,
    web: WebServer,
    listening: TcpListener,
    /// `None` without IPv6, where nothing listens either.
    dual_stack: Option<TcpListener>,
    bound: TcpSocket,
}

impl Worlds {
    pub(super) fn begin() -> Self {
        let bound = TcpSocket::new_v4().expect("a socket");
        bound.bind(([127, 0, 0, 1], 0).into()).expect("a port");
        Self {
            names: NameServer::start(),
            web: WebServer::start(serve),
            listening: TcpListener::bind("127.0.0.1:0").expect("a port"),
            dual_stack: TcpListener::bind("[::]:0").ok(),
            bound,
        }
    }

    /// Replaces the ports of the rows by those of this test.
    pub(super) fn placed(&self, text: &str) -> String {
        let port = |listener: &TcpListener| listener.local_addr().expect("an address").port().to_string();
        let web = self.web.url("");
        let bound = self.bound.local_addr().expect("an address").port().to_string();
        let places = [
            ("http://127.0.0.1:8088", web),
            ("127.0.0.1:5353", self.names.address()),
            ("4711", port(&self.listening)),
            ("4714", bound),
            ("4715", self.dual_stack.as_ref().map_or_else(|| "4715".to_owned(), port)),
        ];
        // A port may contain the digits of another one.
        let marked = (places.iter().zip('a'..))
            .fold(text.to_owned(), |text, ((place, _), mark)| text.replace(place, &format!("\u{1}{mark}")));
        (places.iter().zip('a'..))
            .fold(marked, |text, ((_, by), mark)| text.replace(&format!("\u{1}{mark}"), by))
    }

    /// Ends the mounts of a row.
    pub(super) fn unmount(directory: &Path) {
        let mounted = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let path = directory.join("m");
        if mounted.contains(&format!(" {} ", path.display())) {
            shell(directory, "umount m");
        }
    }
}

fn serve(request: &WebRequest, stream: &mut dyn WebStream) -> std::io::Result<()> {
    let fields = [("Content-Type", "text/plain"), ("x-odd-NAME", "1"), ("Server", "test")];
    let (method, path) = request.line.split_once(' ').unwrap_or_default();
    match path {
        "/ok" => answer(stream, "200 OK", &fields, b"hello world\n"),
        "/json" => answer(stream, "200 OK", &fields, b"{\"status\":\"UP\",\"checks\":[1,2]}"),
        "/moved" => answer(stream, "302 Found", &[&fields[..], &[("Location", "/ok")]].concat(), b""),
        "/private" => match request.field("authorization") {
            Some("Basic dTpw") => answer(stream, "200 OK", &fields, b""),
            _ => answer(stream, "401 Unauthorized", &fields, b""),
        },
        "/echo" => {
            let length = request.field("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
            let mut body = vec![0; length];
            stream.read_exact(&mut body)?;
            let field = |name| request.field(name).unwrap_or_default();
            let text = format!(
                "{method} {}\nx-test={}\nhost={}\nagent={}\n",
                String::from_utf8_lossy(&body),
                field("x-test"),
                field("host"),
                field("user-agent")
            );
            answer(stream, "200 OK", &fields, text.as_bytes())
        }
        "/slow" => ccm_testkit::stay_silent(stream),
        _ => answer(stream, "404 Not Found", &fields, b"it is not here\n"),
    }
}

/// Process of a row, which ends with it.
pub(super) struct Started(Option<Child>);

impl Started {
    /// Prepares a row, and starts its process.
    pub(super) fn in_directory(row: &Json, placed: &dyn Fn(&str) -> String, directory: &Path) -> Self {
        for (name, properties) in row["units"].as_object().into_iter().flatten() {
            let path = Path::new("/run/units").join(name);
            std::fs::write(path, properties.as_str().expect("properties")).expect("a unit");
        }
        if let Some(script) = row["sh"].as_str() {
            shell(directory, &placed(script));
        }
        let words: Vec<&str> =
            row["start"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        Self(words.split_first().map(|(program, arguments)| {
            let mut command = Command::new(directory.join(program));
            command.args(arguments).stdin(Stdio::piped());
            command.spawn().expect("a process")
        }))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            child.kill().expect("an end");
            child.wait().expect("an end");
        }
        for unit in std::fs::read_dir("/run/units").into_iter().flatten().flatten() {
            std::fs::remove_file(unit.path()).expect("a file");
        }
    }
}

fn shell(directory: &Path, script: &str) {
    let status = Command::new("/bin/sh").args(["-c", script]).current_dir(directory).status();
    assert!(status.expect("a shell").success(), "{script}");
}
