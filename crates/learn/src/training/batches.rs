//! Which examples a step is trained on.

use xpr_nn::Random;

/// Returns the examples of a step's batch, each with its index. Steps pass over all examples again and again, each time in another random order, and the
/// batch depends on the number of the step only. It is empty if there are no examples.
pub(super) fn batch<T>(examples: &[T], size: usize, step: usize, random: Random) -> Vec<(usize, &T)> {
    if examples.is_empty() {
        return vec![];
    }
    let mut order: Option<(usize, Vec<usize>)> = None;
    let mut example = |position: usize| {
        let (pass, place) = (position / examples.len(), position % examples.len());
        if order.as_ref().is_none_or(|(last, _)| *last != pass) {
            order = Some((pass, random.stream(pass as u64).permutation(examples.len())));
        }
        let index = order.as_ref().map_or(place, |(_, order)| order[place]);
        (index, &examples[index])
    };
    (step * size..(step + 1) * size).map(&mut example).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_occurs_once_a_pass() {
        for (examples, size) in [(10, 3), (7, 7), (5, 12), (1, 4)] {
            let steps = 6 * examples;
            let numbers: Vec<usize> = (0..examples).collect();
            let all: Vec<usize> = (0..steps)
                .flat_map(|step| batch(&numbers, size, step, Random::new(1)))
                .map(|(index, example)| {
                    assert_eq!(index, *example);
                    index
                })
                .collect();
            assert_eq!(all.len(), steps * size);
            let passes: Vec<&[usize]> = all.chunks_exact(examples).collect();
            for pass in &passes {
                let mut sorted = pass.to_vec();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..examples).collect::<Vec<_>>(), "{examples} {size}");
            }
            if examples > 4 {
                assert!(passes.windows(2).any(|pair| pair[0] != pair[1]), "passes differ in their order");
            }
        }
        assert!(batch::<usize>(&[], 3, 5, Random::new(1)).is_empty());
    }
}
