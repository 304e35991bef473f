"""The release ledger against known values and the kernels, and audits that must catch planted faults."""

import math
from collections import Counter

import naive
import numpy as np
import pytest

from privregret.bandits import DPSE, AnytimeLazyUCB, HybridUCB, dp_se, hybrid_ucb, lazy_ucb
from privregret.privacy.audit import loss_lower_bound
from privregret.privacy.ledger import cost, hybrid_releases, lazy_releases, looks

# the ledger's own numbers


@pytest.mark.parametrize(("r", "releases"), [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 8)])
def test_hybrid_as_printed_costs_what_the_sheet_says(r, releases):
    """Tree of depth r: its first leaf is in r + 1 nodes; the total is 1 + 1 / (2 r): 1.5, 1.25, 1.167, ..."""
    pulls = 2 ** (r + 1) - 1
    ledger = hybrid_releases(pulls)
    tree = slice(2**r - 1, pulls)  # the pulls in it
    assert looks(ledger, pulls)[tree].max() == releases
    assert looks(ledger, pulls)[tree].argmax() == 0
    assert cost(ledger, pulls)[tree].max() == pytest.approx(1 + 1 / (2 * r))
    assert len([x for x in ledger if x.kind == "node" and x.at >= 2**r]) == 2**r


@pytest.mark.parametrize("tree", ["rootfree", "scaled"])
def test_the_repairs_cost_epsilon(tree):
    pulls = 2**11 - 1
    total = cost(hybrid_releases(pulls, tree), pulls)
    assert total.max() == pytest.approx(1)
    for r in range(1, 11):  # reached in every tree: nothing is given away
        assert total[2**r - 1 : 2 ** (r + 1) - 1].max() == pytest.approx(1)


def test_lazy_costs_epsilon_exactly_once():
    for pulls in (1, 2, 3, 6, 7, 100, 127):
        ledger = lazy_releases(pulls)
        full = 2 ** ((pulls + 1).bit_length() - 1) - 1  # pulls in full arrays
        assert cost(ledger, pulls).tolist() == [1.0] * full + [0.0] * (pulls - full)
        assert looks(ledger, pulls, "array").tolist() == [1] * full + [0] * (pulls - full)
        assert [x.at for x in ledger] == [n for n in (1, 3, 7, 15, 31, 63, 127) if n <= pulls]


# the ledger against the kernels


def ledger_scales(actions, releases, epsilon):
    """Scales of the noise that the ledger expects, in order, given which arm was pulled when."""
    pulls, scales = Counter(), []
    for j in actions:
        pulls[j] += 1
        scales += [x.scale / epsilon for x in releases(len(actions)) if x.at == pulls[j]]
    return scales


def recorded(play, horizon=150, seed=0):
    """Actions and recorded noise scales of `play(rewards, rng)` on three arms."""
    rng = np.random.default_rng(seed)
    recorder = naive.Recorder(rng)
    return play(rng.random((horizon, 3)), recorder), recorder.scales


def keeps_to_ledger(play, releases, epsilon):
    actions, scales = recorded(play)
    wanted = ledger_scales(actions, releases, epsilon)
    return len(scales) == len(wanted) and np.allclose(scales, wanted, rtol=1e-12, atol=0)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("tree", hybrid_ucb.TREES)
def test_hybrid_kernel_keeps_to_the_ledger(tree, epsilon, monkeypatch):
    monkeypatch.setattr(hybrid_ucb, "_node_noise", naive.plain(hybrid_ucb._node_noise))
    run, code = naive.plain(hybrid_ucb._run), hybrid_ucb.TREES.index(tree)

    def literal(rewards, rng):
        return run(rewards, np.zeros(3), np.array([len(rewards)]), epsilon, code, 2.0, rng)[0]

    def releases(pulls):
        return hybrid_releases(pulls, tree)

    assert keeps_to_ledger(literal, releases, epsilon)
    assert keeps_to_ledger(naive.HybridUCB(epsilon, tree).play, releases, epsilon)
    other = hybrid_releases if tree != "paper" else lazy_releases
    assert not keeps_to_ledger(literal, other, epsilon)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 30.0])
def test_lazy_kernel_keeps_to_the_ledger(epsilon):
    play = naive.plain(lazy_ucb._play)
    assert keeps_to_ledger(lambda rewards, rng: play(rewards, epsilon, rng), lazy_releases, epsilon)
    assert keeps_to_ledger(naive.AnytimeLazyUCB(epsilon).play, lazy_releases, epsilon)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 30.0])
def test_dp_se_kernel_draws_noise_for_each_arm_in_each_epoch(epsilon):
    rewards = np.random.default_rng(0).random((9000, 3)) * (1, 0.7, 0.3)
    recorder = naive.Recorder(np.random.default_rng(1))
    actions = naive.plain(dp_se._play)(rewards, epsilon, 0.9, recorder).tolist()
    expected, alive, start = 0, 3, 0
    for epoch in (1, 2):
        start += alive * math.ceil(dp_se.epoch_length(epoch, alive, epsilon, 0.9))
        if alive == 1 or start > len(actions):
            break
        expected += alive
        alive = len(set(actions[start : start + alive]))
    assert alive < 3 and expected >= 3
    assert recorder.scales == [1 / epsilon] * expected


