// A service as Rust programs are: workers take requests from a queue behind a mutex and a condition, and share a cache
// behind another mutex, which each holds while it asks another machine. All of that waits by the futexes of Rust's own
// library. How long the workers waited for the cache, the program measures itself.
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const WORKERS: usize = 4;
const REQUESTS: u64 = 400;

struct Queue {
    waiting: Mutex<VecDeque<Option<u64>>>, // none: no more come
    added: Condvar,
}

impl Queue {
    fn put(&self, request: Option<u64>) {
        self.waiting.lock().unwrap().push_back(request);
        self.added.notify_one();
    }
    #[inline(never)]
    fn take(&self) -> Option<u64> {
        let mut waiting = self.waiting.lock().unwrap();
        while waiting.is_empty() {
            waiting = self.added.wait(waiting).unwrap();
        }
        waiting.pop_front().unwrap()
    }
}

struct Cache {
    entries: Mutex<HashMap<u64, u64>>,
    waited_ns: AtomicU64,
}

impl Cache {
    #[inline(never)]
    fn look_up(&self, key: u64) -> u64 {
        let asked = Instant::now();
        let mut entries = self.entries.lock().unwrap();
        self.waited_ns.fetch_add(asked.elapsed().as_nanos() as u64, Ordering::Relaxed);
        *entries.entry(key).or_insert_with(|| {
            thread::sleep(Duration::from_micros(500)); // the other machine
            key * key
        })
    }
}

fn serve(queue: &Queue, cache: &Cache) -> u64 {
    let mut sum = 0;
    while let Some(request) = queue.take() {
        sum += cache.look_up(request);
    }
    sum
}

fn main() {
    let queue = Queue { waiting: Mutex::new(VecDeque::new()), added: Condvar::new() };
    let cache = Cache { entries: Mutex::new(HashMap::new()), waited_ns: AtomicU64::new(0) };
    let sum: u64 = thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(|| serve(&queue, &cache))).collect();
        for request in 0..REQUESTS {
            queue.put(Some(request));
        }
        for _ in 0..WORKERS {
            queue.put(None);
        }
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    println!("{sum}");
    eprintln!("waited {}", cache.waited_ns.load(Ordering::Relaxed));
}
