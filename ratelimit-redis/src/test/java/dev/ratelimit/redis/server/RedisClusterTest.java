package dev.ratelimit.redis.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.cluster.SlotHash;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("servers")
class RedisClusterTest {

    @Started
    private static RedisCluster cluster;

    @Test
    void masterOf_servesTheKeyAndTheOthersPointToIt() {
        for (String key : new String[] {"a", "b", "c", "d"}) {
            RedisServer master = cluster.masterOf(key);

            String answer = master.ask(redis -> redis.set(key, "v"));

            assertThat(answer).isEqualTo("OK");
            assertThat(cluster.nodes())
                    .filteredOn(node -> node != master)
                    .allSatisfy(node -> assertThatThrownBy(() -> node.ask(redis -> redis.get(key)))
                            .isInstanceOf(RedisCommandExecutionException.class)
                            .hasMessage("MOVED %d 127.0.0.1:%d", SlotHash.getSlot(key), master.port()));
        }
    }

    @Test
    void move_asksThenMoves() {
        String key = "moving";
        int slot = SlotHash.getSlot(key);
        RedisServer from = cluster.masterOf(key);
        RedisServer to = cluster.nodes().get((cluster.nodes().indexOf(from) + 1) % 3);
        from.ask(redis -> redis.set(key, "v"));

        cluster.beginMove(slot, from, to);
        String before = from.ask(redis -> redis.get(key));
        int moved = cluster.moveKeys(slot, from, to);

        assertThat(before).isEqualTo("v");
        assertThat(moved).isEqualTo(1);
        assertThatThrownBy(() -> from.ask(redis -> redis.get(key))).hasMessage("ASK %d 127.0.0.1:%d", slot, to.port());

        cluster.endMove(slot, to);
        String after = to.ask(redis -> redis.get(key));

        assertThat(after).isEqualTo("v");
        assertThat(cluster.masterOf(key)).isSameAs(to);
        assertThatThrownBy(() -> from.ask(redis -> redis.get(key)))
                .hasMessage("MOVED %d 127.0.0.1:%d", slot, to.port());
    }

    @Test
    void restart_comesBackWithItsSlots() {
        RedisServer node = cluster.nodes().get(2);

        node.restart();
        cluster.awaitReady();

        String answer = node.ask(redis -> redis.set("a", "v"));
        assertThat(cluster.masterOf("a")).isSameAs(node);
        assertThat(answer).isEqualTo("OK");
    }
}
