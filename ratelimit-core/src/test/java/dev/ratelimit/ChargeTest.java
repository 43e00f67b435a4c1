package dev.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.TokenBucket;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChargeTest {

    private static final Policy POLICY = Policy.of("p", TokenBucket.of(Rate.parse("10/second")));

    @Test
    void new_negativePermits_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> POLICY.charge("k", -1))
                .withMessage("permits must be at least 0 but was -1");
    }

    @Test
    void new_noPermits_isTaken() {
        assertThat(POLICY.charge("k", 0).permits()).isZero();
    }

    @Test
    void sameBudget_samePolicyNameAndKey() {
        Policy changed = Policy.of("p", SlidingLog.of(Rate.parse("5/second")));
        Policy other = Policy.of("q", TokenBucket.of(Rate.parse("10/second")));

        assertThat(POLICY.charge("k").sameBudget(changed.charge("k", 2))).isTrue();
        assertThat(POLICY.charge("k").sameBudget(POLICY.charge("l"))).isFalse();
        assertThat(POLICY.charge("k").sameBudget(other.charge("k"))).isFalse();
    }

    @Test
    void plus_tooMuchForALong_isTheMost() {
        assertThat(POLICY.charge("k", 2).plus(3)).isEqualTo(POLICY.charge("k", 5));
        assertThat(POLICY.charge("k", 0).plus(0)).isEqualTo(POLICY.charge("k", 0));
        assertThat(POLICY.charge("k", Long.MAX_VALUE).plus(1)).isEqualTo(POLICY.charge("k", Long.MAX_VALUE));
        assertThat(POLICY.charge("k", Long.MAX_VALUE).plus(Long.MAX_VALUE).permits())
                .isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void plus_negative_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> POLICY.charge("k", 2).plus(-1))
                .withMessage("more must be at least 0 but was -1");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 8})
    void addUp_fewOfDifferentBudgets_areWhatTheyWere(int count) {
        List<Charge> charges = List.copyOf(IntStream.range(0, count)
                .mapToObj(i -> POLICY.charge("k" + i, i))
                .toList());

        assertThat(Charge.addUp(charges)).isSameAs(charges);
    }

    @Test
    void addUp_listThatMayChange_isCopied() {
        List<Charge> charges = new ArrayList<>(List.of(POLICY.charge("a"), POLICY.charge("b")));

        List<Charge> distinct = Charge.addUp(charges);
        charges.clear();

        assertThat(distinct)
                .containsExactly(POLICY.charge("a"), POLICY.charge("b"))
                .isUnmodifiable();
    }

    @Test
    void addUp_sameBudget_isOneChargeInTheFirstPlace() {
        Charge other = POLICY.charge("other", 4);

        assertThat(Charge.addUp(List.of(POLICY.charge("k", 1), other, POLICY.charge("k", 2))))
                .containsExactly(POLICY.charge("k", 3), other);
        assertThat(Charge.addUp(List.of(other, POLICY.charge("k", 1), POLICY.charge("k", 2))))
                .containsExactly(other, POLICY.charge("k", 3));
    }

    @Test
    void addUp_policiesOfOneNameWithDifferentLimits_isOneChargeUnderTheFirst() {
        Charge first = POLICY.charge("k", 1);
        Charge other =
                Policy.of(POLICY.name(), FixedWindow.of(Rate.parse("99/hour"))).charge("k", 2);

        assertThat(Charge.addUp(List.of(first, other))).containsExactly(POLICY.charge("k", 3));
    }

    @Test
    void addUp_manyCharges_areAddedUpToo() {
        List<Charge> charges = IntStream.range(0, 20)
                .mapToObj(i -> POLICY.charge("k" + i % 10, 1))
                .toList();

        assertThat(Charge.addUp(charges))
                .containsExactlyElementsOf(IntStream.range(0, 10)
                        .mapToObj(i -> POLICY.charge("k" + i, 2))
                        .toList());
    }
}
