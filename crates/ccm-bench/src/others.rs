//! What other processes did while the benchmark ran: a figure from a busy machine is worth less.

use std::time::{Duration, Instant};

use crate::bare::own_time;

/// Ticks of the kernel in a second, in what it shows to programs.
const TICKS: f64 = 100.0;

/// Observation of all processes, from its beginning on.
pub(crate) struct OtherProcesses {
    began: Instant,
    busy: Duration,
    own: Duration,
}

impl OtherProcesses {
    pub(crate) fn observe() -> Self {
        Self { began: Instant::now(), busy: busy_time(), own: own_time() }
    }

    /// Prints the number of processors that others kept busy.
    pub(crate) fn print(&self) {
        let own = own_time().saturating_sub(self.own);
        let others = busy_time().saturating_sub(self.busy).saturating_sub(own);
        let processors = others.as_secs_f64() / self.began.elapsed().as_secs_f64();
        let all = std::thread::available_parallelism().map_or(1, usize::from);
        println!("Meanwhile, other processes kept {processors:.2} of {all} processors busy.");
    }
}

/// Returns the time that all processors were busy since the machine started.
fn busy_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/stat").expect("the times of all processors");
    let all = stat.lines().next().unwrap_or_default();
    // user, nice, system, idle, iowait, irq, softirq, steal
    let times: Vec<f64> = all.split_whitespace().skip(1).filter_map(|time| time.parse().ok()).collect();
    let busy = times.iter().take(8).enumerate().filter(|(kind, _)| ![3, 4].contains(kind));
    Duration::from_secs_f64(busy.map(|(_, time)| time).sum::<f64>() / TICKS)
}
