package dev.ratelimit.spring.rules.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.spring.HistoryEntry;
import dev.ratelimit.spring.HistoryEntry.Action;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;

class ChangeHistoryTest {

    private final FakeTicker ticker = new FakeTicker();
    private final ChangeStore changes = new ChangeStore(ticker);
    private final ChangeHistory history = new ChangeHistory(
            RequestRules.withoutRequests(
                    new Binder().bindOrCreate("ratelimit", RateLimitProperties.class),
                    new StaticListableBeanFactory(),
                    text -> text,
                    limit -> {}),
            changes);

    private void change(String property, @Nullable Integer seconds, @Nullable String to, @Nullable String by) {
        HistoryEntry entry = new HistoryEntry(Instant.EPOCH, Action.CHANGE, "p/q r", null, "a % b", to, null, "", by);
        ChangeEnd end = new ChangeEnd(seconds == null ? null : Duration.ofSeconds(seconds), null);
        String unused = changes.change(
                () -> ChangeStore.Change.of(ChangeStore.Name.ofPolicy("p/q r"), "", end, entry, Set.of(property)),
                text -> text);
    }

    private void change(String property, @Nullable Integer seconds) {
        change(property, seconds, "\u00e4 \n", "alice");
    }

    private List<Action> actionsIn(int seconds) {
        ticker.advance(Duration.ofSeconds(seconds));
        return history.entries(null, 1000).stream().map(HistoryEntry::action).toList();
    }

    @Test
    void entry_isReadAgain_withTheMomentWhenItWasAccepted() {
        Instant now = changes.now();

        change("limit", 9, "\"\1\2\\ \u2028 \ud83d\ude00", "+");

        assertThat(history.entries("p/q r", 1))
                .containsExactly(new HistoryEntry(
                        now,
                        Action.CHANGE,
                        "p/q r",
                        null,
                        "a % b",
                        "\"\1\2\\ \u2028 \ud83d\ude00",
                        now.plusSeconds(9),
                        "",
                        "+"));
    }

    @Test
    void parse_ofSomethingElse_isRefused() {
        for (String text :
                List.of("x", "{}", "[]", "{\"time\":1,\"action\":\"WHAT\",\"policy\":\"p\",\"properties\":[]}")) {
            assertThatThrownBy(() -> RecordedChange.parse(text)).as(text).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void latestThousand_areKept() {
        for (int i = 0; i < 1001; i++) {
            change("limit", null, Integer.toString(i), null);
        }

        List<HistoryEntry> entries = history.entries(null, 1000);
        assertThat(entries).hasSize(1000);
        assertThat(entries.get(0).to()).isEqualTo("1000");
        assertThat(entries.get(999).to()).isEqualTo("1");
    }

    @Test
    void longTexts_areCut_notWithinACharacter() {
        change("limit", null, "x".repeat(496) + "\ud83d\ude00".repeat(9), "b".repeat(9999));

        HistoryEntry entry = history.entries(null, 1).get(0);
        assertThat(entry.to()).isEqualTo("x".repeat(496) + "...");
        assertThat(entry.by()).hasSize(500).endsWith("...");
    }

    @Test
    void end_isAnEntryByNobody_onceItHasCome() {
        Instant start = changes.now();
        change("limit", 9);

        assertThat(actionsIn(8)).containsExactly(Action.CHANGE);
        assertThat(actionsIn(1)).containsExactly(Action.EXPIRY, Action.CHANGE);
        assertThat(history.entries("p/q r", 1))
                .containsExactly(new HistoryEntry(
                        start.plusSeconds(9), Action.EXPIRY, "p/q r", null, "\u00e4 \n", null, null, null, null));
    }

    @Test
    void end_ofWhatWasReplacedBefore_isNone() {
        change("limit", 9);
        ticker.advance(Duration.ofSeconds(5));
        change("limit", null);

        assertThat(actionsIn(20)).containsExactly(Action.CHANGE, Action.CHANGE);
    }

    @Test
    void end_ofAnotherProperty_isAnEntry_andSoIsOneBeforeTheNextChange() {
        change("limit", 9);
        ticker.advance(Duration.ofSeconds(5));
        change("mode", null);
        assertThat(actionsIn(10)).containsExactly(Action.EXPIRY, Action.CHANGE, Action.CHANGE);

        change("limit", null);
        assertThat(actionsIn(1)).containsExactly(Action.CHANGE, Action.EXPIRY, Action.CHANGE, Action.CHANGE);
    }
}
