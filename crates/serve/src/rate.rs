//! A limit of the requests of each client.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The number of clients that are remembered.
const MAX_CLIENTS: usize = 4096;

/// A token bucket for each client: a client may send `rate` requests a second, and twice as many at once.
#[derive(Debug)]
pub(crate) struct RateLimit {
    rate: f64,
    clients: Mutex<HashMap<IpAddr, Bucket>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: f64,
    since: Instant,
}

impl RateLimit {
    /// Creates a limit of requests a second; 0 for no limit.
    pub(crate) fn new(rate: u32) -> Self {
        RateLimit { rate: f64::from(rate), clients: Mutex::new(HashMap::new()) }
    }

    /// Charges a client for a request that costs as much as `cost` ordinary ones. Returns false if it sends too many.
    pub(crate) fn charge(&self, client: IpAddr, cost: f64, now: Instant) -> bool {
        if self.rate == 0.0 {
            return true;
        }
        let full = 2.0 * self.rate;
        let refilled = |bucket: &Bucket| {
            (bucket.tokens + self.rate * now.saturating_duration_since(bucket.since).as_secs_f64()).min(full)
        };
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if clients.len() >= MAX_CLIENTS {
            clients.retain(|_, bucket| refilled(bucket) < full);
            if clients.len() >= MAX_CLIENTS {
                clients.clear();
            }
        }
        let bucket = clients.entry(network(client)).or_insert(Bucket { tokens: full, since: now });
        let tokens = refilled(bucket);
        // What costs more than there is empties the bucket, so that trying again does not help.
        let is_allowed = tokens >= cost.min(full);
        *bucket = Bucket { tokens: (tokens - cost).max(0.0), since: now };
        is_allowed
    }
}

/// Returns the address that stands for a client: one client has many addresses of IPv6.
pub(crate) fn network(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_client_has_a_burst_and_then_its_rate() {
        let limit = RateLimit::new(10);
        let (client, now) = (IpAddr::from([10, 0, 0, 1]), Instant::now());
        assert_eq!((0..30).filter(|_| limit.charge(client, 1.0, now)).count(), 20);
        let later = now + Duration::from_millis(500);
        assert_eq!((0..30).filter(|_| limit.charge(client, 1.0, later)).count(), 5);
        assert!(limit.charge(IpAddr::from([10, 0, 0, 2]), 1.0, now), "another client");
        let v6 = |last| IpAddr::from([1, 2, 3, 4, 5, 6, 7, last]);
        assert_eq!((0..30).filter(|last| limit.charge(v6(*last), 1.0, now)).count(), 20);
        assert!((0..1000).all(|_| RateLimit::new(0).charge(client, 1.0, now)));
    }

    #[test]
    fn the_memory_of_clients_is_bounded() {
        let limit = RateLimit::new(1);
        let now = Instant::now();
        for client in 0..3 * MAX_CLIENTS as u32 {
            limit.charge(IpAddr::from(client.to_be_bytes()), 1.0, now);
        }
        assert!(limit.clients.lock().unwrap().len() <= MAX_CLIENTS);
    }
}
