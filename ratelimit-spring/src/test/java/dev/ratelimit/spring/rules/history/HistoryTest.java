package dev.ratelimit.spring.rules.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.spring.HistoryEntry;
import dev.ratelimit.spring.HistoryEntry.Action;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class HistoryTest {

    private static final Instant START = Instant.parse("2027-01-01T00:00:00.000001Z");

    private static HistoryLine line(int second, String property, @Nullable Integer untilSecond) {
        return new HistoryLine(
                new HistoryEntry(
                        START.plusSeconds(second),
                        Action.CHANGE,
                        "p/q r",
                        null,
                        "a % b",
                        "\u00e4 \n",
                        untilSecond == null ? null : START.plusSeconds(untilSecond),
                        "",
                        "alice"),
                Set.of(property));
    }

    private static History history(HistoryLine... lines) {
        History history = History.NONE;
        for (HistoryLine line : lines) {
            history = history.and(line);
        }
        return history;
    }

    private static List<Action> actions(History history, int second) {
        return history.entries(null, START.plusSeconds(second)).stream()
                .map(HistoryEntry::action)
                .toList();
    }

    @Test
    void text_isReadAgain_andIsOfAscii() {
        HistoryLine all = new HistoryLine(
                new HistoryEntry(START, Action.OVERRIDE, "p", "a\u2028b", null, "x", START, "-", "+"),
                Set.of("override"));
        History history = history(line(1, "limit", 9), line(2, "mode", null), all);

        assertThat(History.parse(history.toString())).isEqualTo(history);
        assertThat(history.toString()).matches("[\\x0a\\x20-\\x7e]*").hasLineCount(3);
    }

    @Test
    void parse_ofSomethingElse_isRefused() {
        for (String text : List.of("x", "1 CHANGE p", "x CHANGE p - - - - - - limit", "1 WHAT p - - - - - - limit")) {
            assertThatThrownBy(() -> History.parse(text))
                    .as(text)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("not an entry of a history");
        }
    }

    @Test
    void and_isTheSameInAnyOrder_andOnceOnly() {
        History one = history(line(1, "limit", null), line(3, "limit", null));
        History other = history(line(2, "limit", null), line(3, "limit", null));

        assertThat(one.and(other))
                .isEqualTo(other.and(one))
                .isEqualTo(one.and(other).and(one));
        assertThat(one.and(other).lines()).hasSize(3);
    }

    @Test
    void and_keepsTheLatestThousand_alsoJoined() {
        History half = history(IntStream.range(0, 600)
                .mapToObj(i -> line(2 * i, "limit", null))
                .toArray(HistoryLine[]::new));
        History rest = history(IntStream.range(0, 600)
                .mapToObj(i -> line(2 * i + 1, "limit", null))
                .toArray(HistoryLine[]::new));

        List<HistoryLine> lines = half.and(rest).lines();

        assertThat(lines).hasSize(1000);
        assertThat(lines.get(0).entry().time()).isEqualTo(START.plusSeconds(200));
        assertThat(lines.get(999).entry().time()).isEqualTo(START.plusSeconds(1199));
    }

    @Test
    void longTexts_areCut_soThatMemoryIsBounded() {
        HistoryEntry entry = new HistoryLine(
                        new HistoryEntry(
                                START, Action.CHANGE, "p", null, "f".repeat(9999), "t", null, null, "b".repeat(9999)),
                        Set.of("limit"))
                .entry();

        assertThat(entry.from()).hasSize(500).endsWith("...");
        assertThat(entry.by()).hasSize(500);
    }

    @Test
    void end_isAnEntryByNobody_onceItHasCome() {
        History history = history(line(1, "limit", 9));

        assertThat(actions(history, 8)).containsExactly(Action.CHANGE);
        assertThat(history.entries("p/q r", START.plusSeconds(9)).get(0))
                .isEqualTo(new HistoryEntry(
                        START.plusSeconds(9), Action.EXPIRY, "p/q r", null, "\u00e4 \n", null, null, null, null));
    }

    @Test
    void end_ofWhatWasReplacedBefore_isNone() {
        assertThat(actions(history(line(1, "limit", 9), line(5, "limit", null)), 20))
                .containsExactly(Action.CHANGE, Action.CHANGE);
        assertThat(actions(history(line(1, "limit", 9), line(5, "mode", null)), 20))
                .containsExactly(Action.EXPIRY, Action.CHANGE, Action.CHANGE);
        assertThat(actions(history(line(1, "limit", 9), line(15, "limit", null)), 20))
                .containsExactly(Action.CHANGE, Action.EXPIRY, Action.CHANGE);
    }

    @Test
    void longText_isNotCutWithinACharacter() {
        HistoryLine line = new HistoryLine(
                new HistoryEntry(
                        START,
                        Action.CHANGE,
                        "p",
                        null,
                        null,
                        "x".repeat(496) + "\ud83d\ude00".repeat(9),
                        null,
                        null,
                        null),
                Set.of("limit"));

        assertThat(line.entry().to()).isEqualTo("x".repeat(496) + "...");
        assertThat(HistoryLine.parse(line.toString()).entry()).isEqualTo(line.entry());
    }
}
