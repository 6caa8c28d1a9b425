//! Processes that train one model together.
//!
//! Each process has a *rank*, from 0, and all of them take the same steps on the same weights. A rank works on some shards of a batch. What the others
//! need of it is exchanged by the four operations of [`Ranks`], which every rank calls in the same order.

use std::fmt::Debug;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The connection of a rank with the others.
pub trait Ranks: Debug + Send + Sync {
    /// Returns the number of this rank, from 0.
    fn rank(&self) -> usize;

    /// Returns the number of ranks.
    fn count(&self) -> usize;

    /// Sends numbers to another rank, which must receive as many.
    fn send(&self, to: usize, numbers: &[f32]);

    /// Receives the numbers that another rank sends.
    fn receive(&self, from: usize, numbers: &mut [f32]);

    /// Replaces the numbers of all ranks by those of one.
    fn broadcast(&self, from: usize, numbers: &mut [f32]);

    /// Returns the bytes of every rank. They may be of different number.
    fn gather(&self, own: &[u8]) -> Vec<Vec<u8>>;

    /// Returns the time that the operations have taken so far, with the time that they waited for other ranks.
    fn time(&self) -> Duration {
        Duration::ZERO
    }
}

/// Returns whether something is so on any rank.
pub fn any_rank(ranks: &dyn Ranks, is_so: bool) -> bool {
    ranks.gather(&[u8::from(is_so)]).concat().contains(&1)
}

/// A rank that is a thread of this process. It is for tests of what runs on ranks.
#[derive(Debug)]
pub struct ThreadRank {
    rank: usize,
    /// A channel to each rank, and one from each.
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Mutex<Receiver<Vec<u8>>>>,
}

impl ThreadRank {
    /// Returns connected ranks, one for each of some threads.
    pub fn all(count: usize) -> Vec<Arc<dyn Ranks>> {
        let mut to: Vec<Vec<Sender<Vec<u8>>>> = (0..count).map(|_| vec![]).collect();
        let mut from: Vec<Vec<Mutex<Receiver<Vec<u8>>>>> = (0..count).map(|_| vec![]).collect();
        for sender in &mut to {
            for receiver in &mut from {
                let (send, receive) = channel();
                sender.push(send);
                receiver.push(Mutex::new(receive));
            }
        }
        let ranks = to.into_iter().zip(from).enumerate();
        ranks.map(|(rank, (to, from))| Arc::new(ThreadRank { rank, to, from }) as Arc<dyn Ranks>).collect()
    }

    fn send_bytes(&self, to: usize, bytes: Vec<u8>) {
        // A rank that ended is not waited for.
        let _ = self.to[to].send(bytes);
    }

    fn receive_bytes(&self, from: usize) -> Vec<u8> {
        let receiver = self.from[from].lock().unwrap_or_else(PoisonError::into_inner);
        receiver.recv().unwrap_or_default()
    }
}

impl Ranks for ThreadRank {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.to.len()
    }

    fn send(&self, to: usize, numbers: &[f32]) {
        self.send_bytes(to, numbers.iter().flat_map(|number| number.to_le_bytes()).collect());
    }

    fn receive(&self, from: usize, numbers: &mut [f32]) {
        let bytes = self.receive_bytes(from);
        let (received, _) = bytes.as_chunks::<4>();
        for (number, bytes) in numbers.iter_mut().zip(received) {
            *number = f32::from_le_bytes(*bytes);
        }
    }

    fn broadcast(&self, from: usize, numbers: &mut [f32]) {
        if self.rank == from {
            (0..self.count()).filter(|to| *to != from).for_each(|to| self.send(to, numbers));
        } else {
            self.receive(from, numbers);
        }
    }

    fn gather(&self, own: &[u8]) -> Vec<Vec<u8>> {
        (0..self.count()).for_each(|to| self.send_bytes(to, own.to_vec()));
        (0..self.count()).map(|from| self.receive_bytes(from)).collect()
    }
}
