//! The places of clients that listen for events.
//!
//! Who listens has a connection for as long as it likes. So there are fewer places than connections, and one client cannot have all of them.

use crate::rate::network;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// The most places of a server.
const MAX_PLACES: usize = 256;

/// The clients that listen.
#[derive(Debug)]
pub(crate) struct Listeners {
    places: usize,
    /// The number of places of each client.
    taken: Mutex<HashMap<IpAddr, usize>>,
}

/// A place among those who listen, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    listeners: Arc<Listeners>,
    client: IpAddr,
}

impl Listeners {
    /// Returns the places of a server with this number of connections.
    pub(crate) fn new(connections: usize) -> Arc<Self> {
        Arc::new(Listeners { places: MAX_PLACES.min(connections / 2), taken: Mutex::default() })
    }

    /// Returns a place for a client, unless it has as many as are left for all others: one client gets half of the places, the next one half
    /// of the rest.
    pub(crate) fn place(self: &Arc<Self>, client: IpAddr) -> Option<Place> {
        let client = network(client);
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let left = self.places.saturating_sub(taken.values().sum());
        let own = taken.get(&client).copied().unwrap_or(0);
        if own >= left {
            return None;
        }
        taken.insert(client, own + 1);
        Some(Place { listeners: Arc::clone(self), client })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.listeners.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = taken.get_mut(&self.client) {
            *own -= 1;
            if *own == 0 {
                taken.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 18: one client could take all places.
    #[test]
    fn a_client_leaves_places_for_others() {
        let listeners = Listeners::new(4096);
        let of = |client: [u8; 4]| -> Vec<Place> {
            (0..1000).map_while(|_| listeners.place(client.into())).collect()
        };
        let greedy = of([10, 0, 0, 1]);
        assert_eq!(greedy.len(), MAX_PLACES / 2);
        let next = of([10, 0, 0, 2]);
        assert_eq!(next.len(), MAX_PLACES / 4);
        let others: Vec<Place> =
            (0..200).map_while(|last| listeners.place([10, 0, 1, last].into())).collect();
        assert_eq!(others.len(), MAX_PLACES / 4, "each has one, until there are none");
        drop(greedy);
        assert_eq!(of([10, 0, 0, 3]).len(), MAX_PLACES / 4, "places that were given back");
        drop((next, others));
        assert!(listeners.taken.lock().unwrap().is_empty());
    }

    #[test]
    fn those_who_listen_leave_connections_for_those_who_ask() {
        let listeners = Listeners::new(16);
        let places: Vec<Place> =
            (0..200).map_while(|last| listeners.place([10, 0, 0, last].into())).collect();
        assert_eq!(places.len(), 8);
    }
}