class HybridHalvedNodes(naive.HybridUCB):
    def node_noise(self, rng, r, level):
        return rng.laplace(0.0, r / self.epsilon)


class HybridForgottenLevel(naive.HybridUCB):
    def node_noise(self, rng, r, level):
        return 0.0 if level == 1 else super().node_noise(rng, r, level)


class HybridArraysAtTheFullBudget(naive.HybridUCB):
    def array_noise(self, rng, r):
        return rng.laplace(0.0, 1 / self.epsilon)


class HybridUnscaled(naive.HybridUCB):
    """Noise for the depth, where the `scaled` repair needs one level more."""

    def node_noise(self, rng, r, level):
        return rng.laplace(0.0, r / (0.5 * self.epsilon))


FAULTS = [HybridHalvedNodes, HybridForgottenLevel, HybridArraysAtTheFullBudget, HybridUnscaled]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 30.0])
def test_the_ledger_finds_faults_in_hybrid(fault, epsilon):
    tree = "scaled" if fault is HybridUnscaled else "paper"

    def releases(pulls):
        return hybrid_releases(pulls, tree)

    assert keeps_to_ledger(naive.HybridUCB(epsilon, tree).play, releases, epsilon)
    assert not keeps_to_ledger(fault(epsilon, tree).play, releases, epsilon)


def test_the_nodes_in_the_ledger_are_those_of_the_tree():
    """Each new node covers the 2^level pulls that end with the present one."""
    covered = []

    class Listening(naive.HybridUCB):
        def array_noise(self, rng, r):
            covered.append(2**r)
            return super().array_noise(rng, r)

        def node_noise(self, rng, r, level):
            covered.append(2**level)
            return super().node_noise(rng, r, level)

    for tree in hybrid_ucb.TREES:
        covered.clear()
        actions = Listening(1.0, tree).play(np.zeros((300, 2)), np.random.default_rng(0))
        pulls, expected = Counter(), []
        for j in actions:
            pulls[j] += 1
            new = [x for x in hybrid_releases(300, tree) if x.at == pulls[j]]
            assert all(x.last == pulls[j] for x in new)
            expected += [x.last - x.first + 1 for x in new]
        assert covered == expected


# the audit itself


def both_arms(changed):
    """Two arms, three rounds, the last of which is the first to be decided; tables that differ in round 1."""
    rewards = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    rewards[0, 0] = changed
    return rewards


def first_decision_is_arm_0(actions):
    return actions[2] == 0


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("algorithm", [AnytimeLazyUCB, HybridUCB])
def test_the_audit_finds_the_true_loss(algorithm, epsilon):
    """Noise of scale 1 / e: the lead of arm 0 goes from -1 to 0, and P from exp(-e) (2 + e) / 4 to 1 / 2."""
    e = epsilon if algorithm is AnytimeLazyUCB else epsilon / 2
    truth = -math.log(math.exp(-e) * (2 + e) / 2)
    tables = both_arms(0.0), both_arms(1.0)
    found = loss_lower_bound(algorithm(epsilon), *tables, first_decision_is_arm_0, runs=20_000, seed=0)
    assert max(0, truth - 0.25) <= found <= truth <= epsilon


class Tell:
    """Plays the reward itself: no privacy at all."""

    def play(self, rewards, rng):
        return rewards[:, 0].astype(int)


@pytest.mark.parametrize("runs", [1, 30, 1000])
@pytest.mark.parametrize("failure", [1e-2, 1e-6])
def test_the_audit_is_as_sure_as_it_says(runs, failure):
    """Always against never in n plays: limits a^(1/n) and 1 - a^(1/n), a = failure / 8 for eight limits."""
    table, other = np.zeros((4, 2)), np.zeros((4, 2))
    other[2] = 1
    sure = (failure / 8) ** (1 / runs)
    found, nothing = (
        loss_lower_bound(Tell(), table, other, lambda actions, t=t: actions[t] == 1, runs, 0, failure) for t in (2, 1)
    )
    assert found == pytest.approx(max(0, math.log(sure / (1 - sure))))
    assert nothing == 0


def test_the_audit_takes_neighbours_only():
    table = np.zeros((5, 2))
    two = table.copy()
    two[1:3] = 1
    for other in (table, two, np.ones((5, 2)), np.zeros((5, 3)), np.zeros((6, 2))):
        with pytest.raises(ValueError):
            loss_lower_bound(AnytimeLazyUCB(1.0), table, other, first_decision_is_arm_0, runs=10, seed=0)


# planted faults, next to the honest algorithm


class SharedNoise(naive.DPSE):
    """One draw for all arms: it cancels in every comparison."""

    def noises(self, rng, epoch, arms):
        return [rng.laplace(0.0, 1 / self.epsilon)] * arms


