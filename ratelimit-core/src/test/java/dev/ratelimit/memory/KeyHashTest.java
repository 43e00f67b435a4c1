package dev.ratelimit.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Seeds;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Keys that are similar in all the ways that clients' keys are, and keys that an attacker would send. */
class KeyHashTest {

    private static final int MANY = 1_000_000;

    private record Family(String name, IntFunction<String> key) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Family> families() {
        long seed = Seeds.next();
        SplittableRandom random = new SplittableRandom(seed);
        long[] numbers = random.longs(MANY).distinct().toArray();
        return Stream.of(
                new Family("random, seed " + seed, i -> Long.toString(numbers[i], 36)),
                new Family("numbers", Integer::toString),
                new Family("users", i -> "tenant-of-some-length:user:" + i),
                new Family("addresses", i -> (i >> 16) + "." + (i >> 8 & 255) + "." + (i & 255) + ".7"),
                new Family("long and alike at the end", i -> i + "x".repeat(50)),
                new Family("three characters", i -> "" + (char) (i >> 14) + (char) (i >> 7 & 127) + (char) (i & 127)),
                new Family("one hash code", KeyHashTest::ofOneHashCode));
    }

    private static String ofOneHashCode(int i) {
        StringBuilder key = new StringBuilder();
        for (int bit = 0; bit < 20; bit++) {
            key.append((i >> bit & 1) == 0 ? "Aa" : "BB");
        }
        return key.toString();
    }

    @ParameterizedTest
    @MethodSource("families")
    @DisplayName("D6 a million keys have a million hashes, evenly distributed over segments and slots")
    void of_manyKeys_areDifferentAndEvenlySpread(Family keys) {
        long[] hashes = IntStream.range(0, MANY)
                .mapToLong(i -> KeyHash.of(keys.key().apply(i)))
                .toArray();

        Arrays.sort(hashes);
        assertThat(IntStream.range(1, MANY).noneMatch(i -> hashes[i] == hashes[i - 1]))
                .isTrue();
        assertThat(Arrays.stream(hashes).allMatch(hash -> hash < 0 && (hash & 127) == 0))
                .isTrue();
        // the bits for the segment, for the slot in it, and the rest: the highest, the next and the lowest bits
        assertThat(deviations(hashes, 1, Keyspace.SEGMENT_BITS)).isLessThan(8);
        assertThat(deviations(hashes, 1 + Keyspace.SEGMENT_BITS, 12)).isLessThan(8);
        assertThat(deviations(hashes, 1, 16)).isLessThan(8);
        assertThat(deviations(hashes, 45, 12)).isLessThan(8);
    }

    /** By how many standard deviations the chi-square of this many bits of the hashes differs from its mean. */
    private static double deviations(long[] hashes, int first, int bits) {
        int[] counts = new int[1 << bits];
        for (long hash : hashes) {
            counts[(int) ((hash << first) >>> (Long.SIZE - bits))]++;
        }
        double expected = (double) hashes.length / counts.length;
        double chiSquare = Arrays.stream(counts)
                .mapToDouble(count -> (count - expected) * (count - expected) / expected)
                .sum();
        int degrees = counts.length - 1;
        return Math.abs(chiSquare - degrees) / Math.sqrt(2.0 * degrees);
    }

    @Test
    void of_sameCharacters_isTheSame() {
        for (String key : List.of("", "a", "ab", "abc", "abcd", "€uro", "\ud83d\ude00", "x".repeat(1000))) {
            String copy = String.valueOf(key.toCharArray());

            assertThat(KeyHash.of(copy)).isEqualTo(KeyHash.of(key));
        }
    }

    @Test
    void of_zerosAtTheEnd_differs() {
        Stream<String> keys = Stream.of("", "a", "ab", "abc", "abcdefghi")
                .flatMap(key -> IntStream.range(0, 200).mapToObj(zeros -> key + "\0".repeat(zeros)));

        assertThat(keys.map(KeyHash::of)).doesNotHaveDuplicates().hasSize(1_000);
    }

    @Test
    void of_zerosAtTheStart_differs() {
        Stream<String> keys = Stream.of("", "a", "abcd")
                .flatMap(key -> IntStream.range(1, 200).mapToObj(zeros -> "\0".repeat(zeros) + key + "!"));

        assertThat(keys.map(KeyHash::of)).doesNotHaveDuplicates();
    }

    @Test
    void of_sameCharactersInAnotherOrder_differs() {
        String[] keys = {"abcdef", "defabc", "bacdef", "abcdfe", "acbdef", "fedcba", "abdcef"};

        assertThat(Stream.of(keys).map(KeyHash::of)).doesNotHaveDuplicates();
    }

    @Test
    void of_everySingleCharacter_withSurrogatesAlone_differs() {
        long different = IntStream.rangeClosed(Character.MIN_VALUE, Character.MAX_VALUE)
                .mapToLong(character -> KeyHash.of(String.valueOf((char) character)))
                .distinct()
                .count();

        assertThat(different).isEqualTo(1 << Character.SIZE);
    }

    @Test
    void of_surrogatesAloneAndInPairs_differs() {
        String[] keys = {"\ud83d", "\ude00", "\ud83d\ude00", "\ude00\ud83d", "?", "\ufffd", "??", "\ufffd\ufffd"};

        assertThat(Stream.of(keys).map(KeyHash::of)).doesNotHaveDuplicates();
    }

    @Test
    void of_everyLength_differs() {
        assertThat(IntStream.range(0, 3_000).mapToObj("a"::repeat).map(KeyHash::of))
                .doesNotHaveDuplicates();
    }
}
