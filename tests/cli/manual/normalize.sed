# What differs from run to run. The time of a resource is only shown if it took a second, but for a command.
s/git\+file:\/\/\/srv\/git\//git+https:\/\/git.example.com\//g
s/ in [0-9.]+(ms|s|µs)/ in 40ms/
s/took [0-9.]+(ms|s|µs)/took 40ms/
/ ran: /!s/ \([0-9.]+m?s\)$//
s/\([0-9]+s ago\)/(just now)/
s/\([0-9.]+(ms|s|µs)/(3ms/
s/\b01[0-9a-f]{6}-[0-9a-f]{4}\b/01a2b3c4-d5e6/g
s/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z/2026-11-30T08:00:00Z/g
s/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}/2026-11-30 08:00:00/g
s/\bcommit [0-9a-f]{12}\b/commit 5e0d696d43d6/g
s/\b[0-9a-f]{40}\b/015e0767a177502e52e2ee9353bbdb957cc67e84/g
s/\bplan [0-9a-f]{8} /plan 3fa85f64 /g
s/\(m-[0-9a-z]+\)/(m-0123456789abcdef)/g
s/made by ccm [0-9.]+/made by ccm 0.1.0/g