class NoNoiseAfterTheFirstEpoch(naive.DPSE):
    def noises(self, rng, epoch, arms):
        return super().noises(rng, epoch, arms) if epoch == 1 else [0.0] * arms


class NoiseWithoutEpsilon(naive.AnytimeLazyUCB):
    def noise(self, rng, r):
        return rng.laplace(0.0, 1.0)


class HybridWithoutArrayNoise(naive.HybridUCB):
    def array_noise(self, rng, r):
        return 0.0


class NoNoiseAfterTheFirstArray(naive.AnytimeLazyUCB):
    def noise(self, rng, r):
        return super().noise(rng, r) if r == 0 else 0.0


def assert_only_the_fault_is_caught(honest, faulty, rewards, neighbour, event, plays):
    """The audit shows more than epsilon for the faulty variant, and no more for the honest algorithm."""
    assert loss_lower_bound(faulty, rewards, neighbour, event, plays, seed=0) > honest.epsilon
    assert loss_lower_bound(honest, rewards, neighbour, event, max(plays, 4000), seed=0) <= honest.epsilon


@pytest.mark.parametrize("epsilon", [0.05, 0.3])
def test_noise_that_forgets_epsilon_is_caught(epsilon):
    assert_only_the_fault_is_caught(
        AnytimeLazyUCB(epsilon),
        NoiseWithoutEpsilon(epsilon),
        both_arms(0.0),
        both_arms(1.0),
        first_decision_is_arm_0,
        plays=4000,
    )


@pytest.mark.parametrize("tree", hybrid_ucb.TREES)
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_missing_noise_in_the_arrays_of_hybrid_is_caught(tree, epsilon):
    assert_only_the_fault_is_caught(
        HybridUCB(epsilon, tree),
        HybridWithoutArrayNoise(epsilon, tree),
        both_arms(0.0),
        both_arms(1.0),
        first_decision_is_arm_0,
        plays=1000,
    )


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_missing_noise_in_later_arrays_is_caught(epsilon):
    """Two arms fill an array of two pulls each, one after the other; the better array goes on.

    One reward decides whether the first array holds 0.5 less or 0.5 more than the second.
    """
    rewards = np.array([[0.0], [0.0], [0.0], [0.5], [0.5], [0.5], [0.5]]) * np.ones(2)
    neighbour = rewards.copy()
    neighbour[2] = 1

    def first_to_fill_goes_on(actions):
        first, second = actions[2], 1 - actions[2]
        return list(actions[2:]) == [first, first, second, second, first]

    assert_only_the_fault_is_caught(
        AnytimeLazyUCB(epsilon),
        NoNoiseAfterTheFirstArray(epsilon),
        rewards,
        neighbour,
        first_to_fill_goes_on,
        plays=2000,
    )


def dp_se_tables(epsilon, beta, epoch, arms, start):
    """Neighbouring tables between which arm 1 is dropped, or would be if there were no noise.

    In the epoch that starts after round `start`, arm 0 leads arm 1 by the threshold less 1/2; in the
    neighbour, by the threshold plus 1/2. A third arm, if any, gets nothing. Also returns the last round of
    the epoch.
    """
    slow = naive.DPSE(epsilon, beta)
    length = math.ceil(slow.length(epoch, 2, beta))
    end = start + 2 * length
    rewards = np.zeros((end + 4, arms))
    rewards[:, 1] = 0.3
    rewards[:, 0] = 0.3 + (slow.threshold(epoch, 2, beta) * length - 0.2) / (length - 1)
    rewards[start, 0] = 0  # its first reward in this epoch: 0.3 less than arm 1's, or 0.7 more
    neighbour = rewards.copy()
    neighbour[start, 0] = 1
    return rewards, neighbour, end


@pytest.mark.parametrize("epsilon", [0.1, 0.5])
def test_noise_shared_by_all_arms_is_caught(epsilon):
    rewards, neighbour, end = dp_se_tables(epsilon, beta=1.0, epoch=1, arms=2, start=0)

    def arm_1_is_dropped(actions):
        return list(actions[end:]) == [0] * 4

    honest, faulty = DPSE(epsilon, 1.0), SharedNoise(epsilon, 1.0)
    assert_only_the_fault_is_caught(honest, faulty, rewards, neighbour, arm_1_is_dropped, plays=250)


@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_missing_noise_in_later_epochs_is_caught(epsilon):
    """Arm 2 is dropped after the first epoch, and arms 0 and 1 then meet at the threshold."""
    start = 3 * math.ceil(naive.DPSE(epsilon).length(1, 3, 1.0))
    rewards, neighbour, end = dp_se_tables(epsilon, beta=1.0, epoch=2, arms=3, start=start)

    def arm_1_is_dropped_next(actions):
        return list(actions[start : start + 4]) == [0, 1, 0, 1] and list(actions[end:]) == [0] * 4

    honest, faulty = DPSE(epsilon, 1.0), NoNoiseAfterTheFirstEpoch(epsilon, 1.0)
    assert_only_the_fault_is_caught(honest, faulty, rewards, neighbour, arm_1_is_dropped_next, plays=150)
