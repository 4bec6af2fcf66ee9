//! Memory and swap.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::reader::{FactReader, unescape};
use crate::share::percent;

const MEMORY: &str = "/proc/meminfo";
const STATISTICS: &str = "/proc/vmstat";
const SWAPS: &str = "/proc/swaps";
const KIBIBYTE: u64 = 1024;

/// Numbers of `/proc/meminfo` by name, in bytes, except for counts of pages.
struct MemoryInfo<'a>(HashMap<&'a str, u64>);

impl<'a> MemoryInfo<'a> {
    fn parse(text: &'a str) -> Self {
        let number = |line: &'a str| {
            let (name, value) = line.split_once(':')?;
            let mut words = value.split_whitespace();
            let number: u64 = words.next()?.parse().ok()?;
            let unit = if words.next() == Some("kB") { KIBIBYTE } else { 1 };
            Some((name.trim(), number.saturating_mul(unit)))
        };
        Self(text.lines().filter_map(number).collect())
    }

    fn known(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }

    /// Returns a number that some kernels lack, or 0.
    fn get(&self, name: &str) -> u64 {
        self.known(name).unwrap_or_default()
    }
}

pub(crate) fn virtual_memory(reader: &mut FactReader<'_>) -> Value {
    let Some(text) = reader.text(MEMORY) else { return Value::Null };
    let info = MemoryInfo::parse(&text);
    let (Some(total), Some(free)) = (info.known("MemTotal"), info.known("MemFree")) else {
        reader.unexpected(MEMORY, "MemTotal and MemFree");
        return Value::Null;
    };
    let buffers = info.get("Buffers");
    let cached = info.get("Cached").saturating_add(info.get("SReclaimable"));
    // Kernels before 3.14 lack `MemAvailable`.
    let available = info.known("MemAvailable").unwrap_or_else(|| free.saturating_add(cached));
    let used = total.saturating_sub(free).saturating_sub(buffers).saturating_sub(cached);
    json!({
        "total": total,
        "available": available,
        "used": used,
        "usedPercent": percent(used, total),
        "free": free,
        "active": info.get("Active"),
        "inactive": info.get("Inactive"),
        "wired": 0,
        "laundry": 0,
        "buffers": buffers,
        "cached": cached,
        "writeBack": info.get("Writeback"),
        "dirty": info.get("Dirty"),
        "writeBackTmp": info.get("WritebackTmp"),
        "shared": info.get("Shmem"),
        "slab": info.get("Slab"),
        "sreclaimable": info.get("SReclaimable"),
        "sunreclaim": info.get("SUnreclaim"),
        "pageTables": info.get("PageTables"),
        "swapCached": info.get("SwapCached"),
        "commitLimit": info.get("CommitLimit"),
        "committedAS": info.get("Committed_AS"),
        "highTotal": info.get("HighTotal"),
        "highFree": info.get("HighFree"),
        "lowTotal": info.get("LowTotal"),
        "lowFree": info.get("LowFree"),
        "swapTotal": info.get("SwapTotal"),
        "swapFree": info.get("SwapFree"),
        "mapped": info.get("Mapped"),
        "vmallocTotal": info.get("VmallocTotal"),
        "vmallocUsed": info.get("VmallocUsed"),
        "vmallocChunk": info.get("VmallocChunk"),
        "hugePagesTotal": info.get("HugePages_Total"),
        "hugePagesFree": info.get("HugePages_Free"),
        "hugePagesRsvd": info.get("HugePages_Rsvd"),
        "hugePagesSurp": info.get("HugePages_Surp"),
        "hugePageSize": info.get("Hugepagesize"),
        "anonHugePages": info.get("AnonHugePages"),
    })
}

pub(crate) fn swap(reader: &mut FactReader<'_>) -> Value {
    let info = swap_info(reader);
    let devices = swap_devices(reader);
    json!({ "info": info, "devices": devices })
}

fn swap_info(reader: &mut FactReader<'_>) -> Value {
    let Some(text) = reader.text(MEMORY) else { return Value::Null };
    let memory = MemoryInfo::parse(&text);
    // Kernels without swap lack both.
    let (total, free) = (memory.get("SwapTotal"), memory.get("SwapFree"));
    let used = total.saturating_sub(free);
    let statistics = reader.optional(STATISTICS).unwrap_or_default();
    let counts: HashMap<&str, u64> = statistics
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(name, count)| Some((name, count.trim().parse().ok()?)))
        .collect();
    let count = |name: &str| counts.get(name).copied().unwrap_or_default();
    let page = reader.machine.page_size();
    json!({
        "total": total,
        "used": used,
        "free": free,
        "usedPercent": percent(used, total),
        "sin": count("pswpin").saturating_mul(page),
        "sout": count("pswpout").saturating_mul(page),
        // The kernel counts these two in KiB, whatever the page size.
        "pgIn": count("pgpgin").saturating_mul(KIBIBYTE),
        "pgOut": count("pgpgout").saturating_mul(KIBIBYTE),
        "pgFault": count("pgfault"),
        "pgMajFault": count("pgmajfault"),
    })
}

fn swap_devices(reader: &mut FactReader<'_>) -> Vec<Value> {
    let text = reader.optional(SWAPS).unwrap_or_default();
    let device = |line: &str| {
        let mut words = line.split_whitespace();
        let name = unescape(words.next()?);
        let size: u64 = words.nth(1)?.parse().ok()?;
        let used: u64 = words.next()?.parse().ok()?;
        Some(json!({
            "name": name,
            "usedBytes": used.saturating_mul(KIBIBYTE),
            "freeBytes": size.saturating_sub(used).saturating_mul(KIBIBYTE),
        }))
    };
    text.lines().skip(1).filter_map(device).collect()
}
