package dev.ratelimit.spring.rules.history;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Seeds;
import dev.ratelimit.spring.HistoryEntry;
import dev.ratelimit.spring.HistoryEntry.Action;
import dev.ratelimit.spring.rules.history.ChangeStore.Contents;
import dev.ratelimit.spring.rules.history.ChangeStore.Name;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class JoinedChangesTest {

    private final FakeTicker ticker = new FakeTicker();

    /** Sets the override of a key, or removes it; whatever happens is at a moment of its own. */
    private Contents after(Contents before, String key, boolean set) {
        ChangeStore store = new ChangeStore(ticker);
        Contents unused = store.adopt(before, store.nowMicros());
        ticker.advanceNanos(1000);
        HistoryEntry entry = new HistoryEntry(
                Instant.EPOCH,
                set ? Action.OVERRIDE : Action.REMOVE_OVERRIDE,
                "p q",
                key,
                null,
                null,
                null,
                null,
                null);
        ChangeEnd end = new ChangeEnd(null, null);
        String text = set
                ? ChangedValue.text(Map.of("override", new ChangedValue("blocked", 0, 0, "alice", null, "").asked(end)))
                : "";
        String unusedText = store.change(
                () -> ChangeStore.Change.of(Name.ofKey("p q", key), text, end, entry, Set.of("override")),
                accepted -> accepted);
        return store.contents();
    }

    private Contents join(Contents one, Contents other) {
        return JoinedChanges.of(one, other, 0);
    }

    private static final Contents NOTHING =
            new Contents(Map.of(ChangeStore.Kind.POLICY, Map.of(), ChangeStore.Kind.OVERRIDE, Map.of()), List.of());

    @Test
    void join_isTheSame_whicheverIsOnesOwn_andOnceMore_andEndsWithTheLatestOfEachKey() {
        Random random = new Random(Seeds.next());
        for (int round = 0; round < 20; round++) {
            List<Contents> copies = new ArrayList<>(List.of(NOTHING, NOTHING, NOTHING));
            Contents all = NOTHING;
            for (int i = 0; i < 15; i++) {
                int at = random.nextInt(3);
                String key = "k" + random.nextInt(3);
                boolean set = random.nextInt(3) > 0;
                copies.set(at, after(copies.get(at), key, set));
                all = after(all, key, set);
                ticker.advance(Duration.ofMillis(random.nextInt(2)));
            }

            Contents joined = join(join(copies.get(0), copies.get(1)), copies.get(2));

            assertThat(join(copies.get(2), join(copies.get(1), copies.get(0)))).isEqualTo(joined);
            assertThat(join(joined, copies.get(random.nextInt(3)))).isEqualTo(joined);
            assertThat(joined.of(ChangeStore.Kind.OVERRIDE).keySet())
                    .isEqualTo(all.of(ChangeStore.Kind.OVERRIDE).keySet());
            assertThat(joined.history()).hasSize(15);
        }
    }

    @Test
    void whatHasEnded_isLeftOut_whereTheTwoDiffer() {
        Map<String, Object> value = new ChangedValue("blocked", 1, 9, "alice", null, "").json();
        Contents ended = new Contents(
                Map.of(
                        ChangeStore.Kind.POLICY,
                        Map.of(),
                        ChangeStore.Kind.OVERRIDE,
                        Map.of("p k", ChangedValue.text(Map.of("override", value)))),
                List.of());

        assertThat(JoinedChanges.of(NOTHING, ended, 8)).isEqualTo(ended);
        assertThat(JoinedChanges.of(NOTHING, ended, 9)).isEqualTo(NOTHING);
        assertThat(JoinedChanges.of(ended, NOTHING, 9)).isEqualTo(NOTHING);
    }
}
